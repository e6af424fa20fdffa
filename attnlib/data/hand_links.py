"""Sentences of Home Assistant whose words were linked to those of their Spanish translations by hand."""

from pathlib import Path

from attnlib.data.by_hand import digest, read_notes
from attnlib.data.examples import AlignmentLinks, Example
from attnlib.data.translation import load_home_assistant

LINKS = Path(__file__).with_name("hand_links.txt")  # its first lines say by which rule


def load_hand_links() -> list[Example]:
    """120 pairs of the test part of `load_home_assistant("es")`, evenly spread over it, with their links.

    One reader made the links, by the rule at the head of `hand_links.txt`, and a second looked at each. Another rule
    would give other links: compare models by them, and quote no number without them.

    Raises:
        DataError: the wheel that carries the sentences cannot be had, or holds others.
    """
    pairs = {digest(" ".join(pair.source), " ".join(pair.target)): pair for pair in load_home_assistant("es").test}
    found = []
    for pair, links in read_notes(LINKS, pairs):
        sure, possible = (read(part) for part in links.split("|"))
        found.append(Example(pair.source, pair.target, sure, sure | possible))
    return found


def read(links: str) -> AlignmentLinks:
    """Links (i, j) from "i-j i-j"."""
    return frozenset((int(i), int(j)) for i, j in (link.split("-") for link in links.split()))

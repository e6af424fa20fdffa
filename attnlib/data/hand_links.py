"""Sentences of Home Assistant whose words were linked to those of their Spanish translations by hand."""

import hashlib
from pathlib import Path

from attnlib.data.examples import AlignmentLinks, Example
from attnlib.data.translation import Pair, load_home_assistant
from attnlib.data.wheels import DataError

LINKS = Path(__file__).with_name("hand_links.txt")  # its first lines say by which rule


def load_hand_links() -> list[Example]:
    """120 pairs of the test part of `load_home_assistant("es")`, evenly spread over it, with their links.

    One reader made the links, by the rule at the head of `hand_links.txt`, and a second looked at each. Another rule
    would give other links: compare models by them, and quote no number without them.

    Raises:
        DataError: the wheel that carries the sentences cannot be had, or holds others.
    """
    pairs = {digest(pair): pair for pair in load_home_assistant("es").test}
    found = []
    for line in LINKS.read_text("utf8").splitlines():
        if line.startswith("#"):
            continue
        name, _, links = line.partition(" ")
        if name not in pairs:
            raise DataError(f"the sentence {name} of {LINKS.name} is not in the test part any more")
        sure, possible = (read(part) for part in links.split("|"))
        found.append(Example(pairs[name].source, pairs[name].target, sure, sure | possible))
    return found


def digest(pair: Pair) -> str:
    """What a pair is known by, whatever stands before it."""
    return hashlib.sha256("\t".join(map(" ".join, pair[:2])).encode()).hexdigest()[:16]


def read(links: str) -> AlignmentLinks:
    """Links (i, j) from "i-j i-j"."""
    return frozenset((int(i), int(j)) for i, j in (link.split("-") for link in links.split()))

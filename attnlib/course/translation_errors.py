"""Fifty translations of the translator in the page, and what one reader found wrong in each."""

from pathlib import Path
from typing import NamedTuple

from attnlib.data import read_texts
from attnlib.data.by_hand import digest, read_notes

ERRORS = Path(__file__).with_name("translation_errors.txt")  # its first lines say by which rule

#: The kinds of error, as the rule explains them.
KINDS = ("missing", "wrong", "agreement", "copied", "twice", "nonsense")


class Judged(NamedTuple):
    """A sentence of the test part and its translation."""

    source: str  # English
    reference: str  # Spanish, as the corpus has it
    said: str  # Spanish, as the translator wrote it with five beams
    errors: dict[str, tuple[int, ...]]  # kind → English words concerned, as places in `source.split()`; none: all right


def load_translation_errors() -> list[Judged]:
    """What is wrong in 50 translations, spread evenly over the test part of `read_texts("home-assistant-es")`.

    One reader judged them, by the rule at the head of `translation_errors.txt`. Another reader would differ in places:
    compare kinds by these numbers, not one translator with another.

    Raises:
        DataError: the wheel that carries the sentences cannot be had, or holds others.
    """
    test = read_texts("home-assistant-es").test
    pairs = {digest(*pair): pair for pair in zip(*test, strict=True)}
    found = []
    for pair, note in read_notes(ERRORS, pairs):
        errors, said = note.split(" | ")
        found.append(Judged(*pair, said, dict(map(read, errors.split())) if errors != "right" else {}))
    return found


def read(error: str) -> tuple[str, tuple[int, ...]]:
    """Kind and words, from "kind:j,j" or "kind"."""
    kind, _, words = error.partition(":")
    return kind, tuple(map(int, words.split(","))) if words else ()

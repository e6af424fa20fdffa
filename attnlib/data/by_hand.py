"""Files in which readers of two languages have noted by hand what they saw in pairs of sentences."""

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeVar

from attnlib.data.wheels import DataError

Pair = TypeVar("Pair")


def digest(source: str, target: str) -> str:
    """What a pair of sentences is known by in such a file: it holds no text of others."""
    return hashlib.sha256(f"{source}\t{target}".encode()).hexdigest()[:16]


def read_notes(file: Path, pairs: Mapping[str, Pair]) -> Iterator[tuple[Pair, str]]:
    """Each pair that a file has a note about, with the note, in the order of the file.

    Args:
        file: the rule by which the notes were made, after "#", then lines of digest, blank, note.
        pairs: of a test part, by their `digest`.

    Raises:
        DataError: a note is about another pair.
    """
    for line in file.read_text("utf8").splitlines():
        if line.startswith("#"):
            continue
        name, _, note = line.partition(" ")
        if name not in pairs:
            raise DataError(f"the sentence {name} of {file.name} is not in the test part any more")
        yield pairs[name], note

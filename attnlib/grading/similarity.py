"""Whose code is like whose: a table for a person to look at, which proves nothing.

Two measures, both of the tokens that are left without comments and white space: as they are written, and with every
name of the student's own replaced by one letter. RapidFuzz compares the sequences. Short answers are alike by
necessity, so each pair is also ranked against the whole class: what counts is not that two are alike, but that they are
much more alike than others.
"""

import builtins
import csv
import io
import itertools
import keyword
import tokenize
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import Indel

#: Tokens that say nothing of how something is written.
BLANK = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENCODING, tokenize.ENDMARKER}
#: An answer of fewer tokens is like every other.
SHORTEST = 25
COLUMNS = ["student", "other", "question", "as written", "names replaced", "above the class", "tokens"]


@dataclass(frozen=True)
class Pair:
    """Two students' answers to one question.

    Attributes:
        students: Who.
        question: Which answer.
        written: Share of tokens that agree, 0 to 1.
        renamed: The same with the students' own names replaced.
        above: How far `written` is above the median of the class, in ranges between its quartiles; 0 where the class
            does not differ.
        tokens: How long the shorter one is.
    """

    students: tuple[str, str]
    question: str
    written: float
    renamed: float
    above: float
    tokens: int


def tokens(code: str, given: frozenset[str] = frozenset()) -> tuple[list[str], list[str]]:
    """The tokens of an answer: as they are written, and with own names replaced; empty where it is no Python.

    Args:
        code: The answer.
        given: Names that everybody has, such as those of the hand-out.

    Example:
        >>> tokens("total = 0  # the sum")
        (['total', '=', '0'], ['v', '=', '0'])
    """
    known = given | set(dir(builtins)) | set(keyword.kwlist)
    written, renamed, before = [], [], ""
    try:
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            if token.type in BLANK:
                continue
            text = {tokenize.INDENT: "{", tokenize.DEDENT: "}"}.get(token.type, token.string)
            own = token.type == tokenize.NAME and text not in known and before != "."
            written.append(text)
            renamed.append("v" if own else text)
            before = text
    except (tokenize.TokenError, SyntaxError):
        return [], []
    return written, renamed


def pairs(code: dict[str, dict[str, str]], stubs: dict[str, str]) -> list[Pair]:
    """All pairs of a class, the most alike first.

    Args:
        code: `{student: {question: answer}}`.
        stubs: `{question: what the hand-out gives}`; an answer that is still the stub is left out, and names in it are
            everybody's.
    """
    found = []
    for question, stub in stubs.items():
        given = frozenset(tokens(stub)[0])
        answers = {student: own[question] for student, own in code.items() if own.get(question, stub) != stub}
        split = {student: tokens(answer, given) for student, answer in answers.items()}
        split = {student: both for student, both in split.items() if len(both[0]) >= SHORTEST}
        found += _compared(question, split)
    return sorted(found, key=lambda pair: (-pair.above, -pair.written, pair.students))


def _compared(question: str, split: dict[str, tuple[list[str], list[str]]]) -> list[Pair]:
    """The pairs of one question."""
    students = sorted(split)
    if len(students) < 2:
        return []
    written, renamed = (
        process.cdist(*[[split[s][which] for s in students]] * 2, scorer=Indel.normalized_similarity)
        for which in (0, 1)
    )
    upper = written[np.triu_indices(len(students), 1)]
    low, middle, high = np.percentile(upper, [25, 50, 75])
    spread = float(high - low)
    return [
        Pair(
            (students[a], students[b]),
            question,
            float(written[a, b]),
            float(renamed[a, b]),
            float(written[a, b] - middle) / spread if spread else 0.0,
            min(len(split[students[a]][0]), len(split[students[b]][0])),
        )
        for a, b in itertools.combinations(range(len(students)), 2)
    ]


def write(found: list[Pair], path: Path, most: int = 200) -> None:
    """Write the first pairs of a class as CSV."""
    with path.open("w", encoding="utf8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for pair in found[:most]:
            numbers = [f"{pair.written:.2f}", f"{pair.renamed:.2f}", f"{pair.above:+.1f}", pair.tokens]
            writer.writerow([*pair.students, pair.question, *numbers])

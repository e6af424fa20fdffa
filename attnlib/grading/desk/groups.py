"""Equal answers in one group, and groups that resemble each other in a row."""

import ast
import hashlib
import itertools
import re
from dataclasses import dataclass

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage
from sklearn.feature_extraction.text import TfidfVectorizer

#: Longer code is compared as text: to parse it takes memory, and no person has written it.
LONGEST_CODE = 200_000
#: So many characters of each answer decide beside which other one it stands.
LONGEST_COMPARED = 5_000
#: Up to so many groups the order of a row is optimised; the time grows with the third power.
MOST_OPTIMISED = 400


@dataclass
class Group:
    """Answers that are the same.

    Attributes:
        id: The same for the same answer, whoever else hands in.
        members: Students, by name.
        empty: Is nothing written there?
        near: How much this group resembles the one before it, 0 to 1.
    """

    id: str
    members: list[str]
    empty: bool = False
    near: float = 0.0


def words_of(text: str) -> str:
    r"""A text without differences of white space and of case.

    Example:
        >>> words_of("  Too\n negative. ") == words_of("too negative.")
        True
    """
    return " ".join(text.split()).casefold()


def tree_of(code: str) -> str:
    """What code says to Python: its syntax tree, which has no comments; the text itself where it is no Python.

    Example:
        >>> tree_of("x=1 # one") == tree_of("x = 1"), tree_of("x = (") == tree_of("x  = (")
        (True, True)
    """
    if len(code) <= LONGEST_CODE:
        try:
            return ast.dump(ast.parse(code))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            pass
    return "\n".join(re.sub(r"(?<=\S)[ \t]+", " ", line).rstrip() for line in code.splitlines() if line.strip())


def grouped(answers: dict[str, str], keys: dict[str, str], untouched: str = "") -> list[Group]:
    """Put students with equal keys into one group, and similar groups beside each other.

    Args:
        answers: `{student: text or code}`; what is compared to find similar ones.
        keys: `{student: key}`; answers with the same key are the same.
        untouched: The key of what was handed out; this and the empty key are one group, which comes last.
    """
    members: dict[str, list[str]] = {}
    for student in sorted(answers):
        key = keys[student]
        members.setdefault("" if key == untouched else key, []).append(student)
    empty = members.pop("", [])
    order, near = row([answers[found[0]] for found in members.values()])
    listed = list(members.items())
    groups = [Group(digest(listed[n][0]), listed[n][1], near=near_) for n, near_ in zip(order, near, strict=True)]
    return groups + ([Group(digest(""), empty, empty=True)] if empty else [])


def digest(text: str) -> str:
    """A short name for a text."""
    return hashlib.sha256(text.encode("utf8", "surrogatepass")).hexdigest()[:16]


def row(texts: list[str]) -> tuple[list[int], list[float]]:
    """An order in which similar texts are neighbours, and how similar each is to the one before it.

    Two texts are compared by the triples of letters in their words, weighted against those that all have.
    """
    if len(texts) < 2:
        return list(range(len(texts))), [0.0] * len(texts)
    vectors = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 3))
    try:
        table = vectors.fit_transform([text[:LONGEST_COMPARED] for text in texts])
    except ValueError:  # not one triple in all of them
        return list(range(len(texts))), [0.0] * len(texts)
    alike = (table @ table.T).toarray().clip(0, 1)
    upper = np.triu_indices(len(texts), 1)
    optimal = len(texts) <= MOST_OPTIMISED
    order = leaves_list(linkage(1 - alike[upper], "average", optimal_ordering=optimal)).tolist()
    return order, [0.0, *(round(float(alike[a, b]), 2) for a, b in itertools.pairwise(order))]

"""The corpora that are made on the spot, each of them once, and what identifies their items."""

import functools

import torch
from torch.testing import assert_close

from attnlib.data.cards import Splits
from attnlib.data.examples import Rows
from attnlib.data.labelled import Labelled, load_questions
from attnlib.data.rows import load_recall, load_relations, load_repeats
from attnlib.data.tasks import load_copy, load_retrieval, load_reverse

SIZES = (700, 130, 170)
EXAMPLE_LOADERS = {"copy": load_copy, "reverse": load_reverse, "retrieval": load_retrieval}
ROW_LOADERS = {"recall": load_recall, "repeats": load_repeats, "relations": load_relations, "questions": load_questions}
LOADERS = EXAMPLE_LOADERS | ROW_LOADERS


@functools.cache
def corpus(name: str) -> Splits:
    """What a loader makes of `SIZES`; nobody changes it."""
    return LOADERS[name](sizes=SIZES)


def contents(part) -> list:
    """What identifies each item of a part: its source, or its row with all that is in it."""
    if isinstance(part, list):
        return [example.source for example in part]
    if isinstance(part, Labelled):
        return [tuple(row[:n]) for row, n in zip(part.tokens.tolist(), part.lengths.tolist(), strict=True)]
    return [tuple(row) for row in whole_rows(part)]


def whole_rows(rows: Rows) -> list[list[int]]:
    """The rows with the last target, where the targets are the tokens one place later."""
    if rows.targets.dim() == 3:
        return rows.tokens.tolist()
    assert_close(rows.targets[:, :-1], rows.tokens[:, 1:], rtol=0, atol=0)
    return torch.cat([rows.tokens, rows.targets[:, -1:]], 1).tolist()


def words(part, row: list[int]) -> list[str]:
    """The tokens of a row."""
    return part.vocabulary.decode(torch.tensor(row))

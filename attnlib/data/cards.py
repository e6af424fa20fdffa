"""What every corpus is, where it comes from, and how it is split."""

from typing import Generic, NamedTuple, TypeVar

Item = TypeVar("Item")


class Splits(NamedTuple, Generic[Item]):
    """Three parts of a corpus that share nothing: train on one, stop by the second, report the third once."""

    train: Item
    dev: Item
    test: Item


class DataCard(NamedTuple):
    """A corpus in one row of a table."""

    title: str
    source: str  # the package that carries it, with version
    licence: str
    size: str
    split: str  # and why nothing leaks from one part to another

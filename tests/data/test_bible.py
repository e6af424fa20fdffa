"""Linked verses: every link is where its editors put it, and no verse of the test book was seen in training."""

import csv
import functools
import hashlib
import io
import json
import unicodedata
import zipfile

import jaxtyping
import pytest

from attnlib.data import bible
from attnlib.data.bible import load_bible, read_verses, without_grave
from attnlib.data.examples import Example, vocabularies
from attnlib.data.wheels import fetch_wheel

GREEK = "data/sources/SBLGNT.tsv"
ENGLISH = "data/eng/targets/BSB/nt_BSB.tsv"
LINKS = "data/eng/alignments/BSB/SBLGNT-BSB-manual.json"


def test_a_training_verse_that_is_held_out_too_is_dropped(monkeypatch):
    texts = {
        "40001001": ("α β", "a b"),
        "40001002": ("α γ", "a c"),  # the Greek of a verse for testing
        "41001001": ("α δ", "a d"),  # the English of a verse for stopping
        "43001001": ("α γ", "x y"),
        "66001001": ("α ε", "a d"),
    }
    verses = {name: Example(*(tuple(text.split()) for text in pair), set(), set()) for name, pair in texts.items()}
    monkeypatch.setattr(bible, "read_verses", lambda: verses)
    assert load_bible() == ([verses["40001001"]], [verses["66001001"]], [verses["43001001"]])


def test_grave_accents_become_acute():
    assert without_grave("τὸν") == unicodedata.normalize("NFC", "τόν")
    assert without_grave("ὃς καὶ") == unicodedata.normalize("NFC", "ὅς καί")  # the breathing stays
    assert without_grave("ἡ ἀρχῇ ϊ") == unicodedata.normalize("NFC", "ἡ ἀρχῇ ϊ")


# --- the corpus itself ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def verses():
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)  # a million calls, and no tensor in them
        return read_verses()


@pytest.fixture(scope="module")
def parts(verses):
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(bible, "read_verses", lambda: verses)
        return load_bible()


def test_corpus_is_the_same_on_every_machine(parts):
    assert tuple(map(len, parts)) == (6626, 400, 877)
    assert [sum(len(verse.sure) for verse in part) for part in parts] == [156830, 11958, 20348]
    digests = [
        hashlib.sha256(repr([(v.source, v.target, sorted(v.sure)) for v in part]).encode()).hexdigest()[:16]
        for part in parts
    ]
    assert digests == ["92649b997af21cf5", "9b4835b5abbabbb7", "e1f7389e2b9022a2"]


def test_no_verse_of_a_part_is_known_from_another(parts, verses):
    for side in range(2):
        train, dev, test = ({verse[side] for verse in part} for part in parts)
        assert not train & test and not train & dev and not dev & test
    for part, book in ((parts.dev, "66"), (parts.test, "43")):
        assert part == [verse for number, verse in verses.items() if number.startswith(book)]
    rest = [verse for number, verse in verses.items() if number[:2] not in ("43", "66")]
    assert len(rest) == len(parts.train) + 1 and set(parts.train) < set(rest)  # the one that is dropped
    assert list(verses) == sorted(verses)


def test_every_link_is_its_editors(verses):
    """Read again in another way: word ids, and no places."""
    acute = functools.cache(without_grave)  # many words come a thousand times
    with zipfile.ZipFile(fetch_wheel("bible-alignments")) as wheel:
        tables = [
            list(csv.DictReader(io.TextIOWrapper(wheel.open(name), "utf8"), delimiter="\t", quoting=csv.QUOTE_NONE))
            for name in (GREEK, ENGLISH)
        ]
        records = json.loads(wheel.read(LINKS))["records"]
    greek = {row["id"]: row["text"] for row in tables[0]}
    english = {row["id"]: row["text"] for row in tables[1] if row["exclude"] != "y"}
    home = {row["id"]: row["source_verse"] for row in tables[1]} | {number: number[1:9] for number in greek}
    editors: dict[str, list] = {}
    torn = set()
    for record in records:
        words = [*record["source"], *record["target"]]
        if len(inside := {home[word] for word in words}) > 1:
            torn |= inside
        editors.setdefault(home[words[0]], []).extend(
            (greek[a].lower(), english[b].lower()) for a in record["source"] for b in record["target"]
        )
    assert set(verses) == set(editors) - torn
    for number, verse in verses.items():
        found = sorted((verse.source[j], verse.target[i]) for i, j in verse.sure)
        assert found == sorted((acute(a), b) for a, b in editors[number])
        assert verse.sure == verse.possible
    for side, words in enumerate((greek, english)):
        assert sum(home[word] in verses for word in words) == sum(len(verse[side]) for verse in verses.values())


def test_words_are_in_order_and_plain(verses):
    tokens = {token for verse in verses.values() for side in verse[:2] for token in side}
    assert all(token == token.lower() and token.strip() for token in tokens)
    assert not any("\u0300" in unicodedata.normalize("NFD", token) for token in tokens)
    greek, english = vocabularies(list(verses.values()))
    assert not set(".,;:!?“”()…—") & {token for token in english.tokens}
    assert (len(greek), len(english)) == (18027 + 4, 6796 + 4)


def test_card_is_true(verses, parts):
    n = len(verses)
    words = [sum(len(verse[k]) for verse in verses.values()) / n for k in range(3)]
    assert bible.CARD.size.startswith(
        f"{n} verses, with {words[0]:.1f} Greek and {words[1]:.1f} English words and {words[2]:.1f} links"
    )
    assert " + ".join(str(len(part)) for part in parts) in bible.CARD.size

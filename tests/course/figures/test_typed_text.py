"""Typed text in the page: read as the corpora have it, and cut into pieces as sentencepiece cuts it, and back."""

import base64
import random
import sys
import unicodedata

import pytest
import torch

import attnlib.course.figures as room
from attnlib.data.subwords import Subwords
from attnlib.data.texts import read_texts
from attnlib.data.translation import detokenize, tokenize
from attnlib.figures.assets import module
from tests.node import run_in_node

PIECES, PLAIN = (module(name, beside=room.__file__) for name in ("subwords.js", "plain_text.js"))

#: What no training text had, and what somebody may type all the same.
HOSTILE = [
    "", " ", "\t\n ", "a" * 3000, "the " * 700, "🙂🙂 the 🙂", "日本語 the", "שלום", "é e\u0301 \u0301\u0301", "a\0b",
    "\0", "\x01", "▁", "▁▁the▁ ▁", "<unk> <bos> <pad>", "ﬁne ½ ﷺ ①", "\u200bthe\u200d", "\ufeffthe", "the\u3000the",
    "\u202ethe\u202c", "Å\u0327", "\U0010ffff", "\x85\x1c\u2028", "A\u0302\u0301 \u1100\u1161\u11a8",
]  # fmt: skip


def drawn(n: int, seed: int = 0) -> list[str]:
    """Texts of any characters that Unicode knows, and of words between them."""
    rng = random.Random(seed)
    known = [chr(c) for c in range(sys.maxunicode + 1) if unicodedata.category(chr(c)) not in ("Cn", "Cs")]
    words = [
        "the ",
        "restart",
        "▁",
        " ",
        "ñ",
        "X",
        "\u0301",
        "🙂",
        ".",
        "(",
        "'",
        "’",
        "[a](b)",
        "{host}",
        "*",
        "Σ",
        "İ",
    ]
    any_characters = ["".join(rng.choices(known, k=rng.randint(1, 12))) for _ in range(n)]
    return any_characters + ["".join(rng.choices(words, k=rng.randint(1, 12))) for _ in range(n)]


@pytest.fixture(scope="module")
def texts():
    return read_texts("home-assistant-es")


@pytest.fixture(scope="module")
def subwords(texts):
    return Subwords.learn([*texts.train.source[:2000], *texts.train.target[:2000]], 600)


def in_page(subwords: Subwords, expression: str, argument) -> object:
    """An expression of `pieces`, made of the same bytes, and `argument`."""
    made = "m.subwordsOf(Uint8Array.from(Buffer.from(argument.model, 'base64')))"
    given = {"model": base64.b64encode(subwords.model).decode(), "argument": argument}
    return run_in_node(PIECES, f"((pieces, argument) => {expression})({made}, argument.argument)", given)


def test_the_page_cuts_every_sentence_and_anything_else_as_sentencepiece_does(texts, subwords):
    everything = [*texts.test.source, *texts.test.target, *HOSTILE, *drawn(1500)]
    assert len(texts.test.source) > 2000
    got = in_page(subwords, "argument.map((text) => pieces.encode(text))", everything)
    for text, found in zip(everything, got, strict=True):
        assert (found["ids"], found["pieces"]) == subwords.cut(text), repr(text)


def test_of_equal_neighbours_the_first_are_merged():
    doubled = Subwords.learn(["aab caa aad"] * 3, 12)
    texts = ["a" * n for n in range(1, 8)]
    assert ["aa", "a"] == doubled.cut("daaa")[1][-2:]
    got = in_page(doubled, "argument.map((text) => pieces.encode(text).pieces)", [f"d{text}" for text in texts])
    assert got == [doubled.cut(f"d{text}")[1] for text in texts]


def test_the_page_writes_pieces_as_sentencepiece_does(subwords):
    rng = random.Random(1)
    runs = [[rng.choice([0, 1, 2, 3, rng.randrange(600)]) for _ in range(rng.randint(0, 9))] for _ in range(2000)]
    blank = subwords.cut("a b")[0][1:2]
    runs += [subwords.encode(text).tolist() for text in drawn(300)] + [[3, *blank], [*blank, *blank, 3]]
    got = in_page(subwords, "argument.map((ids) => pieces.decode(ids))", runs)
    assert got == [subwords.decode(torch.tensor(ids, dtype=torch.long)) for ids in runs]


def test_the_page_reads_typed_text_as_the_corpora_have_it(texts):
    """Every character that Python's Unicode knows, and markup."""
    known = [chr(c) for c in range(sys.maxunicode + 1) if unicodedata.category(chr(c)) not in ("Cn", "Cs")]
    typed = [
        *("a".join(known[n : n + 16]) for n in range(0, len(known), 16)), *HOSTILE, *drawn(1000),
        "Open [the page](http://x) on **{host}**.", "It’s (a) 'b' [c]: `d`!",
        "ΟΔΟΣ ΣΑΣ.", "{a} {b-c} {} {", "[[a](b)](c)", "Restart the hub.",
    ]  # fmt: skip
    wanted = [detokenize(tokenize(text, "en"), "en") for text in typed]
    assert run_in_node(PLAIN, "argument.map(m.plainText)", typed) == wanted
    assert wanted[-1] == "restart the hub."
    assert all(detokenize(tokenize(text, "en"), "en").lower() == text.lower() for text in texts.test.source[:500])


def test_other_kinds_of_subwords_are_refused_in_the_page():
    for spec in (b"\x18\x00", b"\x20\x00", b"\x28\x00"):  # no blank before the text; extra blanks kept; not escaped
        message = b"\x1a" + bytes([len(spec)]) + spec
        refused = "(() => { try { m.subwordsOf(Uint8Array.from(argument)) } catch (e) { return e.message } })()"
        assert run_in_node(PIECES, refused, list(message)) == "subwords with other blanks are not known here"

"""Subwords: learned by merging, reversible, and the same ids for the special tokens as in every vocabulary."""

import io
from collections import Counter
from itertools import pairwise

import pytest
import torch
from sentencepiece import SentencePieceTrainer
from torch.testing import assert_close

from attnlib.data.subwords import Subwords
from attnlib.data.vocabulary import BOS, EOS, PAD, SPECIALS, UNK

TEXTS = ["low lower lowest", "new newer newest", "the slow snow", "wide wider widest"] * 5


@pytest.fixture(scope="module")
def subwords():
    return Subwords.learn(TEXTS, size=40)


def test_special_pieces_have_the_ids_of_every_vocabulary(subwords):
    assert subwords.pieces(torch.tensor([PAD, BOS, EOS, UNK])) == list(SPECIALS)
    assert len(subwords) == 40


def test_the_first_merge_is_that_of_the_most_frequent_neighbours(subwords):
    pairs = Counter(pair for text in TEXTS for word in text.split() for pair in pairwise("▁" + word))
    (first,) = subwords.pieces(torch.tensor([len(SPECIALS)]))
    assert first in {"".join(pair) for pair, count in pairs.items() if count == max(pairs.values())}


def test_every_word_of_known_letters_can_be_written(subwords):
    for text in (*TEXTS, "snower", "west wind n", ""):
        ids = subwords.encode(text)
        assert ids.dtype == torch.int64 and ids.dim() == 1
        assert UNK not in ids.tolist()
        assert subwords.decode(ids) == text
    assert len(subwords.encode("lowest")) < len("lowest")


def test_a_strange_letter_is_unknown_and_nothing_else_is(subwords):
    assert subwords.encode("lzw").tolist().count(UNK) == 1
    assert subwords.decode(subwords.encode("lzw")).replace(" ⁇ ", "z") == "lzw"


def test_an_unknown_piece_can_be_had_as_it_stands_in_the_text(subwords):
    assert subwords.cut("lzzw") == (subwords.encode("lzzw").tolist(), ["▁", "l", "zz", "w"])


def test_learning_is_reproducible_and_survives_the_disk(subwords, tmp_path):
    assert Subwords.learn(TEXTS, size=40).model == subwords.model
    subwords.save(tmp_path / "subwords.model")
    assert_close(Subwords.load(tmp_path / "subwords.model").encode("slower"), subwords.encode("slower"))
    assert repr(subwords) == "Subwords(40 pieces)"


def foreign() -> bytes:
    """A model with sentencepiece's own ids: <unk>, <s>, </s>."""
    model = io.BytesIO()
    SentencePieceTrainer.train(sentence_iterator=iter(TEXTS), model_writer=model, vocab_size=20, minloglevel=2)
    return model.getvalue()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda _: Subwords.learn(TEXTS, size=5), "no 5 pieces can be learned .*smaller than required_chars"),
        (lambda _: Subwords.learn(TEXTS, size=500), "no 500 pieces can be learned .*too high"),
        (lambda _: Subwords.learn([], size=9), "got 0 of them and nothing in them"),
        (lambda _: Subwords.learn(["", " "], size=9), "got 2 of them and nothing in them"),
        (lambda _: Subwords(b"hello"), "these 5 bytes are not a sentencepiece model"),
        (lambda _: Subwords(foreign()), "must be <pad>, <bos>, <eos>, <unk>, got <unk>, <s>"),
        (lambda subwords: subwords.decode(torch.tensor([40, 0, -1])), r"ids must lie in 0\.\.39, got \[40, -1\]"),
        (lambda subwords: subwords.pieces(torch.tensor([40, 0, -1])), r"ids must lie in 0\.\.39, got \[40, -1\]"),
    ],
)
def test_what_cannot_be_learned_or_read_is_refused(call, message, subwords):
    with pytest.raises(ValueError, match=message):
        call(subwords)

"""Subwords: learned by merging, reversible, and the same ids for the special tokens as in every vocabulary."""

import io
from collections import Counter
from itertools import pairwise

import pytest
import torch
from sentencepiece import SentencePieceTrainer
from torch.testing import assert_close

from attnlib.data.subwords import Subwords, word_shares
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


def test_the_pieces_of_a_word_are_its_own_and_every_piece_counts_once(subwords):
    words = ["slow", "snow", "widest", "newer"]
    _, pieces = subwords.cut(" ".join(words))
    shares = word_shares(words, pieces)
    assert shares.shape == (4, len(pieces)) and len(pieces) > 4
    assert_close(shares.sum(0), torch.ones(len(pieces)))
    for word, row in zip(words, shares, strict=True):
        own = [piece.replace("▁", "") for piece, share in zip(pieces, row, strict=True) if share == 1]
        assert "".join(own) == word


def test_a_piece_of_two_words_is_shared_by_characters_and_a_blank_belongs_to_what_follows():
    shares = word_shares(["ab", "c", "d"], ["▁a", "bc", "▁", "d", "▁"])
    assert shares.tolist() == [[1, 0.5, 0, 0, 0], [0, 0.5, 0, 0, 0], [0, 0, 1, 1, 1]]


@pytest.mark.parametrize(
    ("words", "pieces", "said"),
    [
        (["ab"], ["▁a", "c"], "the words 'ab' are not the pieces '▁a c'"),
        (["ab", "c"], ["▁ab"], "the words 'ab c' are not the pieces '▁ab'"),
        ([], [], r"need one word or more, none of them empty, got \[\]"),
        (["a", ""], ["▁a"], r"need one word or more, none of them empty, got \['a', ''\]"),
    ],
)
def test_words_and_pieces_of_different_sentences_are_refused(words, pieces, said):
    with pytest.raises(ValueError, match=said):
        word_shares(words, pieces)

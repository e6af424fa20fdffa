"""Subwords: learned by merging, reversible, and the same ids for the special tokens as in every vocabulary."""

from collections import Counter
from itertools import pairwise

import pytest
import torch
from torch.testing import assert_close

from attnlib.data.subwords import Subwords
from attnlib.data.vocabulary import BOS, EOS, PAD, SPECIALS, UNK

TEXTS = ["low lower lowest", "new newer newest", "the slow snow", "wide wider widest"] * 5


@pytest.fixture(scope="module")
def subwords():
    return Subwords.learn(TEXTS, size=40)


def first_merges(texts, n):
    """Byte-pair encoding from its definition: the most frequent neighbours become one piece."""
    words = Counter(tuple("▁" + word) for text in texts for word in text.split())
    merges = []
    for _ in range(n):
        pairs = Counter()
        for word, count in words.items():
            for pair in pairwise(word):
                pairs[pair] += count
        best = max(pairs.values())
        merges.append({"".join(pair) for pair, count in pairs.items() if count == best})
        chosen = "".join(next(pair for pair, count in pairs.items() if count == best))
        words = Counter({merged(word, chosen): count for word, count in words.items()})
    return merges


def merged(word, piece):
    out = []
    for part in word:
        if out and out[-1] + part == piece:
            out[-1] = piece
        else:
            out.append(part)
    return tuple(out)


def test_special_pieces_have_the_ids_of_every_vocabulary(subwords):
    assert subwords.pieces(torch.tensor([PAD, BOS, EOS, UNK])) == list(SPECIALS)
    assert len(subwords) == 40


def test_the_first_merge_is_that_of_the_most_frequent_neighbours(subwords):
    first = subwords.pieces(torch.tensor([len(SPECIALS)]))[0]
    assert first in first_merges(TEXTS, 1)[0]
    only = Subwords.learn(["aab aab ac"], size=4 + 4 + 1)  # ▁ a b c, and one merge
    assert only.pieces(torch.tensor([4])) == ["▁a"]  # ▁a three times, aa twice, ab twice, ac once


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


def test_learning_is_reproducible_and_survives_the_disk(subwords, tmp_path):
    assert Subwords.learn(TEXTS, size=40).model == subwords.model
    subwords.save(tmp_path / "subwords.model")
    assert_close(Subwords.load(tmp_path / "subwords.model").encode("slower"), subwords.encode("slower"))
    assert repr(subwords) == "Subwords(40 pieces)"


def test_what_cannot_be_learned_or_read_is_refused(subwords, tmp_path):
    for size, reason in ((5, "smaller than required_chars"), (500, "too high")):
        with pytest.raises(ValueError, match=f"no {size} pieces can be learned from these texts: .*{reason}"):
            Subwords.learn(TEXTS, size=size)
    for texts in ([], ["", " "]):
        with pytest.raises(ValueError, match=f"got {len(texts)} of them and nothing in them"):
            Subwords.learn(texts, size=9)
    with pytest.raises(ValueError, match="these 5 bytes are not a sentencepiece model"):
        Subwords(b"hello")
    for ids in ([40], [-1]):
        for read in (subwords.decode, subwords.pieces):
            with pytest.raises(ValueError, match=rf"ids must lie in 0\.\.39, got \[{ids[0]}\]"):
                read(torch.tensor(ids))


def test_a_model_with_other_special_ids_is_refused(tmp_path):
    import io

    from sentencepiece import SentencePieceTrainer

    other = io.BytesIO()  # sentencepiece's own habit: <unk>, <s>, </s>
    SentencePieceTrainer.train(
        sentence_iterator=iter(TEXTS), model_writer=other, vocab_size=30, model_type="bpe", minloglevel=2
    )
    with pytest.raises(ValueError, match="the first pieces must be <pad>, <bos>, <eos>, <unk>, got <unk>, <s>"):
        Subwords(other.getvalue())

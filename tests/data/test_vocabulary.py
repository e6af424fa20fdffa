"""A token has one number, a number one token, and a text that nobody could read is noticed."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attnlib.data import BOS, EOS, PAD, SPECIALS, UNK, Vocabulary


@given(st.text(alphabet="abcdé\n", max_size=20))
def test_decode_undoes_encode(text):
    vocabulary = Vocabulary("\nabcdé")
    ids = vocabulary.encode(text)
    assert ids.dtype == torch.long and ids.shape == (len(text),)
    assert "".join(vocabulary.decode(ids)) == text


def test_id_is_the_place_in_the_list():
    vocabulary = Vocabulary(["<unk>", "the", "cat"], unknown="<unk>")
    assert vocabulary.encode(["cat", "dog", "the", "<unk>"]).tolist() == [2, 0, 1, 0]
    assert vocabulary.decode(torch.tensor([2, 0])) == ["cat", "<unk>"]
    assert repr(vocabulary) == "Vocabulary(3 tokens, unknown='<unk>')"
    assert SPECIALS == ("<pad>", "<bos>", "<eos>", "<unk>") and (PAD, BOS, EOS, UNK) == (0, 1, 2, 3)


WORDS = ["the", "cat", "the", "dog", "the", "cat", "a", "b"]
TEXT = ["b", "b", "b", "a", "a", "c", "<eos>", "<eos>", "<eos>", "<eos>"]


@pytest.mark.parametrize(
    ("text", "options", "tokens"),
    [
        # the most frequent first, those that are as frequent in alphabetical order
        (WORDS, {}, ["the", "cat", "a", "b", "dog"]),
        (iter(WORDS), {"size": 3}, ["the", "cat", "a"]),
        (WORDS, {"size": 3, "unknown": "?"}, ["?", "the", "cat"]),
        ([*WORDS, "?"], {"unknown": "?"}, ["?", "the", "cat", "a", "b", "dog"]),
        ("banana", {}, ["a", "n", "b"]),
        # special ones come first, whatever their counts, and count in the size
        (TEXT, {"specials": SPECIALS}, [*SPECIALS, "b", "a", "c"]),
        (TEXT, {"size": 6, "unknown": "<unk>", "specials": SPECIALS}, [*SPECIALS, "b", "a"]),
        (TEXT, {"unknown": "?", "specials": ("<eos>",)}, ["?", "<eos>", "b", "a", "c"]),
        (TEXT, {"size": 3, "unknown": "?", "specials": ["<eos>"]}, ["?", "<eos>", "b"]),
        (TEXT, {"unknown": "?", "specials": ["<eos>", "?"]}, ["<eos>", "?", "b", "a", "c"]),
    ],
)
def test_count_keeps_the_most_frequent_in_a_fixed_order(text, options, tokens):
    assert Vocabulary.count(text, **options).tokens == tokens


def english() -> Vocabulary:
    return Vocabulary.count(["the", "cat"], unknown="<unk>", specials=SPECIALS)


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        (["a", "cat", "and", "the", "dog"], [UNK, 4, UNK, 5, UNK]),
        (["le", "chat", "cat"], [UNK, UNK, 4]),
        (["<eos>", "chat"], [EOS, UNK]),
        (["<unk>", "<unk>"], [UNK, UNK]),  # written as such, and no stranger
        ([], []),
    ],
)
def test_text_with_a_known_word_or_without_words_is_taken(text, ids):
    found = english().encode(text)
    assert found.tolist() == ids and found.dtype == torch.long


@pytest.mark.parametrize("text", [["chat"], ["le", "chat", "le"], ["<unk>", "chat"]])
def test_text_without_a_known_word_is_refused_and_named_and_taken_on_request(text):
    with pytest.raises(ValueError, match="none of these is in the vocabulary") as error:
        english().encode(text)
    assert str(error.value).endswith(str(sorted({*text} - {"<unk>"})))
    assert english().encode(text, require_known=False).tolist() == [UNK] * len(text)


NUMBERS = [f"{n:03}" for n in range(500)]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Vocabulary("abcb"), r"occur twice: \['b'\]"),
        (lambda: Vocabulary("abc", unknown="?"), r"unknown token '\?' is not among"),
        (lambda: Vocabulary("abc").encode("axbéx"), r"no unknown token: \['x', 'é'\]"),
        (lambda: Vocabulary("abc").encode("x", require_known=False), r"no unknown token: \['x'\]"),
        # the names of a long unreadable text stay few
        (lambda: Vocabulary("?a", unknown="?").encode(NUMBERS), r"\['000', '001', .* '009'\]$"),
        (lambda: Vocabulary("abc").decode(torch.tensor([2, -1, 3])), r"ids must lie in 0\.\.2, got \[-1, 3\]"),
        (lambda: Vocabulary.count("abc", size=3, specials=SPECIALS), r"at least 4, to hold \['<pad>', .*\]; got 3"),
        (lambda: Vocabulary.count("abc", size=0, unknown="?"), r"at least 1, to hold \['\?'\]; got 0"),
        (lambda: Vocabulary.count("abc", size=-1), r"at least 0, to hold \[\]; got -1"),
        (lambda: Vocabulary.count("abc", specials=("<a>", "<b>", "<a>")), r"occur twice: \['<a>'\]"),
    ],
)
def test_what_has_no_number_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()

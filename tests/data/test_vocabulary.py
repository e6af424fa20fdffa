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
    assert len(vocabulary) == 3
    assert repr(vocabulary) == "Vocabulary(3 tokens, unknown='<unk>')"


def test_count_keeps_the_most_frequent_in_a_fixed_order():
    text = ["the", "cat", "the", "dog", "the", "cat", "a", "b"]
    assert Vocabulary.count(text).tokens == ["the", "cat", "a", "b", "dog"]
    assert Vocabulary.count(text, size=3).tokens == ["the", "cat", "a"]
    assert Vocabulary.count(text, size=3, unknown="?").tokens == ["?", "the", "cat"]
    assert Vocabulary.count([*text, "?"], unknown="?").tokens == ["?", "the", "cat", "a", "b", "dog"]
    assert Vocabulary.count("banana").tokens == ["a", "n", "b"]
    assert Vocabulary.count(iter(text)).tokens == Vocabulary.count(text).tokens


def test_strangers_are_named():
    with pytest.raises(ValueError, match=r"no unknown token: \['x', 'é'\]"):
        Vocabulary("abc").encode("axbéx")
    with pytest.raises(ValueError, match=r"occur twice: \['b'\]"):
        Vocabulary("abcb")
    with pytest.raises(ValueError, match=r"unknown token '\?' is not among"):
        Vocabulary("abc", unknown="?")


def test_id_outside_the_vocabulary_is_refused():
    vocabulary = Vocabulary("abc")
    for ids, named in (([0, 3], "3"), ([2, -1, 7], "-1, 7")):
        with pytest.raises(ValueError, match=rf"ids must lie in 0\.\.2, got \[{named}\]"):
            vocabulary.decode(torch.tensor(ids))
    assert vocabulary.decode(torch.tensor([0, 2])) == ["a", "c"]
    assert vocabulary.decode(torch.tensor([], dtype=torch.long)) == []


# --- special tokens ---------------------------------------------------------------------------------


def test_specials_have_the_same_ids_in_every_vocabulary():
    for text in (["the", "cat", "the", "dog"], [], ["<eos>", "<eos>", "<eos>", "<bos>"]):
        vocabulary = Vocabulary.count(text, unknown="<unk>", specials=SPECIALS)
        assert vocabulary.tokens[:4] == ["<pad>", "<bos>", "<eos>", "<unk>"]
        assert [vocabulary.ids[token] for token in ("<pad>", "<bos>", "<eos>", "<unk>")] == [0, 1, 2, 3]
        assert len(vocabulary.tokens) == len(set(vocabulary.tokens))
    assert (PAD, BOS, EOS, UNK) == (0, 1, 2, 3)


def test_specials_come_first_and_count_in_the_size():
    text = ["b", "b", "b", "a", "a", "c", "<eos>", "<eos>", "<eos>", "<eos>"]
    assert Vocabulary.count(text, specials=SPECIALS).tokens == [*SPECIALS, "b", "a", "c"]
    assert Vocabulary.count(text, size=6, unknown="<unk>", specials=SPECIALS).tokens == [*SPECIALS, "b", "a"]
    assert Vocabulary.count(text, size=4, unknown="<unk>", specials=SPECIALS).tokens == [*SPECIALS]
    assert Vocabulary.count(text, unknown="?", specials=("<eos>",)).tokens == ["?", "<eos>", "b", "a", "c"]
    assert Vocabulary.count(text, size=3, unknown="?", specials=["<eos>"]).tokens == ["?", "<eos>", "b"]
    assert Vocabulary.count(text, unknown="?", specials=["<eos>", "?"]).tokens == ["<eos>", "?", "b", "a", "c"]


def test_size_without_room_for_the_specials_is_refused():
    with pytest.raises(ValueError, match=r"size must be at least 4, to hold \['<pad>', .*\]; got 3"):
        Vocabulary.count("abc", size=3, specials=SPECIALS)
    with pytest.raises(ValueError, match=r"size must be at least 1, to hold \['\?'\]; got 0"):
        Vocabulary.count("abc", size=0, unknown="?")
    with pytest.raises(ValueError, match=r"size must be at least 0, to hold \[\]; got -1"):
        Vocabulary.count("abc", size=-1)
    with pytest.raises(ValueError, match=r"occur twice: \['<a>'\]"):
        Vocabulary.count("abc", specials=("<a>", "<b>", "<a>"))


def test_strangers_become_the_unknown_token_wherever_it_stands():
    vocabulary = Vocabulary.count(["the", "cat"], unknown="<unk>", specials=SPECIALS)
    assert vocabulary.encode(["a", "cat", "and", "the", "dog"]).tolist() == [UNK, 4, UNK, 5, UNK]
    assert vocabulary.decode(torch.tensor([BOS, 5, UNK, EOS, PAD])) == ["<bos>", "the", "<unk>", "<eos>", "<pad>"]


# --- texts without a known word ---------------------------------------------------------------------


@pytest.mark.parametrize("text", [["chat"], ["le", "chat", "le"], ["<unk>", "chat"]])
def test_text_without_a_known_word_is_refused_and_named(text):
    vocabulary = Vocabulary.count(["the", "cat"], unknown="<unk>", specials=SPECIALS)
    with pytest.raises(ValueError, match="none of these is in the vocabulary") as error:
        vocabulary.encode(text)
    assert str(sorted({*text} - {"<unk>"})) in str(error.value)
    assert vocabulary.encode(text, require_known=False).tolist() == [UNK] * len(text)


def test_names_of_a_long_unreadable_text_stay_few():
    vocabulary = Vocabulary(["?", "a"], unknown="?")
    with pytest.raises(ValueError) as error:
        vocabulary.encode([f"{n:03}" for n in range(500)])
    assert str(error.value).endswith(str([f"{n:03}" for n in range(10)]))


def test_text_with_a_known_word_or_without_words_is_taken():
    vocabulary = Vocabulary.count(["the", "cat"], unknown="<unk>", specials=SPECIALS)
    assert vocabulary.encode(["le", "chat", "cat"]).tolist() == [UNK, UNK, 4]
    assert vocabulary.encode(["<eos>", "chat"]).tolist() == [EOS, UNK]
    assert vocabulary.encode(["<unk>", "<unk>"]).tolist() == [UNK, UNK]  # written as such, and no stranger
    assert vocabulary.encode([]).tolist() == [] and vocabulary.encode([]).dtype == torch.long
    assert Vocabulary("abc").encode("").shape == (0,)


def test_require_known_lets_no_unknown_token_into_a_vocabulary_without_unknown():
    with pytest.raises(ValueError, match=r"no unknown token: \['x'\]"):
        Vocabulary("abc").encode("x", require_known=False)

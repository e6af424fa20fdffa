"""Each label follows from its text by other means, and no sentence is in two parts."""

import json
import re
import zipfile
from collections import Counter, defaultdict

import pytest

from attnlib.data.cards import Splits
from attnlib.data.examples import part_of
from attnlib.data.labelled import CARDS, NEUTRAL, OPINIONS, load_messages, load_questions
from attnlib.data.translation import tokenize
from attnlib.data.vocabulary import SPECIALS
from attnlib.data.wheels import fetch_wheel

# --- questions --------------------------------------------------------------------------------------


def test_a_question_is_answered_by_the_word_about_its_matter():
    praise = {word for good, _ in OPINIONS.values() for word in good}
    matter_of = {word: matter for matter, sides in OPINIONS.items() for side in sides for word in side}
    parts = load_questions(sizes=(300, 50, 50))
    texts = []
    for part in parts:
        for row, S, label, gold in zip(*part[:-1], strict=True):
            words = part.vocabulary.decode(row[:S])
            opinions = [word for word in words if word in matter_of]
            assert sorted(matter_of[word] for word in opinions) == sorted(OPINIONS)
            assert sum(word in praise for word in opinions) == 3  # so the question decides
            assert matter_of[words[gold]] == words[0] and (words[gold] in praise) == bool(label)
            assert 8 <= S - 1 <= 14
            assert row[S:].tolist() == [0] * (len(row) - S)
            texts.append(tuple(words))
    assert len(set(texts)) == 400


@pytest.mark.parametrize("lengths", [(5, 9), (9, 8)])
def test_texts_too_short_for_all_matters_are_refused(lengths):
    with pytest.raises(ValueError, match="lengths"):
        load_questions(sizes=(1, 0, 0), lengths=lengths)


def test_questions_lengths_and_places_are_spread():
    train = load_questions(sizes=(1000, 0, 0)).train
    assert set((train.lengths - 1).tolist()) == set(range(8, 15))
    assert 430 < train.labels.sum() < 570
    assert set(train.gold.tolist()) == set(range(1, 15))  # 0 is the question
    last = (train.gold == train.lengths - 1).double().mean()
    first = (train.gold == 1).double().mean()
    assert 0.06 < last < 0.13 and 0.06 < first < 0.13  # the mean of 1 / length is .09
    places: dict[str, Counter] = defaultdict(Counter)
    for row, S in zip(train.tokens, train.lengths, strict=True):
        for j, word in enumerate(train.vocabulary.decode(row[1:S])):
            places[word][j] += 1
    said = {word for sides in OPINIONS.values() for side in sides for word in side}
    assert set(places) == said | set(NEUTRAL)
    assert len({*said, *OPINIONS, *NEUTRAL, *SPECIALS}) == len(train.vocabulary)
    # a matter stands anywhere, whatever its rank among the six
    for sides in OPINIONS.values():
        found = sum((places[word] for side in sides for word in side), Counter())
        assert len(found) == 14 and min(found[j] for j in range(8)) > 50  # about 90 each


# --- messages ---------------------------------------------------------------------------------------

SIZES = (4000, 400, 400)


@pytest.fixture(scope="module")
def messages():
    return load_messages()  # enough that sentences of several integrations are drawn


@pytest.fixture(scope="module")
def interface() -> dict[tuple[str, ...], set[tuple[str, bool]]]:
    """Each text of the wheel: the integrations that have it, and whether it is an error there."""
    found = defaultdict(set)

    def walk(tree, integration, error, depth):
        for key, value in tree.items():
            below = error or (depth < 2 and key in ("error", "abort", "exceptions"))
            if isinstance(value, dict):
                walk(value, integration, below, depth + 1)
            else:
                found[tokenize(value, "en")].add((integration, below))

    with zipfile.ZipFile(fetch_wheel("homeassistant")) as wheel:
        for name in wheel.namelist():
            if match := re.fullmatch(r"homeassistant/components/(\w+)/translations/en\.json", name):
                walk(json.loads(wheel.read(name)), match[1], False, 0)
    return found


def known(part) -> list[tuple[tuple[str, ...], int]]:
    """The texts of a part that have no unknown word, with their labels."""
    texts = [tuple(part.vocabulary.decode(row[:S])) for row, S in zip(part.tokens, part.lengths, strict=True)]
    return [(text, label) for text, label in zip(texts, part.labels.tolist(), strict=True) if "<unk>" not in text]


def test_messages_are_half_errors_and_no_sentence_is_in_two_parts(messages):
    assert CARDS["messages"].size.startswith("{} + {} + {} sentences of up to 20 tokens".format(*SIZES))
    for part, size in zip(messages, SIZES, strict=True):
        assert len(part.labels) == size and part.labels.sum() == size // 2 and part.lengths.max() <= 20
    train, dev, test = ({text for text, _ in known(part)} for part in messages)
    assert not train & dev and not train & test and not dev & test


def test_messages_are_errors_where_the_interface_says_so(messages, interface):
    for name, part in zip(Splits._fields, messages, strict=True):
        texts = known(part)
        assert len(texts) > 100
        for text, label in texts:
            here = {error for integration, error in interface[text] if part_of(integration) == name}
            assert bool(label) in here


def test_the_words_of_messages_are_those_of_training():
    messages = load_messages(sizes=(200, 60, 60))  # they have fewer than 2,000 words
    train = messages.train
    assert "<unk>" not in {word for text in train.tokens for word in train.vocabulary.decode(text)}
    assert all(part.vocabulary is train.vocabulary for part in messages)
    assert any("<unk>" in part.vocabulary.decode(part.tokens.flatten()) for part in messages[1:])

"""Requests with names: answers that follow from them, links that are right, and names that no two parts share."""

import re
from collections import Counter

import pytest

from attnlib.data.examples import part_of
from attnlib.data.names import FILLINGS, REQUESTS, fill, linked, load_names, name_lists, words_without_names
from attnlib.data.vocabulary import SPECIALS, UNK

SMALL = (300, 60, 60)


@pytest.fixture(scope="module")
def parts():
    return load_names(SMALL)


def names_in(words) -> set[str]:
    return {word for word in words if re.fullmatch(r"[A-Z][a-z]+", word)}


def sentence_patterns():
    """Each request and answer as regular expressions; a slot is a filling, or a name of one or two words."""
    person = r"(?P<{}>[A-Z][a-z]+(?: [A-Z][a-z]+)?)"
    for request, answer in REQUESTS.items():
        patterns = []
        for sentence in (request, answer):
            seen, words = set(), []
            for word in sentence.split():
                slot = word.strip("{}")
                if not word.startswith("{"):
                    words.append(re.escape(word))
                elif slot in seen:
                    words.append(f"(?P={slot})")
                else:
                    seen.add(slot)
                    words.append(person.format(slot) if slot in "ABC" else f"(?P<{slot}>{'|'.join(FILLINGS[slot])})")
            patterns.append(re.compile(" ".join(words)))
        yield patterns


def test_every_answer_follows_from_its_request(parts):
    patterns = list(sentence_patterns())
    used = Counter()
    for example in parts.train:
        for n, (request, answer) in enumerate(patterns):
            asked, told = request.fullmatch(" ".join(example.source)), answer.fullmatch(" ".join(example.target))
            if asked and told and told.groupdict().items() <= asked.groupdict().items():
                used[n] += 1
                break
        else:
            pytest.fail(f"no template has {example}")
    assert set(used) == set(range(len(REQUESTS)))


def test_no_name_is_in_two_parts(parts):
    names = [{name for e in part for name in names_in(e.source)} for part in parts]
    assert min(map(len, names)) > 40
    assert all({part_of(name) for name in group} == {p} for group, p in zip(names, parts._fields, strict=True))
    assert all(names_in(e.target) <= names_in(e.source) for part in parts for e in part)


def test_links_join_equal_words_and_sure_ones_are_the_only_choice(parts):
    found = Counter()
    for example in parts.train:
        source, target = example.source, example.target
        assert example.sure <= example.possible
        assert all(source[j] == target[i] for i, j in example.possible)
        for i, word in enumerate(target):
            places = {(i, j) for j, other in enumerate(source) if other == word}
            if word in names_in(target) and len(places) == 1:
                assert places <= example.sure
                found["sure"] += 1
            elif word in names_in(target):
                assert places & example.sure == set() or len(places & example.sure) == 1
                assert places & example.possible
                found["twice"] += 1
            elif any(word in words for words in FILLINGS.values()):
                found["filled"] += bool(places & example.possible)
                assert not places & example.sure
            else:
                assert not places & example.possible
    assert min(found.values()) > 30 and len(found) == 3


def test_links_by_hand():
    filled = {"A": ["Ada", "Bo"], "B": ["Bo"], "day": ["monday"]}
    source = fill("call {A} or {B} on {day} , {B}", filled)
    assert source == (
        ("call", "Ada", "Bo", "or", "Bo", "on", "monday", ",", "Bo"),
        (None, "A", "A", None, "B", None, "day", None, "B"),
    )
    example = linked(source, fill("on {day} {A} and {B}", filled))
    assert example.target == ("on", "monday", "Ada", "Bo", "and", "Bo")
    assert example.sure == {(2, 1), (3, 2)}
    assert example.possible == {(1, 6), (2, 1), (3, 2), (5, 4), (5, 8)}


def test_one_seed_one_corpus_and_no_pair_twice(parts):
    assert load_names(SMALL) == parts
    assert load_names(SMALL, seed=1).train != parts.train
    assert load_names((100, 5, 5)).train == parts.train[:100]
    greetings = load_names((3_000, 0, 0), two_words=0).train  # short ones, which come up again
    assert len({(e.source, e.target) for e in greetings}) == len(greetings)


@pytest.mark.parametrize(("chance", "longest"), [(0.0, 1), (1.0, 2)])
def test_people_have_as_many_names_as_asked_for(chance, longest):
    for example in load_names((200, 0, 0), two_words=chance).train:
        runs = re.findall(r"[A-Z][a-z]+(?: [A-Z][a-z]+)*", " ".join(example.source))
        assert {len(run.split()) for run in runs} == {longest}
        people = [run.split() for run in dict.fromkeys(runs)]
        assert len({person[0] for person in people}) == len(people)  # else it would be open whom the answer means
        first, last = name_lists()["train"]
        assert all(person[0] in first and set(person[1:]) <= set(last) for person in people)


def test_vocabulary_has_every_word_but_the_names(parts):
    vocabulary = words_without_names()
    assert vocabulary.tokens[: len(SPECIALS)] == list(SPECIALS) and 90 <= len(vocabulary) <= 160
    assert not names_in(vocabulary.tokens)
    for words in (words for example in parts.train for words in example[:2]):
        ids = vocabulary.encode(words).tolist()
        assert {word for word, id in zip(words, ids, strict=True) if id == UNK} == names_in(words)


def test_a_chance_of_no_probability_is_refused():
    with pytest.raises(ValueError, match=r"probability, got 1\.5"):
        load_names(two_words=1.5)

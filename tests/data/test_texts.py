"""Every corpus of sentence pairs as text."""

import re

import pytest

from attnlib.data import Splits, load_bible, load_home_assistant
from attnlib.data.public import SentencePair
from attnlib.data.texts import CORPORA, Corpus, read_texts
from attnlib.data.translation import LANGUAGES, tokenize


def test_every_corpus_of_pairs_has_a_name():
    assert set(CORPORA) == {*(f"home-assistant-{language}" for language in LANGUAGES), "bible", "fra-eng"}
    assert [CORPORA[f"home-assistant-{language}"].language for language in LANGUAGES] == list(LANGUAGES)


def test_texts_are_the_pairs_of_the_corpus(without_shape_checks):  # a million calls, and no tensor in them
    texts, pairs = read_texts("home-assistant-ja"), load_home_assistant("ja")
    for part, expected in zip(texts, pairs, strict=True):
        assert len(part.source) == len(part.target) == len(expected)
        for n in range(0, len(expected), 97):
            assert tokenize(part.source[n].replace("X", "{x}"), "en") == expected[n].source
            assert tokenize(part.target[n].replace("X", "{x}"), "ja") == expected[n].target
            assert not re.search(r"[\u3040-\u30ff\u4e00-\u9fff] [\u3040-\u30ff\u4e00-\u9fff]", part.target[n])
    greek = read_texts("bible").test
    assert greek.source[0].split() == list(load_bible().test[0].source)


def test_a_corpus_that_is_not_known_is_refused():
    with pytest.raises(ValueError, match=r"unknown corpus 'latin', known are home-assistant-fr, .*, fra-eng"):
        read_texts("latin")


def test_a_corpus_is_read_only_when_it_is_asked_for(monkeypatch):
    pair = SentencePair(("a", "word"), ("one", "more"))
    monkeypatch.setitem(CORPORA, "mine", Corpus(lambda: Splits([pair], [], []), "en"))
    assert read_texts("mine") == ((["a word"], ["one more"]), ([], []), ([], []))

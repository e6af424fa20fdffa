"""Every corpus of sentence pairs as text."""

import pytest

from attnlib.data import bible, translation
from attnlib.data.examples import Example
from attnlib.data.texts import CORPORA, read_texts
from attnlib.data.translation import LANGUAGES

#: What Home Assistant says in two languages, and the texts that this becomes.
SAID = {
    "fr": ("L’écran de {name} est là", "l'écran de X est là"),
    "ja": ("{name}のAPIの鍵です。", "Xのapiの鍵です。"),
}


def test_every_corpus_of_pairs_has_a_name():
    assert set(CORPORA) == {*(f"home-assistant-{language}" for language in LANGUAGES), "bible", "fra-eng"}
    assert [CORPORA[f"home-assistant-{language}"].language for language in LANGUAGES] == list(LANGUAGES)


@pytest.mark.parametrize("language", SAID)
def test_texts_are_the_pairs_of_the_corpus(language, monkeypatch):
    said, text = SAID[language]
    strings = {language: [("one", "The screen of {name} is there", said)]}
    monkeypatch.setattr(translation, "read_strings", lambda language: iter(strings[language]))
    parts = read_texts(f"home-assistant-{language}")
    assert [pair for part in parts for pair in zip(*part, strict=True)] == [("the screen of X is there", text)]


def test_a_verse_becomes_a_line(monkeypatch):
    verse = Example(("ἐν", "ἀρχῇ"), ("in", "the", "beginning"), frozenset(), frozenset())
    monkeypatch.setattr(bible, "read_verses", lambda: {"43001001": verse})
    assert read_texts("bible") == (([], []), ([], []), (["ἐν ἀρχῇ"], ["in the beginning"]))


def test_a_corpus_that_is_not_known_is_refused():
    with pytest.raises(ValueError, match=r"unknown corpus 'latin', known are home-assistant-fr, .*, fra-eng"):
        read_texts("latin")

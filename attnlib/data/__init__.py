"""Every corpus the chapters train on, and what turns text into tensors."""

from attnlib.data import bible, dates, labelled, names, plays, public, python_topics, rows, scenes, tasks
from attnlib.data import translation as home_assistant
from attnlib.data.batching import BucketedPairs, LMBatch, PairBatch, collate, pad, random_windows
from attnlib.data.bible import load_bible
from attnlib.data.cards import DataCard, Splits
from attnlib.data.dates import load_dates
from attnlib.data.examples import Example, RowBatches, encode_examples, vocabularies
from attnlib.data.extended_vocabulary import ExtendedVocabulary
from attnlib.data.hand_links import load_hand_links
from attnlib.data.labelled import Labelled, load_messages, load_questions
from attnlib.data.names import load_names, words_without_names
from attnlib.data.plays import load_plays
from attnlib.data.public import SentencePair, load_public
from attnlib.data.python_topics import load_python_topics
from attnlib.data.rows import Rows, load_recall, load_relations, load_repeats
from attnlib.data.scenes import Box, Scenes, load_emoji_scenes, region_targets
from attnlib.data.subwords import Subwords
from attnlib.data.tasks import load_copy, load_retrieval, load_reverse
from attnlib.data.texts import CORPORA, Corpus, Texts, read_texts
from attnlib.data.translation import Pair, load_home_assistant
from attnlib.data.vocabulary import BOS, EOS, PAD, SPECIALS, UNK, Vocabulary
from attnlib.data.wheels import DataError, fetch_wheel

CARDS: dict[str, DataCard] = {
    "plays": plays.CARD,
    "python_topics": python_topics.CARD,
    **tasks.CARDS,
    **rows.CARDS,
    "dates": dates.CARD,
    **labelled.CARDS,
    "names": names.CARD,
    "home_assistant": home_assistant.CARD,
    "bible": bible.CARD,
    **scenes.CARDS,
    **public.CARDS,
}

__all__ = [
    "BOS",
    "CARDS",
    "CORPORA",
    "EOS",
    "PAD",
    "SPECIALS",
    "UNK",
    "Box",
    "BucketedPairs",
    "Corpus",
    "DataCard",
    "DataError",
    "Example",
    "ExtendedVocabulary",
    "LMBatch",
    "Labelled",
    "Pair",
    "PairBatch",
    "RowBatches",
    "Rows",
    "Scenes",
    "SentencePair",
    "Splits",
    "Subwords",
    "Texts",
    "Vocabulary",
    "collate",
    "encode_examples",
    "fetch_wheel",
    "load_bible",
    "load_copy",
    "load_dates",
    "load_emoji_scenes",
    "load_hand_links",
    "load_home_assistant",
    "load_messages",
    "load_names",
    "load_plays",
    "load_public",
    "load_python_topics",
    "load_questions",
    "load_recall",
    "load_relations",
    "load_repeats",
    "load_retrieval",
    "load_reverse",
    "pad",
    "random_windows",
    "read_texts",
    "region_targets",
    "vocabularies",
    "words_without_names",
]

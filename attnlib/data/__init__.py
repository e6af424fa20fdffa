"""Every corpus the chapters train on, and what turns text into tensors."""

from attnlib.data.batching import LMBatch, random_windows
from attnlib.data.cards import CARDS, DataCard, Splits
from attnlib.data.plays import load_plays
from attnlib.data.python_topics import load_python_topics
from attnlib.data.vocabulary import Vocabulary
from attnlib.data.wheels import DataError, fetch_wheel

__all__ = [
    "CARDS",
    "DataCard",
    "DataError",
    "LMBatch",
    "Splits",
    "Vocabulary",
    "fetch_wheel",
    "load_plays",
    "load_python_topics",
    "random_windows",
]

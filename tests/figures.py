"""An example of every live figure: what the tests put on a page, and the benchmark drives. S = T = 32."""

import math
from collections.abc import Callable
from typing import NamedTuple

from attnlib.widgets import MaskedSoftmaxLab, ScoreExplorer
from attnlib.widgets.figure import Figure

SIZE = 32


class Example(NamedTuple):
    """A figure to be had, and one of its controls."""

    make: Callable[[str], Figure]  # with this text among the words it shows, where it shows words
    control: str  # CSS selector of the slider that readers move most, in the figure
    trait: str  # what that slider changes
    other: object  # another value of the trait, to be set from Python


def score_explorer(word: str = "word") -> ScoreExplorer:
    turns = [2 * math.pi * j / SIZE for j in range(SIZE)]
    keys = [[2 * math.cos(turn), 2 * math.sin(turn)] for turn in turns]
    words = [word, *(f"w{j}" for j in range(1, SIZE))]
    return ScoreExplorer(words, query=[1.0, 0.5], keys=keys, score="additive")


def masked_softmax_lab(word: str = "word") -> MaskedSoftmaxLab:
    scores = [[3 * math.sin(1.7 * i + 0.9 * j) for j in range(SIZE)] for i in range(SIZE)]
    words = [[word, *(f"w{j}" for j in range(1, SIZE - i))] for i in range(SIZE)]
    return MaskedSoftmaxLab(scores, words=words, lengths=[SIZE - i for i in range(SIZE)], row=20)


EXAMPLES: dict[str, Example] = {
    "ScoreExplorer": Example(score_explorer, "input[type=range]", "temperature", 0.5),
    "MaskedSoftmaxLab": Example(masked_softmax_lab, ".ms-offset input[type=range]", "offset", -1e4),
}

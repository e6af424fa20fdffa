"""An example of every live figure: what the tests put on a page, and the benchmark drives. S = T = 32."""

import math
from collections.abc import Callable
from typing import NamedTuple

from attnlib.widgets import AlignmentView, ScoreExplorer
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


def alignment_view(word: str = "word") -> AlignmentView:
    """Two models; the first is right, the second looks one word too far."""
    words = [word, *(f"w{j}" for j in range(1, SIZE))]
    maps = {}
    for name, shift in {"right": 0, "shifted": 1}.items():
        distances = [[(i + shift - j) ** 2 for j in range(SIZE)] for i in range(SIZE)]
        powers = [[math.exp(-distance / 2) for distance in row] for row in distances]
        maps[name] = [[power / sum(row) for power in row] for row in powers]
    return AlignmentView(maps, words, words, gold=[(i, i) for i in range(SIZE)], view="both", step=3)


EXAMPLES: dict[str, Example] = {
    "ScoreExplorer": Example(score_explorer, "input[type=range]", "temperature", 0.5),
    "AlignmentView": Example(alignment_view, "input[type=range]", "step", 20),
}

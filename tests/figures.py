"""An example of every live figure: what the tests put on a page, and the benchmark drives. S = T = 32."""

import math
from collections.abc import Callable
from typing import NamedTuple

import torch

from attnlib.widgets import ScoreExplorer, WhereItLooks
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


def where_it_looks(word: str = "word") -> WhereItLooks:
    """Three images under a grid of 4 × 8 regions; the gaze of the 32 words goes round."""
    generator = torch.Generator().manual_seed(0)
    images = torch.randint(0, 256, (3, 32, 64, 3), generator=generator).byte()
    captions = [[word, *(f"w{i}" for i in range(1, n))] for n in (SIZE, 5, 1)]
    weights = [
        (torch.randn(len(c), SIZE, generator=generator) + 5 * torch.eye(len(c), SIZE)).softmax(-1) for c in captions
    ]
    truth = [[word, *(f"w{i}" for i in range(2, n))] for n in (SIZE, 6, 2)]
    boxes = [[(2, 4, 30, 20)] * len(caption) for caption in captions]
    return WhereItLooks(
        images, captions, weights, (4, 8), truth=truth, static=[["w2"], [], [word]], boxes=boxes, step=2
    )


EXAMPLES: dict[str, Example] = {
    "ScoreExplorer": Example(score_explorer, "input[type=range]", "temperature", 0.5),
    "WhereItLooks": Example(where_it_looks, ".wl-words[role=slider]", "step", 5),
}

"""An example of every live figure: what the tests put on a page, and the benchmark drives. S = T = 32."""

import math
from collections.abc import Callable
from typing import NamedTuple

from attnlib.widgets import CostCurve, ScoreExplorer
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


def cost_curve(word: str = "word") -> CostCurve:
    """The costs of chapter 9, one of them under this name."""
    keys, queries, pairs = {"S": 1, "d": 2}, {"T": 1, "d": 2}, {"S": 1, "T": 1, "d": 1}
    wide, table, states = {"S": 1, "T": 1, "d": 2}, {"S": 1, "T": 1}, [(1, {"S": 1, "d": 1}), (1, {"T": 1, "d": 1})]
    rest = {"scores": [(1, pairs)], "averages": [(1, pairs)]}
    return CostCurve(
        {
            "multiply-adds": {
                "recurrence": {"encoder": [(6, keys)], "decoder": [(6, queries)]},
                "dot": rest,
                "general": {"keys": [(1, keys)], **rest},
                "additive": {"keys": [(1, keys)], "queries": [(1, queries)], **rest},
                "additive, keys at every step": {"keys": [(1, wide)], "queries": [(1, queries)], **rest},
                word: {**rest, "scores": [(2, wide), (1, pairs)]},
            },
            "numbers kept": {
                "states": {"states": states},
                "dot": {"weights": [(1, table)]},
                "additive": {"tanh": [(1, pairs)], "weights": [(1, table)]},
                "concat": {"pairs": [(3, pairs)], "weights": [(1, table)]},
                "dot, fused": {"nothing": []},
            },
        },
        S=SIZE,
        T=SIZE,
        roles={"keys": "key", "queries": "query", "scores": "weight", "averages": "context", "weights": "weight"},
    )


EXAMPLES: dict[str, Example] = {
    "CostCurve": Example(cost_curve, ".cc-sliders input[type=range]", "S", 400),
    "ScoreExplorer": Example(score_explorer, "input[type=range]", "temperature", 0.5),
}

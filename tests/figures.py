"""An example of every live figure: what the tests put on a page, and the benchmark drives. S = T = 32."""

import math
from collections.abc import Callable
from typing import NamedTuple

import torch

from attnlib.widgets import CopyGate, ScoreExplorer
from attnlib.widgets.figure import Figure
from attnlib.widgets.weights import packed
from tests.copiers import copier_weights

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


def copy_gate(word: str = "word") -> CopyGate:
    vocabulary = ["<pad>", "<bos>", "<eos>", "<unk>", *(f"w{j}" for j in range(1, 12)), word]
    weights = copier_weights(len(vocabulary), d=24, seed=2)
    never_ends = torch.zeros(len(vocabulary))
    never_ends[2] = -1000.0  # so the answer has as many words as it may
    weights["decoder.decoder.W_o.bias"] = packed("W_o", never_ends)
    text = " ".join([*(f"w{j}" for j in range(SIZE - len(word.split()))), *word.split()])
    return CopyGate(weights, vocabulary, 3, text, {word: text, "one word": word.split()[0]}, max_length=SIZE)


EXAMPLES: dict[str, Example] = {
    "CopyGate": Example(copy_gate, "input[type=range]", "p_gen", 0.5),
    "ScoreExplorer": Example(score_explorer, "input[type=range]", "temperature", 0.5),
}

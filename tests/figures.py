"""An example of every live figure: what the tests put on a page, and the benchmark drives. S = T = 32."""

import math
from collections.abc import Callable
from typing import NamedTuple

import torch

from attnlib.widgets import HeadGrid, ScoreExplorer
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


def head_weights(
    H: int, V: int = SIZE, d: int = SIZE, T: int = SIZE, n_tasks: int = 2, d_ff: int | None = None, seed: int = 0
) -> tuple[int, dict]:
    """A layer of H heads that nobody has trained, as HeadGrid takes it."""
    generator = torch.Generator().manual_seed(seed)

    def drawn(*shape: int, scale: float = 1.0) -> torch.Tensor:
        return (scale * torch.randn(shape, generator=generator)).half().float()

    weights = {"embedding.weight": drawn(V, d), "positions.p": drawn(T, d)}
    for name in "qkvo":
        weights[f"attention.W_{name}.weight"] = drawn(d, d, scale=1.4 * d**-0.5)
        weights[f"attention.W_{name}.bias"] = drawn(d, scale=0.2)
    if d_ff is None:
        return H, weights | {"read.weight": drawn(n_tasks * V, d), "read.bias": drawn(n_tasks * V, scale=0.2)}
    weights |= {"read.0.weight": drawn(d_ff, d), "read.0.bias": drawn(d_ff, scale=0.2)}
    return H, weights | {"read.2.weight": drawn(n_tasks * V, d_ff), "read.2.bias": drawn(n_tasks * V, scale=0.2)}


def head_grid(word: str = "word") -> HeadGrid:
    tokens = (torch.arange(50)[:, None] * 7 + torch.arange(SIZE)) % SIZE
    targets = torch.stack([tokens.roll(1, 1), tokens[:, :1].expand_as(tokens)], dim=-1)
    words = [word, *(f"w{j}" for j in range(1, SIZE))]
    models = {"8 heads": head_weights(8), "2 heads": head_weights(2, seed=1)}
    return HeadGrid(models, tokens, targets, words, tasks=["previous", "first"])


EXAMPLES: dict[str, Example] = {
    "HeadGrid": Example(head_grid, "input[type=range]", "example", 5),
    "ScoreExplorer": Example(score_explorer, "input[type=range]", "temperature", 0.5),
}

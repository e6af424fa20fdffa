"""Checks for chapter 5: a score of one's own, and how sharp a bounded score must be.

Distances are measured pair by pair, and the sharpness is found by trial.
"""

import math
from collections.abc import Callable

import torch
from torch import Size, Tensor

from attnlib.course.checks.asking import draw, gradients
from attnlib.course.checks.examining import agrees, examine
from attnlib.course.checks.solving import smallest
from attnlib.course.checks.verdict import check, need


@check
def distance_score(answer: Callable) -> str:
    """Check `distance_score(query, key)`: (B, T, d) and (B, S, d); scores (B, T, S), −½‖q − k‖²."""

    def length(query: Tensor, key: Tensor) -> Tensor:
        return torch.cdist(query.double(), key.double(), compute_mode="donot_use_mm_for_euclid_dist")

    def wanted(query: Tensor, key: Tensor) -> Tensor:
        return -(length(query, key) ** 2) / 2

    def norm(x: Tensor) -> Tensor:
        return x.square().sum(-1)

    def case(B: int, T: int, S: int, d: int, scale: float = 1.0) -> tuple[Tensor, Tensor]:
        return draw(B, T, d, seed=1, scale=scale), draw(B, S, d, seed=2, scale=scale)

    sizes = [(2, 3, 4, 5), (1, 4, 2, 3), (3, 1, 5, 2), (1, 1, 3, 1), (2, 1, 1, 4), (1, 1, 1, 1), (5, 7, 6, 3)]
    examine(
        answer,
        [case(*size) for size in sizes] + [case(2, 3, 4, 5, scale=1e5)],
        wanted,
        {
            "rows and columns have changed places: one row for each query, one column for each key.": (
                lambda q, k: Size((len(q), k.shape[1], q.shape[1]))
            ),
            "one number for each query, key and *coordinate*: the sum over coordinates is missing.": (
                lambda q, k: Size((*q.shape[:2], *k.shape[1:]))
            ),
            "the sign: as it is, the key farthest away scores highest.": lambda q, k: -wanted(q, k),
            "the half is missing.": lambda q, k: 2 * wanted(q, k),
            "this is half the distance, not half its square.": lambda q, k: -length(q, k) / 2,
            "this is the distance, with neither square nor half.": lambda q, k: -length(q, k),
            "the mean over the coordinates. A squared length is their sum.": lambda q, k: wanted(q, k) / q.shape[-1],
            "the dot product alone.": lambda q, k: q @ k.mT,
            "the weights will be right, since a softmax does not notice what is the same for all keys; but this is not "
            "the score that was asked for.": lambda q, k: q @ k.mT - norm(k).unsqueeze(1) / 2,
            "the length of the key is counted with the wrong sign: the longer the key, the nearer it seems.": (
                lambda q, k: q @ k.mT + norm(k).unsqueeze(1) / 2 - norm(q).unsqueeze(2) / 2
            ),
            "the difference was added up before it was squared.": (
                lambda q, k: -(q.sum(-1).unsqueeze(2) - k.sum(-1).unsqueeze(1)).square() / 2
            ),
        },
        "this is not −½‖q − k‖².",
        tolerance=1e-4,
    )
    query = draw(1, 3, 4)
    for found in [gradients(answer, query, query.flip(1)), gradients(answer, query[:, :1], query[:, :1])]:
        need(
            not any(slope.isnan().any() for slope in found),
            "the scores are right, but where a query stands on a key the gradient is NaN: a root has no slope at 0.",
        )
    near = query, draw(1, 2, 4, seed=3)
    need(
        all(map(agrees, gradients(answer, *near), gradients(wanted, *near))),
        "the scores are right, but not their gradient.",
    )
    return "minus half the squared distance of every query to every key, and a gradient where the two meet."


@check
def sharpness(answer: Callable) -> str:
    """Check `sharpness(share, S)`: the smallest β with which a cosine score could give one of S keys this share."""

    def wanted(share: float, S: int) -> float:
        """The key that is looked for scores β, and all others −β, in the best case."""
        return smallest(lambda beta: 1 / (1 + (S - 1) * math.exp(-2 * beta)) >= share)

    def log_odds(share: float, rivals: float) -> float:
        return math.log(share / (1 - share) * rivals)

    examine(
        answer,
        [(0.9, 50), (0.6, 2), (0.99, 5000), (0.3, 7), (0.5, 3), (0.999, 2), (0.75, 1_000_000)],
        wanted,
        {
            "the other keys are taken to score 0. A cosine can push them farther down than that.": (
                lambda share, S: 2 * wanted(share, S)
            ),
            "there are S keys, but the one that is looked for is not among its own rivals.": (
                lambda share, S: log_odds(share, S) / 2
            ),
            "one rival only: the number of keys has no say.": lambda share, S: log_odds(share, 1) / 2,
            "it is compared with the share of *all*, itself included: odds are against the rest.": (
                lambda share, S: math.log(share * (S - 1)) / 2
            ),
            "the sign is the other way round.": lambda share, S: -wanted(share, S),
            "the odds, before the logarithm.": lambda share, S: math.exp(log_odds(share, S - 1)),
            "a logarithm to base 2. The softmax is made with e.": lambda share, S: wanted(share, S) / math.log(2),
            "a logarithm to base 10. The softmax is made with e.": lambda share, S: wanted(share, S) / math.log(10),
            "the score of *one* key was doubled, not halved.": lambda share, S: 4 * wanted(share, S),
        },
        "with this β the largest share is another one.",
        seen=lambda beta, share, S: (
            None if math.isfinite(beta) else f"it is {beta} for a share of {share} among {S} keys."
        ),
        tolerance=1e-4,
    )
    return "2 to 1,000,000 keys, small shares and large: just sharp enough."

"""Checks for chapter 9: what attention costs, and the gradient that it sends back.

The length at which two bills are equal is found by trial, and the gradient is torch's own.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from attnlib.course.checks.asking import draw
from attnlib.course.checks.examining import examine
from attnlib.course.checks.solving import smallest
from attnlib.course.checks.verdict import check


def equal_bills(T: int, d: int) -> float:
    """The source length from which on attention costs as much as the recurrence, or more."""
    return smallest(lambda S: 2 * S * T * d >= 6 * (S + T) * d**2)


@check
def break_even(answer: Callable) -> str:
    """Check `break_even(T, d)`: the S at which pairs, 2 S T d, cost as much as the recurrence, 6 (S + T) d²."""

    def rounded(S: float) -> set[float]:
        return {math.floor(S + 1e-6), math.ceil(S - 1e-6), round(S, 2)}

    def shares(k: float) -> Callable[[int, int], float]:
        return lambda T, d: k * d * T / (T - k * d) if T != k * d else math.inf

    examine(
        answer,
        [(100, 8), (1000, 64), (31, 10), (1000, 3), (7, 2), (4, 1)],
        equal_bills,
        {
            "that is S* = 6 d, where source and target are equally long. Here T is given, and only S grows.": (
                lambda T, d: 6 * d
            ),
            "the source is missing in the recurrence: its S words are read in S steps, which cost as well.": (
                lambda T, d: 3 * d
            ),
            "the sign is wrong: no source has a negative length.": lambda T, d: -equal_bills(T, d),
            "a pair costs more than its score: its value is averaged, which is d again.": shares(6),
            "a multiply-add counts once, in both bills or in neither.": shares(1.5),
            "both sides grow with S. When S goes to the other side, its sign changes.": (
                lambda T, d: 3 * T * d / (T + 3 * d)
            ),
            "there is a d where a T should be: what is left of the recurrence when S is gone?": (
                lambda T, d: 3 * d * d / (T - 3 * d)
            ),
            "it is rounded. The length at which both cost the same need not be a whole number.": (
                lambda T, d: rounded(equal_bills(T, d))
            ),
        },
        "the two bills are not equal at your length.",
        tolerance=1e-6,
    )

    def seen(S: float, T: int, d: int) -> str | None:
        where = f"with T = {T} and d = {d}"
        if S < 0:
            return f"{where} yours is negative: what does it mean when no length solves it?"
        return (
            f"{where} it is finite. Does attention ever catch up, if a source word costs it no more than the "
            "recurrence?"
            if math.isfinite(S)
            else None
        )

    few = "with few target words attention never costs as much: asked for is an infinite length."
    examine(answer, [(20, 8), (100, 512), (24, 8), (1, 1), (3, 1)], equal_bills, otherwise=few, seen=seen)
    return "both bills are equal at this length; with few target words they never are."


@check
def direct_gradient(answer: Callable) -> str:
    """Check `direct_gradient(g, q, H)`: g = ∂L/∂c (d,), query (d,), states (S, d) → gradient at each state (S, d)."""

    def wanted(g: Tensor, q: Tensor, H: Tensor) -> Tensor:
        leaf = H.double().requires_grad_()
        c = (leaf @ q.double()).softmax(-1) @ leaf
        return torch.autograd.grad(c @ g.double(), leaf)[0]

    def case(S: int, d: int, factor: float = 1.0, large: float = 1.0) -> tuple[Tensor, Tensor, Tensor]:
        return draw(d, seed=1, scale=large), draw(d, seed=2, scale=factor), draw(S, d)

    sizes = [(5, 3), (4, 6), (3, 2), (1, 4), (4, 1), (1, 1), (9, 7)]
    otherwise = "it is not what autograd sends to the states."
    examine(answer, [case(*size) for size in sizes], wanted, _usual_slopes(), otherwise)
    examine(
        answer,
        [case(*size, factor=500.0) for size in sizes] + [case(8, 5, large=1e5), case(3, 2, large=1e5)],
        wanted,
        otherwise="it goes wrong when the query is 500 times as long, and one weight is 1 and all others are 0, or "
        "when the gradient is large.",
        seen=lambda x, g, q, H: (
            "with a query 500 times as long it is NaN: exp overflows. Subtract the largest score first."
            if x.isnan().any()
            else None
        ),
    )
    return "as autograd says, for a soft look and for a sharp one."


def _usual_slopes() -> dict[str, Callable[[Tensor, Tensor, Tensor], Tensor]]:
    """What the usual mistakes give in place of the two terms of each state: as a value and as a key."""

    def of(formula: Callable) -> Callable[[Tensor, Tensor, Tensor], Tensor]:
        def slopes(g: Tensor, q: Tensor, H: Tensor) -> Tensor:
            alpha = (H @ q).softmax(-1).unsqueeze(1)  # (S, 1)
            c = (alpha * H).sum(0)  # (d,)
            off, along = (H - c) @ g.unsqueeze(1), (H @ g).unsqueeze(1)  # (S, 1) each
            return formula(alpha, g, q, off, along, H - c)

        return slopes

    return {
        "a state is a value *and* a key. The term of the key is missing.": of(lambda a, g, *_: a * g),
        "a state is a key *and* a value. The term of the value is missing.": of(lambda a, g, q, off, *_: a * off * q),
        "the factor in front of everything is missing: how much of this state is taken in?": (
            of(lambda a, g, q, off, *_: g + off * q)
        ),
        "the matrix stands the wrong way round. A gradient on its way back meets its *transpose*.": (
            of(lambda a, g, q, off, along, centred: a * (g + centred * (q @ g)))
        ),
        "− c is missing: when one weight rises, the others fall, and what they brought is lost.": (
            of(lambda a, g, q, off, along, _: a * (g + along * q))
        ),
        "the term of the key has the wrong sign.": of(lambda a, g, q, off, *_: a * (g - off * q)),
        "a score moves its own weight only, in yours. It moves the weights of all states: the softmax shares.": (
            of(lambda a, g, q, off, along, _: a * (g + (1 - a) * along * q))
        ),
        "every state gets the same, the sum over all. Each one has a gradient of its own.": (
            of(lambda a, g, q, off, along, c: (a * (g + off * q)).sum(0).expand_as(c))
        ),
    }

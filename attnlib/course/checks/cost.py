"""Checks for chapter 9: what attention costs, and the gradient that it sends back."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from attnlib.course.checks.asking import ask_plain, ask_tensor, draw
from attnlib.course.checks.verdict import check, expect, need, same


@check
def break_even(answer: Callable) -> str:
    """Check `break_even(T, d)`: the S at which pairs, 2 S T d, cost as much as the recurrence, 6 (S + T) d²."""
    for T, d in [(100, 8), (1000, 64), (31, 10)]:
        S = 3 * d * T / (T - 3 * d)
        expect(
            ask_plain(answer, T, d),
            S,
            {
                "that is S* = 6 d, where source and target are equally long. Here T is given, and only S grows.": 6 * d,
                "the source is missing in the recurrence: its S words are read in S steps, which cost as well.": 3 * d,
                "the sign is wrong: no source has a negative length.": -S,
                "a pair costs more than its score: its value is averaged, which is d again.": 6 * d * T / (T - 6 * d),
                "a multiply-add counts once, in both bills or in neither.": 1.5 * d * T / (T - 1.5 * d),
                "both sides grow with S. When S goes to the other side, its sign changes.": 3 * T * d / (T + 3 * d),
                "there is a d where a T should be: what is left of the recurrence when S is gone?": (
                    3 * d * d / (T - 3 * d)
                ),
                "it is rounded. The length at which both cost the same need not be a whole number.": (
                    {math.floor(S), math.ceil(S)}
                ),
            },
            f"with T = {T} and d = {d}, the two bills are not equal at your length.",
            tolerance=1e-4,
        )
    for T, d in [(20, 8), (100, 512), (24, 8)]:
        length = ask_plain(answer, T, d)
        need(not length < 0, f"with T = {T} and d = {d} yours is negative: what does it mean when no length solves it?")
        need(
            length == math.inf,
            f"with T = {T} and d = {d} it is finite. Does attention ever catch up, if a source word costs it no more "
            "than the recurrence?",
        )
    return "both bills are equal at this length; with few target words they never are."


@check
def direct_gradient(answer: Callable) -> str:
    """Check `direct_gradient(g, q, H)`: g = ∂L/∂c (d,), query (d,), states (S, d) → gradient at each state (S, d)."""
    for S, d, factor in [(5, 3, 1.0), (4, 6, 1.0), (3, 2, 500.0)]:
        g, q, H = draw(d, seed=1), factor * draw(d, seed=2), draw(S, d)
        leaf = H.double().requires_grad_()
        c = (leaf @ q.double()).softmax(-1) @ leaf
        [want] = torch.autograd.grad(c @ g.double(), leaf)
        slope = ask_tensor(answer, g, q, H, shape=(S, d))
        need(
            not slope.isnan().any(),
            f"with a query {factor:.0f} times as long it is NaN: exp overflows. Subtract the largest score first."
            if factor > 1
            else "it is NaN.",
        )
        need(
            factor == 1 or same(slope, want),
            f"it goes wrong when the query is {factor:.0f} times as long, and one weight is 1 and all others are 0.",
        )
        otherwise = f"with {S} states of width {d} it is not what autograd sends to the states."
        expect(slope, want, _usual_slopes(g, q, H), otherwise)
    return "as autograd says, for a soft look and for a sharp one."


def _usual_slopes(g: Tensor, q: Tensor, H: Tensor) -> dict[str, Tensor]:
    """What the usual mistakes give in place of α_j (g + q (h_j − c)ᵀg)."""
    alpha = (H @ q).softmax(-1).unsqueeze(1)  # (S, 1)
    c = (alpha * H).sum(0)  # (d,)
    off = (H - c) @ g.unsqueeze(1)  # (S, 1), (h_j − c)ᵀ g
    along = (H @ g).unsqueeze(1)  # (S, 1), h_jᵀ g
    return {
        "a state is a value *and* a key. The term of the key is missing.": alpha * g,
        "a state is a key *and* a value. The term of the value is missing.": alpha * off * q,
        "the factor in front of everything is missing: how much of this state is taken in?": g + off * q,
        "the matrix stands the wrong way round. A gradient on its way back meets its *transpose*.": (
            alpha * (g + (H - c) * (q @ g))
        ),
        "− c is missing: when one weight rises, the others fall, and what they brought is lost.": (
            alpha * (g + along * q)
        ),
        "the term of the key has the wrong sign.": alpha * (g - off * q),
        "a score moves its own weight only, in yours. It moves the weights of all states: the softmax shares.": (
            alpha * (g + (1 - alpha) * along * q)
        ),
        "every state gets the same, the sum over all. Each one has a gradient of its own.": (
            (alpha * (g + off * q)).sum(0).expand_as(H)
        ),
    }

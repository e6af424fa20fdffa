"""Chapter 9."""

import math

import torch

from assignments.practice import Variants


def never(formula):
    """With the case in which it never comes to that."""
    return lambda T, d: formula(T, d) if T > 3 * d else math.inf


def solved(T, d):
    return 3 * d * T / (T - 3 * d) if T > 3 * d else math.inf


def bisected(T, d):
    def dearer(S):
        return 2 * S * T * d > 6 * (S + T) * d**2

    low, high = 0.0, 1.0
    while not dearer(high):
        low, high = high, 2 * high
        if high > 1e15:
            return float("inf")
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (low, middle) if dearer(middle) else (middle, high)
    return high


def by_slopes(T, d):
    gain = 2 * T * d - 6 * d * d  # of one more source word
    return 6 * T * d * d / gain if gain > 0 else math.inf


def negative(T, d):
    return 3 * d * T / (T - 3 * d) if T != 3 * d else math.inf


def parts(q, H):
    alpha = (H @ q).softmax(-1).unsqueeze(1)
    c = (alpha * H).sum(0)
    return alpha, c


def by_autograd(g, q, H):
    leaf = H.detach().clone().requires_grad_()
    return torch.autograd.grad((leaf @ q).softmax(-1) @ leaf @ g, leaf)[0]


def by_matrices(g, q, H):
    alpha, c = parts(q, H)
    eye = torch.eye(len(q))
    return torch.stack([a * (eye + torch.outer(h - c, q)).T @ g for a, h in zip(alpha, H, strict=True)])


def by_scores(g, q, H):
    """As a value, and through the scores: the softmax's own gradient."""
    alpha = (H @ q).softmax(-1)
    to_alpha = H @ g
    to_scores = alpha * (to_alpha - alpha @ to_alpha)
    return torch.outer(alpha, g) + torch.outer(to_scores, q)


def slopes(formula):
    """`formula(alpha, g, q, H, c)`."""

    def direct_gradient(g, q, H):
        alpha, c = parts(q, H)
        return formula(alpha, g, q, H, c)

    return direct_gradient


def by_hand(g, q, H):
    e = (H @ q).exp()
    alpha = (e / e.sum()).unsqueeze(1)
    return alpha * (g + ((H - (alpha * H).sum(0)) @ g).unsqueeze(1) * q)


def nan_to_num(g, q, H):
    e = (H @ q).exp()
    alpha = (e / e.sum()).nan_to_num(0).unsqueeze(1)
    return alpha * (g + ((H - (alpha * H).sum(0)) @ g).unsqueeze(1) * q)


def in_place(g, q, H):
    H -= parts(q, H)[1]
    return H


def column(x):
    return x.unsqueeze(1)


VARIANTS = {
    "break_even": Variants(
        right={
            "solved": solved,
            "bisected": bisected,
            "what one word more costs": by_slopes,
        },
        wrong={
            "both lengths": (lambda T, d: 6 * d, "equally long"),
            "no encoder": (lambda T, d: 3 * d, "source is missing in the recurrence"),
            "sign": (never(lambda T, d: 3 * d * T / (3 * d - T)), "the sign is wrong"),
            "no averaging": (lambda T, d: 6 * d * T / (T - 6 * d), "averaged"),
            "two FLOPs on one side": (never(lambda T, d: 1.5 * d * T / (T - 1.5 * d)), "counts once"),
            "the other side": (never(lambda T, d: 3 * d * T / (T + 3 * d)), "its sign changes"),
            "d for T": (never(lambda T, d: 3 * d * d / (T - 3 * d)), "where a T should be"),
            "rounded up": (never(lambda T, d: math.ceil(solved(T, d))), "rounded"),
            "a guess": (never(lambda T, d: 12.0 * d), "not equal at your length"),
            "negative": (negative, "yours is negative"),
            "large": (lambda T, d: min(solved(T, d), 1e9), "it is finite"),
            "bool": (lambda T, d: T > 3 * d, "returns bool"),
        },
    ),
    "direct_gradient": Variants(
        right={
            "autograd": by_autograd,
            "matrices": by_matrices,
            "through the scores": by_scores,
        },
        wrong={
            "no key": (slopes(lambda a, g, q, H, c: a * g), "the key is missing"),
            "no value": (slopes(lambda a, g, q, H, c: a * column((H - c) @ g) * q), "the value is missing"),
            "no weight": (slopes(lambda a, g, q, H, c: g + column((H - c) @ g) * q), "factor in front"),
            "not transposed": (slopes(lambda a, g, q, H, c: a * (g + (H - c) * (q @ g))), "*transpose*"),
            "no c": (slopes(lambda a, g, q, H, c: a * (g + column(H @ g) * q)), "− c is missing"),
            "sign": (slopes(lambda a, g, q, H, c: a * (g - column((H - c) @ g) * q)), "wrong sign"),
            "own weight only": (
                slopes(lambda a, g, q, H, c: a * g + a * (1 - a) * column(H @ g) * q),
                "its own weight only",
            ),
            "summed": (lambda g, q, H: by_autograd(g, q, H).sum(0).expand_as(H), "the sum over all"),
            "one sum": (lambda g, q, H: by_autograd(g, q, H).sum(0), "its shape is (1,); asked for is (1, 1)"),
            "plain mean": (lambda g, q, H: by_autograd(g, 0 * q, H), "not what autograd sends"),
            "overflow": (by_hand, "exp overflows"),
            "NaN to 0": (nan_to_num, "one weight is 1"),
            "in place": (in_place, "changes the (5, 3) tensor"),
        },
    ),
}

"""Chapters 3 to 5."""

import torch

from attnlib.attention import masked_softmax
from tests.exercises.practice import Variants

INF = float("inf")


def in_place(scores, mask):
    scores[~mask.expand_as(scores)] = -INF
    return masked_softmax(scores, mask)


def by_rows(scores, mask):
    weights = torch.zeros_like(scores)
    for b, row in enumerate(mask.expand_as(scores)):
        for t, visible in enumerate(row):
            if visible.any():
                weights[b, t, visible] = scores[b, t, visible].softmax(-1)
    return weights


def unshifted(scores, mask):
    e = scores.exp() * mask
    return e / e.sum(-1, keepdim=True).clamp(min=1e-30)


VARIANTS = {
    "masked_softmax": Variants(
        right={
            "the package's own": masked_softmax,
            "filled, then NaN to 0": lambda s, m: s.masked_fill(~m, -INF).softmax(-1).nan_to_num(0),
            "row by row": by_rows,
            "the smallest number, then the mask": lambda s, m: s.masked_fill(~m, -3e38).softmax(-1) * m,
        },
        wrong={
            "over the queries": (lambda s, m: s.masked_fill(~m, -3e38).softmax(1) * m, "ran over the queries"),
            "over the batch": (lambda s, m: s.masked_fill(~m, -3e38).softmax(0) * m, "sentences of the batch"),
            "mask inverted": (lambda s, m: masked_softmax(s, ~m), "the other way round"),
            "sigmoid": (lambda s, m: s.sigmoid() * m, "not yet the softmax"),
            "no shift": (unshifted, "overflow in exp"),
            "no mask": (lambda s, m: s.softmax(-1), "changes nothing"),
            "times 0": (lambda s, m: (s * m).softmax(-1), "exp(0) is 1"),
            "minus ten": (lambda s, m: s.masked_fill(~m, -10).softmax(-1), "how negative"),
            "after the softmax": (lambda s, m: s.softmax(-1) * m, "mask came after the softmax"),
            "temperature": (lambda s, m: masked_softmax(s * (1 + ~m.all()), m), "visible scores"),
            "full mask only": (lambda s, m: masked_softmax(s, m & (m.shape[1] == 3)), "must broadcast"),
            "NaN": (lambda s, m: s.masked_fill(~m, -INF).softmax(-1), "0 / 0"),
            "uniform": (lambda s, m: s.masked_fill(~m, -3e38).softmax(-1), "still shares out weight"),
            "NaN gradient": (lambda s, m: (s + m.log()).softmax(-1).nan_to_num(0), "training dies"),
            "detached": (lambda s, m: masked_softmax(s.detach(), m), "detached"),
            "in place": (in_place, "changes the (2, 3, 4) tensor"),
        },
    ),
}

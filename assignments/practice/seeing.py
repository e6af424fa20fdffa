"""Chapters 13 and 14."""

import torch
from torch.nn.functional import one_hot

from assignments.practice import Variants


def in_blocks(T, M, weight=None):
    own = torch.eye(T).repeat_interleave(M // T, dim=1)
    return own * (T / M if weight is None else weight)


def by_loop(T, M):
    w, n = torch.zeros(T, M), M // T
    for i in range(T):
        w[i, i * n : (i + 1) * n] = 1 / n
    return w


def every_T_th(T, M):
    return one_hot(torch.arange(M) % T, T).T * (T / M)


def shared_with_the_next(T, M):
    w = in_blocks(T, M)
    return (w + w.roll(1, 0)) / 2


def first_region_more(T, M, times=1.5):
    w = in_blocks(T, M)
    w[0, 0] *= times
    return w / w.sum(1, keepdim=True)


def negative(T, M):
    w = in_blocks(T, M)
    w[0, 0], w[0, 1] = -w[0, 0], 3 * w[0, 0]
    return w


def swap(caption):
    if "above" in caption:
        return caption
    return (*caption[-2:], "left", "of", *caption[:2])


def swap_by_text(caption):
    first, found, second = " ".join(caption).partition(" left of ")
    return tuple(f"{second}{found}{first}".split()) if found else caption


def exchanged(change, above=False):
    """The change, done to captions with `left` alone or to all."""

    def mirrored(caption):
        return change(*caption[:2], *caption[-2:]) if above or "left" in caption else caption

    return mirrored


def free(H):
    """Zero singular values of the equations, and the unknowns that no equation is left for."""
    E = torch.cat([H.T, torch.ones(1, len(H), dtype=H.dtype)])
    return len(H) - int((torch.linalg.svdvals(E) > 1e-9).sum())


def rank(x):
    return int(torch.linalg.matrix_rank(x))


def with_ones(H):
    return torch.cat([H, torch.ones(len(H), 1, dtype=H.dtype)], 1)


def null_space(H):
    E = with_ones(H).T
    return len(torch.linalg.svd(E).Vh[rank(E) :])


def least(z, eps):
    return (torch.logit((z.sigmoid() - eps).clamp(min=0.5)) / z).clamp(min=0)


def least_by_hand(z, eps):
    p = (1 / (1 + (-z).exp()) - eps).clamp(min=0.5)
    return (p.log() - (1 - p).log()) / z


def bisected(z, eps):
    low, high = torch.zeros_like(z), torch.ones_like(z)
    for _ in range(40):
        middle = (low + high) / 2
        enough = (middle * z).sigmoid() >= z.sigmoid() - eps
        low, high = torch.where(enough, low, middle), torch.where(enough, middle, high)
    return high


def unclamped(z, eps):
    return torch.logit(z.sigmoid() - eps) / z


VARIANTS = {
    "divided_gaze": Variants(
        right={"blocks": in_blocks, "a loop": by_loop, "every T-th region": every_T_th},
        wrong={
            "flat": (lambda T, M: torch.full((T, M), 1 / M), "the flat gaze"),
            "one region each": (lambda T, M: torch.eye(T, M), "M − T together"),
            "nothing to pay": (lambda T, M: in_blocks(T, M, 1.0), "pay nothing"),
            "rows too small": (lambda T, M: in_blocks(T, M, 1 / M), "do not all sum to 1"),
            "uneven": (first_region_more, "it pays too much: the totals u run from"),
            "very uneven": (lambda T, M: first_region_more(T, M, 30), "and the least is"),
            "shared": (shared_with_the_next, "from several looks"),
            "transposed": (lambda T, M: in_blocks(T, M).T, "one row for each region"),
            "boolean": (lambda T, M: in_blocks(T, M) > 0, "it holds bool; asked for are numbers"),
            "negative": (negative, "is negative"),
            "NaN": (lambda T, M: in_blocks(T, M) * torch.nan, "not all weights are finite"),
        },
    ),
    "mirrored": Variants(
        right={
            "the last two first": swap,
            "as a text": swap_by_text,
            "five words or six": lambda c: c if len(c) == 5 else (*c[4:], *c[2:4], *c[:2]),
        },
        wrong={
            "as before": (lambda c: c, "as before"),
            "right of": (exchanged(lambda a, x, b, y: (a, x, "right", "of", b, y)), "no caption says"),
            "both": (exchanged(lambda a, x, b, y: (b, y, "right", "of", a, x)), "what was there before"),
            "things alone": (exchanged(lambda a, x, b, y: (a, y, "left", "of", b, x)), "their articles have not"),
            "articles alone": (exchanged(lambda a, x, b, y: (b, x, "left", "of", a, y)), "their things have not"),
            "backwards": (exchanged(lambda a, x, b, y: (y, b, "of", "left", x, a)), "run backwards"),
            "above": (exchanged(lambda a, x, b, y: (b, y, "above", a, x)), "by a quarter"),
            "of forgotten": (
                exchanged(lambda a, x, b, y: (b, y, "left", a, x)),
                "star* became ('a', 'star', 'left', 'an",
            ),
            "above as well": (lambda c: (*c[-2:], *c[2:-2], *c[:2]), "speaks of y"),
            "above broken": (exchanged(lambda a, x, b, y: (b, y, "left", "of", a, x), above=True), "above a star*"),
            "star alone": (lambda c: swap(c) if "star" in c else c, "*a key left of an owl* became"),
            "a list": (lambda c: list(swap(c)), "returns list; a tuple"),
            "a text": (lambda c: " ".join(swap(c)), "returns str; a tuple"),
        },
    ),
    "unseen_directions": Variants(
        right={
            "singular values": free,
            "a tensor": lambda H: len(H) - torch.linalg.matrix_rank(with_ones(H)),
            "rank": lambda H: len(H) - rank(with_ones(H)),
            "null space": null_space,
            "centred": lambda H: len(H) - 1 - rank(H - H.mean(0)),
        },
        wrong={
            "no sum": (lambda H: len(H) - rank(H), "an equation is missing"),
            "equations": (lambda H: rank(with_ones(H)), "number of equations"),
            "the other side": (lambda H: with_ones(H).shape[1] - rank(with_ones(H)), "the unknowns are"),
            "sign": (lambda H: H.shape[1] + 1 - len(H), "the sign is wrong"),
            "any way": (lambda H: len(H) - 1, "must not move the context"),
            "one too many": (lambda H: len(H) - H.shape[1] - 2, "one equation too many"),
            "a third": (lambda H: len(H) // 3, "yours is 2, and asked for is 5"),
            "negative": (lambda H: len(H) - H.shape[1] - 1, "fewer than none"),
            "at least one": (lambda H: max(1, len(H) - H.shape[1] - 1), "the weights are unique"),
            "sizes": (lambda H: max(0, len(H) - H.shape[1] - 1), "Sizes alone"),
            "sum counted again": (lambda H: max(0, len(H) - rank(H) - 1), "follows from the others"),
            "different ones": (
                lambda H: max(0, len(H.unique(dim=0)) - H.shape[1] - 1),
                "some are equal, and it is another number",
            ),
            "no constants": (
                lambda H: free(H) - bool((H == H[0]).all(0).any() and H.any() and len(H) > 1),
                "same in all annotations",
            ),
            "never 0": (lambda H: free(H) * bool(H.any()), "all annotations are 0"),
            "a float": (lambda H: float(free(H)), "returns float; a plain int"),
        },
    ),
    "least_weight": Variants(
        right={"clamped": least, "by hand": least_by_hand, "bisected": bisected},
        wrong={
            "lost": (lambda z, e: 1 - least(z, e), "it can *lose*"),
            "rises": (lambda z, e: torch.logit(z.sigmoid() + e) / z, "*rises*"),
            "log-odds": (lambda z, e: torch.logit(z.sigmoid() - e), "the log-odds that it needs"),
            "no logit": (lambda z, e: (z.sigmoid() - e) / z, "divided by a vote"),
            "relative": (lambda z, e: torch.logit(z.sigmoid() * (1 - e)) / z, "(1 − ε) p"),
            "log-odds fall": (lambda z, e: (z - e) / z, "log-odds fall by ε"),
            "linear": (lambda z, e: 1 - e / z.sigmoid(), "not linear"),
            "from 1": (lambda z, e: torch.logit(torch.full_like(z, 1 - e)) / z, "not 1, but"),
            "to ε": (lambda z, e: torch.logit(torch.full_like(z, e)) / z, "falls *to* ε"),
            "tanh": (lambda z, e: (z.tanh() - e).atanh() / z, "does not fall by ε. On"),
            "negative": (unclamped, "it is negative"),
            "NaN": (lambda z, e: unclamped(z, e).clamp(min=0), "it is NaN"),
            "all of it": (lambda z, e: unclamped(z, e).where(z.sigmoid() - e > 0.5, 1.0), "no weight at all"),
        },
    ),
}

"""Chapters 3 and 4."""

import torch

from assignments.practice import Variants
from attnlib.attention import causal_mask, length_mask, masked_softmax

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


def long_sentence(scores, counts):
    weights = scores.repeat_interleave(counts).softmax(-1)
    return torch.stack([part.sum() for part in weights.split(counts.tolist())])


def shared(scores, counts):
    e = counts * (scores - scores[counts > 0].max()).clamp(max=0).exp()
    return e / e.sum()


def shifted_by_all(scores, counts):
    e = counts * (scores - scores.max()).exp()
    return e / e.sum()


def unshifted_shares(scores, counts):
    e = counts * scores.exp()
    return e / e.sum()


def from_the_differences(keys):
    return torch.linalg.svd(keys[1:] - keys[0]).Vh[-1]


def all_ones(keys):
    q = torch.linalg.pinv(keys) @ torch.ones(len(keys))
    return q / q.norm()


def rest_of_a_vector(keys):
    Q, _ = torch.linalg.qr((keys - keys.mean(0)).T[:, 1:])
    x = torch.randn(keys.shape[1])
    x = x - Q @ (Q.T @ x)
    return x / x.norm()


def padded_left(lengths, T):
    j = torch.arange(T)
    real = j >= T - lengths.unsqueeze(1)
    return (j <= j.unsqueeze(1)) & real.unsqueeze(1)


def one_by_one(lengths, T):
    mask = torch.zeros(len(lengths), T, T, dtype=torch.bool)
    for b, n in enumerate(lengths.tolist()):
        for i in range(T):
            mask[b, i, T - n : i + 1] = True
    return mask


def real(lengths, T):
    return length_mask(lengths, T).flip(-1)


def row_by_row(weights, g):
    rows = [(a.diag() - a.outer(a)) @ h for a, h in zip(weights.flatten(0, -2), g.flatten(0, -2), strict=True)]
    return torch.stack(rows).view_as(weights)


def flat(weights, g):
    return row_by_row(weights.unsqueeze(0), g.unsqueeze(0)).squeeze(0)


def backward(weights, g):
    return weights * (g - (weights * g).sum(-1, keepdim=True))


def by_logarithm(weights, g):
    with torch.enable_grad():
        scores = weights.log().requires_grad_()
        return torch.autograd.grad(scores.softmax(-1), scores, g)[0]


VARIANTS = {
    "repeated_words": Variants(
        right={
            "logarithm": lambda e, n: (e + n.log()).softmax(-1),
            "the long sentence": long_sentence,
            "shares": shared,
            "a fill": lambda e, n: (e + n.log()).masked_fill(n == 0, -INF).softmax(-1),
        },
        wrong={
            "no counts": (lambda e, n: e.softmax(-1), "no say"),
            "not shared out": (lambda e, n: e.softmax(-1) * n, "do not sum to 1"),
            "times": (lambda e, n: (e * n).softmax(-1), "multiplied by the count"),
            "plus": (lambda e, n: (e + n).softmax(-1), "added to the score"),
            "one place": (lambda e, n: shared(e, n) / n.clamp(min=1), "*one* place"),
            "inverse": (lambda e, n: (e - n.clamp(min=1).log()).softmax(-1), "gets less"),
            "bits": (lambda e, n: (e + n.log2()).softmax(-1), "in bits"),
            "twice at most": (lambda e, n: (e + n.clamp(max=2).log()).softmax(-1), "gains the same"),
            "never absent": (lambda e, n: (e + n.clamp(min=1).log()).softmax(-1), "stands nowhere"),
            "places": (lambda e, n: e.repeat_interleave(n).softmax(-1), "each *place*"),
            "log(1 + n)": (lambda e, n: (e + n.log1p()).softmax(-1), "not the weights"),
            "no shift": (unshifted_shares, "scores of 1000"),
            "the absent take all": (shifted_by_all, "a word that stands nowhere has by far the largest"),
            "shared out again": (lambda e, n: (w := e.softmax(-1) * n) / w.sum(), "yours is [nan, nan]"),
            "the absent take all but a little": (
                lambda e, n: (w := e.softmax(-1) * n) / w.sum().clamp(min=1e-30),
                "yours is [0, 0]",
            ),
        },
    ),
    "looks_everywhere": Variants(
        right={"differences": from_the_differences, "all scores 1": all_ones, "rest of a vector": rest_of_a_vector},
        wrong={
            "zero": (lambda keys: torch.zeros(keys.shape[1]), "zero query"),
            "too long": (lambda keys: 3 * from_the_differences(keys), "its length is 3.00"),
            "mean": (lambda keys: keys.mean(0) / keys.mean(0).norm(), "the mean of the keys"),
            "orthogonal to the keys": (lambda keys: torch.linalg.svd(keys).Vh[-1], "Must the scores be 0"),
            "first direction": (lambda keys: torch.linalg.svd(keys[1:] - keys[0]).Vh[0], "these run from"),
            "weights": (lambda keys: torch.full((len(keys),), 1 / len(keys)), "for each *key*"),
            "a row": (
                lambda keys: from_the_differences(keys).unsqueeze(0),
                "its shape is (1, 1); asked for is (1,), on inputs keys = (1, 1) float32",
            ),
            "inverse": (lambda keys: keys.new_full((keys.shape[1],), torch.nan), "finite"),
        },
    ),
    "past_and_padding": Variants(
        right={
            "the package's own": lambda n, T: causal_mask(T) & real(n, T),
            "compared": padded_left,
            "one by one": one_by_one,
        },
        wrong={
            "inverted": (lambda n, T: ~padded_left(n, T), "other way round"),
            "on the right": (lambda n, T: causal_mask(T) & length_mask(n, T), "on the right"),
            "or": (lambda n, T: causal_mask(T) | real(n, T), "*or*"),
            "padding alone": (lambda n, T: real(n, T).expand(-1, T, -1), "the future is not"),
            "past alone": (lambda n, T: causal_mask(T).expand(len(n), -1, -1), "padding is not"),
            "future": (lambda n, T: causal_mask(T).T & real(n, T), "looks at the future"),
            "not itself": (lambda n, T: causal_mask(T, include_self=False) & real(n, T), "look at itself"),
            "one ahead": (lambda n, T: torch.ones(T, T).tril(1).bool() & real(n, T), "one place of the future"),
            "rows": (lambda n, T: causal_mask(T) & real(n, T).mT, "may not *ask*"),
            "transposed": (lambda n, T: padded_left(n, T).mT, "rows and columns have"),
            "one pad": (lambda n, T: causal_mask(T) & real(n + 1 - (n >= T) * 1, T), "one pad too many"),
            "numbers": (lambda n, T: padded_left(n, T).int(), "it holds int32; asked for are True and False"),
            "one row": (lambda n, T: real(n, T), "its shape is (1, 1, 3); asked for is (1, 3, 3)"),
            "all": (lambda n, T: torch.ones(len(n), T, T, dtype=torch.bool), "wrong on inputs n = [2], T = 3"),
        },
    ),
    "softmax_backward": Variants(
        right={
            "one line": backward,
            "the matrix": lambda a, g: row_by_row(a, g) if a.dim() > 1 else flat(a, g),
            "two terms": lambda a, g: a * g - a * torch.linalg.vecdot(a, g).unsqueeze(-1),
        },
        wrong={
            "sign": (lambda a, g: -backward(a, g), "the sign"),
            "diagonal": (lambda a, g: a * (1 - a) * g, "its *own* score"),
            "exponential": (lambda a, g: a * g, "as an exponential"),
            "outer alone": (lambda a, g: backward(a, g) - a * g, "place itself is missing"),
            "no weight in front": (lambda a, g: g - (a * g).sum(-1, keepdim=True), "missing in front"),
            "plain sum": (lambda a, g: a * (g - g.sum(-1, keepdim=True)), "added up, not averaged"),
            "plain mean": (lambda a, g: a * (g - g.mean(-1, keepdim=True)), "plain mean"),
            "over the queries": (
                lambda a, g: a * (g - (a * g).sum(-min(a.dim(), 2), keepdim=True)),
                "ran over the queries",
            ),
            "one sum": (lambda a, g: a * (g - (a * g).sum()), "all rows together"),
            "through": (lambda a, g: g, "that came in"),
            "matrix": (lambda a, g: a.diag_embed() - a.unsqueeze(-1) * a.unsqueeze(-2), "whole matrix"),
            "logarithm": (by_logarithm, "makes it NaN"),
            "squared": (lambda a, g: a * backward(a, g), "not the gradient"),
        },
    ),
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
            "full mask only": (lambda s, m: masked_softmax(s, m & (m.shape == s.shape)), "must broadcast"),
            "NaN": (lambda s, m: s.masked_fill(~m, -INF).softmax(-1), "0 / 0"),
            "uniform": (lambda s, m: s.masked_fill(~m, -3e38).softmax(-1), "still shares out weight"),
            "NaN gradient": (lambda s, m: (s + m.log()).softmax(-1).nan_to_num(0), "training dies"),
            "detached": (lambda s, m: masked_softmax(s.detach(), m), "detached"),
            "in place": (in_place, "changes the (2, 3, 4) tensor"),
        },
    ),
}

"""Chapters 11 and 12."""

import torch

from assignments.practice import Variants
from attnlib.attention import causal_mask, masked_softmax

INF = float("inf")


def even(values, mask):
    return masked_softmax(torch.zeros(values.shape[1], values.shape[1]), mask) @ values


def mean_so_far(values):
    return values.cumsum(1) / torch.arange(1, values.shape[1] + 1).unsqueeze(1)


def one_by_one(values):
    return torch.stack([values[:, : t + 1].mean(1) for t in range(values.shape[1])], 1)


def times_the_mask(values):
    return (torch.zeros(values.shape[1], values.shape[1]) * causal_mask(values.shape[1])).softmax(-1) @ values


def strict_with_nan(values):
    mask = causal_mask(values.shape[1], include_self=False)
    return torch.zeros(mask.shape).masked_fill(~mask, -INF).softmax(-1) @ values


def over_T(values):
    return causal_mask(values.shape[1]).float() @ values / values.shape[1]


def half_and_half(values):
    contexts = [values[:, 0]]
    for t in range(1, values.shape[1]):
        contexts.append((contexts[-1] + values[:, t]) / 2)
    return torch.stack(contexts, 1)


def counted(values, by):
    return values.cumsum(1) / (torch.arange(1, values.shape[1] + 1).unsqueeze(1) + by)


def weights_of(values):
    T = values.shape[1]
    return masked_softmax(torch.zeros(T, T), causal_mask(T))


def blocks(W_o, order):
    return torch.cat([W_o.chunk(len(order), dim=1)[h] for h in order], dim=1)


def columns(W_o, order):
    return torch.arange(len(W_o)).view(len(order), -1)[order].flatten()


def by_matrix(W_o, order):
    """A permutation matrix, one identity block for each head."""
    H, d = len(order), len(W_o) // len(order)
    P = torch.eye(H)[order].T.contiguous()
    return W_o @ torch.kron(P, torch.eye(d))


def inverse(order):
    return torch.tensor(order).argsort().tolist()


def strided(W_o, order):
    H = len(order)
    return W_o.view(len(W_o), -1, H)[:, :, order].flatten(1)


def mirrored_blocks(W_o, order):
    H = len(order)
    return W_o.view(len(W_o), H, -1)[:, order].flip(-1).flatten(1)


def first_columns(W_o, order):
    new = W_o.clone()
    new[:, : len(order)] = W_o[:, order]
    return new


def moved_in_place(W_o, order):
    W_o.copy_(blocks(W_o, order))
    return W_o


def two_heads_exchanged(W_o, order):
    """Head 0 and the one that shall come first, and no other."""
    swap = list(range(len(order)))
    swap[0], swap[order[0]] = swap[order[0]], 0
    return blocks(W_o, swap)


def difference(w):
    return w.amax(-1).mean(1) - w.mean(1).amax(-1)


def by_query(w):
    B, H, T, _ = w.shape
    found = torch.zeros(B, T)
    for b in range(B):
        for i in range(T):
            heads = w[b, :, i]
            found[b, i] = sum(head.max() for head in heads) / H - (heads.sum(0) / H).max()
    return found


def head_0_looks(w):
    there = w[:, 0].argmax(-1, keepdim=True)
    return w.amax(-1).mean(1) - w.mean(1).gather(-1, there).squeeze(-1)


VARIANTS = {
    "even_look": Variants(
        right={
            "masked softmax": lambda v: even(v, causal_mask(v.shape[1])),
            "running mean": mean_so_far,
            "one by one": one_by_one,
        },
        wrong={
            "no mask": (lambda v: v.mean(1, keepdim=True).expand_as(v), "whole text"),
            "mask forgotten in the score": (lambda v: times_the_mask(v) + 0.5, "not the mean"),
            "those before it, the first itself": (
                lambda v: torch.cat([v[:, :1], even(v, causal_mask(v.shape[1], include_self=False))[:, 1:]], 1),
                "does not see itself",
            ),
            "future": (lambda v: even(v, causal_mask(v.shape[1]).T), "what comes after it"),
            "sum": (lambda v: v.cumsum(1), "added up, not averaged"),
            "divided by T": (over_T, "divided by T"),
            "average of the average": (half_and_half, "counts half"),
            "values": (lambda v: v + 0, "sees itself alone"),
            "over the batch": (lambda v: v.cumsum(0) / torch.arange(1.0, len(v) + 1)[:, None, None], "the batch"),
            "counted from 0": (lambda v: counted(v, -1), "counted from 0"),
            "counted too far": (lambda v: counted(v, 1), "counted one too far"),
            "weights": (weights_of, "those are the weights"),
            "one context": (lambda v: v.mean(1), "one context for each text"),
        },
    ),
    "reorder_heads": Variants(
        right={"blocks": blocks, "columns": lambda W, o: W[:, columns(W, o)], "a permutation matrix": by_matrix},
        wrong={
            "as it was": (lambda W, o: W + 0, "as it was"),
            "rows": (lambda W, o: W[columns(W, o)], "*rows* of W_o"),
            "both": (lambda W, o: W[columns(W, o)][:, columns(W, o)], "rows and columns"),
            "inverse": (lambda W, o: blocks(W, inverse(o)), "wrong way round"),
            "strided": (strided, "every H-th"),
            "transposed": (lambda W, o: blocks(W, o).T, "transposed"),
            "backwards": (mirrored_blocks, "run backwards"),
            "first columns": (first_columns, "H columns have moved"),
            "one column": (lambda W, o: W[:, o], "one column for each head"),
            "one row": (lambda W, o: W[o], "one row for each head"),
            "not merged": (lambda W, o: W.view(len(W), len(o), -1)[:, o], "side by side again"),
            "in place": (moved_in_place, "changes the (12, 12) tensor"),
            "two exchanged": (two_heads_exchanged, "do not yet belong together"),
        },
    ),
    "blur": Variants(
        right={
            "one line": difference,
            "query by query": by_query,
            "turned": lambda w: (w.max(3).values - w.mean(1, keepdim=True).max(3).values).mean(1),
        },
        wrong={
            "sign": (lambda w: -difference(w), "the sign"),
            "map alone": (lambda w: w.mean(1).amax(-1), "what the averaged map shows"),
            "heads alone": (lambda w: w.amax(-1).mean(1), "how sharp the heads are"),
            "summed": (lambda w: w.amax(-1).sum(1) - w.mean(1).amax(-1), "added up on one side"),
            "map summed": (lambda w: w.amax(-1).mean(1) - w.sum(1).amax(-1), "of the map are added up"),
            "sharpest": (lambda w: w.amax((1, 3)) - w.mean(1).amax(-1), "only the sharpest"),
            "head 0": (head_0_looks, "where head 0 looks"),
            "smallest": (lambda w: w.amax(-1).mean(1) - w.mean(1).amin(-1), "smallest weight"),
            "divided": (lambda w: w.amax(-1).mean(1) / w.mean(1).amax(-1), "it is divided"),
            "zero": (lambda w: w.mean(1).amax(-1) - w.mean(1).amax(-1), "always 0"),
            "per head": (lambda w: w.amax(-1) - w.mean(1, keepdim=True).amax(-1), "one number for each head. Average"),
            "over the queries": (lambda w: w.amax(2).mean(1) - w.mean(1).amax(1), "for each place j"),
            "queries averaged": (lambda w: difference(w).mean(-1), "for each text"),
            "all averaged": (lambda w: difference(w).mean(), "for everything"),
            "not the largest": (lambda w: w.amax(1) - w.mean(1), "for each weight"),
            "largest of all queries": (
                lambda w: w.amax((2, 3)) - w.mean(1).amax((1, 2)).unsqueeze(1),
                "its own largest",
            ),
            "entropy": (lambda w: -(w * w.log()).sum(-1).mean(1), "the difference of the two"),
        },
    ),
}

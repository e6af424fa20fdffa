"""Checks for chapters 11 and 12: a look without positions, the order of the heads and their average.

Means and largest weights are taken token by token; heads are reordered when the output of the layer is the same.
"""

from collections.abc import Callable

import torch
from torch import Size, Tensor

from attnlib.attention import causal_mask, masked_softmax
from attnlib.course.checks.asking import draw
from attnlib.course.checks.examining import agrees, examine
from attnlib.course.checks.verdict import check


@check
def even_look(answer: Callable) -> str:
    """Check `even_look(values)`: (B, T, d) → contexts (B, T, d) of a causal layer whose scores are all 0."""

    def wanted(v: Tensor) -> Tensor:
        return torch.stack([v[:, : t + 1].double().mean(1) for t in range(v.shape[1])], 1)

    def by(weights: Callable[[int], Tensor]) -> Callable[[Tensor], Tensor]:
        return lambda v: weights(v.shape[1]) @ v

    def count(v: Tensor) -> Tensor:
        return torch.arange(1.0, v.shape[1] + 1).unsqueeze(1)

    def halves(v: Tensor) -> Tensor:
        contexts = [v[:, 0]]
        for t in range(1, v.shape[1]):
            contexts.append((contexts[-1] + v[:, t]) / 2)
        return torch.stack(contexts, 1)

    def look(mask: Tensor) -> Tensor:
        return masked_softmax(torch.zeros(mask.shape), mask)

    def seen(c: Tensor, v: Tensor) -> str | None:
        """A first token without a past may have become NaN, 0, or itself."""
        before = by(lambda T: look(causal_mask(T, include_self=False)))(v)
        strict = v.shape[1] > 2 and agrees(c[:, 1:], before[:, 1:])
        return (
            "a token does not see itself: the mean of those before it. Here it may look at itself, too."
            if strict
            else None
        )

    sizes = [(2, 5, 3), (3, 7, 2), (1, 4, 4), (2, 3, 1), (1, 1, 4), (3, 1, 1), (1, 12, 2)]
    examine(
        answer,
        [(draw(B, T, d, seed=T),) for B, T, d in sizes] + [(draw(2, 5, 3, scale=1e5),)],
        wanted,
        {
            "those are the weights. Asked for is what they average, the contexts.": (
                lambda v: {Size((len(v), v.shape[1], v.shape[1])), Size((v.shape[1], v.shape[1]))}
            ),
            "one context for each text. Each *token* has a context of its own.": lambda v: Size((len(v), v.shape[2])),
            "each token averages the whole text: nothing hides the future. (A score that is set to 0 does not: all of "
            "them are 0.)": lambda v: v.mean(1, keepdim=True).expand_as(v),
            "each token sees what comes after it, and not what came before.": by(lambda T: look(causal_mask(T).T)),
            "the values are added up, not averaged: the weights of a token sum to 1.": lambda v: v.cumsum(1),
            "every sum is divided by T. A token shares out its weight among those that it sees, and no others.": (
                lambda v: v.cumsum(1) / v.shape[1]
            ),
            "the average of the average: it starts with the context before, so the latest token counts half.": halves,
            "that is the values again: each token sees itself alone.": lambda v: v,
            "the sum ran over the texts of the batch, not over the tokens.": (
                lambda v: v.cumsum(0) / torch.arange(1.0, len(v) + 1)[:, None, None]
            ),
            "the place is counted from 0, so one token too few shares the sum.": lambda v: v.cumsum(1) / (count(v) - 1),
            "the place is counted one too far: token t sees t tokens, itself included.": (
                lambda v: v.cumsum(1) / (count(v) + 1)
            ),
        },
        "this is not the mean of a token and all before it.",
        seen=seen,
    )
    return "each token gets the mean of itself and all before it."


@check
def reorder_heads(answer: Callable) -> str:
    """Check `reorder_heads(W_o, order)`: (d_model, d_model) and H head numbers; W_o for heads in the new order."""

    def right(new: Tensor, W_o: Tensor, order: list[int]) -> bool:
        """What the heads have found comes in the new order, and the output must be the old one."""
        found = draw(len(order), len(W_o) // len(order), 2 * len(W_o), seed=9, dtype=torch.float64)
        out = W_o.double() @ found.flatten(0, 1)
        return agrees(new.double() @ found[order].flatten(0, 1), out)

    def places(W_o: Tensor, order: list[int]) -> list[int]:
        d_head = len(W_o) // len(order)
        return [head * d_head + n for head in order for n in range(d_head)]

    def strided(W_o: Tensor, order: list[int]) -> Tensor:
        """As if head h had the columns h, h + H, …"""
        at = torch.arange(len(W_o)).view(-1, len(order))
        return W_o[:, at.T[order].T.flatten()]

    def inverse(W_o: Tensor, order: list[int]) -> Tensor:
        return W_o[:, places(W_o, torch.tensor(order).argsort().tolist())]

    # rotations, exchanges, and orders that are neither; an order that is its own inverse tells less
    orders = [(12, [2, 0, 1]), (8, [1, 2, 3, 0]), (15, [1, 3, 0, 4, 2]), (8, [2, 1, 3, 0]), (4, [1, 0]), (6, [0]),
              (1, [0]), (3, [2, 0, 1]), (12, [0, 2, 1, 3]), (18, [5, 3, 0, 4, 1, 2])]  # fmt: skip
    examine(
        answer,
        [(draw(d_model, d_model, seed=d_model), order) for d_model, order in orders],
        lambda W_o, order: W_o,  # of its shape
        {
            "one column for each head. A head has d_head of them.": lambda W, o: Size((len(W), len(o))),
            "one row for each head. A head has d_head columns.": lambda W, o: Size((len(o), len(W))),
            "the blocks of the heads are right or wrong, but not yet side by side again.": (
                lambda W, o: Size((len(W), len(o), len(W) // len(o)))
            ),
            "that is W_o as it was. Then each block reads what another head has found.": lambda W, o: W,
            "the *rows* of W_o were moved. They write; what belongs to a head is what it is read with.": (
                lambda W, o: W[places(W, o)]
            ),
            "rows and columns were moved. The output has the old order: who reads it knows of no heads.": (
                lambda W, o: W[places(W, o)][:, places(W, o)]
            ),
            "the order is applied the wrong way round. New head h is the old head order[h].": inverse,
            "the columns of a head stand side by side. Here every H-th one was taken for a head.": strided,
            "it is transposed: the columns of W_o are its inputs.": lambda W, o: W[:, places(W, o)].T,
            "the blocks are in order, but inside each one the columns run backwards.": (
                lambda W, o: W[:, torch.tensor(places(W, o)).view(len(o), -1).flip(1).flatten()]
            ),
            "H columns have moved, one for each head. A head has d_head of them.": (
                lambda W, o: torch.cat([W[:, o], W[:, len(o) :]], 1)
            ),
        },
        "heads and columns do not yet belong together.",
        right=right,
    )
    return "from one head to six: the output is the same in any order."


@check
def blur(answer: Callable) -> str:
    """Check `blur(weights)`: (B, H, T, S) → (B, T), mean of the heads' largest weights minus that of their mean."""

    def each(w: Tensor) -> Tensor:
        return w.amax(-1)  # (B, H, T)

    def averaged(w: Tensor) -> Tensor:
        return w.mean(1).amax(-1)  # (B, T)

    def wanted(w: Tensor) -> Tensor:
        B, H, T, _ = w.shape
        rows = [[w[b, :, i].double().tolist() for i in range(T)] for b in range(B)]
        return torch.tensor([
            [sum(map(max, heads)) / H - max(map(sum, zip(*heads, strict=True))) / H for heads in text] for text in rows
        ], dtype=torch.float64)  # fmt: skip

    def where_head_0_looks(w: Tensor) -> Tensor:
        there = w.mean(1).gather(-1, w[:, 0].argmax(-1, keepdim=True)).squeeze(-1)
        return each(w).mean(1) - there

    def shape(*axes: int) -> Callable[[Tensor], Size]:
        return lambda w: Size([w.shape[axis] for axis in axes])

    sizes = [
        (2, 3, 4, 5),
        (1, 2, 6, 3),
        (3, 4, 2, 4),
        (3, 1, 2, 4),
        (1, 3, 1, 2),
        (2, 2, 1, 1),
        (1, 1, 1, 1),
        (4, 5, 7, 9),
    ]
    examine(
        answer,
        [((2 * draw(*size, seed=size[-1])).softmax(-1),) for size in sizes],
        wanted,
        {
            "one number for each head. Average over the heads as well.": shape(0, 1, 2),
            "one number for each place j. The largest weight is sought *among* the places, for each query.": shape(
                0, 3
            ),
            "one number for each head. Each query i has its own largest weight.": shape(0, 1),
            "one number for each text. Each query i has its own.": shape(0),
            "one number for everything. Each query of each text has its own.": shape(),
            "one number for each weight. Of each query's weights only the largest counts.": shape(0, 2, 3),
            "the sign is wrong: an average is never sharper than its heads.": lambda w: -wanted(w),
            "that is what the averaged map shows. How much sharper are the heads themselves?": averaged,
            "that is how sharp the heads are. How much of it does the averaged map lose?": lambda w: each(w).mean(1),
            "the heads are added up on one side. Both sides are averages over H.": (
                lambda w: each(w).sum(1) - averaged(w)
            ),
            "of the heads only the sharpest counts, not their mean.": lambda w: each(w).amax(1) - averaged(w),
            "the heads of the map are added up, not averaged.": lambda w: each(w).mean(1) - w.sum(1).amax(-1),
            "the averaged map is read where head 0 looks. Its own largest weight may stand elsewhere.": (
                where_head_0_looks
            ),
            "one side is the smallest weight.": lambda w: each(w).mean(1) - w.mean(1).amin(-1),
            "it is divided: asked for is a difference.": lambda w: each(w).mean(1) / averaged(w),
            "it is always 0: both sides are averaged first, or neither.": lambda w: 0 * averaged(w),
        },
        "this is not the difference of the two.",
    )
    return "from five heads to one, which loses nothing."

"""Checks for chapters 11 and 12: a look without positions, the order of the heads and their average."""

from collections.abc import Callable

import torch

from attnlib.attention import causal_mask, masked_softmax
from attnlib.course.checks.asking import ask_tensor, described, draw
from attnlib.course.checks.verdict import check, expect, need


@check
def even_look(answer: Callable) -> str:
    """Check `even_look(values)`: (B, T, d) → contexts (B, T, d) of a causal layer whose scores are all 0."""
    for B, T, d in [(2, 5, 3), (3, 7, 2), (1, 1, 4)]:
        values, zero = draw(B, T, d, seed=T), torch.zeros(T, T)
        count, total = torch.arange(1.0, T + 1).unsqueeze(1), values.cumsum(1)
        strict = masked_softmax(zero, causal_mask(T, include_self=False)) @ values
        halves = [values[:, 0]]
        for t in range(1, T):
            halves.append((halves[-1] + values[:, t]) / 2)
        context = ask_tensor(
            answer,
            values,
            shape=(B, T, d),
            instead={
                (B, T, T): "those are the weights. Asked for is what they average, the contexts.",
                (T, T): "those are the weights. Asked for is what they average, the contexts.",
                (B, d): "one context for each text. Each *token* has a context of its own.",
            },
        )
        if T > 1:
            need(
                not same_after(context, strict),
                "a token does not see itself: the mean of those before it. Here it may look at itself, too.",
            )
        expect(
            context,
            masked_softmax(zero, causal_mask(T)) @ values,
            {
                "each token averages the whole text: nothing hides the future. (A score that is set to 0 does not: "
                "all of them are 0.)": values.mean(1, keepdim=True).expand(-1, T, -1),
                "each token sees what comes after it, and not what came before.": (
                    masked_softmax(zero, causal_mask(T).T) @ values
                ),
                "the values are added up, not averaged: the weights of a token sum to 1.": total,
                "every sum is divided by T. A token shares out its weight among those that it sees, and no others.": (
                    total / T
                ),
                "the average of the average: it starts with the context before, so the latest token counts half.": (
                    torch.stack(halves, 1)
                ),
                "that is the values again: each token sees itself alone.": values,
                "the sum ran over the texts of the batch, not over the tokens.": (
                    values.cumsum(0) / torch.arange(1.0, B + 1)[:, None, None]
                ),
                "the place is counted from 0, so one token too few shares the sum.": total / (count - 1),
                "the place is counted one too far: token t sees t tokens, itself included.": total / (count + 1),
            },
            f"this is not the mean of a token and all before it, on {described(values)}.",
        )
    return "each token gets the mean of itself and all before it."


def same_after(given: torch.Tensor, wanted: torch.Tensor) -> bool:
    """Equal from the second token on, whatever became of the first."""
    return torch.allclose(given[:, 1:].double(), wanted[:, 1:].double(), rtol=1e-5, atol=1e-5)


@check
def reorder_heads(answer: Callable) -> str:
    """Check `reorder_heads(W_o, order)`: (d_model, d_model) and H head numbers; W_o for heads in the new order."""
    for d_model, order in [(12, [2, 0, 1]), (8, [1, 2, 3, 0]), (6, [0])]:
        H, W_o = len(order), draw(d_model, d_model, seed=d_model)
        at = torch.arange(d_model).view(H, -1)
        places, back = at[order].flatten(), at[torch.tensor(order).argsort()].flatten()
        strided = at.view(-1, H).T[order].T.flatten()  # as if head h had the columns h, h + H, …
        given = ask_tensor(
            answer,
            W_o,
            order,
            shape=(d_model, d_model),
            instead={
                (d_model, H): "one column for each head. A head has d_head of them.",
                (H, d_model): "one row for each head. A head has d_head columns.",
                (
                    d_model,
                    H,
                    d_model // H,
                ): "the blocks of the heads are right or wrong, but not yet side by side again.",
            },
        )
        expect(
            given,
            W_o[:, places],
            {
                "that is W_o as it was. Then each block reads what another head has found.": W_o,
                "the *rows* of W_o were moved. They write; what belongs to a head is what it is read with.": W_o[
                    places
                ],
                "rows and columns were moved. The output has the old order: who reads it knows of no heads.": (
                    W_o[places][:, places]
                ),
                "the order is applied the wrong way round. New head h is the old head order[h].": W_o[:, back],
                "the columns of a head stand side by side. Here every H-th one was taken for a head.": W_o[:, strided],
                "it is transposed: the columns of W_o are its inputs.": W_o[:, places].T,
                "the blocks are in order, but inside each one the columns run backwards.": (
                    W_o[:, at[order].flip(1).flatten()]
                ),
                "H columns have moved, one for each head. A head has d_head of them.": (
                    torch.cat([W_o[:, order], W_o[:, H:]], 1)
                ),
            },
            f"with the order {order} and d_model = {d_model}, heads and columns do not yet belong together.",
        )
    return "three heads, four and one: the output is the same in any order."


@check
def blur(answer: Callable) -> str:
    """Check `blur(weights)`: (B, H, T, S) → (B, T), mean of the heads' largest weights minus that of their mean."""
    for B, H, T, S in [(2, 3, 4, 5), (1, 2, 6, 3), (3, 1, 2, 4)]:
        weights = (2 * draw(B, H, T, S, seed=S)).softmax(-1)
        each, averaged = weights.amax(-1), weights.mean(1).amax(-1)  # (B, H, T), (B, T)
        first = weights[:, 0].argmax(-1)  # where head 0 looks
        there = weights.mean(1).gather(-1, first.unsqueeze(-1)).squeeze(-1)
        given = ask_tensor(
            answer,
            weights,
            shape=(B, T),
            instead={
                (B, H, T): "one number for each head. Average over the heads as well.",
                (B, S): "one number for each place j. The largest weight is sought *among* the places, for each query.",
                (B, H): "one number for each head. Each query i has its own largest weight.",
                (B,): "one number for each text. Each query i has its own.",
                (): "one number for everything. Each query of each text has its own.",
                (B, T, S): "one number for each weight. Of each query's weights only the largest counts.",
            },
        )
        expect(
            given,
            each.mean(1) - averaged,
            {
                "the sign is wrong: an average is never sharper than its heads.": averaged - each.mean(1),
                "that is what the averaged map shows. How much sharper are the heads themselves?": averaged,
                "that is how sharp the heads are. How much of it does the averaged map lose?": each.mean(1),
                "the heads are added up on one side. Both sides are averages over H.": each.sum(1) - averaged,
                "of the heads only the sharpest counts, not their mean.": each.amax(1) - averaged,
                "the heads of the map are added up, not averaged.": each.mean(1) - weights.sum(1).amax(-1),
                "the averaged map is read where head 0 looks. Its own largest weight may stand elsewhere.": (
                    each.mean(1) - there
                ),
                "one side is the smallest weight.": each.mean(1) - weights.mean(1).amin(-1),
                "it is divided: asked for is a difference.": each.mean(1) / averaged,
                "it is always 0: both sides are averaged first, or neither.": torch.zeros(B, T),
            },
            f"this is not the difference of the two, on {described(weights)}.",
        )
    return "three heads, two, and one, which loses nothing."

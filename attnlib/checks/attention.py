"""Checks for chapters 3 to 5: scores, the masked softmax, the context."""

from collections.abc import Callable

import torch

from attnlib.attention import masked_softmax as reference
from attnlib.checks.verdict import Mistake, ask_tensor, check, described, draw, gradients, need, same


@check
def masked_softmax(answer: Callable) -> str:
    """Check `masked_softmax(scores, mask)`: scores (B, T, S), mask boolean, broadcasting, True = may attend."""
    scores, full = draw(2, 3, 4), torch.ones(2, 3, 4, dtype=torch.bool)
    weights = ask_tensor(answer, scores, full, shape=(2, 3, 4))
    if not same(weights, scores.softmax(-1)):
        need(
            not same(weights, scores.softmax(1)),
            "your columns sum to 1, not your rows: the softmax ran over the queries. Each query shares its weight "
            "among the keys, the last axis.",
        )
        need(not same(weights, scores.softmax(0)), "the softmax ran over the sentences of the batch, axis 0.")
        need(weights.any(), "with every key visible all weights are 0. Is your mask the other way round?")
        raise Mistake("with every key visible it is not yet the softmax of the scores over the last axis.")
    big = ask_tensor(answer, 1000 * scores, full, shape=(2, 3, 4))
    need(
        same(big, (1000 * scores).softmax(-1)),
        "scores of 1000 overflow in exp. Subtract the largest score of each row first.",
    )

    mask = draw(2, 3, 4, seed=1) > -0.3
    mask[..., 0] = True
    weights = ask_tensor(answer, scores, mask, shape=(2, 3, 4))
    need(not same(weights, scores.softmax(-1)), "the mask changes nothing.")
    need(
        not same(weights, (scores * mask).softmax(-1)),
        "a hidden score was multiplied by 0, and exp(0) is 1: it still takes its share. A hidden score must be −∞.",
    )
    need(
        not weights[~mask].any(),
        "hidden keys still get weight. A finite number is not −∞: how negative is negative enough?",
    )
    need(
        same(weights.sum(-1), torch.ones(2, 3)),
        "hidden weights are 0, but the visible ones do not sum to 1: the mask came after the softmax, and what it "
        "took away has not been shared out again.",
    )
    need(same(weights, reference(scores, mask)), "visible weights are not the softmax of the visible scores.")
    padding = mask[:, :1]
    need(
        same(ask_tensor(answer, scores, padding, shape=(2, 3, 4)), reference(scores, padding)),
        f"it goes wrong when the mask must broadcast, on {described(scores, padding)}.",
    )

    mask[0, 1] = False
    weights = ask_tensor(answer, scores, mask, shape=(2, 3, 4))
    need(not weights[0, 1].isnan().any(), "a row in which nothing is visible becomes NaN: it was 0 / 0.")
    need(not weights[0, 1].any(), "a row in which nothing is visible still shares out weight. It must be all 0.")
    [slope] = gradients(answer, scores, mask)
    need(not slope.isnan().any(), "the weights are right, but the gradient of a blank row is NaN: training dies.")
    return "hidden keys get 0, visible ones share 1, a blank row is 0, and so is its gradient."

"""Checks for chapters 3 and 4: from scores to contexts, masks, the masked softmax and its gradient."""

from collections.abc import Callable

import torch

from attnlib.attention import causal_mask, length_mask
from attnlib.attention import masked_softmax as reference
from attnlib.course.checks.asking import ask_tensor, described, draw, gradients
from attnlib.course.checks.verdict import Mistake, check, expect, need, same


@check
def repeated_words(answer: Callable) -> str:
    """Check `repeated_words(scores, counts)`: (S,) and integers (S,); (S,), the weights over all places of a word."""
    for counts in ([1, 3, 2, 1], [2, 1, 5], [1, 2, 0, 4, 1]):
        e, n = draw(len(counts), seed=len(counts)), torch.tensor(counts)
        given = ask_tensor(
            answer,
            e,
            n,
            shape=e.shape,
            instead={
                (sum(counts),): "one weight for each *place*. Asked for is one for each word, over all its places."
            },
        )
        expect(
            given,
            (e + n.log()).softmax(-1),
            {
                "the counts have no say: a word that stands there twice gets as much as before.": e.softmax(-1),
                "the weights do not sum to 1. A word that gets more must take it from the others.": e.softmax(-1) * n,
                "the score was multiplied by the count. A word said twice does not score twice as high.": (
                    (n * e).softmax(-1)
                ),
                "the count was added to the score: two places would be worth e times one.": (e + n).softmax(-1),
                "this is the weight of *one* place of each word. Add up its places.": (
                    (e + n.log()).softmax(-1) / n.clamp(min=1)
                ),
                "the wrong way round: a word that stands there more often gets less.": (
                    (e - n.clamp(min=1).log()).softmax(-1)
                ),
                "counts are measured in bits, scores in nats.": (e + n.log2()).softmax(-1),
                "every repeated word gains the same, however often it is repeated.": (
                    (e + n.clamp(max=2).log()).softmax(-1)
                ),
                "a word that stands nowhere gets weight.": (e + n.clamp(min=1).log()).softmax(-1),
            },
            "these are not the weights of the long sentence, added up for each word.",
        )
    big = ask_tensor(answer, 1000 * e, n, shape=e.shape)
    need(same(big, (1000 * e + n.log()).softmax(-1)), "right for small scores; scores of 1000 overflow.")
    return "words that stand there once, often or not at all: as in the long sentence, without building it."


@check
def looks_everywhere(answer: Callable) -> str:
    """Check `looks_everywhere(keys)`: (S, d) with S ≤ d; a query (d,) of length 1 that scores all keys alike."""
    for S, d in [(4, 7), (2, 3), (6, 6)]:
        keys = draw(S, d, seed=d)
        q = ask_tensor(
            answer,
            keys,
            shape=(d,),
            instead={(S,): "one number for each *key*: these may be its weights. Asked for is the query itself."}
            if S != d
            else {},
        )
        q, keys = q.detach().double(), keys.double()
        need(q.isfinite().all(), "not all of its numbers are finite.")
        need(
            q.norm() > 1e-3,
            "the zero query. It does look everywhere, but asked for is one of length 1, and there is one.",
        )
        scores = keys @ q / q.norm()
        if scores.max() - scores.min() > 1e-4:
            centre = keys.mean(0)
            need(
                not same(scores.abs(), keys @ centre / centre.norm()),
                "the mean of the keys lies between them, and yet it does not score them alike.",
            )
            need(
                S < d,
                "with as many numbers as keys no query is orthogonal to all keys. Must the scores be 0?",
            )
            raise Mistake(
                f"scores must be equal; these run from {scores.min():.2f} to {scores.max():.2f}, on {described(keys)}."
            )
        need(abs(q.norm() - 1) < 1e-3, f"all scores are equal, but its length is {q.norm():.2f} and not 1.")
    return "two, four and six keys, the last with no number to spare: every word gets the same weight."


@check
def past_and_padding(answer: Callable) -> str:
    """Check `past_and_padding(lengths, T)`: (B,) real words, padded on the *left*; (B, T, T), True = may attend."""
    for T, lengths in [(4, [4, 2]), (6, [3, 1, 5, 0])]:
        n = torch.tensor(lengths)
        given = ask_tensor(answer, n, T, shape=(len(lengths), T, T))
        need(given.dtype == torch.bool, f"a mask is boolean; this is {str(given.dtype).removeprefix('torch.')}.")
        right, past = length_mask(n, T), causal_mask(T)
        real, early = right.flip(-1), (torch.arange(T) >= T - 1 - n.unsqueeze(1)).unsqueeze(1)
        expect(
            given,
            past & real,
            {
                "it is the other way round: True must mean *may attend*.": ~(past & real),
                "the padding is taken to be on the right. Here all sentences *end* together.": past & right,
                "one condition *or* the other is enough. Both must hold.": past | real,
                "padding is hidden, but the future is not.": real.expand(-1, T, -1),
                "the future is hidden, but padding is not.": past.expand(len(n), -1, -1),
                "it looks at the future, and the past is hidden.": past.T & real,
                "no place may look at itself. The past includes the present.": causal_mask(T, include_self=False)
                & real,
                "one place of the future may be seen.": torch.ones(T, T).tril(1).bool() & real,
                "rows of padding are hidden and not columns: padding may not *ask*, but everybody may look at it.": (
                    past & real.mT
                ),
                "rows and columns have changed places: rows ask, columns are looked at.": (past & real).mT,
                "one pad too many is visible: count the pads of a sentence of 2 in 4 places.": past & early,
            },
            f"some places see what they may not, or do not see what they may, with lengths {lengths} and T = {T}.",
        )
    return "every place sees the real words up to itself; padding asks in vain, and so does an empty sentence."


@check
def softmax_backward(answer: Callable) -> str:
    """Check `softmax_backward(weights, g)`: (…, S), and the gradient by the weights; the gradient by the scores."""
    for shape in [(5,), (3, 4), (2, 3, 5)]:
        visible = draw(*shape, seed=4) > -0.5
        visible[..., 0] = True
        if len(shape) > 2:
            visible[0, 1] = False  # a blank row
        scores, g = draw(*shape, seed=5).requires_grad_(), draw(*shape, seed=6)
        weights = reference(scores, visible)
        wanted = torch.autograd.grad(weights, scores, g)[0]
        a = weights.detach()
        inner = (a * g).sum(-1, keepdim=True)
        matrix = "this is the whole matrix of derivatives. What is asked for is one number for each score."
        given = ask_tensor(answer, a, g, shape=shape, instead={(*shape, shape[-1]): matrix})
        need(not given.isnan().any(), "a weight of 0 makes it NaN: was something divided by it, or a logarithm taken?")
        expect(
            given,
            wanted,
            {
                "the sign is the other way round.": -wanted,
                "only how a weight depends on its *own* score. More for one place is less for the others.": (
                    a * (1 - a) * g
                ),
                "the softmax was treated as an exponential: what the sum below does is missing.": a * g,
                "only what the sum below does is there; the term of the place itself is missing.": -a * inner,
                "the average is taken off, but the weight of the place itself is missing in front.": g - inner,
                "the gradients were added up, not averaged: the sum needs the weights.": a * (g - g.sum(-1, True)),
                "the plain mean was taken off. It is another average: places count by their weight.": (
                    a * (g - g.mean(-1, True))
                ),
                "the average ran over the queries. Each row has its own softmax, over its last axis.": (
                    a * (g - (a * g).sum(-2, True)) if len(shape) > 1 else a
                ),
                "one average for all rows together. Each row has its own.": a * (g - (a * g).sum()),
                "the gradient went through: these are the numbers that came in.": g,
            },
            f"this is not the gradient of the scores, on {described(a, g)}.",
        )
    return "one row, many rows, hidden places and a blank row: as torch's own backward pass."


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

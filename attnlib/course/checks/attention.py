"""Checks for chapters 3 and 4: from scores to contexts, masks, the masked softmax and its gradient.

Right answers are computed by their definition, place by place and in double precision. What remains to be read here is
the matrix of derivatives of the softmax, which the exercise asks to avoid.
"""

from collections.abc import Callable

import torch
from torch import Size, Tensor

from attnlib.attention import causal_mask, length_mask
from attnlib.attention import masked_softmax as reference
from attnlib.course.checks.asking import draw, gradients
from attnlib.course.checks.examining import agrees, examine
from attnlib.course.checks.verdict import check, need


def long_sentence(scores: Tensor, counts: Tensor) -> Tensor:
    """The weights (S,) of words in the sentence in which each stands as often as `counts` says."""
    places = scores.double().repeat_interleave(counts).softmax(-1)
    return torch.stack([place.sum() for place in places.split(counts.tolist())])


@check
def repeated_words(answer: Callable) -> str:
    """Check `repeated_words(scores, counts)`: (S,) and integers (S,); (S,), the weights over all places of a word."""
    several = [[1, 3, 2, 1], [2, 1, 5], [1, 2, 0, 4, 1], [3], [0, 0, 2], [2, 1, 1, 0, 3, 1, 9, 2, 4]]
    cases = [(draw(len(counts), seed=len(counts)), torch.tensor(counts)) for counts in several]
    cases += [(torch.tensor([0.0, 1.0, -2.0]), torch.tensor([2, 1, 3])), (torch.zeros(2), torch.tensor([1, 4]))]
    examine(
        answer,
        cases,
        long_sentence,
        {
            "one weight for each *place*. Asked for is one for each word, over all its places.": (
                lambda e, n: Size([int(n.sum())])
            ),
            "the counts have no say: a word that stands there twice gets as much as before.": (
                lambda e, n: e.softmax(-1)
            ),
            "the weights do not sum to 1. A word that gets more must take it from the others.": (
                lambda e, n: e.softmax(-1) * n
            ),
            "the score was multiplied by the count. A word said twice does not score twice as high.": (
                lambda e, n: (n * e).softmax(-1)
            ),
            "the count was added to the score: two places would be worth e times one.": lambda e, n: (e + n).softmax(
                -1
            ),
            "this is the weight of *one* place of each word. Add up its places.": (
                lambda e, n: long_sentence(e, n) / n.clamp(min=1)
            ),
            "the wrong way round: a word that stands there more often gets less.": (
                lambda e, n: (e - n.clamp(min=1).log()).softmax(-1)
            ),
            "counts are measured in bits, scores in nats.": lambda e, n: (e + n.log2()).softmax(-1),
            "every repeated word gains the same, however often it is repeated.": (
                lambda e, n: long_sentence(e, n.clamp(max=2))
            ),
            "a word that stands nowhere gets weight.": lambda e, n: long_sentence(e, n.clamp(min=1)),
        },
        "these are not the weights of the long sentence, added up for each word.",
    )
    examine(
        answer,
        [
            (torch.tensor([60.0, -60.0, -58.0]), torch.tensor([0, 2, 1])),
            (torch.tensor([-70.0, 50.0]), torch.tensor([1, 0])),
        ],
        long_sentence,
        otherwise="a word that stands nowhere has by far the largest score. It must take nothing from the others: "
        "leave it out before the softmax, not after.",
    )
    large = [(1000 * e, n) for e, n in cases] + [(draw(7, seed=7, scale=1e5), torch.arange(1, 8))]
    examine(
        answer,
        large,
        long_sentence,
        {"right for small scores; scores of 1000 overflow.": lambda e, n: (n * e.exp()) / (n * e.exp()).sum()},
        "right for small scores, but not for scores of 1000 and more.",
        seen=lambda a, e, n: "right for small scores; scores of 1000 overflow." if not a.isfinite().all() else None,
    )
    return "words that stand there once, often or not at all: as in the long sentence, without building it."


@check
def looks_everywhere(answer: Callable) -> str:
    """Check `looks_everywhere(keys)`: (S, d) with S ≤ d; a query (d,) of length 1 that scores all keys alike."""

    def right(q: Tensor, keys: Tensor) -> bool:
        scores = keys.double() @ q.double()
        return bool(scores.max() - scores.min() < 1e-4 and abs(q.double().norm() - 1) < 1e-3)

    def seen(q: Tensor, keys: Tensor) -> str:
        q, keys = q.double(), keys.double()
        if not q.isfinite().all():
            return "not all of its numbers are finite."
        if q.norm() < 1e-3:
            return "the zero query. It does look everywhere, but asked for is one of length 1, and there is one."
        scores = keys @ q / q.norm()
        if scores.max() - scores.min() < 1e-4:
            return f"all scores are equal, but its length is {q.norm():.2f} and not 1."
        if len(keys) == len(q):
            return "with as many numbers as keys no query is orthogonal to all keys. Must the scores be 0?"
        return f"scores must be equal; these run from {scores.min():.2f} to {scores.max():.2f} for {len(keys)} keys."

    examine(
        answer,
        [(draw(S, d, seed=d),) for S, d in [(4, 7), (2, 3), (6, 6), (1, 4), (1, 1), (9, 12)]],
        lambda keys: keys[0],  # of its shape
        {
            "one number for each *key*: these may be its weights. Asked for is the query itself.": (
                lambda keys: Size([len(keys)])
            ),
            "the mean of the keys lies between them, and yet it does not score them alike.": (
                lambda keys: {keys.mean(0), keys.mean(0) / keys.mean(0).norm()}
            ),
        },
        "it does not score all keys alike.",
        seen=seen,
        right=right,
    )
    return "from one key to nine, some with no number to spare: every word gets the same weight."


@check
def past_and_padding(answer: Callable) -> str:
    """Check `past_and_padding(lengths, T)`: (B,) real words, padded on the *left*; (B, T, T), True = may attend."""

    def real(n: Tensor, T: int) -> Tensor:
        return length_mask(n, T).flip(-1)

    def wanted(n: Tensor, T: int) -> Tensor:
        return torch.tensor([[[i >= j >= T - int(k) for j in range(T)] for i in range(T)] for k in n])

    sizes = [([4, 2], 4), ([3, 1, 5, 0], 6), ([5, 2, 4], 5), ([2], 3), ([1], 1), ([0, 1], 1), ([0, 9, 7], 9)]
    examine(
        answer,
        [(torch.tensor(lengths), T) for lengths, T in sizes],
        wanted,
        {
            "it is the other way round: True must mean *may attend*.": lambda n, T: ~wanted(n, T),
            "the padding is taken to be on the right. Here all sentences *end* together.": (
                lambda n, T: causal_mask(T) & length_mask(n, T)
            ),
            "one condition *or* the other is enough. Both must hold.": lambda n, T: causal_mask(T) | real(n, T),
            "padding is hidden, but the future is not.": lambda n, T: real(n, T).expand(-1, T, -1),
            "the future is hidden, but padding is not.": lambda n, T: causal_mask(T).expand(len(n), -1, -1),
            "rows and columns have changed places: rows ask, columns are looked at.": lambda n, T: wanted(n, T).mT,
            "it looks at the future, and the past is hidden.": lambda n, T: causal_mask(T).T & real(n, T),
            "no place may look at itself. The past includes the present.": (
                lambda n, T: causal_mask(T, include_self=False) & real(n, T)
            ),
            "one place of the future may be seen.": lambda n, T: torch.ones(T, T).tril(1).bool() & real(n, T),
            "rows of padding are hidden and not columns: padding may not *ask*, but everybody may look at it.": (
                lambda n, T: causal_mask(T) & real(n, T).mT
            ),
            "one pad too many is visible: count the pads of a sentence of 2 in 4 places.": (
                lambda n, T: causal_mask(T) & (torch.arange(T) >= T - 1 - n.view(-1, 1, 1))
            ),
        },
        "some places see what they may not, or do not see what they may.",
    )
    return "every place sees the real words up to itself; padding asks in vain, and so does an empty sentence."


@check
def softmax_backward(answer: Callable) -> str:
    """Check `softmax_backward(weights, g)`: (…, S), and the gradient by the weights; the gradient by the scores."""

    def wanted(a: Tensor, g: Tensor) -> Tensor:
        a, g = a.double(), g.double()
        matrix = a.diag_embed() - a.unsqueeze(-1) * a.unsqueeze(-2)
        return (matrix @ g.unsqueeze(-1)).squeeze(-1)

    def inner(a: Tensor, g: Tensor) -> Tensor:
        return (a * g).sum(-1, keepdim=True)

    cases = []
    for shape in [(5,), (3, 4), (2, 3, 5), (1, 1, 4), (2, 1), (1,), (2, 2, 3, 8)]:
        visible = draw(*shape, seed=4) > -0.5
        visible[..., 0] = True
        if len(shape) > 2:
            visible[0, -1] = False  # a blank row
        cases.append((reference(draw(*shape, seed=5), visible), draw(*shape, seed=6)))
    cases += [(a, 1e5 * g) for a, g in cases[1:3]]
    examine(
        answer,
        cases,
        wanted,
        {
            "this is the whole matrix of derivatives. What is asked for is one number for each score.": (
                lambda a, g: Size((*a.shape, a.shape[-1]))
            ),
            "the sign is the other way round.": lambda a, g: -wanted(a, g),
            "only how a weight depends on its *own* score. More for one place is less for the others.": (
                lambda a, g: a * (1 - a) * g
            ),
            "the softmax was treated as an exponential: what the sum below does is missing.": lambda a, g: a * g,
            "only what the sum below does is there; the term of the place itself is missing.": (
                lambda a, g: wanted(a, g) - a * g
            ),
            "the average is taken off, but the weight of the place itself is missing in front.": (
                lambda a, g: g - inner(a, g)
            ),
            "the gradients were added up, not averaged: the sum needs the weights.": (
                lambda a, g: a * (g - g.sum(-1, keepdim=True))
            ),
            "the plain mean was taken off. It is another average: places count by their weight.": (
                lambda a, g: a * (g - g.mean(-1, keepdim=True))
            ),
            "the average ran over the queries. Each row has its own softmax, over its last axis.": (
                lambda a, g: a * (g - (a * g).sum(-min(2, a.dim()), keepdim=True))
            ),
            "one average for all rows together. Each row has its own.": lambda a, g: a * (g - (a * g).sum()),
            "the gradient went through: these are the numbers that came in.": lambda a, g: g,
        },
        "this is not the gradient of the scores.",
        seen=lambda x, a, g: (
            "a weight of 0 makes it NaN: was something divided by it, or a logarithm taken?"
            if x.isnan().any()
            else None
        ),
    )
    return "one row, many rows, hidden places and a blank row: as torch's own backward pass."


@check
def masked_softmax(answer: Callable) -> str:
    """Check `masked_softmax(scores, mask)`: scores (B, T, S), mask boolean, broadcasting, True = may attend."""

    def wanted(s: Tensor, m: Tensor) -> Tensor:
        return reference(s.double(), m)

    shapes = [(2, 3, 4), (3, 2, 5), (1, 4, 3), (1, 1, 4), (2, 1, 1), (3, 7, 9)]
    full = [(draw(*shape, seed=n), torch.ones(shape, dtype=torch.bool)) for n, shape in enumerate(shapes)]
    examine(
        answer,
        full,
        wanted,
        {
            "your columns sum to 1, not your rows: the softmax ran over the queries. Each query shares its weight "
            "among the keys, the last axis.": lambda s, m: s.softmax(1),
            "the softmax ran over the sentences of the batch, axis 0.": lambda s, m: s.softmax(0),
            "with every key visible all weights are 0. Is your mask the other way round?": lambda s, m: 0 * s,
        },
        "with every key visible it is not yet the softmax of the scores over the last axis.",
    )
    examine(
        answer,
        [(scale * s, m) for s, m in full for scale in (1000, 1e5)],
        wanted,
        otherwise="with scores of 1000 it is not the softmax. Subtract the largest score of each row first.",
        seen=lambda a, s, m: (
            "scores of 1000 overflow in exp. Subtract the largest score of each row first."
            if not a.isfinite().all()
            else None
        ),
    )

    partly = []
    for n, (s, m) in enumerate(full):
        m = draw(*m.shape, seed=n + 1) > -0.3
        m[..., n % m.shape[-1]] = True
        partly.append((s, m))
    hidden_keys = "hidden keys still get weight. A finite number is not −∞: how negative is negative enough?"
    usual = {
        "the mask changes nothing.": lambda s, m: s.softmax(-1),
        "a hidden score was multiplied by 0, and exp(0) is 1: it still takes its share. A hidden score must be −∞.": (
            lambda s, m: (s * m).softmax(-1)
        ),
        "hidden weights are 0, but the visible ones do not sum to 1: the mask came after the softmax, and what it took "
        "away has not been shared out again.": lambda s, m: s.softmax(-1) * m,
    }

    def seen(a: Tensor, s: Tensor, m: Tensor) -> str | None:
        return hidden_keys if a[~m.expand_as(a)].any() else None

    examine(answer, partly, wanted, usual, "visible weights are not the softmax of the visible scores.", seen=seen)
    low = [(s - 1e4, m) for s, m in partly] + [(1e5 * s, m) for s, m in partly] + [(s * 0 - 1e30, m) for s, m in partly]
    otherwise = (
        "right for small scores. Where hidden scores are far above the visible ones, or visible ones far below 0, the "
        "visible ones must still share 1."
    )
    examine(answer, low + [(s.where(m, 200), m) for s, m in partly], wanted, usual, otherwise, seen=seen)
    examine(
        answer,
        [(s, m[:, :1]) for s, m in partly] + [(s, m[:1]) for s, m in partly] + [(s, m[0, 0]) for s, m in partly],
        wanted,
        otherwise="it goes wrong when the mask must broadcast.",
    )

    blank = []
    for s, m in partly:
        m = m.clone()
        m[0, -1] = False
        blank.append((s, m))
    share = "a row in which nothing is visible still shares out weight. It must be all 0."
    nan = "a row in which nothing is visible becomes NaN: it was 0 / 0."
    examine(
        answer,
        [*blank, (blank[0][0], torch.zeros(1, 1, 4, dtype=torch.bool))],
        wanted,
        otherwise="it goes wrong when a row is blank.",
        seen=lambda a, s, m: nan if a.isnan().any() else share if a[~m.expand_as(a)].any() else None,
    )
    for s, m in blank:
        if not wanted(s, m).any():
            continue
        [slope] = gradients(answer, s, m)
        need(not slope.isnan().any(), "the weights are right, but the gradient of a blank row is NaN: training dies.")
        need(agrees(slope, gradients(wanted, s, m)[0]), "the weights are right, but not their gradient.")
    return "hidden keys get 0, visible ones share 1, a blank row is 0, and so is its gradient."

"""Checks for chapters 6 and 7: the look back of a language model, and alignments.

The look back is made state by state. What remains to be read here is how hits of a shift are counted.
"""

import math
from collections.abc import Callable, Sequence
from statistics import fmean

import torch
from torch import Tensor

from attnlib.attention import causal_mask, masked_softmax
from attnlib.course.checks.asking import draw, gradients
from attnlib.course.checks.examining import agrees, examine
from attnlib.course.checks.verdict import check, need
from attnlib.data.examples import AlignmentLinks
from attnlib.training.metrics import alignment_error_rate

Corpus = Sequence[AlignmentLinks]


@check
def look_back(answer: Callable) -> str:
    """Check `look_back(states, earlier)`: (T, d) and (P, d) → contexts (T, d), by the plain dot product."""

    def wanted(states: Tensor, earlier: Tensor) -> Tensor:
        memory, contexts = torch.cat([earlier, states]).double(), []
        for t, state in enumerate(states.double()):
            past = memory[: len(earlier) + t]
            contexts.append((past @ state).softmax(-1) @ past if len(past) else 0 * state)
        return torch.stack(contexts)

    def read(mask: Callable[[int, int], Tensor], change: Callable = lambda scores: scores) -> Callable:
        def look(states: Tensor, earlier: Tensor) -> Tensor:
            memory = torch.cat([earlier, states])
            return masked_softmax(change(states @ memory.T), mask(len(states), len(earlier))) @ memory

        return look

    def past(T: int, P: int) -> Tensor:
        return causal_mask(T, past=P, include_self=False)

    def with_softmax(weigh: Callable[[Tensor, Tensor], Tensor]) -> Callable:
        def look(states: Tensor, earlier: Tensor) -> Tensor:
            memory = torch.cat([earlier, states])
            return weigh(states @ memory.T, past(len(states), len(earlier))) @ memory

        return look

    def case(T: int, P: int, d: int, scale: float = 1.0) -> tuple[Tensor, Tensor]:
        return draw(T, d, seed=T, scale=scale), draw(P, d, seed=P + 1, scale=scale)

    examine(
        answer,
        [case(5, 4, 3), case(3, 2, 4), case(4, 1, 2), case(1, 3, 2), case(2, 5, 1), case(1, 1, 1), case(9, 7, 5)],
        wanted,
        {
            "each state sees itself, too. Strictly the past is asked for.": read(lambda T, P: causal_mask(T, past=P)),
            "each state sees the whole text, the future included.": read(lambda T, P: past(T, P) | True),
            "the earlier states are not looked at: only the T new ones are keys.": (
                lambda states, earlier: wanted(states, earlier[:0])
            ),
            "the new states before a state are not looked at, only `earlier`.": (
                read(lambda T, P: (torch.arange(P + T) < P).expand(T, -1))
            ),
            "new state t sees t − 1 states, as if nothing came before: the mask does not count the P earlier ones.": (
                read(lambda T, P: torch.ones(T, P + T, dtype=torch.bool).tril(-1))
            ),
            "a hidden score became 0, and exp(0) is 1: the future still takes its share.": (
                with_softmax(lambda scores, mask: (scores * mask).softmax(-1))
            ),
            "the softmax ran over the queries: each key shares out its weight, not each query.": (
                with_softmax(lambda scores, mask: scores.masked_fill(~mask, -torch.inf).softmax(0))
            ),
            "it is the plain mean of the past: the scores do not count.": read(past, lambda scores: 0 * scores),
            "the scores are divided by √d. Here the score is the dot product as it is.": (
                lambda states, earlier: (
                    wanted(states / states.shape[1] ** 0.5, earlier)
                    if not len(earlier)
                    else read(past, lambda scores: scores / states.shape[1] ** 0.5)(states, earlier)
                )
            ),
        },
        "the contexts are not those of the softmax over the strict past.",
    )
    examine(
        answer,
        [case(5, 4, 3, 30.0), case(4, 9, 2, 300.0), case(3, 2, 4, 30.0)],
        wanted,
        otherwise="right for small states, but not where scores are 1000 and more.",
        seen=lambda c, *_: "scores of 1000 overflow in exp." if not c.isfinite().all() else None,
    )

    def seen(c: Tensor, states: Tensor, earlier: Tensor) -> str | None:
        if c[0].isnan().any():
            return "without earlier states the first context is NaN: a softmax over nothing is 0 / 0."
        if agrees(c[0], states.mean(0)) and len(states) > 1:
            return (
                "without earlier states the first row is spread evenly, over the future: no finite number hides a "
                "whole row."
            )
        if c[0].any():
            return (
                "without earlier states the first one has nothing to look at, and a sum over nothing is 0. Yours is "
                "not."
            )
        return None

    alone = [case(4, 0, 2), case(6, 0, 3), case(1, 0, 3), case(2, 0, 1)]
    examine(answer, alone, wanted, otherwise="it goes wrong without earlier states, P = 0.", seen=seen)
    for states, earlier in [*alone, case(3, 2, 4)]:
        if len(states) > 1:  # alone, a state looks at nothing, and nothing flows back
            [slope] = gradients(lambda x, earlier=earlier: answer(x, earlier), states)
            need(
                not slope.isnan().any(),
                "the contexts are right, but the gradient of a blank row is NaN: training dies.",
            )
            [true] = gradients(lambda x, earlier=earlier: wanted(x, earlier), states)
            need(agrees(slope, true, 1e-4), "the contexts are right, but not their gradient.")
    return "with earlier states and without, each state looks at those before it, and the very first at nothing."


@check
def latest_only(answer: Callable) -> str:
    """Check `latest_only(T, earlier, window)`: boolean (T, earlier + T), the `window` states before each one."""

    def wanted(T: int, P: int, window: int) -> Tensor:
        return torch.tensor([[0 < P + t - j <= window for j in range(P + T)] for t in range(T)])

    def band(first: Callable[[int], int], last: Callable[[int], int]) -> Callable[[int, int, int], Tensor]:
        """True for the states from `first` to `last` places after one's own."""

        def mask(T: int, P: int, window: int) -> Tensor:
            distance = torch.arange(P + T) - torch.arange(P, P + T).unsqueeze(1)
            return (distance >= first(window)) & (distance <= last(window))

        return mask

    examine(
        answer,
        [
            (5, 3, 2),
            (4, 5, 3),
            (6, 2, 4),
            (4, 0, 3),
            (3, 6, 1),
            (2, 2, 50),
            (1, 3, 2),
            (1, 0, 1),
            (9, 4, 5),
            (12, 0, 7),
        ],
        wanted,
        {
            "it is the other way round: True means *may be looked at*.": lambda *x: ~wanted(*x),
            "each state sees itself, besides the window.": band(lambda w: -w, lambda w: 0),
            "the window counts a state's own place. It holds states *before* it.": band(lambda w: 1 - w, lambda w: 0),
            "all of the past may be seen: the window cuts nothing off.": band(lambda w: -99, lambda w: -1),
            "it sees one state too many: count the places in the window.": band(lambda w: -w - 1, lambda w: -1),
            "it sees one state too few: count the places in the window.": band(lambda w: 1 - w, lambda w: -1),
            "the window reaches into the future as well.": band(lambda w: -w, lambda w: w),
            "it sees the states *after* its own: the future.": band(lambda w: 1, lambda w: w),
            "row t sees the states before column t. But its own state stands in column earlier + t.": (
                lambda T, P, w: wanted(T + P, 0, w)[:T]
            ),
            "rows and columns have changed places: one row for each new state.": (
                lambda T, P, w: torch.Size((P + T, T))
            ),
        },
        "it is not yet right.",
    )
    return "each row sees the latest states before its own, with earlier states and without, in windows short and long."


@check
def error_rate(answer: Callable) -> str:
    """Check `error_rate(predicted, sure, possible)`: lists of sets of links (i, j), one set per sentence → float."""
    # 1 of 4 sure links, 3 of 8 possible ones, 5 predicted: no two mistakes give the same number
    A, S = {(0, 0), (1, 2), (2, 3), (3, 0), (4, 1)}, {(0, 0), (1, 1), (2, 2), (4, 4)}
    P = S | {(1, 2), (2, 3), (3, 3), (4, 3)}
    # 2 of 3 sure links, 4 of 5 possible ones, 7 predicted
    B, R = {(0, 1), (1, 0), (2, 2), (3, 3), (5, 5), (6, 0), (0, 6)}, {(0, 1), (1, 0), (4, 4)}
    Q = R | {(2, 2), (3, 3)}

    def by(formula: Callable[[int, int, int, int, int], float]) -> Callable[..., float]:
        """A formula of how many links are predicted and sure, predicted and possible, predicted, sure, and possible."""

        def rate(*corpus: Corpus) -> float:
            triples = list(zip(*corpus, strict=True))
            return formula(
                sum(len(a & s) for a, s, _ in triples), sum(len(a & p) for a, _, p in triples),
                *(sum(len(links) for links in part) for part in corpus),
            )  # fmt: skip

        return rate

    formulas = {
        "that is how much is right. An error rate is 1 minus it.": lambda a_s, a_p, a, s, p: (a_s + a_p) / (a + s),
        "that is in percent. A rate lies between 0 and 1.": lambda a_s, a_p, a, s, p: 100 - 100 * (a_s + a_p) / (a + s),
        "you divide by the number of possible links. Nobody has to find those: only sure ones must be found.": (
            lambda a_s, a_p, a, s, p: 1 - (a_s + a_p) / (a + p)
        ),
        "the numerator counts the sure links twice. A predicted link that is possible counts, too.": (
            lambda a_s, a_p, a, s, p: 1 - 2 * a_s / (a + s)
        ),
        "the numerator counts the possible links twice: a sure link is worth no more than them.": (
            lambda a_s, a_p, a, s, p: 1 - 2 * a_p / (a + s)
        ),
        "the numerator counts a link once, at most. One that is sure *and* possible counts in both terms.": (
            lambda a_s, a_p, a, s, p: 1 - a_p / (a + s)
        ),
        "the denominator counts a link that is predicted and sure only once: a sum is asked for, no union.": (
            lambda a_s, a_p, a, s, p: 1 - (a_s + a_p) / (a + s - a_s)
        ),
        "that is 1 minus the precision: what was missed does not count.": lambda a_s, a_p, a, s, p: 1 - a_p / a,
        "that is 1 minus the recall: what was predicted in vain does not count.": lambda a_s, a_p, a, s, p: 1 - a_s / s,
        "that is 1 minus the mean of precision and recall. AER joins the counts, not the shares.": (
            lambda a_s, a_p, a, s, p: 1 - (a_s / s + a_p / a) / 2
        ),
    }
    examine(
        answer,
        [([A], [S], [P]), ([B], [R], [Q]), ([A | S], [S], [P]), ([{(9, 9)}], [{(0, 0)}], [{(0, 0), (1, 1)}])],
        alignment_error_rate,
        {words: by(formula) for words, formula in formulas.items()},
        "for one sentence it is not yet the formula: count each of the four sets.",
        tolerance=1e-6,
    )

    def one_by_one(*corpus: Corpus) -> list[float]:
        sentences = (([a], [s], [p]) for a, s, p in zip(*corpus, strict=True))
        return [alignment_error_rate(*links) if links[0][0] | links[1][0] else 0.0 for links in sentences]

    def joined(*corpus: Corpus) -> float:
        return alignment_error_rate(*([frozenset().union(*links)] for links in corpus))

    three = [A, {(0, 0)}, set()], [S, {(0, 0)}, {(0, 1), (1, 0)}], [P, {(0, 0)}, {(0, 1), (1, 0)}]
    examine(
        answer,
        [three, ([A, B], [S, R], [P, Q]), ([B, {(3, 1)}], [R, {(0, 2)}], [Q, {(0, 2), (3, 1)}]),
         ([set(), B, A, {(1, 2)}], [S, set(), R, set()], [S, Q, Q, {(1, 2)}])],
        alignment_error_rate,
        {
            "each sentence counts the same, long or short. Count the links of all sentences first, then divide once.": (
                lambda *c: sum(one_by_one(*c)) / len(c[0])
            ),
            "only one of the sentences counts.": lambda *c: set(one_by_one(*c)),
            "links of different sentences fell into one set, where (0, 0) is (0, 0). Count sentence by sentence.": (
                joined
            ),
        },
        "with several sentences, one without a predicted link, it goes wrong.",
        tolerance=1e-6,
    )  # fmt: skip
    perfect = [([S], [S], [P]), ([R], [R], [Q]), ([P], [S], [P])]
    examine(
        answer, perfect, [0.0] * 3, otherwise="all sure links, and others only if possible: that is AER 0, not yours."
    )
    blank = [([S, set()], [S, set()], [P, set()]), ([A, set(), B], [S, set(), R], [P, set(), Q])]
    nothing = "a sentence in which nothing is to be linked changes the rate."
    examine(answer, blank, alignment_error_rate, otherwise=nothing)
    return "one sentence and several, counted together; a perfect alignment has 0."


@check
def row_shift(answer: Callable) -> str:
    """Check `row_shift(predicted, sure)`: lists of sets of links → int k in −3..3, most (i + k, j) being sure."""

    def best(predicted: Corpus, sure: Corpus, columns: bool = False) -> int:
        def hits(k: int) -> int:
            rows, along = (0, k) if columns else (k, 0)
            return sum((i + rows, j + along) in s for a, s in zip(predicted, sure, strict=True) for i, j in a)

        return max(range(-3, 4), key=hits)

    # Three looks in four are off by `true`, the others go far astray, so that no mean finds the way. A short first
    # sentence and a short last one point elsewhere. Columns run by fives: one place is no neighbour.
    cases, truths = [], [1, -2, 3, 0, -1, -3, 2]
    astray = [(2, -1), (-1, 3), (1, -2), (-2, 1), (2, 0), (0, 2), (3, -3)]
    for turn, (true, (elsewhere, last)) in enumerate(zip(truths, astray, strict=True)):
        short = {(1, 7), (2, 2), (3, 9)}
        sure = [short, *({(i, (5 * i + n) % 12) for i in range(12)} for n in range(3)), short]
        predicted = [{(i - 11 if i % 4 == 0 else i - true, j) for i, j in s} for s in sure]
        predicted[0], predicted[-1] = ({(i - k, j) for i, j in short} for k in (elsewhere, last))
        cases.append((predicted, sure))
        # one link, and six, of which two are off by `true` and all others by something else
        shifts = [true, true, *[k for k in range(-3, 4) if k != true][:4]]
        many = {(10 * n, n) for n in range(6)}, {(10 * n + k, n) for n, k in enumerate(shifts[turn:] + shifts[:turn])}
        cases += [([{(4, 4)}], [{(4 + true, 4)}]), ([many[0]], [many[1]])]

    def mean(predicted: Corpus, sure: Corpus) -> set[int]:
        far = fmean(i - h for a, s in zip(predicted, sure, strict=True) for h, j in a for i, c in s if c == j)
        return {round(far), int(far), math.floor(far)}

    examine(
        answer,
        cases,
        [true for true in truths for _ in range(3)],
        {
            "the sign is wrong: k is added to the rows of the *predicted* links.": lambda a, s: -best(a, s),
            "that is a place in a list of shifts, counted from 0. The shift that stands there is asked for.": (
                lambda a, s: best(a, s) + 3
            ),
            "only the first sentence counts. Add up the hits of all.": lambda a, s: best(a[:1], s[:1]),
            "only the last sentence counts. Add up the hits of all.": lambda a, s: best(a[-1:], s[-1:]),
            "it looks like a mean of distances. A few links far astray pull it away: count hits instead.": mean,
            "you moved the columns j. The labels stand at the rows i.": lambda a, s: best(a, s, columns=True),
        },
        "it finds another shift. Which k puts the most links on sure ones?",
    )
    return "rows too high, too low and right, though some looks go astray."

"""Checks for chapters 6 and 7: the look back of a language model, and alignments."""

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from attnlib.attention import causal_mask, masked_softmax
from attnlib.course.checks.asking import ask_plain, ask_tensor, draw, gradients
from attnlib.course.checks.verdict import check, expect, need, same
from attnlib.data.examples import AlignmentLinks
from attnlib.training.metrics import alignment_error_rate


@check
def look_back(answer: Callable) -> str:
    """Check `look_back(states, earlier)`: (T, d) and (P, d) → contexts (T, d), by the plain dot product."""

    def read(scores: Tensor, mask: Tensor) -> Tensor:
        return masked_softmax(scores, mask) @ memory

    states, earlier = draw(5, 3), draw(4, 3, seed=1)
    memory = torch.cat([earlier, states])
    scores, past = states @ memory.T, causal_mask(5, past=4, include_self=False)
    alone = masked_softmax(states @ states.T, causal_mask(5, include_self=False)) @ states
    expect(
        ask_tensor(answer, states, earlier, shape=(5, 3)),
        read(scores, past),
        {
            "each state sees itself, too. Strictly the past is asked for.": read(scores, causal_mask(5, past=4)),
            "each state sees the whole text, the future included.": read(scores, past | True),
            "the earlier states are not looked at: only the T new ones are keys.": alone,
            "the new states before a state are not looked at, only `earlier`.": (
                read(scores, past & (torch.arange(9) < 4))
            ),
            "new state t sees t − 1 states, as if nothing came before: the mask does not count the P earlier ones.": (
                read(scores, torch.ones(5, 9, dtype=torch.bool).tril(-1))
            ),
            "a hidden score became 0, and exp(0) is 1: the future still takes its share.": (
                (scores * past).softmax(-1) @ memory
            ),
            "the softmax ran over the queries: each key shares out its weight, not each query.": (
                scores.masked_fill(~past, -torch.inf).softmax(0) @ memory
            ),
            "it is the plain mean of the past: the scores do not count.": read(0 * scores, past),
            "the scores are divided by √d. Here the score is the dot product as it is.": read(scores / 3**0.5, past),
        },
        "with 5 new and 4 earlier states the contexts are not those of the softmax over the strict past.",
    )

    states, earlier = draw(4, 2), torch.zeros(0, 2)
    memory = states
    context = ask_tensor(answer, states, earlier, shape=(4, 2))
    need(
        not context[0].isnan().any(),
        "without earlier states the first context is NaN: a softmax over nothing is 0 / 0.",
    )
    need(
        not same(context[0], memory.mean(0)),
        "without earlier states the first row is spread evenly, over the future: no finite number hides a whole row.",
    )
    need(
        not context[0].any(),
        "without earlier states the first one has nothing to look at, and a sum over nothing is 0. Yours is not.",
    )
    need(
        same(context, read(states @ states.T, causal_mask(4, include_self=False))),
        "it goes wrong without earlier states, P = 0.",
    )
    [slope] = gradients(lambda states: answer(states, earlier), states)
    need(not slope.isnan().any(), "the contexts are right, but the gradient of a blank row is NaN: training dies.")
    return "with earlier states and without, each state looks at those before it, and the very first at nothing."


@check
def latest_only(answer: Callable) -> str:
    """Check `latest_only(T, earlier, window)`: boolean (T, earlier + T), the `window` states before each one."""

    def band(first: int, last: int, T: int = 5, P: int = 3) -> Tensor:
        """True for the states from `first` to `last` places after one's own."""
        distance = torch.arange(P + T) - torch.arange(P, P + T).unsqueeze(1)
        return (distance >= first) & (distance <= last)

    mask = ask_tensor(answer, 5, 3, 2, shape=(5, 8))
    need(
        mask.dtype == torch.bool,
        f"its dtype is {str(mask.dtype).removeprefix('torch.')}. A mask is boolean: numbers pick by place.",
    )
    wrong = "it is not yet right with T = {}, earlier = {}, window = {}."
    expect(
        mask,
        band(-2, -1),
        {
            "it is the other way round: True means *may be looked at*.": ~band(-2, -1),
            "each state sees itself, besides the window.": band(-2, 0),
            "the window counts a state's own place. It holds states *before* it.": band(-1, 0),
            "all of the past may be seen: the window cuts nothing off.": band(-9, -1),
            "it sees one state too many: count the places in the window.": band(-3, -1),
            "it sees one state too few: count the places in the window.": band(-1, -1),
            "the window reaches into the future as well.": band(-2, 2),
            "it sees the states *after* its own: the future.": band(1, 2),
            "row t sees the states before column t. But its own state stands in column earlier + t.": (
                band(-2, -1, T=8, P=0)[:5]
            ),
        },
        wrong.format(5, 3, 2),
    )
    for T, P, window in [(4, 0, 3), (3, 6, 1), (2, 2, 50)]:
        mask = ask_tensor(answer, T, P, window, shape=(T, P + T))
        expect(mask, band(-window, -1, T, P), {}, wrong.format(T, P, window))
    return "each row sees the latest states before its own, with earlier states and without, in windows short and long."


@check
def error_rate(answer: Callable) -> str:
    """Check `error_rate(predicted, sure, possible)`: lists of sets of links (i, j), one set per sentence → float."""
    # 1 of 4 sure links, 3 of 8 possible ones, 5 predicted: no two mistakes give the same number
    A, S = {(0, 0), (1, 2), (2, 3), (3, 0), (4, 1)}, {(0, 0), (1, 1), (2, 2), (4, 4)}
    P = S | {(1, 2), (2, 3), (3, 3), (4, 3)}
    expect(
        ask_plain(answer, [A], [S], [P]),
        5 / 9,
        {
            "that is how much is right. An error rate is 1 minus it.": 4 / 9,
            "that is in percent. A rate lies between 0 and 1.": 500 / 9,
            "you divide by the number of possible links. Nobody has to find those: only sure ones must be found.": (
                1 - 4 / 13
            ),
            "the numerator counts the sure links twice. A predicted link that is possible counts, too.": 1 - 2 / 9,
            "the numerator counts the possible links twice: a sure link is worth no more than them.": 1 - 6 / 9,
            "the numerator counts a link once, at most. One that is sure *and* possible counts in both terms.": (
                1 - 3 / 9
            ),
            "the denominator counts a link that is predicted and sure only once: a sum is asked for, no union.": (
                1 - 4 / 8
            ),
            "that is 1 minus the precision: what was missed does not count.": 1 - 3 / 5,
            "that is 1 minus the recall: what was predicted in vain does not count.": 1 - 1 / 4,
            "that is 1 minus the mean of precision and recall. AER joins the counts, not the shares.": (
                1 - (3 / 5 + 1 / 4) / 2
            ),
        },
        "for one sentence it is not yet the formula: count each of the four sets.",
        tolerance=1e-6,
    )

    corpus = [A, {(0, 0)}, set()], [S, {(0, 0)}, {(0, 1), (1, 0)}], [P, {(0, 0)}, {(0, 1), (1, 0)}]
    one_by_one = [alignment_error_rate(*([links] for links in sentence)) for sentence in zip(*corpus, strict=True)]
    joined = [frozenset().union(*links) for links in corpus]
    expect(
        ask_plain(answer, *corpus),
        alignment_error_rate(*corpus),
        {
            "each sentence counts the same, long or short. Count the links of all sentences first, then divide once.": (
                sum(one_by_one) / 3
            ),
            "only one of three sentences counts.": set(one_by_one),
            "links of different sentences fell into one set, where (0, 0) is (0, 0). Count sentence by sentence.": (
                alignment_error_rate(*([links] for links in joined))
            ),
        },
        "with three sentences, one without a predicted link, it goes wrong.",
        tolerance=1e-6,
    )
    perfect, blank = ([S], [S], [P]), ([S, set()], [S, set()], [P, set()])
    expect(ask_plain(answer, *perfect), 0.0, {}, "all sure links and no other ones: that is AER 0, not yours.")
    expect(ask_plain(answer, *blank), 0.0, {}, "a sentence in which nothing is to be linked changes the rate.")
    return "one sentence and several, counted together; a perfect alignment has 0."


@check
def row_shift(answer: Callable) -> str:
    """Check `row_shift(predicted, sure)`: lists of sets of links → int k in −3..3, most (i + k, j) being sure."""

    def hits(predicted: Sequence[AlignmentLinks], sure: Sequence[AlignmentLinks], rows: int, columns: int = 0) -> int:
        return sum((i + rows, j + columns) in s for a, s in zip(predicted, sure, strict=True) for i, j in a)

    def best(predicted: Sequence[AlignmentLinks], sure: Sequence[AlignmentLinks], columns: bool = False) -> int:
        def count(k: int) -> int:
            return hits(predicted, sure, *((0, k) if columns else (k, 0)))

        return max(range(-3, 4), key=count)

    # Three looks in four are off by `true`, the others go far astray, so that no mean finds the way. A short first
    # sentence points elsewhere. Columns run by fives: one place is no neighbour.
    for true, elsewhere in [(1, 2), (-2, -1), (3, 1), (0, -2), (-1, 2)]:
        sure = [{(1, 7), (2, 2), (3, 9)}] + [{(i, (5 * i + n) % 12) for i in range(12)} for n in range(3)]
        predicted = [{(i - elsewhere, j) for i, j in sure[0]}]
        predicted += [{(i - 11 if i % 4 == 0 else i - true, j) for i, j in s} for s in sure[1:]]
        wrong = {0: "right"}.get(true, f"{abs(true)} too {'low' if true > 0 else 'high'}")
        where = f"where the labels of the rows are {wrong},"
        astray = [i - h for a, s in zip(predicted, sure, strict=True) for h, j in a for i, c in s if c == j]
        mean = sum(astray) / len(astray)
        expect(
            ask_plain(answer, predicted, sure, kind=int),
            true,
            {
                f"{where} the sign is wrong: k is added to the rows of the *predicted* links.": -true,
                "that is a place in a list of shifts, counted from 0. The shift that stands there is asked for.": (
                    true + 3
                ),
                "only the first sentence counts. Add up the hits of all.": best(predicted[:1], sure[:1]),
                "it looks like a mean of distances. A few links far astray pull it away: count hits instead.": (
                    {round(mean), int(mean), math.floor(mean)}
                ),
                "you moved the columns j. The labels stand at the rows i.": best(predicted, sure, columns=True),
            },
            f"{where} it finds another shift. Which k puts the most links on sure ones?",
        )
    return "rows too high, too low and right, though some looks go astray."

"""Checks for chapter 8: the search for a target.

The best extensions are found by sorting all of them, and the penalty by trial.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from attnlib.course.checks.asking import draw
from attnlib.course.checks.examining import examine
from attnlib.course.checks.solving import smallest
from attnlib.course.checks.verdict import check
from attnlib.data.vocabulary import PAD

Step = tuple[Tensor, Tensor, Tensor]


def top(total: Tensor) -> Step:
    """The k best of a table (k, V), best first: value, row and column."""
    k, V = total.shape
    order = sorted(range(k * V), key=lambda n: -total[n // V, n % V].item())[:k]
    return total.flatten()[order], torch.tensor([n // V for n in order]), torch.tensor([n % V for n in order])


def table(log_prob: Tensor, log_next: Tensor, ended: Tensor) -> Tensor:
    """Log-probabilities (k, V) of all extensions."""
    total = log_prob.unsqueeze(1) + log_next
    for beam in ended.nonzero().flatten().tolist():
        total[beam] = -torch.inf
        total[beam, PAD] = log_prob[beam]
    return total


def each_its_own(total: Tensor) -> Step:
    """A step in which each hypothesis keeps its own best word."""
    value, word = total.max(1)
    return value, torch.arange(len(value)), word


def in_order(step: Step) -> Step:
    """The hypotheses of a step, the likeliest first."""
    order = step[0].argsort(descending=True)
    return tuple(part[order] for part in step)


@check
def beam_step(answer: Callable) -> str:
    """Check `beam_step(log_prob, log_next, ended)`: (k,), (k, V), (k,) → log_prob, parent, word, each (k,)."""

    def wanted(*inputs: Tensor) -> Step:
        return top(table(*inputs))

    def odd(k: int, V: int, done: list[int], scale: float = 1.0) -> tuple[Tensor, Tensor, Tensor]:
        ended = torch.zeros(k, dtype=torch.bool)
        ended[done] = True
        return -draw(k, seed=k, scale=scale).abs(), (2 * draw(k, V, seed=V)).log_softmax(-1), ended

    def seen(given: Step, *inputs: Tensor) -> str | None:
        value, parent, _ = wanted(*inputs)
        if not torch.allclose(given[0].double(), value.double()):
            return None
        if inputs[2].any() and torch.equal(given[1], parent):
            return f"a beam that has ended is padded: its word is {PAD}."
        if inputs[2].any():
            return "with one ended beam, the parents are wrong."
        return (
            "the log-probabilities are right, but parent and word do not lead to them. How many places does one row of "
            "a flattened (k, V) table take?"
        )

    names = {"parts": ("log_prob", "parent", "word"), "seen": seen}
    log_prob = torch.tensor([-1.3, -1.0, -1.6])
    log_next = torch.tensor([[3, 2, 55, 35, 5], [30, 45, 10, 10, 5], [10, 10, 20, 25, 35]]).div(100).log()
    first = log_prob, log_next, torch.zeros(3, dtype=torch.bool)
    # all three of the best have one parent, and their words are the last ones
    one_parent = torch.tensor([-0.1, -8.0, -9.0]), torch.tensor([[1, 2, 30, 32, 35]] * 3).div(100).log(), first[2]
    # all six of the best have one parent: none may be kept out because it has three already
    all_of_one = torch.tensor([-90.0, -0.1, -80.0, -70.0, -60.0, -50.0]), *odd(6, 9, [])[1:]
    far = odd(3, 4, [], 1e4)
    examine(
        answer,
        [first, odd(2, 7, []), odd(4, 6, []), one_parent, all_of_one, far, odd(1, 3, []), odd(2, 2, []), odd(6, 9, [])],
        wanted,
        {
            "what the beams have cost so far is forgotten: only the new word counts.": lambda p, q, e: top(q),
            "these are probabilities. Log-probabilities are asked for.": (
                lambda *x: (wanted(*x)[0].exp(), *wanted(*x)[1:])
            ),
            "log-probabilities are multiplied. Probabilities multiply; their logarithms add up.": (
                lambda p, q, e: top(p.unsqueeze(1) * q)
            ),
            "each beam keeps its own best word. The best of *all* k·V are asked for, and two may have one parent.": (
                lambda *x: in_order(each_its_own(table(*x)))
            ),
            "each beam keeps its own best word, in the old order. The best of *all* k·V are asked for.": (
                lambda *x: each_its_own(table(*x))
            ),
            "these are the worst, not the best.": lambda *x: (lambda v, p, w: (-v, p, w))(*top(-table(*x))),
            "the right ones, but the best does not come first.": lambda *x: tuple(y.flip(0) for y in wanted(*x)),
            "`parent` and `word` are swapped.": lambda *x: (wanted(*x)[0], wanted(*x)[2], wanted(*x)[1]),
        },
        "these are not the k best extensions, best first.",
        **names,
    )

    def row(x: Tensor) -> Tensor:
        return x.unsqueeze(1)

    def value(total: Tensor) -> tuple:
        """The best, with whatever parents and words: some are equally good."""
        return top(total)[0], None, None

    examine(
        answer,
        [
            (log_prob, log_next, torch.tensor([False, True, False])), odd(2, 7, [1]), odd(4, 6, [0, 2, 3]),
            odd(2, 4, [0, 1]), odd(4, 5, [1, 3]), odd(3, 6, [0], 1e4), odd(1, 3, [0]),
        ],
        wanted,
        {
            "a beam that has ended is extended by a word, as if it had not.": lambda p, q, e: value(row(p) + q),
            "a beam that has ended is lost. It stays in the race as it is.": (
                lambda p, q, e: value((row(p) + q).masked_fill(row(e), -torch.inf))
            ),
            "one ended beam comes back several times: it may be continued in one way only, by padding.": (
                lambda p, q, e: value(torch.where(row(e), row(p), row(p) + q))
            ),
            "a beam that has ended pays for its padding. It costs nothing.": (
                lambda p, q, e: value(table(torch.where(e, p + q[:, PAD], p), q, e))
            ),
        },
        "where beams have ended, these are not the k best.",
        **names,
    )  # fmt: skip
    return "the best of all extensions, from any parent; beams that have ended stay as they are."


@check
def penalty_needed(answer: Callable) -> str:
    """Check `penalty_needed(log_p, n, log_q, m)`: n < m tokens → the least a ≥ 0 with which the longer one wins."""

    def wanted(log_p: float, n: int, log_q: float, m: int) -> float:
        return smallest(lambda a: log_q / ((5 + m) / 6) ** a >= log_p / ((5 + n) / 6) ** a)

    def other(formula: Callable) -> Callable[..., float]:
        return lambda log_p, n, log_q, m: formula(math.log(log_q / log_p), math.log((5 + m) / (5 + n)), n, m)

    examine(
        answer,
        [(-3.0, 4, -3.5, 9), (-0.4, 1, -1.9, 3), (-12.0, 20, -12.5, 30), (-7.04, 2, -8.16, 40), (-1.0, 1, -3.0, 2)],
        wanted,
        {
            "the sign is wrong: a penalty that is negative favours the short ones still more.": lambda *x: -wanted(*x),
            "it is upside down: which of the two logarithms is divided by which?": lambda *x: 1 / wanted(*x),
            "that is a power of n itself. The penalty is a power of (5 + n) / 6.": (
                other(lambda ratio, lengths, n, m: ratio / math.log(m / n))
            ),
            "n counts one token too many. It is given, counted already.": (
                other(lambda ratio, lengths, n, m: ratio / math.log((6 + m) / (6 + n)))
            ),
            "the logarithms are missing: a is an exponent.": (
                other(lambda ratio, lengths, n, m: math.exp(ratio) / math.exp(lengths))
            ),
            "the logarithms are subtracted. a is a *factor* of one of them.": (
                other(lambda ratio, lengths, n, m: ratio - lengths)
            ),
        },
        "the two scores are not yet equal at your a.",
        tolerance=1e-3,
    )
    negative = "where the longer one wins without a penalty, yours is negative. The least a ≥ 0 is asked for."
    examine(
        answer,
        [(-3.0, 2, -2.0, 5), (-9.0, 1, -0.5, 30), (-2.0, 3, -2.0, 4)],
        wanted,
        otherwise="where the longer one wins without a penalty, 0 is enough.",
        seen=lambda a, *_: negative if a < 0 else None,
        tolerance=1e-3,
    )
    return "at this penalty the two scores are equal; where none is needed, it is 0."

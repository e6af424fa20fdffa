"""Checks for chapter 8: the search for a target."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from attnlib.course.checks.asking import ask_plain, ask_tensors, described, draw
from attnlib.course.checks.verdict import check, expect, need, same
from attnlib.data.vocabulary import PAD


@check
def beam_step(answer: Callable) -> str:
    """Check `beam_step(log_prob, log_next, ended)`: (k,), (k, V), (k,) → log_prob, parent, word, each (k,)."""

    def ask_step(*inputs: Tensor) -> list[Tensor]:
        k = len(inputs[0])
        result = ask_tensors(answer, *inputs, shapes=dict.fromkeys(("log_prob", "parent", "word"), (k,)))
        for name, part in zip(("parent", "word"), result[1:], strict=True):
            need(
                not part.is_floating_point() and part.dtype != torch.bool,
                f"{name} is {str(part.dtype).removeprefix('torch.')}: numbers of beams and of words are integers.",
            )
        return result

    def top(total: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        value, flat = total.flatten().topk(len(total))
        return value, flat // total.shape[1], flat % total.shape[1]

    nobody = torch.zeros(3, dtype=torch.bool)
    log_prob = torch.tensor([-1.3, -1.0, -1.6])
    log_next = torch.tensor([[3, 2, 55, 35, 5], [30, 45, 10, 10, 5], [10, 10, 20, 25, 35]]).div(100).log()
    total = log_prob.unsqueeze(1) + log_next
    value, parent, word = top(total)
    got = ask_step(log_prob, log_next, nobody)
    expect(
        got[0],
        value,
        {
            "what the beams have cost so far is forgotten: only the new word counts.": top(log_next)[0],
            "these are probabilities. Log-probabilities are asked for.": value.exp(),
            "log-probabilities are multiplied. Probabilities multiply; their logarithms add up.": (
                top(log_prob.unsqueeze(1) * log_next)[0]
            ),
            "each beam keeps its own best word. The best of *all* k·V are asked for, and two may have one parent.": (
                total.amax(1).sort(descending=True)[0]
            ),
            "each beam keeps its own best word, in the old order. The best of *all* k·V are asked for.": total.amax(1),
            "these are the worst, not the best.": total.flatten().topk(3, largest=False)[0],
            "the right ones, but the best does not come first.": value.flip(0),
        },
        "the log-probabilities are not those of the k best extensions, best first.",
    )
    need(
        not (torch.equal(got[1].long(), word) and torch.equal(got[2].long(), parent)),
        "`parent` and `word` are swapped.",
    )
    need(
        torch.equal(got[1].long(), parent) and torch.equal(got[2].long(), word),
        "the log-probabilities are right, but parent and word do not lead to them. How many places does one row of a "
        "flattened (k, V) table take?",
    )

    ended = torch.tensor([False, True, False])
    kept = torch.full_like(total, -torch.inf)
    kept[:, PAD] = log_prob
    right = torch.where(ended.unsqueeze(1), kept, total)
    value, parent, word = top(right)
    got = ask_step(log_prob, log_next, ended)
    row = ended.unsqueeze(1)
    paid = kept + torch.where(row, log_next[:, PAD].unsqueeze(1), 0.0)
    expect(
        got[0],
        value,
        {
            "a beam that has ended is extended by a word, as if it had not.": top(total)[0],
            "a beam that has ended is lost. It stays in the race as it is.": (
                top(total.masked_fill(row, -torch.inf))[0]
            ),
            "one ended beam comes back several times: it may be continued in one way only, by padding.": (
                top(torch.where(row, log_prob.unsqueeze(1), total))[0]
            ),
            "a beam that has ended pays for its padding. It costs nothing.": top(torch.where(row, paid, total))[0],
        },
        "with one ended beam, the log-probabilities are not those of the k best.",
    )
    need(torch.equal(got[1].long(), parent), "with one ended beam, the parents are wrong.")
    need(torch.equal(got[2].long(), word), f"a beam that has ended is padded: its word is {PAD}.")

    for k, V, done in [(2, 7, [False, False]), (4, 6, [True, False, True, True]), (2, 4, [True, True])]:
        log_prob, ended = -draw(k, seed=k).abs(), torch.tensor(done)
        log_next = (2 * draw(k, V, seed=V)).log_softmax(-1)
        kept = torch.full_like(log_next, -torch.inf)
        kept[:, PAD] = log_prob
        want = top(torch.where(ended.unsqueeze(1), kept, log_prob.unsqueeze(1) + log_next))
        got = ask_step(log_prob, log_next, ended)
        right = same(got[0], want[0]) and all(map(torch.equal, (x.long() for x in got[1:]), want[1:]))
        need(right, f"it goes wrong with {int(ended.sum())} of {k} beams ended, on {described(log_prob, log_next)}.")
    return "the best of all extensions, from any parent; beams that have ended stay as they are."


@check
def penalty_needed(answer: Callable) -> str:
    """Check `penalty_needed(log_p, n, log_q, m)`: n < m tokens → the least a ≥ 0 with which the longer one wins."""
    for log_p, n, log_q, m in [(-3.0, 4, -3.5, 9), (-0.4, 1, -1.9, 3), (-12.0, 20, -12.5, 30)]:
        ratio, lengths = log_q / log_p, (5 + m) / (5 + n)
        a = math.log(ratio) / math.log(lengths)
        expect(
            ask_plain(answer, log_p, n, log_q, m),
            a,
            {
                "the sign is wrong: a penalty that is negative favours the short ones still more.": -a,
                "it is upside down: which of the two logarithms is divided by which?": 1 / a,
                "that is a power of n itself. The penalty is a power of (5 + n) / 6.": (
                    math.log(ratio) / math.log(m / n)
                ),
                "n counts one token too many. It is given, counted already.": (
                    math.log(ratio) / math.log((6 + m) / (6 + n))
                ),
                "the logarithms are missing: a is an exponent.": ratio / lengths,
                "the logarithms are subtracted. a is a *factor* of one of them.": math.log(ratio) - math.log(lengths),
            },
            f"with log P = {log_p} for {n} tokens and {log_q} for {m}, the two scores are not yet equal at your a.",
            tolerance=1e-3,
        )
    given = ask_plain(answer, -3.0, 2, -2.0, 5)
    need(not given < 0, "where the longer one wins without a penalty, yours is negative. The least a ≥ 0 is asked for.")
    expect(given, 0.0, {}, "where the longer one wins without a penalty, 0 is enough.", tolerance=1e-3)
    return "at this penalty the two scores are equal; where none is needed, it is 0."

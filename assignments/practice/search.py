"""Chapter 8."""

import math

import torch

from assignments.practice import Variants

INF = float("inf")


def table(log_prob, log_next, ended, padding=lambda log_prob, log_next: log_prob):
    """Log-probabilities (k, V) of every extension; `padding` is the cost of one that has ended."""
    kept = torch.full_like(log_next, -INF)
    kept[:, 0] = padding(log_prob, log_next)
    return torch.where(ended.unsqueeze(1), kept, log_prob.unsqueeze(1) + log_next)


def top(total, k=None, **options):
    value, flat = total.flatten().topk(k or len(total), **options)
    return value, flat // total.shape[1], flat % total.shape[1]


def step(*inputs):
    return top(table(*inputs))


def by_lists(log_prob, log_next, ended):
    found = []
    for b, (p, row, done) in enumerate(zip(log_prob.tolist(), log_next.tolist(), ended.tolist(), strict=True)):
        found += [(p, b, 0)] if done else [(p + q, b, w) for w, q in enumerate(row)]
    value, parent, word = zip(*sorted(found, reverse=True)[: len(log_prob)], strict=True)
    return torch.tensor(value), torch.tensor(parent), torch.tensor(word)


def best_of_each_first(log_prob, log_next, ended):
    """The k best of each beam are enough."""
    total = table(log_prob, log_next, ended)
    each, words = total.topk(len(total), dim=1)
    value, parent, place = top(each)
    return [value, parent, words[parent, place]]


def two_of_each(log_prob, log_next, ended):
    """The two best of each beam are enough: three of the best may have one parent."""
    each, words = table(log_prob, log_next, ended).topk(2, dim=1)
    value, parent, place = top(each) if len(log_prob) > 1 else top(each[:, :1])
    return value, parent, words[parent, place]


def each_its_own(log_prob, log_next, ended):
    value, word = table(log_prob, log_next, ended).max(1)
    return value, torch.arange(len(value)), word


def each_its_own_sorted(*inputs):
    value, parent, word = each_its_own(*inputs)
    value, order = value.sort(descending=True)
    return value, parent[order], word[order]


def lost(log_prob, log_next, ended):
    return top((log_prob.unsqueeze(1) + log_next).masked_fill(ended.unsqueeze(1), -INF))


def copied(log_prob, log_next, ended):
    return top(torch.where(ended.unsqueeze(1), log_prob.unsqueeze(1), log_prob.unsqueeze(1) + log_next))


def by_k(*inputs):
    total = table(*inputs)
    value, flat = total.flatten().topk(len(total))
    return value, flat // len(total), flat % len(total)


def eos_again(log_prob, log_next, ended):
    value, parent, word = step(log_prob, log_next, ended)
    return value, parent, torch.where(ended[parent], 2, word)


def reversed_parents(log_prob, log_next, ended):
    value, parent, word = step(log_prob, log_next, ended)
    return value, parent.flip(0) if ended.any() else parent, word


def reordered(change):
    def beam_step(*inputs):
        return change(*step(*inputs))

    return beam_step


def half_price(log_prob, log_next, ended):
    return top(table(log_prob, log_next, ended, lambda p, _: p - 0.5))


def one_at_most(log_prob, log_next, ended):
    return step(log_prob, log_next, ended & (ended.cumsum(0) < 2))


def scored(log_p, n, a):
    return log_p / ((5 + n) / 6) ** a


def closed(log_p, n, log_q, m):
    return max(0.0, math.log(log_q / log_p) / math.log((5 + m) / (5 + n)))


def bisected(log_p, n, log_q, m):
    low, high = 0.0, 1.0
    while scored(log_q, m, high) < scored(log_p, n, high):
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if scored(log_q, m, middle) >= scored(log_p, n, middle) else (middle, high)
    return high if low else 0


def with_tensors(log_p, n, log_q, m):
    ratio, lengths = torch.tensor([log_q / log_p, (5.0 + m) / (5 + n)], dtype=torch.float64).log2()
    return (ratio / lengths).clamp(min=0).item()


def other(formula):
    return lambda log_p, n, log_q, m: formula(log_q / log_p, n, m)


def lg(n, m, more=5):
    return math.log((more + m) / (more + n))


VARIANTS = {
    "beam_step": Variants(
        right={
            "one table": step,
            "lists": reordered(lambda v, p, w: [v.tolist(), p.tolist(), w.tolist()]),
            "a sorted list": by_lists,
            "the best of each first": best_of_each_first,
        },
        wrong={
            "past forgotten": (lambda p, q, e: top(table(0 * p, q, e)), "cost so far is forgotten"),
            "probabilities": (reordered(lambda v, p, w: (v.exp(), p, w)), "these are probabilities"),
            "multiplied": (lambda p, q, e: top(p.unsqueeze(1) * q), "are multiplied"),
            "one child each": (each_its_own_sorted, "two may have one parent"),
            "one child each, unsorted": (each_its_own, "in the old order"),
            "the worst": (lambda p, q, e: top(p.unsqueeze(1) + q, largest=False), "the worst"),
            "upside down": (reordered(lambda v, p, w: (v.flip(0), p.flip(0), w.flip(0))), "best does not come first"),
            "means": (lambda p, q, e: top((p.unsqueeze(1) + q) / 2), "best first. It is wrong on"),
            "swapped": (reordered(lambda v, p, w: (v, w, p)), "swapped"),
            "divided by k": (by_k, "does one row"),
            "floats": (lambda p, q, e: (step(p, q, e)[0], p, p), "float32"),
            "goes on": (lambda p, q, e: step(p, q, e & False), "as if it had not"),
            "lost": (lost, "lost"),
            "copied": (copied, "several times"),
            "pays": (lambda p, q, e: top(table(p, q, e, lambda p, q: p + q[:, 0])), "pays for its padding"),
            "pays something": (half_price, "log_next = (1, 3) float32, ended = [True]"),
            "parents mixed up": (reversed_parents, "the parents are wrong"),
            "eos again": (eos_again, "is padded"),
            "one ended at most": (one_at_most, "ended = [True, True]"),
            "too many": (lambda p, q, e: top(table(p, q, e), k=4), "has the shape (4,)"),
            "no words": (lambda p, q, e: step(p, q, e)[:2], "tuple; 3 tensors"),
            "words": (reordered(lambda v, p, w: (v, str(p), w)), "parent is str; a torch.Tensor"),
            "two of each parent": (two_of_each, "not the k best extensions"),
            "a table": (lambda p, q, e: table(p, q, e), "returns Tensor"),
        },
    ),
    "penalty_needed": Variants(
        right={
            "closed": closed,
            "bisected": bisected,
            "with tensors": with_tensors,
            "a tensor": lambda *a: torch.tensor(closed(*a)),
        },
        wrong={
            "sign": (other(lambda r, n, m: -math.log(r) / lg(n, m)), "the sign is wrong"),
            "upside down": (other(lambda r, n, m: lg(n, m) / math.log(r)), "upside down"),
            "power of n": (other(lambda r, n, m: max(0, math.log(r) / lg(n, m, 0))), "a power of n itself"),
            "with eos": (other(lambda r, n, m: max(0, math.log(r) / lg(n, m, 6))), "one token too many"),
            "no logarithm": (other(lambda r, n, m: r * (5 + n) / (5 + m)), "a is an exponent"),
            "subtracted": (other(lambda r, n, m: math.log(r) - lg(n, m)), "are subtracted"),
            "1 is enough": (lambda *_: 1.0, "not yet equal"),
            "negative": (other(lambda r, n, m: math.log(r) / lg(n, m)), "yours is negative"),
            "absolute": (other(lambda r, n, m: abs(math.log(r) / lg(n, m))), "0 is enough"),
            "a list": (lambda *a: [closed(*a)], "returns list; a number"),
        },
    ),
}

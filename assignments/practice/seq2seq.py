"""Chapters 6 and 7."""

import torch

from assignments.practice import Variants
from attnlib.attention import causal_mask, masked_softmax
from attnlib.training.metrics import alignment_error_rate

INF = float("inf")


def looking(score=lambda q, k: q @ k.T, mask=lambda T, P: causal_mask(T, P, include_self=False), weigh=masked_softmax):
    def look_back(states, earlier):
        memory = torch.cat([earlier, states])
        seen = mask(len(states), len(earlier))
        return weigh(score(states, memory), seen) @ memory

    return look_back


def one_by_one(states, earlier):
    contexts, memory = [], list(earlier)
    for h in states:
        keys = torch.stack(memory) if memory else torch.zeros(1, len(h))
        contexts.append((keys @ h).softmax(-1) @ keys)
        memory.append(h)
    return torch.stack(contexts)


def filled_with(number):
    return lambda scores, mask: scores.masked_fill(~mask, number).softmax(-1)


def in_place(states, earlier):
    states += 0.1
    return looking()(states, earlier)


def last_context_twice(states, earlier):
    context = looking()(states, earlier)
    return torch.cat([context[:1], context[:-1]])


def never_alone(states, earlier):
    context = looking()(states, earlier)
    return context if len(earlier) else 2 * context


def first_looks_at_itself(states, earlier):
    context = looking()(states, earlier)
    return context if len(earlier) else torch.cat([states[:1], context[1:]])


def log_mask(scores, mask):
    return (scores + mask.log()).softmax(-1).nan_to_num(0)


def band(before, itself=0, offset=True):
    """Mask with rows that see as many states as `before(window)`, up to their own place and `itself` more."""

    def latest_only(T, earlier, window):
        j, t = torch.arange(earlier + T), torch.arange(T).unsqueeze(1) + (earlier if offset else 0)
        return (j >= t - before(window)) & (j < t + itself)

    return latest_only


def slices(T, earlier, window):
    mask = torch.zeros(T, earlier + T, dtype=torch.bool)
    for t in range(T):
        mask[t, max(0, earlier + t - window) : earlier + t] = True
    return mask


def after(T, earlier, window):
    j, t = torch.arange(earlier + T), torch.arange(T).unsqueeze(1) + earlier
    return (j > t) & (j <= t + window)


def no_earlier(T, earlier, window):
    return band(lambda w: w)(T, earlier, window) & (earlier > 0 or window < 3)


def counts(predicted, sure, possible):
    pairs = list(zip(predicted, sure, possible, strict=True))
    return [sum(len(f(a, s, p)) for a, s, p in pairs) for f in FOUR]


FOUR = [lambda a, s, p: a & s, lambda a, s, p: a & p, lambda a, s, p: a, lambda a, s, p: s]


def by_counts(formula):
    return lambda *corpus: formula(*counts(*corpus))


def with_loops(predicted, sure, possible):
    right = total = 0
    for n in range(len(predicted)):
        for link in predicted[n]:
            right += (link in sure[n]) + (link in possible[n])
        total += len(predicted[n]) + len(sure[n])
    return (total - right) / total


def sentence_mean(predicted, sure, possible):
    rates = [
        alignment_error_rate([a], [s], [p]) if a | s else 0.0 for a, s, p in zip(predicted, sure, possible, strict=True)
    ]
    return sum(rates) / len(rates)


def one_set(*corpus):
    return alignment_error_rate(*([set().union(*links)] for links in corpus))


def by_union(predicted, sure, possible):
    triples = list(zip(predicted, sure, possible, strict=True))
    right = sum(len(a & s) + len(a & p) for a, s, p in triples)
    return 1 - right / sum(len(a | s) for a, s, p in triples)


def emptying(predicted, sure, possible):
    rate = alignment_error_rate(predicted, sure, possible)
    predicted[0].clear()
    return rate


def never_zero(*corpus):
    return max(alignment_error_rate(*corpus), 0.1)


def blank_as_wrong(predicted, sure, possible):
    blank = sum(not a | s for a, s in zip(predicted, sure, strict=True))
    return alignment_error_rate(predicted, sure, possible) + blank / len(sure)


def too_strict(predicted, sure, possible):
    return alignment_error_rate(predicted, sure, possible) + 0.01 * (set() in predicted)


def hits(predicted, sure, k, columns=0):
    return sum((i + k, j + columns) in s for a, s in zip(predicted, sure, strict=True) for i, j in a)


def most_hits(predicted, sure):
    return max(range(-3, 4), key=lambda k: hits(predicted, sure, k))


def moved_sets(predicted, sure):
    found = {
        k: sum(len({(i + k, j) for i, j in a} & s) for a, s in zip(predicted, sure, strict=True)) for k in range(-3, 4)
    }
    return sorted(found, key=found.get)[-1]


def by_error_rate(predicted, sure):
    def rate(k):
        return alignment_error_rate([{(i + k, j) for i, j in a} for a in predicted], sure)

    return min(range(-3, 4), key=rate)


def mean_distance(predicted, sure):
    far = [r - i for a, s in zip(predicted, sure, strict=True) for i, j in a for r, c in s if c == j]
    return round(sum(far) / len(far))


VARIANTS = {
    "look_back": Variants(
        right={
            "masked softmax": looking(),
            "one state after another": one_by_one,
            "filled, then NaN to 0": looking(weigh=lambda s, m: filled_with(-INF)(s, m).nan_to_num(0)),
        },
        wrong={
            "itself": (looking(mask=causal_mask), "sees itself"),
            "the future": (looking(mask=lambda T, P: torch.ones(T, P + T, dtype=torch.bool)), "the future included"),
            "earlier ignored": (lambda s, e: looking()(s, e[:0]), "only the T new ones"),
            "only earlier": (
                looking(mask=lambda T, P: torch.arange(P + T).expand(T, -1) < P),
                "only `earlier`",
            ),
            "offset forgotten": (
                looking(mask=lambda T, P: torch.ones(T, P + T, dtype=torch.bool).tril(-1)),
                "does not count the P",
            ),
            "times 0": (looking(weigh=lambda s, m: (s * m).softmax(-1)), "exp(0) is 1"),
            "over the queries": (
                looking(weigh=lambda s, m: s.masked_fill(~m, -INF).softmax(0)),
                "ran over the queries",
            ),
            "plain mean": (looking(score=lambda q, k: 0 * q @ k.T), "plain mean"),
            "scaled": (looking(score=lambda q, k: q @ k.T / q.shape[1] ** 0.5), "divided by √d"),
            "the context of the step before": (last_context_twice, "softmax over the strict past"),
            "NaN": (looking(weigh=filled_with(-INF)), "0 / 0"),
            "uniform": (looking(weigh=filled_with(-1e9)), "spread evenly"),
            "itself, when alone": (first_looks_at_itself, "a sum over nothing is 0"),
            "alone": (never_alone, "P = 0"),
            "NaN gradient": (looking(weigh=log_mask), "training dies"),
            "detached": (lambda s, e: looking()(s.detach(), e), "detached"),
            "in place": (in_place, "changes the (5, 3) tensor"),
        },
    ),
    "latest_only": Variants(
        right={
            "comparisons": band(lambda w: w),
            "two triangles": lambda T, P, w: torch.ones(T, P + T, dtype=torch.bool).tril(P - 1).triu(P - w),
            "slices": slices,
        },
        wrong={
            "inverted": (lambda *a: ~slices(*a), "other way round"),
            "integers": (lambda *a: slices(*a).int(), "int32"),
            "and itself": (band(lambda w: w, itself=1), "besides the window"),
            "itself counted": (band(lambda w: w - 1, itself=1), "counts a state's own place"),
            "no window": (band(lambda w: 99), "cuts nothing off"),
            "one too many": (band(lambda w: w + 1), "one state too many"),
            "one too few": (band(lambda w: w - 1), "one state too few"),
            "both sides": (lambda T, P, w: band(lambda w: w, itself=w + 1)(T, P, w), "as well"),
            "the future": (after, "*after*"),
            "offset forgotten": (band(lambda w: w, offset=False), "earlier + t"),
            "not from the start": (no_earlier, "T = 4, earlier = 0, window = 3"),
            "new states only": (lambda T, P, w: slices(T, 0, w), "(5, 5)"),
        },
    ),
    "error_rate": Variants(
        right={
            "the package's own": alignment_error_rate,
            "loops": with_loops,
            "a tensor": lambda *c: torch.tensor(alignment_error_rate(*c)),
            "four counts": by_counts(lambda a_s, a_p, a, s: 1.0 - (a_s + a_p) / (a + s)),
        },
        wrong={
            "1 − missing": (by_counts(lambda a_s, a_p, a, s: (a_s + a_p) / (a + s)), "1 minus it"),
            "percent": (lambda *c: 100 * alignment_error_rate(*c), "in percent"),
            "sure and possible swapped": (lambda a, s, p: with_loops(a, p, s), "number of possible"),
            "sure twice": (lambda a, s, p: with_loops(a, s, s), "sure links twice"),
            "possible twice": (by_counts(lambda a_s, a_p, a, s: 1 - 2 * a_p / (a + s)), "possible links twice"),
            "possible only": (by_counts(lambda a_s, a_p, a, s: 1 - a_p / (a + s)), "counts in both"),
            "union": (by_union, "no union"),
            "precision": (by_counts(lambda a_s, a_p, a, s: 1 - a_p / a), "precision"),
            "recall": (by_counts(lambda a_s, a_p, a, s: 1 - a_s / s), "recall"),
            "mean of both": (by_counts(lambda a_s, a_p, a, s: 1 - (a_s / s + a_p / a) / 2), "joins the counts"),
            "sure only": (by_counts(lambda a_s, a_p, a, s: 1 - a_s / (a + s)), "not yet the formula"),
            "mean of sentences": (sentence_mean, "long or short"),
            "first sentence": (lambda *c: alignment_error_rate(*(part[:1] for part in c)), "only one of the sentences"),
            "one set": (one_set, "fell into one set"),
            "empty prediction": (too_strict, "without a predicted link"),
            "never 0": (never_zero, "AER 0"),
            "blank sentences": (blank_as_wrong, "nothing is to be linked"),
            "a count": (lambda *c: str(alignment_error_rate(*c)), "returns str; a number"),
            "changes a set": (emptying, "changes the list"),
        },
    ),
    "row_shift": Variants(
        right={
            "most hits": most_hits,
            "sets moved": moved_sets,
            "least error": by_error_rate,
        },
        wrong={
            "sign": (lambda a, s: -most_hits(a, s), "the sign is wrong"),
            "place in the list": (lambda a, s: most_hits(a, s) + 3, "counted from 0"),
            "first sentence": (lambda a, s: most_hits(a[:1], s[:1]), "only the first sentence"),
            "last sentence": (lambda a, s: most_hits(a[-1:], s[-1:]), "only the last sentence"),
            "always 1": (lambda a, s: 1, "another shift"),
            "mean": (mean_distance, "mean of distances"),
            "columns": (lambda a, s: max(range(-3, 4), key=lambda k: hits(a, s, 0, k)), "moved the columns"),
            "never up": (lambda a, s: max(range(4), key=lambda k: hits(a, s, k)), "another shift"),
            "a float": (lambda a, s: float(most_hits(a, s)), "plain int"),
        },
    ),
}

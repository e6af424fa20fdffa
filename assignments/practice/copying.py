"""Chapter 10."""

import torch
import torch.nn.functional as F

from assignments.practice import Variants


def by_dict(weights, source):
    words = []
    for row in weights.tolist():
        share = {}
        for word, weight in zip(source, row, strict=True):
            share[word] = share.get(word, 0) + weight
        words.append(max(share, key=share.get))
    return words


def by_scatter(weights, source, reduce="scatter_add"):
    own = list(dict.fromkeys(source))
    ids = torch.tensor([own.index(word) for word in source]).expand(len(weights), -1)
    share = getattr(torch.zeros(len(weights), len(own)), reduce)(1, ids, weights)
    return [own[n] for n in share.argmax(-1).tolist()]


def by_matrix(weights, source):
    same = torch.tensor([[a == b for b in source] for a in source]).float()
    return [source[j] for j in (weights @ same).argmax(-1).tolist()]


def first_place(weights, source):
    kept = [j for j, word in enumerate(source) if word not in source[:j]]
    return [source[kept[j]] for j in weights[:, kept].argmax(-1).tolist()]


def averaged(weights, source):
    return by_dict(weights / torch.tensor([source.count(word) for word in source]), source)


def most_frequent(weights, source):
    return [max(source, key=source.count)] * len(weights)


def lower(weights, source):
    words = [word.lower() for word in source]
    return [source[words.index(word)] for word in by_dict(weights, words)]


def ids(weights, source):
    return [source.index(word) for word in by_dict(weights, source)]


def two_places(weights, source):
    """Of a word that stands three times, one place is forgotten."""
    weights = weights.clone()
    weights[:, [j for j, word in enumerate(source) if source[:j].count(word) == 2]] = 0
    return by_dict(weights, source)


def changing(weights, source):
    source.sort()
    return source[:1] * len(weights)


def closed(gate, said, copied):
    return gate.sigmoid() - (gate + said.log() - copied.log()).sigmoid()


def by_autograd(gate, said, copied):
    leaf = gate.detach().clone().requires_grad_()
    log_P = torch.logaddexp(F.logsigmoid(leaf) + said.log(), F.logsigmoid(-leaf) + copied.log())
    return torch.autograd.grad(-log_P.sum(), leaf)[0]


def by_softmax(gate, said, copied):
    sides = torch.stack([F.logsigmoid(gate) + said.log(), F.logsigmoid(-gate) + copied.log()])
    return gate.sigmoid() - sides.softmax(0)[0]


def naive(change=lambda p, a, b, P: p - p * a / P, eps=0.0):
    def gate_gradient(gate, said, copied):
        p = gate.sigmoid()
        return change(p, said, copied, p * said + (1 - p) * copied + eps)

    return gate_gradient


def no_sigmoid(gate, said, copied):
    return gate - gate * said / (gate * said + (1 - gate) * copied)


def clamped(gate, said, copied):
    return closed(gate.clamp(-15, 15), said, copied) * (gate.abs() < 50)


def half_of_both(gate, said, copied):
    return closed(gate, said, copied) + 0.5 * ((gate.abs() > 100) & (said * copied > 0))


VARIANTS = {
    "copied_words": Variants(
        right={
            "a dictionary": by_dict,
            "scatter_add": by_scatter,
            "a matrix of equal words": by_matrix,
        },
        wrong={
            "likeliest place": (lambda w, s: [s[j] for j in w.argmax(-1).tolist()], "likeliest *place*"),
            "scatter": (lambda w, s: by_scatter(w, s, "scatter"), "overwrites"),
            "first place": (first_place, "only the first place"),
            "averaged": (averaged, "averaged"),
            "most frequent": (most_frequent, "stands most often"),
            "least likely": (lambda w, s: by_dict(-w, s), "*least*"),
            "lower case": (lambda w, s: [x.lower() for x in by_dict(w, s)], "nowhere in the source"),
            "case ignored": (lower, "fell into one"),
            "one for all": (lambda w, s: by_dict(w.mean(0, keepdim=True), s) * len(w), "every step gets the same"),
            "first step": (lambda w, s: by_dict(w[:1], s), "1 words for 60 steps"),
            "two places": (two_places, "most weight together"),
            "ids": (ids, "holds int"),
            "a string": (lambda w, s: " ".join(by_dict(w, s)), "returns str"),
            "sorted": (changing, "changes the list"),
        },
    ),
    "gate_gradient": Variants(
        right={
            "closed": closed,
            "autograd, in log space": by_autograd,
            "softmax of the two sides": by_softmax,
        },
        wrong={
            "sign": (lambda *x: -closed(*x), "*minus* log P"),
            "r": (naive(lambda p, a, b, P: p * a / P), "half of the answer"),
            "p": (naive(lambda p, a, b, P: p), "does not count"),
            "p − a": (naive(lambda p, a, b, P: p - a), "no share yet"),
            "no logarithm": (naive(lambda p, a, b, P: -p * (1 - p) * (a - b)), "gradient of −P"),
            "in p_gen": (naive(lambda p, a, b, P: -(a - b) / P), "gradient in p_gen"),
            "no p": (naive(lambda p, a, b, P: -(1 - p) * (a - b) / P), "σ′ has two"),
            "no 1 − p": (naive(lambda p, a, b, P: -p * (a - b) / P), "may be the first"),
            "swapped": (naive(lambda p, a, b, P: p - p * b / (p * b + (1 - p) * a)), "swapped"),
            "no σ": (no_sigmoid, "before the σ"),
            "mean": (lambda *x: closed(*x) / x[0].numel(), "divided by the number"),
            "squared": (lambda *x: closed(*x) ** 2, "not the gradient of −log P"),
            "naive": (naive(), "to the last bit"),
            "with ε": (naive(eps=1e-9), "something small"),
            "cut off": (clamped, "cut off"),
            "both sides": (half_of_both, "σ ends up"),
        },
    ),
}

"""Chapter 5."""

import math

import torch

from assignments.practice import Variants
from attnlib.attention import Attention
from attnlib.scores import DotScore


def differences(query, key):
    return -(query.unsqueeze(-2) - key.unsqueeze(-3)).pow(2).sum(-1) / 2


def multiplied_out(query, key):
    q, k = query.square().sum(-1, keepdim=True), key.square().sum(-1).unsqueeze(1)
    return query @ key.mT - q / 2 - k / 2


def loops(query, key):
    rows = [[[-((a - b) ** 2).sum() / 2 for b in K] for a in Q] for Q, K in zip(query, key, strict=True)]
    return torch.stack([torch.stack([torch.stack(row) for row in sentence]) for sentence in rows])


def added_first(query, key):
    return -((query.unsqueeze(2) - key.unsqueeze(1)).sum(-1) ** 2) / 2


def rooted(query, key):
    return -((query.unsqueeze(2) - key.unsqueeze(1)).square().sum(-1).sqrt() ** 2) / 2


def solved(share, S):
    return 0.5 * math.log(share / (1 - share) * (S - 1))


def bisected(share, S):
    low, high = -30.0, 30.0
    for _ in range(100):
        beta = (low + high) / 2
        low, high = (beta, high) if 1 / (1 + (S - 1) * math.exp(-2 * beta)) < share else (low, beta)
    return high


VARIANTS = {
    "distance_score": Variants(
        right={
            "differences": differences,
            "multiplied out": multiplied_out,
            "cdist": lambda query, key: -torch.cdist(query, key).square() / 2,
            "loops": loops,
        },
        wrong={
            "sign": (lambda q, k: -differences(q, k), "farthest away"),
            "no half": (lambda q, k: 2 * differences(q, k), "half is missing"),
            "half a distance": (lambda q, k: -torch.cdist(q, k) / 2, "not half its square"),
            "distance": (lambda q, k: -torch.cdist(q, k), "neither square nor half"),
            "mean": (lambda q, k: differences(q, k) / q.shape[-1], "the mean over"),
            "dot": (lambda q, k: q @ k.mT, "dot product alone"),
            "without the query's length": (
                lambda q, k: q @ k.mT - k.square().sum(-1).unsqueeze(1) / 2,
                "does not notice",
            ),
            "key's length with a plus": (
                lambda q, k: multiplied_out(q, k) + k.square().sum(-1).unsqueeze(1),
                "wrong sign",
            ),
            "added first": (added_first, "before it was squared"),
            "transposed": (lambda q, k: differences(k, q), "changed places"),
            "no sum": (lambda q, k: -((q.unsqueeze(2) - k.unsqueeze(1)) ** 2) / 2, "*coordinate*"),
            "root": (rooted, "no slope at 0"),
            "detached": (lambda q, k: differences(q.detach(), k.detach()), "detached"),
            "no batch": (lambda q, k: differences(q[:1], k[:1]), "its shape is (1, 1, 1); asked for is (2, 1, 1)"),
            "weights": (lambda q, k: Attention(DotScore(5, 5))(q, k, k).weights, "not −½"),
        },
    ),
    "sharpness": Variants(
        right={
            "solved": solved,
            "a tensor": lambda a, S: torch.tensor(solved(a, S)),
            "bisected": bisected,
            "torch": lambda share, S: (torch.logit(torch.tensor(share)) + math.log(S - 1)).item() / 2,
        },
        wrong={
            "others at 0": (lambda a, S: 2 * solved(a, S), "taken to score 0"),
            "S rivals": (lambda a, S: 0.5 * math.log(a * S / (1 - a)), "its own rivals"),
            "one rival": (lambda a, S: 0.5 * math.log(a / (1 - a)), "one rival only"),
            "share for odds": (lambda a, S: 0.5 * math.log(a * (S - 1)), "against the rest"),
            "sign": (lambda a, S: -solved(a, S), "sign"),
            "odds": (lambda a, S: a / (1 - a) * (S - 1), "before the logarithm"),
            "log2": (lambda a, S: solved(a, S) / math.log(2), "base 2"),
            "log10": (lambda a, S: solved(a, S) / math.log(10), "base 10"),
            "doubled": (lambda a, S: 4 * solved(a, S), "doubled"),
            "a word": (lambda a, S: str(solved(a, S)), "it returns str; a number is asked for"),
            "infinite": (lambda a, S: math.inf, "it is inf"),
            "the weight": (
                lambda a, S: 1 / (1 + (S - 1) * math.exp(-2 * a)),
                "yours is 0.1099, and asked for is 3.045",
            ),
        },
    ),
}

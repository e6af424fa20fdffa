"""Chapter 15."""

import re
from itertools import pairwise

import torch

from assignments.practice import Variants


def merged(pieces, pair, times=99):
    new, n = [], 0
    while n < len(pieces):
        if tuple(pieces[n : n + 2]) == pair and times:
            new.append("".join(pair))
            n, times = n + 2, times - 1
        else:
            new.append(pieces[n])
            n += 1
    return new


def in_turn(word, merges, times=99):
    pieces = list(word)
    for pair in merges:
        pieces = merged(pieces, pair, times)
    return pieces


def best_rank(word, merges):
    """Of the pairs that stand in the word, the first one learned, until there is none."""
    rank, pieces = {pair: n for n, pair in enumerate(merges)}, list(word)
    while True:
        pairs = [pair for pair in pairwise(pieces) if pair in rank]
        if not pairs:
            return pieces
        pieces = merged(pieces, min(pairs, key=rank.get))


def by_text(word, merges):
    """Borders are blanks, and a merge takes one away."""
    text = f" {' '.join(word)} "
    for a, b in merges:
        text = re.sub(rf"(?<= ){re.escape(a)} {re.escape(b)}(?= )", a + b, text)
    return text.split()


def from_the_right(word, merges):
    pieces = list(word)
    for a, b in merges:
        n = len(pieces) - 2
        while n >= 0:
            if pieces[n : n + 2] == [a, b]:
                pieces[n : n + 2] = [a + b]
                n -= 1
            n -= 1
    return pieces


def overlapping(word, merges):
    pieces = list(word)
    for a, b in merges:
        new, used = [], False
        for n, piece in enumerate(pieces):
            if pieces[n : n + 2] == [a, b]:
                new.append(a + b)
                used = True
            elif not used:
                new.append(piece)
            else:
                used = False
        pieces = new
    return pieces


def longest(word, merges):
    known = sorted({a + b for a, b in merges}, key=len, reverse=True)
    return re.findall("|".join([*map(re.escape, known), "."]), word)


def leftmost(word, merges):
    pieces, n = list(word), 0
    while n < len(pieces) - 1:
        if (pieces[n], pieces[n + 1]) in merges:
            pieces[n : n + 2] = [pieces[n] + pieces[n + 1]]
            n = 0
        else:
            n += 1
    return pieces


def eating(word, merges):
    pieces = list(word)
    while merges:
        pieces = merged(pieces, merges.pop(0))
    return pieces


def whole(gradients, tokens):
    seen = tokens > 0
    return (tokens[seen] / tokens.sum()) @ gradients[seen]


def accumulated(gradients, tokens):
    total = torch.zeros(gradients.shape[1])
    for g, n in zip(gradients, tokens.tolist(), strict=True):
        if n:
            total = total + n * g
    return total / tokens.sum()


def filled(gradients, tokens):
    return (gradients * tokens.unsqueeze(1)).nan_to_num(0).sum(0) / tokens.sum()


def weighted(weights):
    return lambda g, t: (weights(t.float()).unsqueeze(1) * g).sum(0)


VARIANTS = {
    "apply_merges": Variants(
        right={"in turn": in_turn, "the best rank": best_rank, "as a text": by_text},
        wrong={
            "nothing": (lambda w, m: list(w), "nothing has been merged"),
            "one piece": (lambda w, m: [w], "the word is one piece"),
            "once": (lambda w, m: in_turn(w, m, 1), "each merge is done once"),
            "last first": (lambda w, m: in_turn(w, m[::-1]), "in the wrong order"),
            "from the right": (from_the_right, "from the right"),
            "overlapping": (overlapping, "longer than the word"),
            "longest": (longest, "the longest known piece"),
            "leftmost": (leftmost, "whichever it is"),
            "last one missing": (lambda w, m: in_turn(w, m[:-1]), "the last merge is missing"),
            "a letter lost": (lambda w, m: in_turn(w, m)[:-1], "do not make the word"),
            "eight letters": (lambda w, m: in_turn(w[:8], m) + list(w[8:]), "in other places"),
            "a text": (lambda w, m: " ".join(in_turn(w, m)), "returns str; a list"),
            "tuples": (lambda w, m: [tuple(piece) for piece in in_turn(w, m)], "holds tuple"),
            "eaten": (eating, "changes the list"),
        },
    ),
    "whole_gradient": Variants(
        right={"a product": whole, "added up": accumulated, "filled": filled},
        wrong={
            "plain": (lambda g, t: g.mean(0), "the plain average"),
            "sum": (lambda g, t: g.sum(0), "added up as they are"),
            "not divided": (weighted(lambda t: t), "gradient of the *sum*"),
            "by batches": (weighted(lambda t: t / len(t)), "divided by the number of batches."),
            "inverse": (weighted(lambda t: (1 / t) / (1 / t).sum()), "the wrong way round"),
            "divided twice": (weighted(lambda t: 1 / t.sum() + 0 * t), "had been divided already"),
            "overwritten": (lambda g, t: g[-1], "overwrote"),
            "softmax": (weighted(lambda t: t.softmax(0)), "through a softmax"),
            "once too often": (weighted(lambda t: t / t.sum() / len(t)), "once too often"),
            "root": (weighted(lambda t: t.sqrt() / t.sqrt().sum()), "of the mean over all tokens. On"),
            "NaN": (weighted(lambda t: t / t.sum()), "0 times NaN"),
            "one token at least": (
                lambda g, t: weighted(lambda t: t.clamp(min=1) / t.clamp(min=1).sum())(g.nan_to_num(0), t),
                "nothing to say",
            ),
            "not added up": (lambda g, t: g * t.unsqueeze(1) / t.sum(), "for each small batch. Add"),
            "loss": (lambda g, t: g.mean(1) * t / t.sum(), "each parameter"),
        },
    ),
}

"""Checks for chapter 15: pieces of words, and one gradient from several.

The gradient is that of all tokens, one after another. How pairs are merged stands here in clear: the mistakes are made
of it.
"""

from collections.abc import Callable

import torch
from torch import Size, Tensor

from attnlib.course.checks.asking import draw
from attnlib.course.checks.examining import examine
from attnlib.course.checks.verdict import check

Pair = tuple[str, str]


def _merged(pieces: list[str], pair: Pair, times: int = 99) -> list[str]:
    """The pair merged from left to right, this often at most."""
    pieces, n = list(pieces), 0
    while n < len(pieces) - 1 and times:
        if (pieces[n], pieces[n + 1]) == pair:
            pieces[n : n + 2] = ["".join(pair)]
            times -= 1
        n += 1
    return pieces


def _all(word: str, merges: list[Pair], times: int = 99) -> list[str]:
    pieces = list(word)
    for pair in merges:
        pieces = _merged(pieces, pair, times)
    return pieces


def _longest(word: str, merges: list[Pair]) -> list[str]:
    """From left to right, each time the longest piece that there is."""
    known, pieces = {"".join(pair) for pair in merges}, []
    while word:
        n = max(n for n in range(1, len(word) + 1) if n == 1 or word[:n] in known)
        pieces, word = [*pieces, word[:n]], word[n:]
    return pieces


def _any_order(word: str, merges: list[Pair]) -> list[str]:
    """The leftmost pair that is in the list, again and again."""
    pieces = list(word)
    while found := [n for n in range(len(pieces) - 1) if (pieces[n], pieces[n + 1]) in merges]:
        pieces[found[0] : found[0] + 2] = ["".join(pieces[found[0] : found[0] + 2])]
    return pieces


@check
def apply_merges(answer: Callable) -> str:
    """Check `apply_merges(word, merges)`: a string and pairs of pieces, in the order learned → list of pieces."""
    play = [("l", "a"), ("la", "y"), ("p", "lay"), ("e", "play")]
    tangled = [("a", "b"), ("ab", "c"), ("x", "a"), ("b", "c"), ("xa", "bc")]
    doubled = [("a", "a"), ("aa", "a"), ("aa", "b")]

    def seen(pieces: list, word: str, merges: list[Pair]) -> str | None:
        where = f"on {word!r} with the merges {' '.join('+'.join(pair) for pair in merges) or '(none)'}"
        odd = sorted({type(piece).__name__ for piece in pieces if type(piece) is not str})
        if odd:
            return f"the list holds {', '.join(odd)}; pieces are strings."
        if sum(map(len, pieces)) > len(word):
            return (
                f"{where} the pieces are longer than the word: a piece was merged with both of its neighbours. Once "
                "merged, it is used up."
            )
        return None if "".join(pieces) == word else f"{where} the pieces do not make the word: {pieces!r:.60}."

    def backwards(word: str, merges: list[Pair]) -> list[str]:
        turned = _all(word[::-1], [(b[::-1], a[::-1]) for a, b in merges])
        return [piece[::-1] for piece in turned][::-1]

    examine(
        answer,
        [
            ("replayable", play),
            ("playlaylay", play),
            ("abcab", [("b", "c"), ("a", "b"), ("a", "bc")]),
            ("xabc", tangled),
            ("xaxabcbc", tangled),
            ("aaaaabaaa", doubled),
            ("aaa", doubled[:1]),
            ("aabaa", doubled),
            ("byte", []),
            ("b", play),
            ("", play),
            ("laylaylayplayeplayabcablaylayelay", [*play, *tangled]),
            ("a+b*a", [("a", "+"), ("*", "a"), ("b", "*a")]),
        ],
        _all,
        {
            "the pieces are the letters still: nothing has been merged.": lambda word, merges: list(word),
            "the word is one piece. Only pairs in the list are merged.": lambda word, merges: [word],
            "each merge is done once. It is done at every place where its pair stands.": (
                lambda word, merges: _all(word, merges, 1)
            ),
            "you look for the longest known piece. Merges are repeated in their order, and it may never arise.": (
                _longest
            ),
            "the leftmost pair is merged, whichever it is. The pair that was learned *first* comes first.": _any_order,
            "the merges are done in the wrong order: the last one learned comes first.": (
                lambda word, merges: _all(word, merges[::-1])
            ),
            "a pair is merged from the right. Of three equal letters the first two belong together.": backwards,
            "the last merge is missing.": lambda word, merges: _all(word, merges[:-1]),
        },
        "some pieces are cut in other places.",
        seen=seen,
    )
    return "each merge in its turn, wherever its pair stands; without merges the pieces are the letters."


@check
def whole_gradient(answer: Callable) -> str:
    """Check `whole_gradient(gradients, tokens)`: (N, P) of means over (N,) tokens → (P,) of the mean over all."""

    def wanted(g: Tensor, t: Tensor) -> Tensor:
        """Every token has the mean gradient of its batch, and all tokens count alike."""
        return g.double().repeat_interleave(t, dim=0).mean(0)

    def weighted(weights: Callable[[Tensor], Tensor]) -> Callable[[Tensor, Tensor], Tensor]:
        return lambda g, t: (weights(t.double()).unsqueeze(1) * g).sum(0)

    def case(counts: list[int], P: int, scale: float = 1.0) -> tuple[Tensor, Tensor]:
        return draw(len(counts), P, seed=P, scale=scale), torch.tensor(counts)

    examine(
        answer,
        [
            case([7, 2, 4], 5), case([1, 9, 3, 6], 2), case([5], 3), case([3, 1], 1), case([2], 1),
            case([300, 1, 8, 40, 2, 2, 17, 5], 9), case([7, 2, 4], 5, 1e5),
        ],
        wanted,
        {
            "one gradient for each small batch. Add them up.": lambda g, t: Size(g.shape),
            "one number for each small batch. Asked for is one for each parameter.": lambda g, t: Size(t.shape),
            "that is the plain average: a batch of few tokens counts as much as one of many.": lambda g, t: g.mean(0),
            "the gradients are added up as they are: the larger the number of batches, the longer the step.": (
                lambda g, t: g.sum(0)
            ),
            "that is the gradient of the *sum* over all tokens. Asked for is that of their mean.": (
                weighted(lambda t: t)
            ),
            "the sum over all tokens is divided by the number of batches.": weighted(lambda t: t / len(t)),
            "the wrong way round: the more tokens a batch has, the less it counts.": (
                weighted(lambda t: (1 / t) / (1 / t).sum())
            ),
            "the means are divided by all tokens. They had been divided already.": lambda g, t: g.sum(0) / t.sum(),
            "that is the last batch alone: each gradient overwrote the one before.": lambda g, t: g[-1],
            "the shares go through a softmax. They are proportions as they are.": weighted(lambda t: t.softmax(0)),
            "it is divided by the number of batches once too often: the shares sum to 1 already.": (
                weighted(lambda t: t / t.sum() / len(t))
            ),
        },
        "it is not the gradient of the mean over all tokens.",
    )  # fmt: skip
    blank = []
    for counts in ([3, 0, 5], [0, 2], [4, 1, 0, 0]):
        g, t = case(counts, 4)
        g[t == 0] = torch.nan
        blank.append((g, t))
    examine(
        answer,
        blank,
        wanted,
        otherwise="a batch without a token changes the gradient. It has nothing to say.",
        seen=lambda x, g, t: (
            "a batch without a token has the mean 0 / 0, and 0 times NaN is NaN: it must not enter the sum."
            if x.isnan().any()
            else None
        ),
    )
    return "weighted by tokens, from one batch to eight, make the gradient of the whole."

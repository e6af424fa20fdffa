"""Checks for chapter 15: pieces of words, and one gradient from several."""

from collections.abc import Callable

import torch

from attnlib.course.checks.asking import ask_plain, ask_tensor, draw
from attnlib.course.checks.verdict import check, expect, need

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
    for word, merges in [
        ("replayable", play),
        ("playlaylay", play),
        ("abcab", [("b", "c"), ("a", "b"), ("a", "bc")]),
        ("xabc", tangled),
        ("xaxabcbc", tangled),
        ("aaaaabaaa", [("a", "a"), ("aa", "a"), ("aa", "b")]),
        ("byte", []),
        ("b", play),
        ("", play),
    ]:
        given, right = ask_plain(answer, word, merges, kind=list), _all(word, merges)
        where = f"on {word!r} with the merges {' '.join('+'.join(pair) for pair in merges) or '(none)'}"
        odd = sorted({type(piece).__name__ for piece in given if type(piece) is not str})
        need(not odd, f"the list holds {', '.join(odd)}; pieces are strings.")
        if given == right:
            continue
        need(
            sum(map(len, given)) <= len(word),
            f"{where} the pieces are longer than the word: a piece was merged with both of its neighbours. Once "
            "merged, it is used up.",
        )
        need("".join(given) == word, f"{where} the pieces do not make the word: {given!r:.60}.")
        backwards = [piece[::-1] for piece in _all(word[::-1], [(b[::-1], a[::-1]) for a, b in merges])][::-1]
        usual = {
            "the pieces are the letters still: nothing has been merged.": list(word),
            "each merge is done once. It is done at every place where its pair stands.": _all(word, merges, 1),
            "you look for the longest known piece. Merges are repeated in their order, and it may never arise.": (
                _longest(word, merges)
            ),
            "the leftmost pair is merged, whichever it is. The pair that was learned *first* comes first.": (
                _any_order(word, merges)
            ),
            "the merges are done in the wrong order: the last one learned comes first.": _all(word, merges[::-1]),
            "a pair is merged from the right. Of three equal letters the first two belong together.": backwards,
            "the last merge is missing.": _all(word, merges[:-1]),
            "the word is one piece. Only pairs in the list are merged.": [word],
        }
        told = {f"{words} ({where[0].upper()}{where[1:]}.)": pieces for words, pieces in usual.items()}
        expect(given, right, told, f"{where} some pieces are cut in other places.")
    return "each merge in its turn, wherever its pair stands; without merges the pieces are the letters."


@check
def whole_gradient(answer: Callable) -> str:
    """Check `whole_gradient(gradients, tokens)`: (N, P) of means over (N,) tokens → (P,) of the mean over all."""
    for counts, P in [([7, 2, 4], 5), ([1, 9, 3, 6], 2), ([5], 3)]:
        g, t = draw(len(counts), P, seed=P), torch.tensor(counts)
        share, N = t.unsqueeze(1), len(counts)
        given = ask_tensor(
            answer,
            g,
            t,
            shape=(P,),
            instead={
                (N, P): "one gradient for each small batch. Add them up.",
                (N,): "one number for each small batch. Asked for is one for each parameter.",
            },
        )
        expect(
            given,
            (share * g).sum(0) / t.sum(),
            {
                "that is the plain average: a batch of few tokens counts as much as one of many.": g.mean(0),
                "the gradients are added up as they are: the larger the number of batches, the longer the step.": g.sum(
                    0
                ),
                "that is the gradient of the *sum* over all tokens. Asked for is that of their mean.": (
                    (share * g).sum(0)
                ),
                "the sum over all tokens is divided by the number of batches.": (share * g).sum(0) / N,
                "the wrong way round: the more tokens a batch has, the less it counts.": (
                    (g / share).sum(0) / (1 / share).sum()
                ),
                "the means are divided by all tokens. They had been divided already.": g.sum(0) / t.sum(),
                "that is the last batch alone: each gradient overwrote the one before.": g[-1],
                "the shares go through a softmax. They are proportions as they are.": (
                    t.float().softmax(0).unsqueeze(1) * g
                ).sum(0),
                "it is divided by the number of batches once too often: the shares sum to 1 already.": (
                    (share * g).sum(0) / t.sum() / N
                ),
            },
            f"with {counts} tokens it is not the gradient of the mean over all {sum(counts)}.",
        )
    g, t = draw(3, 4), torch.tensor([3, 0, 5])
    g[1] = torch.nan
    given = ask_tensor(answer, g, t, shape=(4,))
    need(
        not given.isnan().any(),
        "a batch without a token has the mean 0 / 0, and 0 times NaN is NaN: it must not enter the sum.",
    )
    need(
        torch.allclose(given, (3 * g[0] + 5 * g[2]) / 8),
        "a batch without a token changes the gradient. It has nothing to say.",
    )
    return "weighted by tokens, three batches, four or one, make the gradient of the whole."

"""Checks for chapter 10: which word is copied, and what the gate is told."""

from collections.abc import Callable

import torch

from attnlib.course.checks.asking import ask_plain, ask_tensor, draw
from attnlib.course.checks.verdict import check, expect, need, same


@check
def copied_words(answer: Callable) -> str:
    """Check `copied_words(weights, source)`: (T, S) and S words → for each step the word likeliest to be copied."""
    text = ["the", "iPad", "and", "the", "lamp", "and", "the", "iPad", "The"]
    for source in (text, list("bacabbdac")):
        weights = draw(60, 9)
        weights[:, source.index("lamp" if source is text else "d")] += 1.5  # stands once, and is seen most on average
        weights = weights.softmax(-1)
        given = ask_plain(answer, weights, source, kind=list)
        need(len(given) == 60, f"it returns {len(given)} words for 60 steps: one word for each step is asked for.")
        odd = [type(word).__name__ for word in given if type(word) is not str]
        need(
            not odd, f"the list holds {', '.join(sorted(set(odd)))}; words are asked for, as they stand in the source."
        )
        foreign = sorted(set(given) - set(source))
        need(not foreign, f"{', '.join(map(repr, foreign[:3]))} stands nowhere in the source.")

        def likeliest(score: Callable, spell: Callable = str, source=source, weights=weights) -> list[str]:
            """For each step the word whose weights, in the order of their places, have the largest score."""
            places = {spell(word): [j for j, w in enumerate(source) if spell(w) == spell(word)] for word in source}
            best = [max(places, key=lambda w: score([row[j] for j in places[w]])) for row in weights.tolist()]
            return [source[places[word][0]] for word in best]

        expect(
            given,
            likeliest(sum),
            {
                "that is the word at the likeliest *place*. A word that stands twice counts twice.": likeliest(max),
                "of a word that stands twice only the last place counts: each weight overwrites the one before.": (
                    likeliest(lambda w: w[-1])
                ),
                "of a word that stands twice only the first place counts.": likeliest(lambda w: w[0]),
                "the weights of a word are averaged. Chances of places add up.": likeliest(lambda w: sum(w) / len(w)),
                "that is the word that stands most often, whatever the weights.": likeliest(len),
                "that is the *least* likely word.": likeliest(lambda w: -sum(w)),
                "`the` and `The` fell into one. To a vocabulary they are two words.": likeliest(sum, spell=str.lower),
                "every step gets the same word: the weights of all steps are added up.": (
                    [likeliest(sum, weights=weights.mean(0, keepdim=True))[0]] * 60
                ),
            },
            "some steps have another word than the one whose places have the most weight together.",
        )
    return "the weights of equal words add up, in every step."


@check
def gate_gradient(answer: Callable) -> str:
    """Check `gate_gradient(gate, said, copied)`: (B, T) each, P_vocab(w) and P_copy(w) → −∂ log P(w) / ∂ gate."""
    gate, said, copied = draw(3, 4), draw(3, 4, seed=1).sigmoid(), draw(3, 4, seed=2).sigmoid()
    p = gate.sigmoid()
    P = p * said + (1 - p) * copied
    share = p * said / P
    swapped = p - p * copied / (p * copied + (1 - p) * said)
    expect(
        ask_tensor(answer, gate, said, copied, shape=(3, 4)),
        p - share,
        {
            "the sign is wrong. The loss is *minus* log P.": share - p,
            "that is r, the share that was said. It is half of the answer.": share,
            "that is p_gen: the word itself does not count.": p,
            "the chance to say the word is no share yet. Of all that wrote this word, how much was said?": p - said,
            "that is the gradient of −P. The loss has a logarithm.": -p * (1 - p) * (said - copied),
            "that is the gradient in p_gen. Between it and the gate there is a σ.": -(said - copied) / P,
            "a factor is missing: σ′ has two.": -(1 - p) * (said - copied) / P,
            "a factor is missing in σ′: it has two, yours may be the first.": -p * (said - copied) / P,
            "what is said and what is copied are swapped.": swapped,
            "the gate is taken for p_gen. It stands before the σ.": (
                gate - gate * said / (gate * said + (1 - gate) * copied)
            ),
            "it is divided by the number of words. Each word has a gradient of its own.": (p - share) / 12,
        },
        "for gates between −3 and 3 it is not the gradient of −log P.",
    )

    corners = torch.tensor([[200.0, 0.0, 0.9, 1.0], [-200.0, 0.4, 0.0, -1.0], [30.0, 0.0, 0.5, 1.0],
                            [-40.0, 0.7, 0.0, -1.0], [200.0, 0.3, 0.6, 0.0], [-200.0, 0.3, 0.6, 0.0]])  # fmt: skip
    *inputs, want = corners.T.unsqueeze(1)
    slope = ask_tensor(answer, *inputs, shape=(1, 6))
    need(
        not slope.isnan().any(),
        "at gates of ±200 there is NaN: p_gen is 0 or 1 to the last bit, and P becomes 0. Stay in log space.",
    )
    need(
        same(slope[:, 4:], want[:, 4:]),
        "at gates of ±200 it is wrong, though the word can be said and copied: σ ends up at 0 or 1.",
    )
    need(
        not same(slope, want.clamp(min=0)),
        "a word that can only be said does not correct a gate of −200. Was something small added to P?",
    )
    need(
        same(slope, want),
        "a gate of ±200 is not corrected by a word that only the other side has. Was the gate cut off?",
    )
    return "p_gen − r, and still right where p_gen is 0 or 1 to the last bit."

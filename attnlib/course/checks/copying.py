"""Checks for chapter 10: which word is copied, and what the gate is told.

The gradient of the gate is torch's own, of log P in double precision.
"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from attnlib.course.checks.asking import draw
from attnlib.course.checks.examining import examine
from attnlib.course.checks.verdict import check


def likeliest(score: Callable, spell: Callable = str) -> Callable[[Tensor, list[str]], list[str]]:
    """For each step the word whose weights, in the order of their places, have the largest score."""

    def words(weights: Tensor, source: list[str]) -> list[str]:
        places = {spell(word): [j for j, w in enumerate(source) if spell(w) == spell(word)] for word in source}
        best = [max(places, key=lambda w: score([row[j] for j in places[w]])) for row in weights.tolist()]
        return [source[places[word][0]] for word in best]

    return words


@check
def copied_words(answer: Callable) -> str:
    """Check `copied_words(weights, source)`: (T, S) and S words → for each step the word likeliest to be copied."""
    text = ["the", "iPad", "and", "the", "lamp", "and", "the", "iPad", "The"]
    cases = []
    for n, source in enumerate((text, list("bacabbdac"), list("abcdefghij"), ["no"], ["a", "A", "a"], ["x", "x"])):
        scores = draw(1 if len(source) == 2 else 60, len(source), seed=n)
        if len(source) == 9:  # stands once, and is seen most on average
            scores[:, source.index("lamp" if source is text else "d")] += 1.5
        cases.append((scores.softmax(-1), source))

    def seen(given: list, weights: Tensor, source: list[str]) -> str | None:
        if len(given) != len(weights):
            return f"it returns {len(given)} words for {len(weights)} steps: one word for each step is asked for."
        odd = sorted({type(word).__name__ for word in given if type(word) is not str})
        if odd:
            return f"the list holds {', '.join(odd)}; words are asked for, as they stand in the source."
        foreign = [repr(word) for word in sorted(set(given) - set(source))[:3]]
        return f"{', '.join(foreign)} stands nowhere in the source." if foreign else None

    def one_for_all(weights: Tensor, source: list[str]) -> list[str]:
        return likeliest(sum)(weights.mean(0, keepdim=True), source) * len(weights)

    examine(
        answer,
        cases,
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
            "every step gets the same word: the weights of all steps are added up.": one_for_all,
        },
        "some steps have another word than the one whose places have the most weight together.",
        seen=seen,
    )
    return "the weights of equal words add up, in every step."


def slope_of_gate(gate: Tensor, said: Tensor, copied: Tensor) -> Tensor:
    """Gradient of −log P by the gate, by torch and in log space."""
    leaf = gate.detach().double().requires_grad_()
    log_P = torch.logaddexp(logsigmoid(leaf) + said.double().log(), logsigmoid(-leaf) + copied.double().log())
    return torch.autograd.grad(-log_P.sum(), leaf)[0]


@check
def gate_gradient(answer: Callable) -> str:
    """Check `gate_gradient(gate, said, copied)`: (B, T) each, P_vocab(w) and P_copy(w) → −∂ log P(w) / ∂ gate."""

    def usual(formula: Callable) -> Callable[[Tensor, Tensor, Tensor], Tensor]:
        def mistake(gate: Tensor, said: Tensor, copied: Tensor) -> Tensor:
            p = gate.sigmoid()
            return formula(p, said, copied, p * said + (1 - p) * copied)

        return mistake

    examine(
        answer,
        [
            (draw(*shape), draw(*shape, seed=1).sigmoid(), draw(*shape, seed=2).sigmoid())
            for shape in [(3, 4), (2, 5), (1, 3), (4, 1), (1, 1)]
        ],
        slope_of_gate,
        {
            "the sign is wrong. The loss is *minus* log P.": lambda *x: -slope_of_gate(*x),
            "that is r, the share that was said. It is half of the answer.": usual(lambda p, a, b, P: p * a / P),
            "that is p_gen: the word itself does not count.": usual(lambda p, a, b, P: p),
            "the chance to say the word is no share yet. Of all that wrote this word, how much was said?": (
                usual(lambda p, a, b, P: p - a)
            ),
            "that is the gradient of −P. The loss has a logarithm.": usual(lambda p, a, b, P: -p * (1 - p) * (a - b)),
            "that is the gradient in p_gen. Between it and the gate there is a σ.": (
                usual(lambda p, a, b, P: -(a - b) / P)
            ),
            "a factor is missing: σ′ has two.": usual(lambda p, a, b, P: -(1 - p) * (a - b) / P),
            "a factor is missing in σ′: it has two, yours may be the first.": usual(
                lambda p, a, b, P: -p * (a - b) / P
            ),
            "what is said and what is copied are swapped.": lambda gate, a, b: slope_of_gate(gate, b, a),
            "the gate is taken for p_gen. It stands before the σ.": (
                lambda gate, a, b: gate - gate * a / (gate * a + (1 - gate) * b)
            ),
            "it is divided by the number of words. Each word has a gradient of its own.": (
                lambda *x: slope_of_gate(*x) / x[0].numel()
            ),
        },
        "for gates between −3 and 3 it is not the gradient of −log P.",
    )

    corners = torch.tensor([[200.0, 0.0, 0.9], [-200.0, 0.4, 0.0], [30.0, 0.0, 0.5], [-40.0, 0.7, 0.0],
                            [200.0, 0.3, 0.6], [-200.0, 0.3, 0.6], [12000.0, 0.0, 0.4]])  # fmt: skip
    small = "a word that can only be said does not correct a gate of −200. Was something small added to P?"

    def seen(x: Tensor, gate: Tensor, said: Tensor, copied: Tensor) -> str | None:
        if x.isnan().any():
            return "at gates of ±200 there is NaN: p_gen is 0 or 1 to the last bit, and P becomes 0. Stay in log space."
        wrong = (x.double() - slope_of_gate(gate, said, copied)).abs() > 1e-4
        if (wrong & (said * copied > 0)).any():
            return "at gates of ±200 it is wrong, though the word can be said and copied: σ ends up at 0 or 1."
        return small if not wrong[gate > 0].any() and wrong.any() else None

    examine(
        answer,
        [tuple(corners.T.unsqueeze(1)), tuple(corners.flip(0).T.unsqueeze(2))],
        slope_of_gate,
        otherwise="a gate of ±200 is not corrected by a word that only the other side has. Was the gate cut off?",
        seen=seen,
    )
    return "p_gen − r, and still right where p_gen is 0 or 1 to the last bit."

"""Checks for chapters 13 and 14: what a gaze pays, a scene in the mirror, and weights that could be others."""

from collections.abc import Callable

import torch
from torch import Tensor

from attnlib.course.checks.asking import ask_plain, ask_tensor, draw
from attnlib.course.checks.verdict import check, expect, need, same


@check
def divided_gaze(answer: Callable) -> str:
    """Check `divided_gaze(T, M)`: T divides M; weights (T, M), the cheapest where no region is looked at twice."""
    for T, M in [(3, 12), (4, 20), (1, 5), (6, 6)]:
        w = ask_tensor(
            answer,
            T,
            M,
            shape=(T, M),
            instead={(M, T): "one row for each region. Asked for is one for each look."} if T != M else {},
        )
        where = f"with T = {T} and M = {M}"
        need(w.is_floating_point(), f"weights are shares; these are {str(w.dtype).removeprefix('torch.')}.")
        w = w.detach().double()
        total, ones = w.sum(0), torch.ones(T, dtype=torch.float64)
        need(w.isfinite().all(), f"{where}, not all weights are finite.")
        need(w.min() >= 0, f"{where}, a weight is negative.")
        need(
            T == M or same(w.sum(1), ones) or not same(total, total.new_ones(M)),
            f"{where} it would pay nothing, but a row sums to {w[0].sum():.2f}. A look has the weight 1 to give.",
        )
        need(same(w.sum(1), ones), f"{where}, the rows do not all sum to 1: {w.sum(1).tolist()[0]:.2f} is the first.")
        need(
            T == 1 or not same(w, torch.full_like(w, 1 / M)),
            "that is the flat gaze. It is as cheap as can be, but it looks at every region T times.",
        )
        need(
            T == M or not same(w.amax(1), ones),
            f"{where}, each look sees one region and pays M − T = {M - T}. There are cheaper ones.",
        )
        need(
            same(total, torch.full_like(total, T / M)),
            f"{where} it pays {(1 - total).square().sum():.2f}, and the least is {(M - T) ** 2 / M:.2f}: the totals u "
            f"run from {total.min():.2f} to {total.max():.2f}.",
        )
        need(
            ((w > 1e-6).sum(0) == 1).all(),
            f"{where} it is as cheap as can be, but a region gets its total from several looks.",
        )
    return "it pays as little as the flat gaze, and each look has regions of its own."


@check
def mirrored(answer: Callable) -> str:
    """Check `mirrored(caption)`: a tuple of words → the caption of the scene with left and right exchanged."""

    def read(text: str) -> tuple[str, ...]:
        return ask_plain(answer, tuple(text.split()), kind=tuple)

    given = read("an apple left of a star")
    usual = {
        "the caption of *left of* is as before. Which thing is on the left now?": "an apple left of a star",
        "no caption says *right of*: the left thing is always named first.": "an apple right of a star",
        "that says what was there before: things *and* relation were exchanged.": "a star right of an apple",
        "the things have changed places, but their articles have not.": "an star left of a apple",
        "the articles have changed places, but their things have not.": "a apple left of an star",
        "all the words run backwards. A caption is read as before.": "star a of left apple an",
        "left became above. A mirror turns nothing by a quarter.": "a star above an apple",
    }
    expect(
        given,
        ("a", "star", "left", "of", "an", "apple"),
        {words: tuple(caption.split()) for words, caption in usual.items()},
        f"*an apple left of a star* became {given!r:.80}.",
    )
    given = read("an apple above a star")
    expect(
        given,
        ("an", "apple", "above", "a", "star"),
        {"*above* speaks of y, and the mirror changes x alone.": ("a", "star", "above", "an", "apple")},
        f"*an apple above a star* became {given!r:.80}.",
    )
    for first, second in [("a key", "an owl"), ("an eye", "an egg"), ("a three", "a three")]:
        left, above = f"{first} left of {second}", f"{first} above {second}"
        need(
            read(left) == tuple(f"{second} left of {first}".split()) and read(above) == tuple(above.split()),
            f"right for the apple and the star, wrong for *{first}* and *{second}*.",
        )
    return "left of: the things change places, each with its article. Above: nothing changes."


@check
def unseen_directions(answer: Callable) -> str:
    """Check `unseen_directions(H)`: annotations (S, d) → int, the directions in which no context changes."""

    def rank(x: Tensor) -> int:
        return int(torch.linalg.matrix_rank(x))

    for S, d in [(12, 4), (9, 2)]:
        n = ask_plain(answer, draw(S, d, dtype=torch.float64), kind=int)
        expect(
            n,
            S - d - 1,
            {
                "an equation is missing: is every such direction one from weights to *weights*?": S - d,
                "that is the number of equations. How many directions do they leave free?": d + 1,
                "none, you say: but the unknowns are the S weights, not the d numbers of a context.": 0,
                "the sign is wrong: equations are taken *from* the unknowns.": d + 1 - S,
                "every way to move weight is counted. It must not move the context.": S - 1,
                "one equation too many. The sum is one, the context is d.": S - d - 2,
            },
            f"with {S} annotations of width {d} it is not {n}.",
        )
    for S, d in [(5, 4), (3, 6), (1, 3)]:
        n = ask_plain(answer, draw(S, d, dtype=torch.float64), kind=int)
        need(n >= 0, f"with {S} annotations of width {d} yours is negative. Can there be fewer than none?")
        need(n == 0, f"with {S} annotations of width {d} there is none: the weights are unique.")

    two = draw(2, 3, dtype=torch.float64)
    H = two[[0, 1, 0, 0, 1, 1]]
    n = ask_plain(answer, H, kind=int)
    expect(
        n,
        4,
        {
            "six annotations, only two of them different: weight moves freely between equal ones. Sizes alone do not "
            "tell how many equations there are.": 6 - 3 - 1,
            "the equation of the sum is counted once more, though it follows from the others here: they are not "
            "independent.": 6 - rank(H) - 1,
        },
        f"of six annotations two are different, and it is not {n}.",
    )
    H = torch.cat([draw(8, 2, dtype=torch.float64), torch.full((8, 1), 2.0, dtype=torch.float64)], 1)
    need(ask_plain(answer, H, kind=int) == 5, "it goes wrong where one number is the same in all annotations.")
    need(ask_plain(answer, 0 * H, kind=int) == 7, "it goes wrong where all annotations are 0.")
    return "in general S − d − 1 or none, and more where annotations repeat each other."


@check
def least_weight(answer: Callable) -> str:
    """Check `least_weight(z, eps)`: votes z > 0, (N,), and a float → the least weights that p allows, (N,)."""
    for votes, eps in [([1.5, 2.0, 3.5], 0.05), ([1.0, 4.0, 2.5, 9.0], 0.1)]:
        z = torch.tensor(votes)
        p = z.sigmoid()
        want = torch.logit(p - eps) / z
        expect(
            ask_tensor(answer, z, eps, shape=z.shape),
            want,
            {
                "that is how much weight it can *lose*. Asked for is what it keeps.": 1 - want,
                "with this weight p *rises* by ε.": torch.logit(p + eps) / z,
                "these are the log-odds that it needs. A weight times z must give them.": torch.logit(p - eps),
                "a probability is divided by a vote. The vote counts in log-odds.": (p - eps) / z,
                "here p falls to (1 − ε) p. Asked for is p − ε.": torch.logit(p * (1 - eps)) / z,
                "here the log-odds fall by ε, not p.": 1 - eps / z,
                "p is not linear in the weight: twice the weight is not twice p.": (p - eps) / p,
                "at the start p is not 1, but σ(z).": torch.logit(torch.full_like(z, 1 - eps)) / z,
                "here p itself falls *to* ε, not by ε.": torch.logit(torch.full_like(z, eps)) / z,
            },
            f"with these weights p does not fall by {eps}.",
        )
    for eps, why in [(0.05, "p ends at 1/2 when no weight is left"), (0.7, "p − ε is below 0, and nothing has such p")]:
        z = torch.tensor([0.1, 0.15])
        given = ask_tensor(answer, z, eps, shape=(2,))
        name = f"with z = 0.1 and ε = {eps}"
        need(not given.isnan().any(), f"{name} it is NaN: {why}.")
        need(not (given < 0).any(), f"{name} it is negative: {why}.")
        need(same(given, torch.zeros(2)), f"{name} no weight at all is enough: {why}.")
    return "p falls by ε and no more; where it cannot fall so far, no weight is needed."

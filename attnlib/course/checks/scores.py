"""Checks for chapter 5: a score of one's own, and how sharp a bounded score must be."""

import math
from collections.abc import Callable

from attnlib.course.checks.asking import ask_number, ask_tensor, described, draw, gradients
from attnlib.course.checks.verdict import check, expect, need


@check
def distance_score(answer: Callable) -> str:
    """Check `distance_score(query, key)`: (B, T, d) and (B, S, d); scores (B, T, S), −½‖q − k‖²."""
    for B, T, S, d in [(2, 3, 4, 5), (1, 4, 2, 3), (3, 1, 5, 2)]:
        query, key = draw(B, T, d, seed=1), draw(B, S, d, seed=2)
        square = (query.unsqueeze(2) - key.unsqueeze(1)).square().sum(-1)
        given = ask_tensor(
            answer,
            query,
            key,
            shape=(B, T, S),
            instead={
                (B, S, T): "rows and columns have changed places: one row for each query, one column for each key.",
                (B, T, S, d): "one number for each query, key and *coordinate*: the sum over coordinates is missing.",
            },
        )
        expect(
            given,
            -square / 2,
            {
                "the sign: as it is, the key farthest away scores highest.": square / 2,
                "the half is missing.": -square,
                "this is half the distance, not half its square.": -square.sqrt() / 2,
                "this is the distance, with neither square nor half.": -square.sqrt(),
                "the mean over the coordinates. A squared length is their sum.": -square / 2 / d,
                "the dot product alone.": query @ key.mT,
                "the weights will be right, since a softmax does not notice what is the same for all keys; but this is "
                "not the score that was asked for.": query @ key.mT - key.square().sum(-1).unsqueeze(1) / 2,
                "the length of the key is counted with the wrong sign: the longer the key, the nearer it seems.": (
                    query @ key.mT + key.square().sum(-1).unsqueeze(1) / 2 - query.square().sum(-1, keepdim=True) / 2
                ),
                "the difference was added up before it was squared.": (
                    -(query.sum(-1, keepdim=True) - key.sum(-1).unsqueeze(1)).square() / 2
                ),
            },
            f"this is not −½‖q − k‖², on {described(query, key)}.",
            tolerance=1e-4,
        )
    query = draw(1, 3, 4)
    slopes = gradients(answer, query, query.flip(1))
    need(
        not any(slope.isnan().any() for slope in slopes),
        "the scores are right, but where a query stands on a key the gradient is NaN: a root has no slope at 0.",
    )
    return "minus half the squared distance of every query to every key, and a gradient where the two meet."


@check
def sharpness(answer: Callable) -> str:
    """Check `sharpness(share, S)`: the smallest β with which a cosine score could give one of S keys this share."""
    for share, S in [(0.9, 50), (0.6, 2), (0.99, 5000), (0.3, 7)]:
        odds = share / (1 - share)
        given = ask_number(answer, share, S)
        need(math.isfinite(given), f"it is {given} for a share of {share} among {S} keys.")
        full = math.log(odds * (S - 1))
        expect(
            given,
            full / 2,
            {
                "the other keys are taken to score 0. A cosine can push them farther down than that.": full,
                "there are S keys, but the one that is looked for is not among its own rivals.": (
                    math.log(odds * S) / 2
                ),
                "one rival only: the number of keys has no say.": math.log(odds) / 2,
                "it is compared with the share of *all*, itself included: odds are against the rest.": (
                    math.log(share * (S - 1)) / 2
                ),
                "the sign is the other way round.": -full / 2,
                "the odds, before the logarithm.": odds * (S - 1),
                "a logarithm to base 2. The softmax is made with e.": math.log2(odds * (S - 1)) / 2,
                "a logarithm to base 10. The softmax is made with e.": math.log10(odds * (S - 1)) / 2,
                "the score of *one* key was doubled, not halved.": 2 * full,
            },
            f"with this β the largest share among {S} keys is not {share}.",
            tolerance=1e-4,
        )
    return "2 to 5000 keys, small shares and large: just sharp enough."

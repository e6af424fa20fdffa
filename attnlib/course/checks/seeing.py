"""Checks for chapters 13 and 14: gazes, a blind baseline, a scene in the mirror, and weights that could be others.

Gazes are judged by what they pay, directions by annotations whose number of them is known, and weights by trial.
"""

from collections.abc import Callable

import torch
from torch import Size, Tensor

from attnlib.course.checks.asking import draw
from attnlib.course.checks.examining import examine
from attnlib.course.checks.verdict import check


@check
def divided_gaze(answer: Callable) -> str:
    """Check `divided_gaze(T, M)`: T divides M; weights (T, M), the cheapest where no region is looked at twice."""

    def seen(w: Tensor, T: int, M: int) -> str | None:
        where, w = f"with T = {T} and M = {M}", w.double()
        total = w.sum(0)
        if not w.isfinite().all():
            return f"{where}, not all weights are finite."
        if w.min() < 0:
            return f"{where}, a weight is negative."
        rows = torch.allclose(w.sum(1), w.new_ones(T), atol=1e-5)
        if not rows and T < M and torch.allclose(total, total.new_ones(M), atol=1e-5):
            return f"{where} it would pay nothing, but a row sums to {w[0].sum():.2f}. A look has the weight 1 to give."
        if not rows:
            return f"{where}, the rows do not all sum to 1: {w[0].sum():.4g} is the first."
        if not torch.allclose(total, torch.full_like(total, T / M), atol=1e-5):
            paid, least = (1 - total).square().sum(), (M - T) ** 2 / M
            price = f"it pays {paid:.2f}, and the least is {least:.2f}" if paid - least > 0.02 else "it pays too much"
            return (
                f"{where} {price}: the totals u run from {total.min():.4g} to {total.max():.4g}, and all alike are the "
                "cheapest."
            )
        if ((w > 1e-6).sum(0) != 1).any():
            return f"{where} it is as cheap as can be, but a region gets its total from several looks."
        return None

    examine(
        answer,
        [(3, 12), (4, 20), (2, 6), (1, 5), (6, 6), (1, 1), (1, 3), (7, 7), (9, 18)],
        torch.zeros,  # of its shape
        {
            "one row for each region. Asked for is one for each look.": lambda T, M: Size((M, T)),
            "that is the flat gaze. It is as cheap as can be, but it looks at every region T times.": (
                lambda T, M: torch.full((T, M), 1 / M)
            ),
            "each look sees one region and pays for all that are left: M − T together. There are cheaper ones.": (
                lambda T, M: torch.eye(T, M)
            ),
        },
        "this gaze is not the cheapest one.",
        seen=seen,
        right=lambda w, T, M: seen(w, T, M) is None,
    )
    return "it pays as little as the flat gaze, and each look has regions of its own."


@check
def blind_baseline(answer: Callable) -> str:
    """Check `above_blind(looks, boxes, dev_boxes)`: hits minus those of the one place that is best on dev → float.

    Places looked at (N,), integers below P; boxes (N, P) and (M, P), True where the object is.
    """

    def case(N: int, M: int, P: int, sees: float, seed: int = 1) -> tuple[Tensor, Tensor, Tensor]:
        """The model sees the object in a share of the pictures, and looks at the middle in the others."""
        boxes, dev = _boxes(N, P, seed, centre=P // 2), _boxes(M, P, seed + 1, centre=P // 2)
        looks = torch.where(torch.arange(N) < sees * N, boxes.int().argmax(1), P // 2)
        return looks, boxes, dev

    def hits(looks: Tensor, boxes: Tensor) -> float:
        return sum(bool(box[look]) for look, box in zip(looks.tolist(), boxes, strict=True)) / len(boxes)

    def best(boxes: Tensor) -> int:
        return max(range(boxes.shape[1]), key=boxes.sum(0).tolist().__getitem__)

    def blind(place: int, boxes: Tensor) -> float:
        return hits(torch.full((len(boxes),), place), boxes)

    def wanted(looks: Tensor, boxes: Tensor, dev: Tensor) -> float:
        return hits(looks, boxes) - blind(best(dev), boxes)

    few = torch.tensor([[True, False, True], [False, True, True]])
    examine(
        answer,
        [
            case(40, 60, 9, 0.5), case(200, 100, 16, 0.0), case(30, 500, 25, 1.0), case(31, 4, 5, 0.2, seed=7),
            (torch.tensor([0, 0]), few, few[[0, 1, 1]]), (torch.tensor([1]), few[:1], few[:1].flip(1)[:, [0, 0, 1]]),
            (torch.tensor([2, 1]), few.flip(1), torch.tensor([[False, False, True], [False, True, True]])),
        ],
        wanted,
        {
            "that is the share of hits alone. How many would a model have that looks at one place, whatever it sees?": (
                lambda looks, boxes, dev: hits(looks, boxes)
            ),
            "its blind look was chosen on the test part: no place could be better there. Choose it on dev.": (
                lambda looks, boxes, dev: hits(looks, boxes) - blind(best(boxes), boxes)
            ),
            "its blind look hits at random, each place alike. Objects stand in the middle more often: a blind model "
            "would look there.": lambda looks, boxes, dev: hits(looks, boxes) - boxes.double().mean().item(),
            "its blind look was judged on dev. It must look at the same pictures as the model.": (
                lambda looks, boxes, dev: hits(looks, boxes) - blind(best(dev), dev)
            ),
            "the sign is wrong: above 0 is a model that does better than a blind one.": lambda *x: -wanted(*x),
        },
        "it is another number.",
    )  # fmt: skip
    return "it counts what seeing brings, beyond a good place."


def _boxes(N: int, P: int, seed: int, centre: int) -> Tensor:
    """Boxes (N, P) of one to three places in a row, most of them about the centre."""
    generator = torch.Generator().manual_seed(seed)
    middle = (centre + (1.5 * torch.randn(N, 1, generator=generator)).round()).clamp(0, P - 1)
    return (torch.arange(P) - middle).abs() <= torch.randint(0, 2, (N, 1), generator=generator)


@check
def mirrored(answer: Callable) -> str:
    """Check `mirrored(caption)`: a tuple of words → the caption of the scene with left and right exchanged."""
    things = [("an apple", "a star"), ("a star", "an apple"), ("a key", "an owl"), ("an eye", "an egg")]
    left = [tuple(f"{first} left of {second}".split()) for first, second in things]
    above = [tuple(f"{first} above {second}".split()) for first, second in things]
    back = [tuple(f"{second} left of {first}".split()) for first, second in things]

    def exchanged(text: str) -> Callable[[tuple[str, ...]], tuple[str, ...]]:
        """The caption written anew, where it says *left of*: a and b are articles, x and y things."""

        def mistake(caption: tuple[str, ...]) -> tuple[str, ...]:
            (a, x), (b, y) = caption[:2], caption[-2:]
            return tuple({"a": a, "x": x, "b": b, "y": y}.get(word, word) for word in text.split())

        return mistake

    def example(given: tuple, caption: tuple[str, ...]) -> str:
        return f"*{' '.join(caption)}* became {given!r:.80}."

    examine(
        answer,
        [(caption,) for caption in left],
        back,
        {
            "the caption of *left of* is as before. Which thing is on the left now?": exchanged("a x left of b y"),
            "no caption says *right of*: the left thing is always named first.": exchanged("a x right of b y"),
            "that says what was there before: things *and* relation were exchanged.": exchanged("b y right of a x"),
            "the things have changed places, but their articles have not.": exchanged("a y left of b x"),
            "the articles have changed places, but their things have not.": exchanged("b x left of a y"),
            "all the words run backwards. A caption is read as before.": lambda caption: caption[::-1],
            "left became above. A mirror turns nothing by a quarter.": exchanged("b y above a x"),
        },
        "the mirrored caption is another one.",
        seen=example,
    )
    examine(
        answer,
        [(caption,) for caption in above],
        above,
        {"*above* speaks of y, and the mirror changes x alone.": exchanged("b y above a x")},
        "the mirrored caption is another one.",
        seen=example,
    )
    twice = ("a", "three", "left", "of", "a", "three")
    examine(answer, [(twice,)], [twice], otherwise="it goes wrong where both things are alike.", seen=example)
    return "left of: the things change places, each with its article. Above: nothing changes."


@check
def unseen_directions(answer: Callable) -> str:
    """Check `unseen_directions(H)`: annotations (S, d) → int, the directions in which no context changes."""

    def annotations(S: int, d: int, scale: float = 1.0) -> Tensor:
        return draw(S, d, seed=S, scale=scale, dtype=torch.float64)

    def all_but(lost: Callable[[int, int], int]) -> Callable[[Tensor], int]:
        """So many of S weights are free, with annotations (S, d)."""
        return lambda H: lost(*H.shape)

    sizes = [(12, 4), (9, 2), (7, 1), (8, 6), (20, 3)]
    examine(
        answer,
        [(annotations(S, d),) for S, d in sizes] + [(annotations(6, 2, 1e5),), (annotations(6, 2, 0.01),)],
        [S - d - 1 for S, d in sizes] + [3, 3],
        {
            "an equation is missing: is every such direction one from weights to *weights*?": all_but(
                lambda S, d: S - d
            ),
            "that is the number of equations. How many directions do they leave free?": all_but(lambda S, d: d + 1),
            "none, you say: but the unknowns are the S weights, not the d numbers of a context.": (
                all_but(lambda S, d: 0)
            ),
            "the sign is wrong: equations are taken *from* the unknowns.": all_but(lambda S, d: d + 1 - S),
            "every way to move weight is counted. It must not move the context.": all_but(lambda S, d: S - 1),
            "one equation too many. The sum is one, the context is d.": all_but(lambda S, d: S - d - 2),
        },
        "it is another number.",
    )
    examine(
        answer,
        [(annotations(S, d),) for S, d in [(5, 4), (3, 6), (1, 3), (1, 1), (2, 1)]],
        [0] * 5,
        otherwise="there is none: the weights are unique.",
        seen=lambda n, H: (
            f"with {len(H)} annotations of width {H.shape[1]} yours is negative. Can there be fewer than none?"
            if n < 0
            else None
        ),
    )
    equal = [
        annotations(2, 3)[[0, 1, 0, 0, 1, 1]],
        annotations(3, 4)[[0, 1, 2, 2, 1, 0, 0]],
        annotations(2, 2)[[0, 1, 1]],
    ]
    examine(
        answer,
        [(H,) for H in equal],
        [4, 4, 1],
        {
            "some annotations are equal: weight moves freely between equal ones. Sizes alone do not tell how many "
            "equations there are.": lambda H: {len(H) - H.shape[1] - 1, max(0, len(H) - H.shape[1] - 1)},
            "the equation of the sum is counted once more, though it follows from the others here: they are not "
            "independent.": lambda H: len(H) - len(H.unique(dim=0)) - 1,
        },
        "of these annotations some are equal, and it is another number.",
    )
    constant = torch.cat([annotations(8, 2), torch.full((8, 1), 2.0, dtype=torch.float64)], 1)
    examine(
        answer,
        [(constant,), (annotations(1, 2)[[0] * 5],)],
        [5, 4],
        otherwise="it goes wrong where one number is the same in all annotations.",
    )
    examine(answer, [(0 * constant,)], [7], otherwise="it goes wrong where all annotations are 0.")
    return "in general S − d − 1 or none, and more where annotations repeat each other."


@check
def least_weight(answer: Callable) -> str:
    """Check `least_weight(z, eps)`: votes z > 0, (N,), and a float → the least weights that p allows, (N,)."""

    def wanted(z: Tensor, eps: float) -> Tensor:
        """Halve the interval, until p has fallen by no more than eps."""
        z = z.double()
        low, high = torch.zeros_like(z), torch.ones_like(z)
        for _ in range(60):
            middle = (low + high) / 2
            enough = (middle * z).sigmoid() >= z.sigmoid() - eps
            low, high = torch.where(enough, low, middle), torch.where(enough, middle, high)
        return high

    def usual(formula: Callable) -> Callable[[Tensor, float], Tensor]:
        return lambda z, eps: formula(z, z.sigmoid(), eps)

    votes = [([1.5, 2.0, 3.5], 0.05), ([1.0, 4.0, 2.5, 9.0], 0.1), ([3.0], 0.2), ([2.25, 1.04, 0.77], 0.01),
             ([1.1, 2.2, 3.3, 4.4, 5.5, 6.6, 7.7, 8.8], 0.15)]  # fmt: skip
    examine(
        answer,
        [(torch.tensor(z), eps) for z, eps in votes],
        wanted,
        {
            "that is how much weight it can *lose*. Asked for is what it keeps.": lambda z, eps: 1 - wanted(z, eps),
            "with this weight p *rises* by ε.": usual(lambda z, p, eps: torch.logit(p + eps) / z),
            "these are the log-odds that it needs. A weight times z must give them.": lambda z, eps: z * wanted(z, eps),
            "a probability is divided by a vote. The vote counts in log-odds.": usual(lambda z, p, eps: (p - eps) / z),
            "here p falls to (1 − ε) p. Asked for is p − ε.": usual(lambda z, p, eps: torch.logit(p * (1 - eps)) / z),
            "here the log-odds fall by ε, not p.": usual(lambda z, p, eps: 1 - eps / z),
            "p is not linear in the weight: twice the weight is not twice p.": usual(lambda z, p, eps: (p - eps) / p),
            "at the start p is not 1, but σ(z).": usual(lambda z, p, eps: torch.logit(torch.full_like(z, 1 - eps)) / z),
            "here p itself falls *to* ε, not by ε.": usual(lambda z, p, eps: torch.logit(torch.full_like(z, eps)) / z),
        },
        "with these weights p does not fall by ε.",
        tolerance=1e-4,
    )

    def seen(w: Tensor, z: Tensor, eps: float) -> str | None:
        why = "p ends at 1/2 when no weight is left" if eps < 0.5 else "p − ε is below 0, and nothing has such p"
        name = f"with z = {z[0]:.1f} and ε = {eps}"
        if w.isnan().any():
            return f"{name} it is NaN: {why}."
        return f"{name} it is negative: {why}." if (w < 0).any() else f"{name} no weight at all is enough: {why}."

    examine(
        answer,
        [(torch.tensor([0.1, 0.15]), 0.05), (torch.tensor([0.1, 0.15]), 0.7), (torch.tensor([6.0]), 0.7),
         (torch.tensor([0.1]), 0.05)],
        lambda z, eps: 0 * z,
        seen=seen,
        tolerance=1e-4,
    )  # fmt: skip
    mixed = "where one vote needs weight and another needs none, it goes wrong."
    examine(answer, [(torch.tensor([0.1, 3.0, 0.2]), 0.06), (torch.tensor([5.0, 0.3]), 0.3)], wanted, otherwise=mixed)
    return "p falls by ε and no more; where it cannot fall so far, no weight is needed."

"""What the exercises on experiments allow as laboratories, drawn by chance, and what is true in each.

As in `domains.py`, `LABORATORIES[check](random)` draws the inputs of one call. `TRUE[check](answer, *inputs)` says
whether an answer is right. It looks into the laboratory, where an experiment can only train and test. Arms differ by
far more than luck, or not at all.
"""

import functools
import random
from collections.abc import Callable, Hashable
from typing import Any

from attnlib.course.claims import CANNOT, LATER, SAME
from attnlib.course.laboratory import CHECKPOINTS, Arm, Lab

Draw = random.Random
SEEDS = range(7)  # with which somebody may train
ENOUGH = 3


def overlapping(lab: Lab, *two: int) -> tuple | None:
    """The laboratory; None if two arms are alike, and three seeds happen to tell them apart."""
    bench = Lab(lab._arms, steps=lab.steps)
    first, second = (
        [bench.test(bench.train(lab.arms[n], seed, 1e-2, 16 * lab.steps)) for seed in range(ENOUGH)] for n in two
    )
    alike = ceilings(lab)[two[0]] == ceilings(lab)[two[1]]
    return None if alike and (min(first) > max(second) or min(second) > max(first)) else (lab,)


def equal_text(r: Draw) -> tuple:
    short = r.randint(4, 30)
    long, gain = short * r.choice([4, 5]), r.choice([0.0, 0.25])
    less = r.choice([1, 2]) if gain else r.choice([1, 1 / 2, 1 / 3])  # text that the long window needs, compared
    arms = {
        f"{short} characters": Arm(0.7, needs=100, tokens=32 * short, luck=0.02),
        f"{long} characters": Arm(0.7 + gain, needs=100 * short / long / less, tokens=32 * long, luck=0.02),
    }
    return overlapping(Lab(arms, steps=r.choice([400, 320, 600])), 0, 1) or equal_text(r)


def long_enough(r: Draw) -> tuple:
    first = r.choice(
        [
            Arm(ceiling=r.uniform(0.2, 0.6), needs=r.uniform(40, 80)),
            Arm(ceiling=0.95, needs=r.uniform(700, 900), luck=0.03),
            Arm(ceiling=0.95, needs=r.uniform(5000, 8000)),
            Arm(ceiling=0.95, needs=60),
        ]
    )
    return (Lab({"one": first, "other": Arm(ceiling=0.95, needs=60, luck=0.011)}, steps=r.choice([400, 360])),)


def own_rates(r: Draw) -> tuple:
    def arm() -> Arm:
        rate = r.choice([1e-3, 3e-3, 1e-2, 3e-2])
        return Arm(needs=r.uniform(40, 80), rate=rate, diverges=r.choice([1.0, 2 * rate]), noise=r.choice([0, 0.02]))

    return (Lab({"plain": arm(), "gated": arm()}, steps=r.choice([400, 300])),)


def one_look(r: Draw) -> tuple:
    def arm() -> Arm:
        return Arm(needs=r.uniform(10, 200), forgets=r.choice([0.0, 0.1]), noise=r.choice([0.02, 0.05]))

    return (Lab({"left to right": arm(), "right to left": arm()}, steps=r.choice([400, 300])),)


def more_than_luck(r: Draw) -> tuple:
    names = r.sample(["look, step", "step, look", "look twice", "fed back", "never"], r.randint(2, 5))
    arms = {name: Arm(ceiling=r.choice([0.3, 0.5, 0.7, 0.9]), needs=20, luck=r.choice([0.01, 0.03])) for name in names}
    return (Lab(arms, steps=r.choice([400, 300])),)


def could_fail(r: Draw) -> tuple:
    arms = {
        name: Arm(ceiling=r.choice([0.2, 0.5, 0.8]), luck=r.choice([0.01, 0.03]))
        for name in ("replaced unknowns", "pointer")
    }
    return overlapping(Lab({"no copying": Arm(ceiling=0.0)} | arms, steps=r.choice([400, 300])), 1, 2) or could_fail(r)


def what_differs(r: Draw) -> tuple:
    few, times, width = (r.choice([1, 2]), r.choice([8, 16])), r.choice([2, 4]), r.choice([1, 1, 2])
    many = few[0] * times, few[1] * width
    heads, parameters = r.choice([(0.0, 0.0), (0.2, 0.0), (0.0, 0.2), (0.25, 0.02)])
    arms = {
        (h, d): Arm(
            ceiling=0.5 + heads * (h > few[0]) + parameters * (h * d > few[0] * few[1]),
            needs=20,
            parameters=256 * h * d,
            luck=0.03,
        )
        for h in (1, 2, 4, 8)
        for d in (8, 16, 32, 64, 128)
    }
    return Lab(arms, steps=r.choice([400, 300])), few, many


# --- what is true -----------------------------------------------------------------------------------


def ceilings(lab: Lab) -> list[float]:
    return [arm.ceiling for arm in lab._arms.values()]


def is_verdict(said: Any, lab: Lab) -> bool:
    first, second = lab._arms.values()
    return said == (CANNOT if first.ceiling < second.ceiling else SAME if first.needs == second.needs else LATER)


def is_reason(said: Any, lab: Lab, few: tuple, many: tuple) -> bool:
    before, after = lab._arms[few].ceiling, lab._arms[many].ceiling
    control = lab._arms[few[0], many[0] * many[1] // few[0]].ceiling
    return said == ("neither" if after == before else "heads" if after > control + 0.1 else "parameters")


@functools.cache
def tried(lab: Lab, arm: Hashable, lr: float) -> list[tuple[list[float], list[float]]]:
    """Of each seed somebody may train with, the losses on dev and the shares of the test part, at each checkpoint."""
    bench = Lab(lab._arms, steps=lab.steps)
    runs = [bench.train(arm, seed, lr, lab.steps) for seed in SEEDS]
    return [(list(run.dev), [round(bench.test(run, at), 6) for at in range(CHECKPOINTS)]) for run in runs]


@functools.cache
def best_rate(lab: Lab, arm: Hashable) -> float:
    """That with the lowest mean over the seeds of the laboratory."""
    return min(lab.grid, key=lambda lr: sum(min(tried(lab, arm, lr)[seed][0]) for seed in lab.seeds))


def reported(shares: list, may: set[float]) -> bool:
    """Whether what is said of an arm are results of enough seeds, among those that may be reported."""
    return len(shares) >= ENOUGH and {round(float(share), 6) for share in shares} <= may


def by_the_best_rates(said: Any, lab: Lab) -> bool:
    def may(arm: Hashable) -> set[float]:
        return {share for _, test in tried(lab, arm, best_rate(lab, arm)) for share in test}

    return list(said) == lab.arms and all(reported(said[arm], may(arm)) for arm in lab.arms)


def by_the_best_checkpoints(said: Any, lab: Lab) -> bool:
    def may(arm: Hashable) -> set[float]:
        return {test[dev.index(min(dev))] for dev, test in tried(lab, arm, lab.rates[arm])}

    return list(said) == lab.arms and all(reported(said[arm], may(arm)) for arm in lab.arms)


LABORATORIES: dict[str, Callable[[Draw], tuple]] = {
    f.__name__: f
    for f in (equal_text, long_enough, own_rates, one_look, more_than_luck, could_fail, what_differs)
}  # fmt: skip
TRUE: dict[str, Callable[..., bool]] = {
    "equal_text": lambda said, lab: said is (ceilings(lab)[1] > ceilings(lab)[0]),
    "long_enough": is_verdict,
    "own_rates": lambda said, lab: isinstance(said, dict) and by_the_best_rates(said, lab),
    "one_look": lambda said, lab: isinstance(said, dict) and by_the_best_checkpoints(said, lab),
    "more_than_luck": lambda said, lab: (
        sorted(said) == sorted(name for name, arm in lab._arms.items() if arm.ceiling == max(ceilings(lab)))
    ),
    "could_fail": lambda said, lab: said is (ceilings(lab)[2] > ceilings(lab)[1]),
    "what_differs": is_reason,
}

"""A laboratory for the design of comparisons: training is a formula there, so that no experiment costs anything.

Its arms learn as models do, each along an S in the logarithm of the steps, with a best learning rate and with luck that
depends on the seed. What is true in a laboratory is known to whoever has made it, and everything that is trained and
tested is written down. So a check can judge an experiment by running it.
"""

import dataclasses
import functools
import math
import operator
import random
from collections.abc import Hashable, Mapping

CHECKPOINTS = 12  # of a run, at equal distances


@dataclasses.dataclass(frozen=True)
class Arm:
    """How one arm of a comparison learns.

    Attributes:
        ceiling: The share of examples that it gets right in the end.
        needs: Steps after which it has half of that, with its best learning rate.
        rate: Its best learning rate; three times as much or as little asks for nine times the steps.
        diverges: The lowest learning rate that is too high.
        forgets: What it loses with each doubling of the steps beyond four times `needs`.
        luck: Standard deviation of its share over the seeds.
        noise: Standard deviation of what is measured on a part of the data, dev or test, at one checkpoint.
        tokens: Target tokens that it sees in one step.
        parameters: How many it has.
    """

    ceiling: float = 0.95
    needs: float = 100
    rate: float = 1e-2
    diverges: float = math.inf
    forgets: float = 0.0
    luck: float = 0.01
    noise: float = 0.0
    tokens: int = 1024
    parameters: int = 10_000

    def share(self, lr: float, steps: float) -> float:
        """The share of examples that it gets right after so many steps, without luck."""
        if lr >= self.diverges:
            return 0.0
        needs = self.needs * (max(lr, self.rate) / min(lr, self.rate)) ** 2
        lost = self.forgets * max(0.0, math.log2(steps / (4 * needs)))
        return self.ceiling / (1 + (needs / steps) ** 2) - lost


@dataclasses.dataclass(frozen=True)
class Trained:
    """A run: what was trained, and its loss on dev at each of its checkpoints, from the first to the last."""

    arm: Hashable
    seed: int
    lr: float
    steps: int
    tokens: int
    dev: tuple[float, ...]


@dataclasses.dataclass(frozen=True)
class Look:
    """A look at the test part: at which checkpoint of which run, and the share that it got right."""

    run: Trained
    at: int
    share: float


class Lab:
    """A bench with some arms on it.

    Args:
        arms: name → how it learns.
        steps: Those of the chapter, 1×.
        grid: Learning rates to choose from.
        seeds: Seeds to train with.

    Attributes:
        arms: Their names, in order.
        rates: Name → the best learning rate for `steps`, for experiments that need not choose.
        tokens: Name → target tokens in one step.
        parameters: Name → their number.
        trained: Every run, in order.
        tested: Every look at the test part, in order.

    Example:
        >>> lab = Lab({"slow": Arm(needs=1600), "quick": Arm()}, steps=400)
        >>> [round(lab.test(lab.train(arm, seed=0, lr=1e-2, steps=lab.steps)), 2) for arm in lab.arms]
        [0.06, 0.89]
        >>> round(lab.test(lab.train("slow", seed=0, lr=1e-2, steps=16 * lab.steps)), 2)
        0.9
    """

    def __init__(
        self,
        arms: Mapping[Hashable, Arm],
        *,
        steps: int = 400,
        grid: tuple[float, ...] = (1e-3, 3e-3, 1e-2, 3e-2),
        seeds: tuple[int, ...] = (0, 1, 2, 3, 4),
    ):
        self._arms = dict(arms)
        self.arms, self.steps, self.grid, self.seeds = list(arms), steps, grid, seeds
        self.rates = {name: max(grid, key=lambda lr, arm=arm: arm.share(lr, steps)) for name, arm in arms.items()}
        self.tokens = {name: arm.tokens for name, arm in arms.items()}
        self.parameters = {name: arm.parameters for name, arm in arms.items()}
        self.trained: list[Trained] = []
        self.tested: list[Look] = []

    def __repr__(self) -> str:
        return f"Lab({', '.join(map(str, self.arms))})"

    def train(self, arm: Hashable, seed: Hashable, lr: float, steps: float) -> Trained:
        """Train an arm.

        Args:
            arm: One of `arms`.
            seed: A whole number; the same one gives the same run.
            lr: Its learning rate, above 0. Where it is too high, the loss on dev is infinite.
            steps: A whole number, at least 12, so that every checkpoint has a step of its own.

        Raises:
            ValueError: There is no such arm, the seed is not a whole number, the rate is not above 0, or the steps are
                no such number.
        """
        if arm not in self._arms:
            raise ValueError(f"there is no arm {arm!r}; there are {self.arms}")
        try:
            seed = int(operator.index(seed))
        except TypeError:
            raise ValueError(f"need a whole number as a seed, got {seed!r}") from None
        if not lr > 0:
            raise ValueError(f"need a learning rate above 0, got {lr}")
        if steps != int(steps) or steps < CHECKPOINTS:
            raise ValueError(f"need a whole number of steps, {CHECKPOINTS} or more, got {steps!r}")
        of = self._arms[arm]
        # Plain numbers: luck and noise depend on how these are written, and NumPy writes its own in another way.
        run = Trained(arm, seed, float(lr), int(steps), int(steps) * of.tokens, ())
        losses = tuple(
            2 * (1 - self._measured(run, "dev", at)) if lr < of.diverges else math.inf for at in range(CHECKPOINTS)
        )
        run = dataclasses.replace(run, dev=losses)
        self.trained.append(run)
        return run

    def test(self, run: Trained, at: int = -1) -> float:
        """The share of the test part that a run gets right.

        Args:
            run: What `train` has returned.
            at: Which of its checkpoints, counted as in a list; by default the last.

        Raises:
            IndexError: There is no such checkpoint.
        """
        at = range(CHECKPOINTS)[at]
        self.tested.append(Look(run, at, self._measured(run, "test", at)))
        return self.tested[-1].share

    def _measured(self, run: Trained, part: str, at: int) -> float:
        arm = self._arms[run.arm]
        lucky = arm.luck * _normal(run.arm, run.seed)
        noisy = arm.noise and arm.noise * _normal(run.arm, run.seed, run.lr, run.steps, part, at)
        share = arm.share(run.lr, run.steps * (at + 1) / CHECKPOINTS)
        return min(1.0, max(0.0, share + (lucky if share > 0 else 0.0) + noisy))


@functools.lru_cache(typed=True)  # every checkpoint of a run asks for the luck of its seed
def _normal(*of: Hashable) -> float:
    """A standard normal number that depends on nothing but this."""
    return random.Random(repr(of)).gauss(0, 1)

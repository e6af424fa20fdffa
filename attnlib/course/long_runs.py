"""What `make long` has found: every run of every comparison, in one JSON, and the verdict that follows from it."""

import dataclasses
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from attnlib.course.claims import CANNOT, LATER, SAME, interval

BUDGETS = (1, 4, 16)  # times the steps of the chapter, where a comparison states no others
LONG_RUNS = Path(__file__).with_name("long_runs.json")  # a part of the package: some chapters read what it holds


@dataclasses.dataclass(frozen=True)
class Run:
    """One training of one arm; by default one whose loss was no finite number."""

    lr: float
    seed: int
    dev: float = math.inf  # the lowest loss on dev, nats per token
    plateau: bool = False  # dev had not improved over the last third
    measured: Any = math.nan  # on the test part: a number, or a list
    valid: Sequence[float] = ()  # dev at equal distances; kept where the runs are read by a chapter
    tokens: int = 0  # target tokens seen
    parameters: int = 0
    seconds: float = 0.0  # of training


def has_plateau(valid_loss: Sequence[float], at_least: float = 0.01) -> bool:
    """Whether the last third of the validations brought no lower loss.

    Args:
        valid_loss: of a run, in its order, at equal distances.
        at_least: what counts as lower, in nats.

    Raises:
        ValueError: fewer than three.

    Example:
        >>> has_plateau([3.0, 1.0, 1.0]), has_plateau([3.0, 2.0, 1.0])
        (True, False)
    """
    if len(valid_loss) < 3:
        raise ValueError(f"a last third needs three validations, got {len(valid_loss)}")
    before = len(valid_loss) - len(valid_loss) // 3
    return min(valid_loss[before:]) > min(valid_loss[:before]) - at_least


def best_rate(dev: Mapping[float, Sequence[float]], of: str) -> float:
    """The learning rate with the lowest mean loss on dev over the seeds.

    Args:
        dev: rate → lowest loss of each seed.
        of: whose rates they are, for the error.

    Raises:
        ValueError: no rate, or none with a finite loss.
    """
    if not dev:
        raise ValueError(f"{of}: no rate has been run with every seed")
    means = {lr: float(np.mean(losses)) for lr, losses in dev.items()}
    best = min(means, key=means.get)
    if not math.isfinite(means[best]):
        raise ValueError(f"{of}: every rate of {list(dev)} diverged")
    return best


@dataclasses.dataclass(frozen=True)
class Judged:
    """A claim, judged at every budget."""

    comparison: str
    claim: str  # a key of book/claims.yml
    what: str
    values: dict[int, list[float]]  # budget → one per seed or case
    arms: list[str]  # those that it is about
    at_least: float | None
    at_most: float | None
    stated: str  # the verdict that the chapter states

    def keeps(self, value: float) -> bool:
        """Whether a value keeps the bounds."""
        low, high = interval(self.at_least, self.at_most)
        return low <= value <= high

    def holds(self, budget: int) -> bool:
        """Whether every value of this budget keeps the bounds."""
        return all(self.keeps(value) for value in self.values[budget])

    @property
    def ended(self) -> int | None:
        """The first budget at which the claim did not hold; None if it held at all."""
        return next((budget for budget in self.values if not self.holds(budget)), None)


class LongRuns:
    """The file: comparisons with their runs, and the claims that were judged by them.

    Several processes may write at a time, each its own comparison.

    Args:
        path: of the JSON; it need not be there.
    """

    def __init__(self, path: Path | str):
        self.path = Path(path)

    def read(self) -> dict[str, Any]:
        """What the file holds: comparison → `steps`, `grid`, `seeds`, `rates`, `arms` (→ budget → runs), `claims`."""
        return json.loads(self.path.read_text("utf8")) if self.path.exists() else {}

    @contextmanager
    def changing(self) -> Iterator[dict[str, Any]]:
        """The content, written back at the end; no other process changes it meanwhile."""
        import fcntl  # only where long runs are made: Windows, where chapters run too, has none

        self.path.parent.mkdir(parents=True, exist_ok=True)
        with open(self.path.with_suffix(".lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            content = self.read()
            yield content
            scratch = self.path.with_suffix(".part")
            scratch.write_text(json.dumps(content, indent=1) + "\n", "utf8")
            scratch.replace(self.path)

    def begin(self, name: str, *, steps: int, grid: list[float], seeds: list[int], rates: dict[str, float]) -> None:
        """Make room for a comparison, its arms with the rates that the chapter states.

        Runs with other steps or other seeds are dropped, and those with a rate that the grid no longer has: a grid that
        grew, because an arm preferred the rate at its edge, costs no run a second time.
        """
        settings = {"steps": steps, "seeds": seeds}
        with self.changing() as content:
            kept = content.get(name, {})
            old = kept["arms"] if {key: kept.get(key) for key in settings} == settings else {}
            arms = {
                arm: {budget: [run for run in runs if run["lr"] in grid] for budget, runs in old.get(arm, {}).items()}
                for arm in rates
            }
            content[name] = {"steps": steps, "grid": grid, "seeds": seeds, "rates": rates, "arms": arms, "claims": []}

    def once(self, name: str, arm: str, budget: int, lr: float, seed: int, train: Callable[[], Run]) -> None:
        """Train, unless this run is in the file."""
        runs = self.read()[name]["arms"][arm].get(str(budget), [])
        if any((run["lr"], run["seed"]) == (lr, seed) for run in runs):
            return
        run = dataclasses.asdict(train())
        with self.changing() as content:
            content[name]["arms"][arm].setdefault(str(budget), []).append(run)

    def goes_on(self, name: str, arm: str, lr: float, budget: int, budgets: Sequence[int]) -> bool:
        """Whether a rate is trained for a budget: for the longest, only the best one so far and those still improving.

        Shorter runs leave none out: there a loss may stand still because nothing has been learned yet.

        Args:
            name, arm, lr: whose runs of all shorter budgets are in the file.
            budget: one of them.
            budgets: of the comparison, the shortest first.
        """
        if budget in (1, *budgets[:-1]):
            return True
        before = budgets[-2]
        runs = [run for run in self.read()[name]["arms"][arm][str(before)] if run["lr"] == lr]
        improving = any(not run["plateau"] and math.isfinite(run["dev"]) for run in runs)
        return improving or lr == self.chosen(name, arm, before)[0]

    def chosen(self, name: str, arm: str, budget: int) -> tuple[float, list[Run]]:
        """The best rate of an arm with this many steps, and the runs with it, one per seed.

        A rate counts once every seed has run with it: a stopped run may have left one with fewer.
        """
        comparison = self.read()[name]
        of_rate: dict[float, list[Run]] = {}
        for run in comparison["arms"][arm][str(budget)]:
            of_rate.setdefault(run["lr"], []).append(Run(**run))
        whole = {lr: runs for lr, runs in of_rate.items() if len(runs) == len(comparison["seeds"])}
        dev = {lr: [run.dev for run in runs] for lr, runs in whole.items()}
        best = best_rate(dev, f"{name}, {arm}, {budget}×")
        return best, sorted(whole[best], key=lambda run: run.seed)

    def results(self, name: str, budget: int) -> dict[str, np.ndarray]:
        """What was measured with the chosen rates: arm → (seeds, …)."""
        arms = self.read()[name]["arms"]
        return {arm: np.array([run.measured for run in self.chosen(name, arm, budget)[1]]) for arm in arms}

    def judge(self, judged: Judged) -> None:
        """Add a claim to its comparison."""
        with self.changing() as content:
            entry = dataclasses.asdict(judged)
            content[entry.pop("comparison")]["claims"].append(entry)

    def claims(self) -> list[Judged]:
        """All that were judged."""
        return [
            Judged(**{**entry, "comparison": name, "values": {int(b): v for b, v in entry["values"].items()}})
            for name, comparison in self.read().items()
            for entry in comparison["claims"]
        ]

    def at_plateau(self, claim: Judged) -> bool:
        """Whether the arms of a claim had stopped to improve when the longest budget ended, in every seed."""
        longest = max(claim.values)
        return all(run.plateau for arm in claim.arms for run in self.chosen(claim.comparison, arm, longest)[1])

    def verdict(self, claim: Judged) -> str:
        """What became of a claim: one of `attnlib.course.claims.VERDICTS`."""
        if claim.ended is not None:
            return LATER
        if claim.stated == SAME:
            return SAME
        return CANNOT if self.at_plateau(claim) else LATER

    def words(self, claim: Judged) -> str:
        """The verdict in a sentence, with the steps at which the claim ended or up to which it held."""
        verdict, steps = self.verdict(claim), self.read()[claim.comparison]["steps"]
        if verdict != LATER:
            return verdict
        if claim.ended is None:
            return f"{LATER}: not yet after {max(claim.values) * steps:,} steps, and still improving"
        return f"{LATER}: gone at {claim.ended * steps:,} steps"

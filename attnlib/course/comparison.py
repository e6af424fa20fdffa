"""The fair comparison: every "A beats B" of the book is made here, by one protocol.

Each arm trains with a learning rate of its own, chosen from the same grid on the dev part; with the same seeds and as
many steps; and what is reported is measured on the test part, once. A chapter trains for its own number of steps (1×).
Under `recording`, as `make long` runs the chapters, every arm also trains 4× as long with every rate of the grid and
16× as long with every rate that may still win, and `attnlib.course.long_runs` keeps what came out. What takes longer
than a page may is not trained by its chapter at all, which reads what was kept.
"""

import contextlib
import dataclasses
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike
from torch import nn

from attnlib.course import show
from attnlib.course.claims import claim
from attnlib.course.long_runs import BUDGETS, LONG_RUNS, Judged, LongRuns, Run, best_rate, has_plateau
from attnlib.extras import extra
from attnlib.figures import plots
from attnlib.training.loop import History

with extra("course"):
    from IPython.display import Markdown

Train = Callable[[str, int, float, int], tuple[nn.Module, History]]
Results = Mapping[str, np.ndarray]  # arm → (seeds, …), what was measured on the test part
Models = Mapping[str, list[nn.Module]]  # arm → one per seed

_record: LongRuns | None = None


class _Asked(Mapping):
    """What is known of each arm, and which arms were asked for: by default a claim is about those."""

    def __init__(self, arms: Iterable[str], of: Callable[[str], Any]):
        self._arms, self._of = list(arms), of
        self.asked: set[str] = set()

    def __getitem__(self, arm: str) -> Any:
        if arm not in self._arms:
            raise KeyError(f"{arm!r} is no arm of {self._arms}")
        self.asked.add(arm)
        return self._of(arm)

    def __iter__(self) -> Iterator[str]:
        return iter(self._arms)

    def __len__(self) -> int:
        return len(self._arms)


@contextlib.contextmanager
def recording(path: Path | str) -> Iterator[LongRuns]:
    """As long as this lasts, comparisons train for all budgets and write what comes out into a file.

    Args:
        path: of the JSON; what it holds already is not trained again.
    """
    global _record
    _record = LongRuns(path)
    try:
        yield _record
    finally:
        _record = None


@dataclasses.dataclass
class Comparison:
    """What came out of `compare`, at the steps of the chapter."""

    name: str
    steps: int
    runs: dict[str, list[Run]]  # arm → one per seed
    models: dict[str, list[nn.Module]]  # none, where nothing was trained but what was kept is read
    histories: dict[str, list[History]]
    trained_at: Callable[[str, int], list[nn.Module]]  # (arm, budget) → its models with that many steps, one per seed
    budgets: tuple[int, ...] = BUDGETS  # times the steps of the chapter, under `recording`

    @property
    def rates(self) -> dict[str, float]:
        """The learning rate of each arm, as chosen."""
        return {arm: runs[0].lr for arm, runs in self.runs.items()}

    @property
    def results(self) -> Results:
        """What was measured: arm → (seeds,), or (seeds, n) where `measure` returned n numbers."""
        return {arm: np.array([run.measured for run in runs]) for arm, runs in self.runs.items()}

    def table(self, what: str, number: int | None = None) -> Markdown:
        """One row for each arm: parameters, rate, steps, target tokens, and what was measured, lowest to highest.

        Args:
            what: head of the last column.
            number: which of the numbers, where `measure` returned several.
        """
        head = ["arm", "parameters", "rate", "steps", "target tokens", what]
        rows = []
        for arm, values in self._column(number).items():
            tokens = round(np.mean([run.tokens for run in self.runs[arm]]))
            rows.append([arm, self.runs[arm][0].parameters, f"{self.rates[arm]:g}", self.steps, tokens, values])
        return show.table(head, rows)

    def dots(self, what: str, number: int | None = None, ax: Axes | None = None) -> Axes:
        """The same as a picture: a line for each arm, a dot for each seed."""
        return plots.dots(self._column(number), ax, xlabel=what)

    def _column(self, number: int | None) -> Results:
        return {arm: values if number is None else values[:, number] for arm, values in self.results.items()}

    def claim(
        self,
        name: str,
        what: str,
        of: Callable[[Results], ArrayLike] | Callable[[Models], ArrayLike],
        *,
        models: bool = False,
        rivals: Sequence[str] | None = None,
        at_least: float | None = None,
        at_most: float | None = None,
        verdict: str,
        fails_if: str,
    ) -> None:
        """`attnlib.course.claims.claim` of what came out; under `recording`, it is also judged at every budget.

        Args:
            name, what, at_least, at_most, verdict, fails_if: as for `claim`.
            of: the results → the values that must keep the bounds.
            models: `of` takes the models in place of the results: for what is found in them beyond what was measured.
            rivals: the arms that could end the claim by learning more, which must be at their plateau for a "cannot";
                by default those that `of` reads, none where what loses is not trained.

        Raises:
            AssertionError, ValueError: as `claim`.
        """
        bounds = {"at_least": at_least, "at_most": at_most}
        if _record is not None:
            asked = {budget: _Asked(self.runs, self._known(budget, models)) for budget in self.budgets}
            values = {budget: np.ravel(of(of_budget)).tolist() for budget, of_budget in asked.items()}
            arms = [arm for arm in self.runs if arm in (asked[1].asked if rivals is None else rivals)]
            _record.judge(Judged(self.name, name, what, values, arms, **bounds, stated=verdict))
        values = of(self.models if models else self.results)
        claim(name, what, values, **bounds, verdict=verdict, fails_if=fails_if, comparison=self.name)

    def _known(self, budget: int, models: bool) -> Callable[[str], Any]:
        """Arm → what a claim is made of, at this budget."""
        if models:
            return lambda arm: self.trained_at(arm, budget)
        return _record.results(self.name, budget).__getitem__


def compare(
    name: str,
    arms: Sequence[str],
    train: Train,
    measure: Callable[[nn.Module], ArrayLike],
    *,
    steps: int,
    rates: Mapping[str, float] | None = None,
    grid: Sequence[float] = (3e-3, 1e-2, 3e-2),
    seeds: Sequence[int] = (0, 1, 2),
    kept: bool = False,
    budgets: tuple[int, ...] = BUDGETS,
) -> Comparison:
    """Train every arm with every seed, and measure.

    Args:
        name: of the comparison, one word for each of the book.
        arms: what is compared; one alone, where the other side of the claim is not trained (a table, chance).
        train: (arm, seed, lr, steps) → (model, history). It must judge on the dev part while it trains: the `validate`
            of `attnlib.training.fit`, which also keeps the best weights. All arms get as many examples in a step.
        measure: model → a number, or several, on the test part. It must not be looked at to choose anything.
        steps: of the chapter, 1×.
        rates: of each arm, as they were chosen for these steps; None chooses here, which trains the whole grid.
        grid: learning rates to choose from, at least three; a run whose loss is not finite counts as the worst.
        seeds: at least three.
        kept: train under `recording` only; a chapter reads what `make long` has kept. It must state its `rates`.
        budgets: how many times the steps an arm is trained under `recording`, 1 first.

    Raises:
        ValueError: no arm; fewer than three rates or three seeds; `rates` are not of these arms or not of the grid;
            the budgets do not begin with 1 or do not grow; a run was not judged on a dev part; every rate of an arm
            diverged; of what is `kept`, no rates are stated, or there is nothing, or it was trained otherwise.

    Example:
        >>> from attnlib.training import fit, set_seed
        >>> def train(width, seed, lr, steps):
        ...     set_seed(seed)
        ...     x = torch.randn(8, 2)
        ...     model = torch.nn.Sequential(torch.nn.Linear(2, int(width)), torch.nn.Linear(int(width), 1))
        ...     loss = lambda model, x: ((model(x) - x.sum(-1, keepdim=True)).square().mean(), 8)
        ...     return model, fit(model, [x], loss, steps=steps, lr=lr, validate=lambda m: loss(m, x)[0])
        >>> found = compare("sums", ["1", "9"], train, lambda model: model[0].out_features, steps=3)
        >>> found.results["9"]
        array([9., 9., 9.])
    """
    if not arms or len(grid) < 3 or len(seeds) < 3:
        raise ValueError(f"need an arm, three rates and three seeds; got {list(arms)}, {list(grid)}, {list(seeds)}")
    if budgets[:1] != (1,) or sorted(set(budgets)) != list(budgets):
        raise ValueError(f"budgets begin with 1 and grow, got {budgets}")
    if kept and rates is None:
        raise ValueError(f"{name}: what is kept was trained with rates; state that of each of {list(arms)}")
    if rates is not None and (set(rates) != set(arms) or not set(rates.values()) <= set(grid)):
        raise ValueError(f"need a rate of {list(grid)} for each of {list(arms)}, got {dict(rates)}")

    def run(arm: str, seed: int, lr: float, budget: int) -> tuple[Run, nn.Module | None, History | None]:
        try:
            model, history = train(arm, seed, lr, steps * budget)
        except ValueError as error:
            if "the learning rate" not in str(error):  # of `fit`, where a loss is no finite number
                raise
            return Run(lr, seed), None, None
        if not history.valid_loss:
            raise ValueError(f"{name}, {arm}: train must judge on the dev part; give fit a `validate`")
        found = Run(
            lr, seed, dev=min(history.valid_loss), plateau=has_plateau(history.valid_loss),
            measured=np.asarray(measure(model.eval()), dtype=float).tolist(), tokens=history.tokens,
            parameters=sum(p.numel() for p in model.parameters()), seconds=round(history.seconds, 1),
            valid=history.valid_loss if kept else (),
        )  # fmt: skip
        return found, model, history

    if kept and _record is None:
        settings = {"steps": steps, "grid": list(grid), "seeds": list(seeds), "rates": rates}
        return _read(LongRuns(LONG_RUNS), name, settings, budgets)
    in_memory: dict[tuple[str, int, float, int], nn.Module] = {}  # by arm, seed, rate and budget

    def run_and_keep(arm: str, seed: int, lr: float, budget: int) -> Run:
        found, in_memory[arm, seed, lr, budget], _ = run(arm, seed, lr, budget)
        return found

    def trained_at(arm: str, budget: int) -> list[nn.Module]:
        """Models with the rate that is best for a budget; those that an earlier process has trained, once more."""
        lr, _ = _record.chosen(name, arm, budget)
        for seed in seeds:
            if (arm, seed, lr, budget) not in in_memory:
                run_and_keep(arm, seed, lr, budget)
        return [in_memory[arm, seed, lr, budget] for seed in seeds]

    if rates is None:
        dev = {arm: {lr: [run(arm, s, lr, 1)[0].dev for s in seeds] for lr in grid} for arm in arms}
        rates = {arm: best_rate(of_rates, f"{name}, {arm}") for arm, of_rates in dev.items()}
    trained = {arm: [run(arm, seed, rates[arm], 1) for seed in seeds] for arm in arms if not kept}
    if _record is not None:
        _record.begin(name, steps=steps, grid=list(grid), seeds=list(seeds), rates=dict(rates))
        for arm, of_arm in trained.items():
            for one, model, _ in of_arm:
                in_memory[arm, one.seed, one.lr, 1] = model
                _record.once(name, arm, 1, one.lr, one.seed, lambda one=one: one)
        for budget, arm, lr in itertools.product(budgets, arms, grid):
            if _record.goes_on(name, arm, lr, budget, budgets):
                for seed in seeds:
                    _record.once(name, arm, budget, lr, seed, lambda of=(arm, seed, lr, budget): run_and_keep(*of))
    if kept:
        return _read(_record, name, {"rates": rates}, budgets)
    runs, models, histories = ({arm: [one[n] for one in of] for arm, of in trained.items()} for n in range(3))
    return Comparison(name, steps, runs, models, histories, trained_at, budgets)


def _read(record: LongRuns, name: str, settings: dict[str, Any], budgets: tuple[int, ...]) -> Comparison:
    """What is kept of a comparison for the steps of its chapter, if that was trained with these settings."""
    there = record.read().get(name, {})
    if other := {what: value for what, value in settings.items() if there.get(what) != value}:
        found = {what: there.get(what) for what in other} if there else "nothing"
        raise ValueError(f"{name}: asked for is {other}, kept is {found}; make long trains it")
    runs = {arm: record.chosen(name, arm, 1)[1] for arm in there["arms"]}
    return Comparison(name, there["steps"], runs, {}, {}, trained_at=lambda arm, budget: [], budgets=budgets)

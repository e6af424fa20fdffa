"""Wrong answers that a check accepts, looked for by machine.

    python -m tests.course.hunting                 every check
    python -m tests.course.hunting blur beam_step  these
    python -m tests.course.hunting --write         lists those that are right in survivors.json

Every mutant of every known right answer goes through its check. One that is accepted is asked, beside the answer that
it was made of, on inputs from the whole domain of the exercise (`domains.py`). Does it differ on any of them, it is a
hole in the check; if on none, it counts as equivalent (`survivors.py`).
"""

import argparse
import ast
import contextlib
import copy
import functools
import random
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import torch
from torch import Tensor

from assignments import practice
from attnlib.course import checks
from attnlib.course.asserts import limit
from attnlib.course.checks import verdict
from attnlib.course.laboratory import Lab
from tests.course import domains, survivors
from tests.course.laboratories import LABORATORIES, TRUE
from tests.course.mutations import DRESSED, mutants

#: Of every check: what its exercise allows as inputs, and where there are several right answers, which they are.
DOMAINS, PROPERTIES = domains.DOMAINS | LABORATORIES, domains.PROPERTIES | TRUE

TABLE = Path(__file__).parent / "survivors.json"
DRAWS = 80
#: Processor seconds that a mutant may take: the slowest right answer takes a third of it on a busy machine.
SECONDS = 0.25


@dataclass
class Found:
    """What came of the mutants of one check's right answers.

    Attributes:
        tried: How many there were.
        refused: How many the check refused.
        equivalent: Names of those accepted that agree with the right answer on every drawn input.
        holes: `{name: the input on which it differs}`, of those accepted.
    """

    tried: int = 0
    refused: int = 0
    equivalent: list[str] = field(default_factory=list)
    holes: dict[str, str] = field(default_factory=dict)


def answers(check: str) -> Iterator[tuple[str, Callable, Iterator[tuple[str, Callable]]]]:
    """The right answers of a check: name, the answer, and its mutants with their names."""
    for path in sorted(Path(practice.__file__).parent.glob("*.py")):
        tree = ast.parse(path.read_text("utf8"))
        for table in [s.value for s in tree.body if isinstance(s, ast.Assign) and s.targets[0].id == "VARIANTS"]:
            for key, variants in zip(table.keys, table.values, strict=True):
                if key.value == check:
                    right = next(k.value for k in variants.keywords if k.arg == "right")
                    for name, target in zip(right.keys, right.values, strict=True):
                        yield name.value, *_run(tree, target)


def _run(tree: ast.Module, target: ast.expr) -> tuple[Callable, Iterator[tuple[str, Callable]]]:
    made = mutants(tree, target)
    original = _loaded(next(made)[1])

    def each() -> Iterator[tuple[str, Callable]]:
        for name, code in made:
            with contextlib.suppress(Exception):  # a mutant that cannot be loaded answers nothing
                yield name, _loaded(code)
        for name, around in DRESSED.items():
            yield name, around(original)

    return original, each()


def _loaded(code: Any) -> Callable:
    namespace: dict[str, Any] = {"__name__": "mutant"}
    exec(code, namespace)
    return namespace["ANSWER"]


def hunt(check: str, draws: int = DRAWS) -> Found:
    """Ask every mutant of every right answer of a check.

    Args:
        check: Its name.
        draws: On how many inputs those that are accepted are compared with the right answer. On none, all of them are
            called equivalent.
    """
    found, judge = Found(), getattr(checks, check)
    for right, original, made in answers(check):
        wanted: list[Any] = []  # what the right answer says to the drawn inputs, so far
        for name, mutant in made:
            found.tried += 1
            if not _accepted(judge, mutant):
                found.refused += 1
                continue
            name = f"{right}: {name}"
            differs = difference(check, original, mutant, draws, wanted)
            if differs is None:
                found.equivalent.append(name)
            else:
                found.holes[name] = differs
    return found


def _accepted(judge: Callable, mutant: Callable) -> bool:
    try:
        # The check's own limit, which is there for people, would cost ten seconds for each endless mutant. The clock of
        # the processor is not faster on a busy machine.
        with (
            warnings.catch_warnings(),
            mock.patch.object(verdict, "SECONDS", SECONDS),
            mock.patch.object(verdict, "limit", functools.partial(limit, processor=True)),
        ):
            warnings.simplefilter("ignore")
            return bool(judge(mutant))
    except Exception:
        return False


@functools.cache
def drawn(check: str, draws: int) -> list[tuple]:
    """Inputs of an exercise, the same ones each time."""
    r = random.Random(check)
    return [DOMAINS[check](r) for _ in range(draws)]


def difference(check: str, original: Callable, mutant: Callable, draws: int, wanted: list) -> str | None:
    """An input of the exercise's domain for which two answers differ, None where there is none.

    Args:
        check: The exercise.
        original: A right answer.
        mutant: The answer that is made of it.
        draws: How many inputs are drawn.
        wanted: What the right answer has said to the first of them; it grows.
    """
    for n, inputs in enumerate(drawn(check, draws)):
        if n == len(wanted):
            wanted.append(_asked(original, inputs))
        want, got = wanted[n], _asked(mutant, inputs)
        right = _holds(PROPERTIES[check], got, inputs) if check in PROPERTIES else alike(got, want)
        if not right:
            return f"{shortly(inputs)} → {shortly(got)}, not {shortly(want)}"
    return None


def _holds(right: Callable[..., bool], got: Any, inputs: tuple) -> bool:
    try:
        return bool(right(got, *inputs))
    except Exception:
        return False  # what is said is of another kind


def _asked(answer: Callable, inputs: tuple) -> Any:
    """What an answer says to some inputs; or, in words, that it stops or changes them."""
    given = [
        x.clone() if isinstance(x, Tensor) else x if isinstance(x, torch.nn.Module) else copy.deepcopy(x)
        for x in inputs
    ]
    try:
        with warnings.catch_warnings(), limit(SECONDS, processor=True):
            warnings.simplefilter("ignore")
            torch.default_generator.manual_seed(0)  # torch.manual_seed takes longer than most answers
            result = answer(*given)
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:90]
    for before, after in zip(inputs, given, strict=True):
        if not isinstance(before, torch.nn.Module | Lab) and not alike(after, before):
            return "it changes its input"
    return result.detach() if isinstance(result, Tensor) else result


def alike(a: Any, b: Any, tolerance: float = 1e-3) -> bool:
    """Whether two answers say the same, up to rounding and in whatever dress."""
    if isinstance(b, set | dict | str) or (isinstance(b, list | tuple) and not _numbers(b)):
        if isinstance(b, list | tuple) and isinstance(a, list | tuple):
            return len(a) == len(b) and all(alike(x, y, tolerance) for x, y in zip(a, b, strict=True))
        return type(a) is type(b) and a == b
    try:
        x, y = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    except (TypeError, ValueError):
        return False
    unit = max(1.0, 1e-2 * float(np.abs(y[np.isfinite(y)]).max(initial=0)))
    return x.shape == y.shape and np.allclose(x, y, rtol=tolerance, atol=tolerance * unit, equal_nan=True)


def _numbers(x: Any) -> bool:
    return all(isinstance(y, int | float) for y in x)


def shortly(x: Any) -> str:
    """Inputs or an answer on one line."""
    if isinstance(x, tuple | list) and any(isinstance(y, Tensor) for y in x):
        return ", ".join(map(shortly, x))
    if isinstance(x, Tensor):
        return f"{tuple(x.shape)} {x.tolist()}"[:100]
    return f"{x!r}"[:100]


def main() -> None:
    parser = argparse.ArgumentParser(description="Look for wrong answers that a check accepts.")
    parser.add_argument("names", nargs="*", default=list(DOMAINS))
    parser.add_argument("--write", action="store_true", help="list those that are right in survivors.json")
    chosen, total = parser.parse_args(), Found()
    for name in chosen.names:
        found = hunt(name)
        print(
            f"{name}: {found.tried} mutants, {found.refused} refused, {len(found.equivalent)} equivalent, "
            f"{len(found.holes)} holes"
        )
        for hole, where in found.holes.items():
            print(f"    {hole}\n        {where}")
        if chosen.write:
            survivors.write(TABLE, {name: found.equivalent})
        total.tried += found.tried
        total.refused += found.refused
        total.equivalent += found.equivalent
        total.holes |= {f"{name}, {hole}": where for hole, where in found.holes.items()}
    print(
        f"{total.tried} mutants: {total.refused} refused, {len(total.equivalent)} equivalent, {len(total.holes)} holes"
    )


if __name__ == "__main__":
    main()

"""Mutants that lose nothing because they are right: which there are, and why.

Two tables list them, `tests/course/survivors.json` those of the checks, `tests/grading/survivors.json` those of the
assignments: `{exercise: {reason: names}}`. A hunt asks each of them, beside the answer that it was made of, on inputs
that are drawn from all that the exercise allows, and finds no difference (`DRAWS` there; numbers to 1e-3). The reason
says why there is none. A mutant that survives and is not listed, or is listed and does not survive, fails a test.
"""

import json
import re
from collections.abc import Iterable
from pathlib import Path

#: `{what the name of a mutant ends with: why it is as right as the answer}`; the first that fits is given.
REASONS = {
    "sides swapped|arguments swapped": "either order gives the same",
    "backwards": "it does not matter in which order they are gone through",
    "(inputs|answer) detached": "no gradient is asked for, or none flows here",
    "NaN (as|to) 0": "no NaN gets here: where one is allowed it has been masked",
    "inputs (between|of half|without|rounded).*": "no input that is allowed is changed by it in a way that counts",
    "answer (to two|without|squeezed|in half|rounded).*": "right answers look like this already",
    "in place": "the exercise does not ask that its inputs stay as they are, or it has none that can be changed",
    "(the (first|last) text of a batch|only).* (all|rows?)": "right answers have no rows, or none beyond these",
    "filled with .*": "what is filled in is emptied afterwards, or this low already",
    "hard-coded .*": "the size is not used, or only where any will do",
    "becomes -?[0-9.e-]+": "the number names the same axis, or any such number will do",
    "without .*": "what it does has no effect on any input that is allowed",
    ".*": "no input that is allowed tells them apart",
}
Table = dict[str, dict[str, list[str]]]


def why(name: str) -> str:
    """The reason why a mutant of this name is right."""
    words = re.sub(r" \(\d+\)$", "", name.rsplit(": ", 1)[-1]).removeprefix("the ")
    return next(reason for pattern, reason in REASONS.items() if re.fullmatch(pattern, words))


def listed(names: Iterable[str]) -> dict[str, list[str]]:
    """Names of mutants by their reasons."""
    by_reason: dict[str, list[str]] = {}
    for name in names:
        by_reason.setdefault(why(name), []).append(name)
    return dict(sorted(by_reason.items()))


def read(path: Path) -> Table:
    return json.loads(path.read_text("utf8"))


def names(table: Table, exercise: str) -> set[str]:
    """All that a table lists of an exercise."""
    return {name for of_reason in table.get(exercise, {}).values() for name in of_reason}


def write(path: Path, found: dict[str, list[str]]) -> None:
    """Put what was found into a table, in place of what it lists of these exercises."""
    table = (read(path) if path.exists() else {}) | {exercise: listed(survive) for exercise, survive in found.items()}
    path.write_text(json.dumps(dict(sorted(table.items())), indent=1, ensure_ascii=False) + "\n", "utf8")

"""Bugs of one line that the tests must notice, in files that lie as those of attnlib do.

Several are real: they stood, or stand, in code that many have copied. The others are slips that somebody would make,
of formula, mask, axis, sign, precision, or off by one. A suite that lets one of them live checks less than it seems to.
`tests/mutants.py` seeds them, one at a time, into a copy of the package.
"""

import importlib
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent


class Bug(NamedTuple):
    """In a file of attnlib, `old`, which occurs once, becomes `new`, and `tests` must fail."""

    name: str
    file: str
    old: str
    new: str
    tests: str


def of(file: str, tests: str, *bugs: tuple[str, ...]) -> list[Bug]:
    """Bugs of one file: name, `old`, `new` and, where the whole of `tests` takes long, the one test that must fail."""
    return [Bug(name, file, old, new, "::".join((tests, *test))) for name, old, new, *test in bugs]


def every_bug() -> list[Bug]:
    files = (path.relative_to(HERE).with_suffix("") for path in sorted(HERE.rglob("*.py")) if path.stem != "__init__")
    return [bug for file in files for bug in importlib.import_module(".".join((__name__, *file.parts))).BUGS]

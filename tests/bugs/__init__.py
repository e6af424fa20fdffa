"""Bugs of one line that the tests must notice, a file of them for each module of attnlib (some in its JavaScript).

Several are real: they stood, or stand, in code that many have copied. A suite that lets one of them live
checks less than it seems to. `tests/mutants.py` seeds them, one at a time, into a copy of the package.
"""

import importlib
import pkgutil
from typing import NamedTuple


class Bug(NamedTuple):
    """In a file of attnlib, `old`, which occurs once, becomes `new`, and `tests` must fail."""

    name: str
    file: str
    old: str
    new: str
    tests: str


def of(file: str, tests: str, *bugs: tuple[str, str, str]) -> list[Bug]:
    return [Bug(name, file, old, new, tests) for name, old, new in bugs]


def every_bug() -> list[Bug]:
    modules = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return [bug for name in modules for bug in importlib.import_module(f"tests.bugs.{name}").BUGS]

"""Right and wrong answers to the practice exercises: what each check must say to them.

`VARIANTS` of every module here: `{name of the check: Variants}`.
"""

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Variants:
    """What people write.

    Attributes:
        right: `{name: function}`, written in different ways, all of them right.
        wrong: `{name: (function, words)}`; the words stand in the check's sentence.
    """

    right: dict[str, Callable]
    wrong: dict[str, tuple[Callable, str]]


def variants() -> dict[str, Variants]:
    """The variants of all checks."""
    modules = [importlib.import_module(f"{__name__}.{m.name}") for m in pkgutil.iter_modules(__path__)]
    return {check: both for module in modules for check, both in module.VARIANTS.items()}

"""The examples in the docstrings are true."""

import doctest
import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

import attnlib

ROOT = Path(__file__).resolve().parents[2]
MODULES = ["attnlib", *(m.name for m in pkgutil.walk_packages(attnlib.__path__, "attnlib."))]
WEBSITE = [m.name for m in pkgutil.iter_modules([str(ROOT / "website")], "website.")]


@pytest.mark.parametrize("name", MODULES + WEBSITE)
def test_examples(name):
    module = importlib.import_module(name)
    names = {**vars(attnlib), "torch": importlib.import_module("torch"), **vars(module)}
    runner = doctest.DocTestRunner(optionflags=doctest.FAIL_FAST)
    for test in doctest.DocTestFinder().find(module, extraglobs=names):
        runner.run(test)
    assert runner.summarize(verbose=False).failed == 0


@pytest.mark.parametrize("name", MODULES)
def test_every_public_name_has_a_docstring(name):
    """Of classes and functions that a module defines for others, and of the methods of the classes."""
    module = importlib.import_module(name)
    own = {n: t for n, t in vars(module).items() if callable(t) and getattr(t, "__module__", None) == name}
    own = {n: t for n, t in own.items() if not n.startswith("_")}
    methods = {
        f"{n}.{inner}": getattr(cls, inner)
        for n, cls in own.items()
        if inspect.isclass(cls)
        for inner, thing in vars(cls).items()
        if not inner.startswith("_") and inspect.isroutine(thing)
    }
    assert [n for n, thing in {name: module, **own, **methods}.items() if not inspect.getdoc(thing)] == []
    # getdoc also finds what a class says that is inherited from
    assert [n for n, thing in own.items() if inspect.isclass(thing) and not thing.__doc__] == []


def code_of(page: str) -> list[str]:
    """The blocks of Python in a page of the repository."""
    text = (ROOT / page).read_text("utf8")
    return re.findall(r"^```python\n(.*?)^```", text, re.S | re.M)


def names_after(page: str) -> dict[str, object]:
    """What a page's code has defined, run from its top to its end."""
    names: dict[str, object] = {}
    for block in code_of(page):
        exec(block, names)
    return names


def test_the_code_of_the_readme_runs():
    names = names_after("README.md")
    assert names["weights"].shape == (2, 5, 7) and names["logits"].shape == (2, 5, 90)
    assert len(names["best"].sentences()) == 2

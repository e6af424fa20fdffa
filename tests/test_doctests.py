"""The examples in the docstrings are true."""

import doctest
import importlib
import pkgutil

import pytest

import attnlib

MODULES = ["attnlib", *(m.name for m in pkgutil.walk_packages(attnlib.__path__, "attnlib."))]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    module = importlib.import_module(name)
    names = {"torch": importlib.import_module("torch"), **vars(module)}
    runner = doctest.DocTestRunner(optionflags=doctest.FAIL_FAST)
    for test in doctest.DocTestFinder().find(module, extraglobs=names):
        runner.run(test)
    assert runner.summarize(verbose=False).failed == 0


def test_examples_are_found():
    found = {name: 0 for name in MODULES}
    for name in MODULES:
        module = importlib.import_module(name)
        found[name] = sum(len(test.examples) for test in doctest.DocTestFinder().find(module))
    assert found["attnlib.attention"] >= 3 and found["attnlib.data.vocabulary"] >= 3 and found["attnlib.plots"] >= 1

"""Before the first import of attnlib: every shape annotation becomes a check at run time."""

import gc
import random
import sys
from pathlib import Path

import jaxtyping

import tests.typechecker  # noqa: F401  the hook looks its name up in what is imported

if "attnlib" in sys.modules:
    raise RuntimeError("attnlib was imported before its shape checks could be installed")
# The grader and the checks of answers have no shapes to check: what they define in a call would be wrapped each time.
house = Path(__file__).parents[1] / "attnlib"
rooms = {path.stem for path in house.iterdir()} - {"grading", "course"}
rooms |= {f"course.{path.stem}" for path in (house / "course").iterdir()} - {"course.checks", "course.asserts"}
jaxtyping.install_import_hook([f"attnlib.{room}" for room in sorted(rooms)], "tests.typechecker.check")

import matplotlib  # noqa: E402

matplotlib.use("agg")

import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
import pytest  # noqa: E402
import torch  # noqa: E402
from hypothesis import settings  # noqa: E402

import attnlib  # noqa: E402

settings.register_profile("quick", max_examples=100, deadline=None)
settings.register_profile("full", max_examples=500, deadline=None)  # `make check` asks for it
settings.load_profile("quick")


def pytest_report_header() -> str:
    """Say which copy is under test: tests/mutants.py relies on it."""
    return f"attnlib: {Path(attnlib.__file__).parent}"


def pytest_collection_finish():
    """Let the collector pass over what has been imported, and look less often: up to a twelfth of the time was that."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """While lines are counted, run at full speed what is marked so, what is left to `make check`, and what is not about
    the package.

    Quick tests reach the same lines; pytest-cov's own mark does nothing in the workers of xdist.
    """
    tracer, room = sys.gettrace(), item.path.parent.name
    if room in ("repository", "website") or any(item.get_closest_marker(name) for name in ("thorough", "untraced")):
        sys.settrace(None)
    try:
        return (yield)
    finally:
        sys.settrace(tracer)


STYLE = dict(matplotlib.rcParams)


@pytest.fixture(autouse=True)
def seeded():
    """Every test draws the same numbers, pictures in the same style, and finds none open, whatever ran before it."""
    plt.close("all")
    if dict(matplotlib.rcParams) != STYLE:
        dict.update(matplotlib.rcParams, STYLE)
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)


@pytest.fixture(scope="session")
def thorough(request) -> bool:
    """Whether what is marked so is run: for a test that asks for more then, and asserts the same."""
    return "not thorough" not in request.config.getoption("-m")


@pytest.fixture(scope="module")
def little_to_collect():
    """The collector passes over what earlier tests have left: half a second, for which limits would blame a call."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def without_shape_checks():
    """The package as its readers run it, without the shape checks: the errors it raises itself."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)

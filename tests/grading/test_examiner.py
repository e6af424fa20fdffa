"""Tests run outside and ask by calls; what a hand-in is told of its mistakes is what it did, and gives nothing away."""

import ast
import contextlib
import math
import re

import numpy as np
import pytest
import torch
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from attnlib.course import asserts
from attnlib.course.asserts import drawn
from attnlib.grading import assignment, closure, explain, noticed
from attnlib.grading.answers import answers_to
from attnlib.grading.assignment import facts, is_answer, is_given, is_test
from attnlib.grading.crossing import Peer
from attnlib.grading.examiner import Call, Examiner, Outcome, helpers, is_setup, made
from tests import second_device
from tests.grading.apart import elsewhere

NAME = "a04_masked_softmax"
SOURCE = assignment.read(NAME)
KNOWN = answers_to(NAME)
FULL = assignment.tests(SOURCE)


def sit(source, answers, seconds=60, only=""):
    """Outcomes of an assignment's tests for the model's answers but for some."""
    cells, examiner = assignment.model(source) | answers, Examiner(source, seconds)
    last = max(n for n, cell in enumerate(source.cells) if is_test(cell))
    code = [c for c in source.cells[:last] if is_answer(c) or (is_given(c) and not is_setup(c))]
    found = {}
    with elsewhere([cells.get(facts(c)["grade_id"], c.source) for c in code]) as connect:
        for cell in source.cells[: last + 1]:
            if is_given(cell):
                examiner.given(cell)
            elif is_test(cell) and facts(cell)["grade_id"].startswith(only):
                with connect() as connection:
                    found[facts(cell)["grade_id"]] = examiner.examine(cell, Peer(connection, outside=True))
    return found


def lost(outcomes):
    return {test: FULL[test] for test, outcome in outcomes.items() if outcome.problem is not None}


@pytest.mark.parametrize("name", assignment.names())
def test_the_reference_gets_full_marks_across_processes(name):
    source = assignment.read(name)
    assert {test: repr(o.problem) for test, o in sit(source, {}).items() if o.problem} == {}


ENDING = [key for key, answer in KNOWN.items() if "while" not in str(answer.cells)]


@pytest.mark.parametrize("key", ENDING)
def test_a_known_answer_loses_exactly_its_points_across_processes(key):
    questions = {assignment.question(cell) for cell in KNOWN[key].cells}
    outcomes = {}
    for question in questions:
        outcomes |= sit(SOURCE, KNOWN[key].cells, only=question)
    assert lost(outcomes) == KNOWN[key].lost


# --- our side ----------------------------------------------------------------------------------------


def cell(source, name="q1_x"):
    marks = {"grade": True, "grade_id": name, "locked": True, "points": 1, "solution": False}
    return new_code_cell(source, metadata={"nbgrader": marks})


def own(source, answer="q1"):
    marks = {"grade": False, "grade_id": answer, "locked": False, "solution": True}
    return new_code_cell(source, metadata={"nbgrader": marks})


def examined(test, theirs, seconds=60):
    """The outcome of one test for one definition of `f`."""
    examiner = Examiner(new_notebook(cells=[own("def f(x):\n    return x")]), seconds)
    examiner.space["torch"] = torch
    with elsewhere([theirs]) as connect, connect() as connection:
        return examiner.examine(cell(test), Peer(connection, outside=True))


def test_who_changes_what_it_is_compared_with_gains_nothing():
    test = "x = torch.ones(3)\ny = f(x)\nassert torch.equal(y, 2 * x), 'twice'"
    assert examined(test, "def f(x):\n    return 2 * x").problem is None
    assert examined(test, "def f(x):\n    return x.zero_()").problem is not None
    kept = "x = [1]\nf(x)\nassert x == [1], 'kept'"
    assert examined(kept, "def f(x):\n    x.append(2)").problem is not None
    before = "x = torch.ones(3)\nwanted = 2 * x\nassert torch.equal(f(x), wanted), 'twice'"
    assert examined(before, "def f(x):\n    return x.mul_(2)").problem is None


def test_limits_of_calls_hold_together():
    test = "from attnlib.course.asserts import limit\nfor _ in range(10):\n    with limit(10):\n        f(1)"
    outcome = examined(test, "import time\ndef f(x):\n    time.sleep(0.3)", seconds=1)
    assert isinstance(outcome.problem, TimeoutError) and len(outcome.calls) < 10 and outcome.answered


def test_calls_are_remembered_as_they_were():
    test = "x = torch.ones(2)\nf(x)\nx[0] = 5\n### BEGIN HIDDEN TESTS\nf(x)\n### END HIDDEN TESTS\nf(2 * x)"
    outcome = examined(test, "def f(x):\n    return x.add_(1)")
    assert [call.given[0].tolist() for call in outcome.calls[:1]] == [[1, 1]]
    assert [call.hidden for call in outcome.calls] == [False, True, False]


def test_a_name_that_is_missing_is_said():
    outcome = examined("assert f(1) == 1, 'one'", "g = 1")
    assert outcome.missing == ["f"] and isinstance(outcome.problem, NameError)
    assert isinstance(examined("assert f(1) == 1, 'one'", "f = 3").problem, TypeError)


def test_later_cells_may_use_what_a_visible_test_defines():
    source = (
        "import math\nfrom torch import nn\nn = 3\ny = f(n)\nz = y + 1\nwith a: b = 1\nassert z, 'w'\n"
        "def g(x):\n    return x\n### BEGIN HIDDEN TESTS\nsecret = 1\n### END HIDDEN TESTS\n"
    )
    space = {}
    exec(helpers(source, frozenset({"f"})), space)
    assert {"math", "nn", "n", "g"} <= set(space) and not {"y", "z", "b", "secret"} & set(space)
    assert made(ast.parse("import a.b as c, d.e\nx, (y, z) = 1, (2, 3)\nclass K: q = 1").body) == set("cdxyzK")


# --- explanations ------------------------------------------------------------------------------------


def test_the_mistake_is_named_only_where_it_is_the_one():
    named = {}
    for key in ("q1_mask_after", "q2_future"):
        outcomes = sit(SOURCE, KNOWN[key].cells, only=key[:2])
        shown = explain.shown(NAME, 0, SOURCE, outcomes)
        assert set(shown) == set(KNOWN[key].lost)
        named[key] = {why["likely"] for why in shown.values()}
    assert named == {key: {KNOWN[key].why} for key in named}
    mine = "def masked_softmax(scores, mask):\n    return torch.zeros_like(scores) + 0.123"
    shown = explain.shown(NAME, 0, SOURCE, sit(SOURCE, {"q1": mine}, only="q1"))
    assert shown and {why["likely"] for why in shown.values()} == {""}


def test_what_was_expected_is_shown_where_everybody_sees_the_test():
    second_device.device()  # which has no random numbers; replaying touches those of the CPU alone
    mine = "def masked_softmax(scores, mask):\n    return scores"
    shown = explain.shown(NAME, 0, SOURCE, sit(SOURCE, {"q1": mine}, only="q1"))
    first = shown["q1_axis"]
    assert first["call"].startswith("masked_softmax(scores = tensor([[[0., 0., 0., 0.], [0., 0., 0., 0.]]]), mask = ")
    assert "0.2500" in first["wanted"] and first["gave"] == "tensor([[[0., 0., 0., 0.], [0., 0., 0., 0.]]])"
    late = "calls = []\ndef masked_softmax(scores, mask):\n    return scores if scores.shape[0] > 1 else @\n"
    late = late.replace("@", "torch.softmax(scores, -1)")
    hidden = explain.shown(NAME, 0, SOURCE, sit(SOURCE, {"q1": late}, only="q1_axis"))["q1_axis"]
    assert hidden["wanted"] == "" and re.search(r"scores = float32 \([2-9], 4, [5-8]\)", hidden["call"])


def test_the_smallest_call_is_shown_and_a_stream_is_not_read_again():
    calls = [Call("window_mask", (torch.tensor([n] * n), n, 2), {}, False, result=None) for n in (5, 2, 3)]
    shown = explain.shown(NAME, 0, SOURCE, {"q2_past": Outcome(AssertionError("x"), calls)})
    assert shown["q2_past"]["call"] == "window_mask(lengths = tensor([2, 2]), T = 2, window = 2)"
    stream = Call("streamed_context", (iter([1]),), {}, False, error=TimeoutError("late"))
    shown = explain.shown(NAME, 0, SOURCE, {"q3_once": Outcome(TimeoutError("late"), [stream])})
    assert shown["q3_once"]["gave"] == "nothing in time" and next(stream.given[0]) == 1


@pytest.mark.parametrize(
    "one,other,same",
    [
        (torch.ones(2), torch.ones(2) + 1e-7, True),
        (torch.ones(2), torch.ones(2).double(), False),
        (1, 1.0, False),
        (True, 1, False),
        (math.nan, math.nan, True),
        (0.1 + 0.2, 0.3, True),
        ([1, {2}], [1, {2}], True),
        ((1,), [1], False),
        ({"a": torch.zeros(1)}, {"a": torch.zeros(1)}, True),
        ({"a": 1}, {"b": 1}, False),
        (np.ones(2), np.ones(3), False),
        (np.ones(2), np.ones(2), True),
        (len, len, True),
        (len, max, False),
        (None, None, True),
    ],
)
def test_what_is_alike(one, other, same):
    assert explain.alike(one, other) is same


# --- slips -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "code,words",
    [
        ("def maskedSoftmax(a, b): ...", "`maskedSoftmax` in cell q1 has a similar name: was it renamed?"),
        ("def q1(scores, mask): ...", "`q1` in cell q1 has its parameters: was it renamed?"),
        ("def window_mask(scores, mask): ...", "there is no `masked_softmax`"),
        ("def helper(x): ...", "there is no `masked_softmax`"),
        ("def broken(", "there is no `masked_softmax`"),
    ],
)
def test_a_function_that_was_renamed_is_found(code, words):
    said = noticed.renamed("masked_softmax", SOURCE, new_notebook(cells=[own(code)]))
    assert said.startswith("there is no `masked_softmax`") and said.endswith(words)


def test_a_package_that_is_missing_is_named():
    assert noticed.lacking("ModuleNotFoundError", "No module named 'einops.layers'", "q1").startswith(
        "cell q1 imports einops,"
    )
    assert noticed.lacking("ImportError", "No module named 'einops'", "q1") == ""


def text(source):
    marks = {"grade": True, "grade_id": "q4", "locked": False, "points": 3, "solution": True}
    return new_markdown_cell(source, metadata={"nbgrader": marks})


WORDS = "A fill leaks when the visible scores come near it or fall below it."


@pytest.mark.parametrize(
    "cells,found",
    [
        ([new_markdown_cell(WORDS)], [("number 2", WORDS)]),
        ([new_markdown_cell("## Question 4\n" + WORDS)], [("number 2", WORDS)]),
        ([new_code_cell(f"# {WORDS}\n# {WORDS}")], [("number 2", f"{WORDS}\n{WORDS}")]),
        ([new_code_cell(f"{WORDS} {WORDS}")], [("number 2", f"{WORDS} {WORDS}")]),
        ([new_code_cell(f'"""{WORDS} {WORDS}"""')], [("number 2", f"{WORDS} {WORDS}")]),
        ([new_code_cell("# try 1\nx = masked_softmax(torch.zeros(1, 2, 3), hide)  # looks good")], None),
        ([new_markdown_cell("my notes")], None),
        ([new_markdown_cell("## Question 4")], None),
    ],
)
def test_a_text_in_another_cell_is_found(cells, found):
    release = new_notebook(cells=[text("YOUR ANSWER HERE"), new_markdown_cell("## Question 4")])
    assert noticed.stray(new_notebook(cells=[text("YOUR ANSWER HERE"), *cells]), release) == (
        {"q4": found} if found else {}
    )
    assert noticed.stray(new_notebook(cells=[text("Mine."), *cells]), release) == {}


# --- the package inside ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", assignment.names())
def test_no_answer_and_no_check_is_in_the_package_inside(name, tmp_path):
    inside = closure.modules(assignment.read(name))
    assert {m for m in inside if m.startswith("attnlib.grading")} == {
        "attnlib.grading.crossing",
        "attnlib.grading.encoding",
    }
    assert {m.split(".")[1] for m in inside} <= {"course", "figures", "grading"}
    assert not [m for m in inside if "checks" in m or "bets" in m]
    closure.write(assignment.read(name), tmp_path)
    files = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.py")}
    assert files >= {m.replace(".", "/") + ".py" for m in inside} | {"attnlib/__init__.py"}
    assert all(path.stat().st_mode & 0o044 == 0o044 for path in tmp_path.rglob("*"))


def test_what_is_imported_is_found_with_what_it_imports():
    assert closure.imported("from attnlib.figures import plots\nimport attnlib.course.asserts as a, torch") == {
        "attnlib.figures.plots",
        "attnlib.course.asserts",
    }
    assert closure.imported("from attnlib.figures import CostCurve") == {"attnlib.figures"}
    notebook = new_notebook(cells=[own("import attnlib.attention"), new_code_cell("from attnlib.figures import plots")])
    assert "attnlib.attention" not in closure.modules(notebook)
    assert "attnlib.figures.palette" in closure.modules(notebook)


def test_a_grading_can_be_repeated():
    before = asserts.word
    with contextlib.ExitStack() as stack:
        stack.callback(setattr, asserts, "word", before)
        asserts.word = "one"
        first = torch.randn(3, generator=drawn(1))
        asserts.word = "other"
        other = torch.randn(3, generator=drawn(1))
        asserts.word = "one"
        assert torch.equal(first, torch.randn(3, generator=drawn(1))) and not torch.equal(first, other)

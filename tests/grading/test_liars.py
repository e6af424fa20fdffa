"""Whatever an answer returns or sends, it earns what it does, and the grader goes on."""

import contextlib

import pytest
import torch

from attnlib.course import asserts
from attnlib.grading import assignment
from attnlib.grading.crossing import Peer
from attnlib.grading.examiner import Examiner
from tests.grading.apart import elsewhere
from tests.grading.liars import LIARS

SOURCE = assignment.read("a04")
TESTS = {assignment.facts(c)["grade_id"]: c for c in SOURCE.cells if assignment.is_test(c)}


def passed(cells, tests, seconds=1):
    """Which tests pass; who hangs is started anew, and who sends nonsense goes on with it."""
    found, examiner = set(), Examiner(SOURCE, seconds)
    examiner.space["torch"] = torch
    with contextlib.ExitStack() as stack:
        connect = stack.enter_context(elsewhere(cells))
        for name, cell in tests.items():
            with connect() as connection:
                outcome = examiner.examine(cell, Peer(connection, outside=True))
            found |= {name} if outcome.problem is None else set()
            if isinstance(outcome.problem, TimeoutError) and "SERVE" not in cells[0]:
                stack.close()
                connect = stack.enter_context(elsewhere(cells))
    return found


def test_who_is_honest_passes():
    """So it is not the way in which they are asked that costs liars their points."""
    assert passed([*assignment.model(SOURCE).values()], TESTS, seconds=60) == set(TESTS)


@pytest.mark.parametrize("name", LIARS)
def test_a_liar_gets_nothing(name):
    source = LIARS[name]
    of = "q1" if "def masked_softmax" in source else "q3" if "def streamed_context" in source else "q"
    asked = [test for test in TESTS if test.startswith(of)]
    if "SERVE" in source:
        asked = asked[: max(2, source.count("frame(") - 1)]
    if "while True" in source or name in ("slower each time", "a byte at a time", "bytes for ever", "calls for ever"):
        asked = asked[:1] if of == "q" else asked[1:2]  # each costs its limit
    before = torch.allclose, torch.equal, asserts.close, asserts.same, asserts.word
    assert passed([source], {test: TESTS[test] for test in asked}) == set()
    assert before == (torch.allclose, torch.equal, asserts.close, asserts.same, asserts.word)

"""Wrong answers, made by machine, that must lose a point in every assignment."""

import ast

import pytest

from assignments.domains import DOMAINS
from attnlib.grading import assignment
from tests.course import survivors
from tests.grading.hunting import TABLE, Bench, hunt, settled

# Tracing would make an hour of minutes; each line is reached by other tests.
pytestmark = [pytest.mark.usefixtures("little_to_collect", "without_shape_checks"), pytest.mark.untraced]
NAMES = assignment.names()
LISTED = survivors.read(TABLE)


def test_every_question_that_is_graded_by_machine_is_hunted():
    questions = {(n.split("_")[0], assignment.question(t)) for n in NAMES for t in assignment.tests(assignment.read(n))}
    assert set(DOMAINS) == questions and set(LISTED) == set(NAMES)


@pytest.mark.thorough
@pytest.mark.parametrize("name", NAMES)
def test_a_mutant_loses_a_point_or_is_known_to_be_right(name):
    found = hunt(name)
    assert found.holes == {}
    assert set(found.equivalent) == survivors.names(LISTED, name)
    assert found.refused > 0.8 * found.tried > 200


@pytest.mark.thorough
@pytest.mark.parametrize("name", NAMES)
def test_a_mutant_that_loses_nothing_in_a_variant_is_right_everywhere(name):
    assert hunt(name, seed=1).holes == {}


SOURCE = """
def f(x):
    if "a" == "b":
        return 1
    y = 2 if "a" == "a" else 3
    if "a" == "b" or x:
        return y
    return 4
    return 5
"""


def test_what_cannot_happen_in_a_variant_is_not_mutated():
    assert ast.unparse(settled(ast.parse(SOURCE))) == "def f(x):\n    y = 2\n    if x:\n        return y\n    return 4"


def test_an_answer_that_is_wrong_where_no_test_looks_is_a_hole(monkeypatch):
    bench = Bench("a04")
    assert bench.accepted("q1", bench.space)
    wrong = bench.space | {"window_mask": bench.space["masked_softmax"]}
    assert not bench.accepted("q2", wrong)
    monkeypatch.setattr(Bench, "accepted", lambda self, question, space: True)
    assert len(hunt("a04", draws=5).holes) > 100

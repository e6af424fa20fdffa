"""Wrong answers, made by machine, that no check may accept."""

import ast

import pytest

from attnlib.course import checks
from tests.course import survivors
from tests.course.hunting import DOMAINS, DRAWS, TABLE, alike, hunt
from tests.course.laboratories import LABORATORIES
from tests.course.mutations import mutants

# Tracing would make an hour of minutes; each line is reached by other tests.
pytestmark = [pytest.mark.usefixtures("little_to_collect", "without_shape_checks"), pytest.mark.untraced]
QUICK = ["mirrored", "past_and_padding"]
LISTED = survivors.read(TABLE)


def test_every_exercise_is_hunted():
    assert set(DOMAINS) | {"Verdict"} == set(checks.__all__)
    assert set(LISTED) == set(DOMAINS)


@pytest.mark.parametrize(
    "check", [pytest.param(check, marks=[] if check in QUICK else [pytest.mark.thorough]) for check in DOMAINS]
)
def test_a_mutant_is_refused_or_known_to_be_right(check):
    found = hunt(check, 12 if check in LABORATORIES else 30 if check in QUICK else DRAWS)
    assert found.holes == {}
    assert set(found.equivalent) == survivors.names(LISTED, check)
    assert found.refused > found.tried / 2 and found.tried > 100


SOURCE = """
import math

LEAST = 2

def helper(x, y):
    if x > LEAST:
        return max(x, y)
    return [n for n in range(x) if n]

def unused(x):
    return x - 7

VARIANTS = {}
"""


def test_mutants_change_what_an_answer_reaches_one_place_at_a_time():
    # on its third line, from which its own are counted, so that no name changes with what stands above it
    tree, target = ast.parse(SOURCE), ast.parse("(\n\nlambda a, b: helper(a, b) + 1)", mode="eval").body
    before = ast.dump(tree)
    found = {}
    for name, code in mutants(tree, target):
        namespace = {}
        exec(code, namespace)
        assert name not in found, "a name for two mutants"
        found[name] = namespace["ANSWER"]
    assert ast.dump(tree) == before
    assert found["unchanged"](5, 3) == 6
    assert not any("unused" in name for name in found)
    assert found["answer, line 1, `1`: becomes 2"](5, 3) == 7
    assert found["answer, line 1, `helper(a, b) + 1`: only its left side"](5, 3) == 5
    assert found["helper, line 3, `max(x, y)`: max becomes min"](5, 3) == 4
    assert len(found) > 30


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [([1, 2.0], (1, 2), True), ("a", "a", True), ([{1}], [{2}], False), (1.0, 1.1, False), (["a"], ["a", "b"], False)],
)
def test_answers_are_alike_in_any_dress(a, b, same):
    assert alike(a, b) is same

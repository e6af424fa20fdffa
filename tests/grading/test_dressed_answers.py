"""Right answers keep all their points in any dress that the text of an assignment allows.

Loops, einsum and other ways to write them are in `assignments/answers`, among the known answers that are right.
"""

import pytest

from attnlib.grading import assignment
from tests.course.dresses import dressed
from tests.grading.hunting import Bench

DRESSES = ["float64", "parameter", "number of NumPy", "tensor", "array without axes"]
#: A float is asked for, with its 16 digits. NumPy's is a float as well; a tensor or an array is none.
FLOAT = {"tensor", "array without axes"}
INTEGERS = {"tensor", "array without axes", "number of NumPy"}
#: A parameter is a leaf: made of an answer, it has no gradient that leads back to what the answer was computed from.
GRADIENT = {"parameter"}
#: Questions that refuse a dress, because they ask for something else: `{(assignment, question): dresses}`.
REFUSED = {
    ("a01", "q3"): GRADIENT,
    ("a02", "q3"): FLOAT,
    ("a03", "q2"): FLOAT,
    ("a03", "q3"): GRADIENT,
    ("a04", "q1"): GRADIENT,
    ("a05", "q3"): FLOAT,
    ("a07", "q1"): INTEGERS,  # Python's, says its text
    ("a07", "q2"): GRADIENT,
    ("a09", "q2"): GRADIENT,
}


@pytest.mark.parametrize("name", assignment.names())
def test_a_right_answer_keeps_its_points_in_any_dress(name):
    bench, short = Bench(name), name.split("_")[0]
    refused = {}
    for question, functions in bench.functions().items():
        for dress in DRESSES:
            space = bench.space | {f: dressed(bench.space[f], dress) for f in functions}
            if not bench.accepted(question, space):
                refused.setdefault((short, question), set()).add(dress)
    assert refused == {key: dresses for key, dresses in REFUSED.items() if key[0] == short}

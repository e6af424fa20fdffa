"""Bugs of one line in attnlib/course/checks/cost.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/checks/cost.py", "course/test_checks.py",
    ("a pair costs twice as much", "smallest(lambda S: 2 * S * T * d >=", "smallest(lambda S: 4 * S * T * d >=",
     "test_right_answers_are_right_however_written"),
    ("a sharp look untried", "[case(*size, factor=500.0) for size in sizes]", "[]",
     "test_a_wrong_answer_is_told_its_mistake[direct_gradient-overflow]"),
    ("gradient of minus the context", "grad(c @ g.double(), leaf)", "grad(-c @ g.double(), leaf)",
     "test_right_answers_are_right_however_written"),
)

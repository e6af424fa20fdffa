"""Bugs of one line in attnlib/grading/assignment.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "grading/assignment.py", "grading/test_assignments.py::test_a_variant_asks_for_something_else",
    ("first value for every seed", "if seed and others", "if seed < 0"),
)

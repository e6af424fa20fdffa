"""Bugs of one line in attnlib/grading/report.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "grading/report.py", "grading/test_grading.py::test_points_that_cannot_be_are_refused",
    ("points that are NaN", "if not 0 <= points <= most:", "if points < 0 or points > most:"),
) + of(
    "grading/report.py", "grading/test_grading.py::test_names_are_no_formulas",
    ("name that is a formula", '("=", "+", "-", "@")', '("+", "-", "@")'),
)

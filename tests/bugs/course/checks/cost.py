"""Bugs of one line in attnlib/course/checks/cost.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/checks/cost.py", "course/test_checks.py",
    ("values averaged at no cost", "        S = 3 * d * T / (T - 3 * d)", "        S = 6 * d * T / (T - 6 * d)"),
    ("a sharp look untried", ", (3, 2, 500.0)]", "]"),
    ("gradient of minus the context", "grad(c @ g.double(), leaf)", "grad(-c @ g.double(), leaf)"),
)

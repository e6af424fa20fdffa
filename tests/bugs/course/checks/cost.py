"""Bugs of one line in attnlib/course/checks/cost.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/checks/cost.py", "course/test_checks.py",
    ("a pair costs twice as much", "smallest(lambda S: 2 * S * T * d >=", "smallest(lambda S: 4 * S * T * d >="),
    ("a sharp look untried", "[case(*size, factor=500.0) for size in sizes]", "[]"),
    ("gradient of minus the context", "grad(c @ g.double(), leaf)", "grad(-c @ g.double(), leaf)"),
)

"""Bugs of one line in attnlib/checks/cost.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "checks/cost.py", "test_checks.py",
    ("values averaged at no cost", "        S = 3 * d * T / (T - 3 * d)", "        S = 6 * d * T / (T - 6 * d)"),
    ("never is some day", "length == math.inf", "length > 0"),
    ("one word more or less", "tolerance=1e-4", "tolerance=0.1"),
    ("a sharp look untried", ", (3, 2, 500.0)]", "]"),
    ("gradient of minus the context", "grad(c @ g.double(), leaf)", "grad(-c @ g.double(), leaf)"),
    ("the others do not fall", "off = (H - c) @", "off = H @"),
)

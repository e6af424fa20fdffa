"""Bugs of one line in attnlib/figures/polynomials.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "figures/polynomials.py", "figures/test_cost_curve.py",
    ("S and T swapped in a count", 'sizes["S"] ** s * sizes["T"] ** t', 'sizes["S"] ** t * sizes["T"] ** s'),
    ("crossing at the first word lost", "if x >= 1]", "if x > 1]"),
    ("only up to the last turn", "if turn < beyond), beyond]:", "if turn < beyond)]:"),
    ("bisected to the wrong side", "if (value(c, middle) > 0) == rising:", "if (value(c, middle) > 0) != rising:"),
)

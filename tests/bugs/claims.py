"""Bugs of one line in attnlib/claims.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "claims.py", "test_claims.py",
    ("a claim holds if one value does", "if broken := [v for v in values if not low <= v <= high]:",
     "if len(broken := [v for v in values if not low <= v <= high]) == len(values):"),
    ("no number is fine", "if not low <= v <= high", "if v < low or v > high"),
    ("upper bound forgotten", "math.inf if at_most is None else at_most", "math.inf"),
    ("lower bound forgotten", "-math.inf if at_least is None else at_least", "-math.inf"),
    ("a bound of 0 is none", "-math.inf if at_least is None else at_least", "at_least or -math.inf"),
    ("a bound is not allowed itself", "if not low <= v <= high", "if not low < v < high"),
    ("shown before it is tested", "    values = tuple(",
     "    display(Gate(name, what, (0.0,), at_least, at_most))\n    values = tuple("),
    ("mean for median", "statistics.median(", "statistics.mean("),
    ("nothing to refute", "if at_least is None and at_most is None:", "if False:"),
    ("nothing measured", "    if not values:\n", "    if False:\n"),
    ("not recorded", "{KEY: asdict(self)}", "{}"),
)

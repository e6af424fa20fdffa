"""Bugs of one line in attnlib/course/claims.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/claims.py", "course/test_claims.py",
    ("a claim holds if one value does", "if broken := [v for v in values if not low <= v <= high]:",
     "if len(broken := [v for v in values if not low <= v <= high]) == len(values):"),
    ("no number is fine", "if not low <= v <= high", "if v < low or v > high"),
    ("a bound of 0 is none", "-math.inf if at_least is None else at_least", "at_least or -math.inf"),
    ("mean for median", "statistics.median(", "statistics.mean("),
)

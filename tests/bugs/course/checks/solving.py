"""Bugs of one line in attnlib/course/checks/solving.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/checks/solving.py", "course/test_checks_asking.py",
    ("the interval is halved a few times only", "range(200)", "range(9)"),
    ("the largest that is not enough",
     "(low, middle) if enough(middle) else (middle, high)",
     "(middle, high) if enough(middle) else (low, middle)"),
    ("the start is never enough", "    if enough(low):\n        return low\n", ""),
    ("what is never enough is searched for ever",
     'if high > 1e15:\n            return float("inf")',
     "if high > 1e15:\n            return high"),
)

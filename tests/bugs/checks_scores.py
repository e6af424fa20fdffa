"""Bugs of one line in attnlib/checks/scores.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "checks/scores.py", "test_checks.py",
    ("distance without its half", "            -square / 2,\n", "            -square,\n"),
    ("no query stands on a key", "query.flip(1))", "query + 1)"),
    ("one query and key", "[(2, 3, 4, 5), (1, 4, 2, 3), (3, 1, 5, 2)]", "[(1, 1, 1, 1)]"),
    ("scores up to a shift", "tolerance=1e-4,\n        )\n    query", "tolerance=1e2,\n        )\n    query"),
    ("two keys, half the share", "[(0.9, 50), (0.6, 2), (0.99, 5000), (0.3, 7)]", "[(0.5, 2)]"),
    ("any infinite sharpness", "math.isfinite(given)", "not math.isnan(given)"),
    ("sharp by rivals", "full = math.log(odds * (S - 1))", "full = math.log(odds * S)"),
)

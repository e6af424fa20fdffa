"""Bugs of one line in attnlib/course/checks/seq2seq.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/checks/seq2seq.py", "course/test_checks.py",
    ("a past with the present in it", "causal_mask(5, past=4, include_self=False)", "causal_mask(5, past=4)"),
    ("one window for all", "[(4, 0, 3), (3, 6, 1), (2, 2, 50)]", "[]"),
    ("columns moved for rows", "*((0, k) if columns else (k, 0))", "*((k, 0) if columns else (0, k))"),
)

"""Bugs of one line in attnlib/course/checks/seq2seq.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/checks/seq2seq.py", "course/test_checks.py",
    ("a past with the present in it", "memory[: len(earlier) + t]", "memory[: len(earlier) + t + 1]"),
    ("one window for all", "0 < P + t - j <= window", "0 < P + t - j <= 2"),
    ("columns moved for rows", "(0, k) if columns else (k, 0)", "(k, 0) if columns else (0, k)"),
    ("the last sentence points the same way", "for k in (elsewhere, last))", "for k in (elsewhere, true))"),
    ("a gradient that is lost in a blank row", "need(agrees(slope, true, 1e-4),", "need(True,"),
)

"""Bugs of one line in attnlib/course/checks/copying.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/checks/copying.py", "course/test_checks.py",
    ("a word copied from one place", "for j in places[w]]", "for j in places[w][:1]]"),
    ("the share that was copied", "share = p * said / P", "share = (1 - p) * copied / P"),
    ("a small number in P unseen", "want.clamp(min=0)", "want.clamp(max=0)"),
)

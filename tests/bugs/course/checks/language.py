"""Bugs of one line in attnlib/course/checks/language.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/checks/language.py", "course/test_checks.py",
    ("every size divides the text", "[(2, 7, 3), (3, 5, 1), (1, 4, 4), (2, 3, 10)]", "[(2, 6, 3), (3, 5, 1)]"),
    ("padding has to be right", "share = (right | ~real).all(-1)", "share = right.all(-1)"),
    ("a word of the longest length only", "n.clamp(max=S - 1)]", "n - 1]"),
)

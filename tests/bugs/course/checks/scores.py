"""Bugs of one line in attnlib/course/checks/scores.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/checks/scores.py", "course/test_checks.py",
    ("distance without its half", "            -square / 2,\n", "            -square,\n"),
    ("one query and key", "[(2, 3, 4, 5), (1, 4, 2, 3), (3, 1, 5, 2)]", "[(1, 1, 1, 1)]"),
    ("sharp by rivals", "full = math.log(odds * (S - 1))", "full = math.log(odds * S)"),
)

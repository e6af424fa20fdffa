"""Bugs of one line in attnlib/grading/restore.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "grading/restore.py", "grading/test_restore.py",
    ("first of several answers counts", "(tested or candidates)[-1]", "(tested or candidates)[0]"),
    ("experiment below the tests counts", "any(test > n for test in tests)", "True"),
    ("marks of a cell are believed", "marked if marked in answers or not answers else answers[0]",
     "marked or (answers[0] if answers else None)"),
)

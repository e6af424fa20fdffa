"""Bugs of one line in attnlib/grading/sitting.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "grading/sitting.py", "grading/test_sitting.py",
    ("the cell that killed a kernel is run again", "            self.skipped.add(n)\n", "            pass\n"),
    ("a new kernel has nothing of the cells before", "m for m in range(until + 1)", "m for m in range(until, until)"),
    ("who says nothing is waited for at every test", "if not outcome.answered:", "if False:"),
)

"""Bugs of one line in attnlib/grading/examiner.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "grading/examiner.py", "grading/test_examiner.py",
    ("who changes its inputs passes", "if outcome.problem is None and peer.changed:", "if False:"),
    ("limits of calls hold one by one", "with limit(self.seconds):", "if True:"),
    ("inputs are shown as they are later", "call = Call(name, snapshot(given), ", "call = Call(name, given, "),
)

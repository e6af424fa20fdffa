"""Bugs of one line in attnlib/grading/examiner.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "grading/examiner.py", "grading/test_examiner.py",
    ("who changes its inputs passes", "if outcome.problem is None and peer.changed:", "if False:"),
    ("limits do not add up", "return LIMIT(min(own, max(end - time.monotonic(), 0.01)))", "return LIMIT(own)"),
    ("inputs are shown as they are later", "call = Call(name, snapshot(given), ", "call = Call(name, given, "),
)

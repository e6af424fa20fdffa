"""Bugs of one line in attnlib/grading/explain.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "grading/explain.py", "grading/test_examiner.py",
    ("a mistake is named that differs", "if given is None or not alike(given, theirs(call)):", "if given is None:"),
    ("hidden expectations are shown", '== "gave" and not call.hidden else', '== "gave" else'),
    ("the largest call is shown", "call = min(wrong,", "call = max(wrong,"),
)

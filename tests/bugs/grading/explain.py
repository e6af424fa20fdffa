"""Bugs of one line in attnlib/grading/explain.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "grading/explain.py", "grading/test_examiner.py",
    ("a mistake is named that differs", "if given is None or not alike(given, theirs(call)):", "if given is None:"),
    ("hidden expectations are shown", '== "gave" and not call.hidden else', '== "gave" else'),
    ("random numbers of every device are kept", "torch.random.fork_rng(devices=[])", "torch.random.fork_rng()"),
    ("the largest call is shown", "call = min(wrong,", "call = max(wrong,"),
)

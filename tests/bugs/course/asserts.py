"""Bugs of one line in attnlib/course/asserts.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/asserts.py", "course/test_asserts.py",
    ("a loop goes on", "outer, _ = signal.setitimer(timer, seconds)", "outer, _ = signal.setitimer(timer, 0)"),
    ("the alarm rings later", "signal.setitimer(timer, outer)", "outer"),
    ("the handler stays", "signal.signal(alarm, before)", "before"),
    ("graded by broadcasting",
     "    if given.shape != wanted.shape:\n        raise",
     "    if given.numel() != wanted.numel():\n        raise"),
    ("NaN equals nothing", "equal_nan=True", "equal_nan=False"),
    ("shapes are broadcast", "    if given.shape != wanted.shape:\n        return False\n", ""),
    ("numbers are the same in all gradings", 'random.Random(f"{word}/{number}")', 'random.Random(f"{number}")'),
)

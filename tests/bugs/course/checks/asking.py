"""Bugs of one line in attnlib/course/checks/asking.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/checks/asking.py", "course/test_checks.py",
    ("the inputs themselves are handed in", "x.detach().clone().requires_grad_(x.requires_grad)", "x"),
    ("the check's own list handed out", "copy.deepcopy(x) if isinstance(x, CONTAINERS) else x", "x"),
    ("a forgotten return counts as not written", "if result is None and empty(answer):", "if result is None:"),
    ("gradient of the sum", "result.square().sum()", "result.sum()"),
    ("a detached input goes unnoticed", "slope is not None,", "slope is not x,"),
    ("torch's own error counts as not written", " and not error.args", ""),
    ("the line of somebody else", "if f.filename == file and f.line", "if f.line"),
)

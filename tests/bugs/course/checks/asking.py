"""Bugs of one line in attnlib/course/checks/asking.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/checks/asking.py", "course/test_checks_asking.py",
    ("the inputs themselves are handed in", "x.detach().clone().requires_grad_(x.requires_grad)", "x"),
    ("the check's own list handed out", "copy.deepcopy(x) if isinstance(x, CONTAINERS) else x", "x"),
    ("gradient of the sum", "result.square().sum()", "result.sum()"),
    ("a detached input goes unnoticed", "slope is not None,", "slope is not x,"),
    ("the line of somebody else", "if f.filename == file and f.line", "if f.line"),
    ("names for inputs that have none", "if len(given) == len(inputs) > 0:", "if len(given) >= 0:"),
    ("a long tensor is shown", "if x.numel() > 6 or x.dim() > 1:", "if x.dim() > 1:"),
)

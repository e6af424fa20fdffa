"""Bugs of one line in attnlib/course/checks/attention.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/checks/attention.py", "course/test_checks.py",
    ("padded on the right", "real, early = right.flip(-1)", "real, early = right"),
    ("blank rows are not tried", "    mask[0, 1] = False\n", "    mask[0, 1] = True\n"),
    ("masks need not broadcast", "padding = mask[:, :1]", "padding = mask"),
    ("hidden keys may keep a little", "not weights[~mask].any()", "weights[~mask].max() < 0.1"),
)

"""Bugs of one line in attnlib/course/critical_path.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/critical_path.py", "course/test_critical_path.py",
    ("shortest for longest", "1 + max((longest", "1 + min((longest"),
    ("only the first input", "for parent in before), default=0)", "for parent in before[:1]), default=0)"),
)

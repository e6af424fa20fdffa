"""Bugs of one line in attnlib/grading/sandbox.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "grading/sandbox.py", "grading/test_sandbox.py::test_what_is_missing_is_said",
    ("box that cannot be built taken for one", "if done.returncode:", "if done.returncode < 0:"),
)

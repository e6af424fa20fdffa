"""Bugs of one line in attnlib/grading/course.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "grading/course.py", "grading/test_grading.py::test_a_tag_does_not_keep_a_test_cell_from_running",
    ("tag that skips a test cell", 'cell.metadata = {"nbgrader": facts(cell)} if facts(cell) else {}', "pass"),
)

"""Bugs of one line in attnlib/grading/course.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "grading/course.py", "grading/test_release.py::test_student_versions_ask_and_warn",
    ("solutions stay", "        ClearSolutions,\n        ClearOutput", "        ClearOutput"),
)

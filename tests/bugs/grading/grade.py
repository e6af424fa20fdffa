"""Bugs of one line in attnlib/grading/grade.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "grading/grade.py", "grading/test_grading.py::test_a_hand_in_that_never_ends_is_killed_with_all_it_has_started",
    ("what it has started lives on", "[*process.children(recursive=True), process]", "[process]"),
)

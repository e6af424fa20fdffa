"""Bugs of one line in attnlib/grading/collect.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "grading/collect.py", "grading/test_collect.py::test_two_people_of_one_name_are_told_apart",
    ("two of one name are one", "len(numbers[f.student]) > 1", "len(numbers[f.student]) > 2"),
) + of(
    "grading/collect.py", "grading/test_collect.py::test_names_of_course_sites",
    ("late is part of a name", "_(?:LATE_)?(?P<id>", "_(?P<id>"),
) + of(
    "grading/collect.py", "grading/test_collect.py::test_folders_of_students",
    ("notebook of another assignment counts", "max(right or notebooks,", "max(notebooks,"),
) + of(
    "grading/collect.py", "grading/test_collect.py::test_an_archive_that_writes_elsewhere_is_refused",
    ("archive writes above its folder", 'or ".." in parts ', ""),
)

"""Bugs of one line in attnlib/grading/collect.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "grading/collect.py", "grading/test_collect.py::test_two_people_of_one_name_are_told_apart",
    ("two of one name are one", "groups.setdefault((file.student, file.id),", 'groups.setdefault((file.student, ""),'),
    ("student with a name like another one's is lost", "while name.lower() in handins:", "while False:"),
) + of(
    "grading/collect.py", "grading/test_collect.py::test_folders_of_students",
    ("notebook of another assignment counts", "max(right or latest,", "max(latest,"),
    ("link is followed", "if path.is_symlink():", "if False:"),
) + of(
    "grading/collect.py", "grading/test_exports.py::test_every_student_counts_once_with_the_newest_hand_in",
    ("right name in an old hand-in counts", "[file for file in notebooks if file.when == newest]", "notebooks"),
    ("file number of Canvas is forgotten", "(file.number, version(file.name)[1],", "(version(file.name)[1],"),
) + of(
    "grading/collect.py", "grading/test_exports.py::test_a_time_in_another_language_is_no_guess",
    ("time that cannot be read is compared", "if time.startswith(UNREAD) and len(times) > 1", "if False"),
) + of(
    "grading/collect.py", "grading/test_collect.py::test_the_archives_of_a_student_write_no_more_in_sum_than_the_limit",
    ("limit for each archive, not for their sum", "budget = self.budgets.setdefault(\n                student, Budget",
     "budget = (\n                Budget"),
) + of(
    "grading/collect.py", "grading/test_collect.py::test_the_archives_of_a_class_have_a_limit_of_their_own",
    ("the class has no limit", ", above=self.budget)", ")"),
) + of(
    "grading/collect.py", "grading/test_collect.py::test_a_broken_archive_costs_one_student",
    ("archives have no bottom", "depth > DEEPEST", "depth > 10 * DEEPEST"),
)

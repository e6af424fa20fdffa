"""Bugs of one line in attnlib/grading/unpack.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "grading/unpack.py", "grading/test_collect.py::test_an_archive_that_writes_elsewhere_is_refused",
    ("archive writes above its folder", 'or ".." in parts ', ""),
) + of(
    "grading/unpack.py", "grading/test_collect.py::test_an_archive_with_a_link_or_that_is_broken_is_refused",
    ("link in an archive is written as a file", "if stat.S_ISLNK(member.external_attr >> 16):", "if False:"),
) + of(
    "grading/unpack.py", "grading/test_collect.py::test_the_archives_of_a_student_write_no_more_in_sum_than_the_limit",
    ("size is not counted", "budget.spent_size += size", "pass"),
    ("files are not counted", "budget.spent_files += files", "pass"),
) + of(
    "grading/unpack.py", "grading/test_collect.py::test_the_archives_of_a_class_have_a_limit_of_their_own",
    ("the class pays nothing", "budget = budget.above", "budget = None"),
    ("the class is not asked", "return self.above.refusal(size, files) if self.above else", "return"),
) + of(
    "grading/unpack.py", "grading/test_collect.py::test_a_broken_archive_costs_one_student",
    ("broken archive ends the command", "except Exception as error:", "except (OSError, zipfile.BadZipFile) as error:"),
    ("folders have no bottom", "if len(parts) > DEEPEST:", "if False:"),
)

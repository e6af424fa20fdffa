"""Bugs of one line in attnlib/grading/closure.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "grading/closure.py", "grading/test_examiner.py",
    ("what answers import is inside", " and not is_answer(c)", "",
     "test_what_is_imported_is_found_with_what_it_imports"),
    ("what is imported in turn is missing", 'open_ |= imported(_file(name).read_text("utf8")) - found', "pass",
     "test_no_answer_and_no_check_is_in_the_package_inside"),
)

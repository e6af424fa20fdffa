"""Bugs of one line in attnlib/grading/closure.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "grading/closure.py", "grading/test_examiner.py",
    ("what answers import is inside", " and not is_answer(c)", ""),
    ("what is imported in turn is missing", 'open_ |= imported(_file(name).read_text("utf8")) - found', "pass"),
)

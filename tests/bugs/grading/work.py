"""Bugs of one line in attnlib/grading/work.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "grading/work.py", "grading/test_grading.py::test_old_formats_and_byte_order_marks_are_read",
    ("byte order mark refused", '.decode("utf-8-sig")', '.decode("utf-8")'),
)

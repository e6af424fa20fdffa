"""Bugs of one line in attnlib/course/show.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/show.py", "course/test_show.py",
    ("letters counted for bytes", ".encode()[: first.col_offset].decode()", "[: first.col_offset]"),
    ("last line of a docstring stays", "range(first.lineno, first.end_lineno + 1)",
     "range(first.lineno, first.end_lineno)"),
)

"""Bugs of one line in attnlib/course/show.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/show.py", "course/test_show.py",
    ("letters counted for bytes", ".encode()[: first.col_offset].decode()", "[: first.col_offset]"),
    ("last line of a docstring stays", "range(first.lineno, first.end_lineno + 1)",
     "range(first.lineno, first.end_lineno)"),
    ("of several runs the first counts for all", "(of.min(), of.max())", "(of.flat[0], of.flat[0])"),
    ("a hyphen for a minus", ".replace(\"-\", \"−\")", ""),
    ("less than nothing that looks like nothing", ":z,.", ":,."),
    ("a row may have cells to spare", "if len(row) != len(head):", "if len(row) < len(head):"),
    ("of whole numbers only Python's own", "isinstance(one, Integral)", "isinstance(one, int)"),
)

"""Bugs of one line in attnlib/show.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "show.py", "test_show.py",
    ("docstring that is all there is leaves nothing", "if len(node.body) == 1 or before.strip()",
     "if before.strip()"),
    ("code behind a docstring lost", "or after.lstrip().startswith(\";\")", ""),
    ("letters counted for bytes", ".encode()[: first.col_offset].decode()", "[: first.col_offset]"),
    ("last line of a docstring stays", "range(first.lineno, first.end_lineno + 1)",
     "range(first.lineno, first.end_lineno)"),
    ("line after a docstring goes", "and not lines[following].strip()", ""),
    ("docstring of a class stays", "ast.ClassDef | ast.FunctionDef", "ast.FunctionDef"),
)

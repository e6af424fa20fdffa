"""Bugs of one line in attnlib/__main__.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "__main__.py", "core/test_main.py",
    ("what is fetched counts as missing", "if file is not None and file not in sizes:", "if file is not None:"),
    ("a directory that cannot be written", " or not os.access(there, os.W_OK | os.X_OK):", ":"),
)

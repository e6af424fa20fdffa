"""Bugs of one line in attnlib/extras.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "extras.py", "core/test_extras.py",
    ("extras: another is named", "attnlib[{name}]", "attnlib[course]"),
    ("extras: a module for its package", '.split(".")[0]', ""),
    ("extras: our own modules", 'if package == "attnlib":', 'if package == "":'),
)

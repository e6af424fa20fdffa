"""Bugs of one line in attnlib/validation.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "validation.py", "core/test_validation.py",
    ("ids: one id too many", "high >= vocab_size:", "high > vocab_size:"),
)

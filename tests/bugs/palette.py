"""Bugs of one line in attnlib/palette.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "palette.py", "test_plots.py",
    ("colour that cannot be read on white", "#0b5fa5", "#6cb6ff"),
    ("colour that the style sheet does not know", "#ff8fc7", "#ff8fc8"),
)

"""Bugs of one line in attnlib/figures/palette.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "figures/palette.py", "figures/test_plots.py",
    ("colour that cannot be read on white", "#0b5fa5", "#6cb6ff"),
    ("curve in the colour of a query", "#0086a3", "#0b6fa5"),
)

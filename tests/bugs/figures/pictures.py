"""Bugs of one line in attnlib/figures/pictures.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "figures/pictures.py", "figures/test_where_it_looks.py",
    ("box closed on the right", "left <= x < right", "left <= x <= right"),
    ("box by the corner of the region", "(2 * region[n] + 1)", "(2 * region[n])"),
    ("tint of the whole caption", "share = alpha / alpha.max()", "share = alpha"),
)

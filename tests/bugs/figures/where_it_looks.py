"""Bugs of one line in attnlib/figures/where_it_looks.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "figures/where_it_looks.py", "figures/test_where_it_looks.py",
    ("row and column exchanged", 'self.set_trait("looks_at", [y, x]', 'self.set_trait("looks_at", [x, y]'),
    ("step of another image", "self.step = min(self.step, len(self.captions[self.scene]) - 1)", "pass"),
    ("columns for rows", "wanted := (len(words), rows * columns)", "wanted := (len(words), rows * rows)"),
)

"""Bugs of one line in attnlib/course/figures/heads.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/figures/heads.py", "course/figures/test_head_grid.py",
    ("heads: off for on", "h not in off for h", "h in off for h"),
    ("heads: off heads counted from 1", "in range(self.attention.n_heads)", "in range(1, self.attention.n_heads + 1)"),
    ("heads: positions forgotten", "self.positions(self.embedding(tokens))", "self.embedding(tokens)"),
)

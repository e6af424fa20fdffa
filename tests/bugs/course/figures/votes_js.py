"""Bugs of one line in attnlib/course/figures/static/votes.js."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/figures/static/votes.js", "course/figures/test_other_weights.py",
    ("votes: not the mean of the two", "m = (x + y) / 2;", "m = x + y;"),
    ("votes: single words are no corners", "attempt(j, j, 1); }", "{} }"),
    ("votes: one bound only", "for (const bound of [low, high])", "for (const bound of [low])"),
    ("votes: the share of the other", "attempt(j, k, share);\n      }", "attempt(k, j, share);\n      }"),
    ("votes: p beyond 1", "Math.min(1, p + within)", "p + within"),
    ("votes: the last word never moves", "j = row.length - 1", "j = row.length - 2"),
    ("votes: own order is a permutation", "!alike(a, b) && ", ""),
)

"""Bugs of one line in attnlib/course/figures/static/contours.js."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/figures/static/contours.js", "course/figures/test_score_explorer.py",
    ("lines beside their level", "(level - from[2]) / (to[2] - from[2])", "(level - from[2]) / (to[2] + from[2])"),
)

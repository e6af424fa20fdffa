"""Bugs of one line in attnlib/course/figures/scores.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/figures/scores.py", "course/figures/test_score_explorer.py",
    ("first word to the right", "math.pi * (S - 1 - j) / (S - 1)", "math.pi * j / (S - 1)",
     "test_a_query_to_the_left_asks_for_the_first_word"),
)

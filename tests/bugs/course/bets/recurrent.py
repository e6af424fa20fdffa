"""Bugs of one line in attnlib/course/bets/recurrent.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/bets/recurrent.py", "course/test_bets.py",
    ("greedy is shown as a beam", '**start | {"beams": 5}', '**start | {"beams": 1}', "test_translating"),
    ("another word of the text is changed", '"word": 1, "becomes"', '"word": 3, "becomes"'),
)

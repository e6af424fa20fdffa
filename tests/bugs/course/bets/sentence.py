"""Bugs of one line in attnlib/course/bets/sentence.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/bets/sentence.py", "course/test_bets.py",
    ("the row of another word is shown", '{"step": 1}', '{"step": 2}'),
    ("a row that is not even", '{"step": 0}', '{"step": 3}'),
    ("a weight that is not its own", "It gives 0.06", "It gives 0.07"),
)

"""Bugs of one line in attnlib/course/bets/learning.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/bets/learning.py", "course/test_bets_learned.py",
    ("the same order twice", 'models = ["self-attention", "self-attention, no positions"]',
     'models = ["self-attention, no positions", "self-attention"]', "test_order[32]"),
    ("one vector is the same model", '"models": ["none", "additive"]', '"models": ["additive", "additive"]',
     "test_one_vector[32]"),
    ("scaled dot is first", '**start | {"models": ["dot", "scaled dot"]', '**start | {"models": ["scaled dot", "dot"]',
     "test_born[32]"),
    ("a trait that is not there", '{"mask": False,', '{"masked": False,'),
)

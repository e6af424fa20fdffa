"""Bugs of one line in attnlib/course/bets/learning.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/bets/learning.py", "course/test_bets_learned.py",
    ("the same order twice", 'models = ["self-attention", "self-attention, no positions"]',
     'models = ["self-attention, no positions", "self-attention"]'),
    ("one vector is the same model", '"models": ["none", "additive"]', '"models": ["additive", "additive"]'),
    ("scaled dot is first", '**start | {"models": ["dot", "scaled dot"]', '**start | {"models": ["scaled dot", "dot"]'),
    ("a trait that is not there", '{"mask": False,', '{"masked": False,'),
)

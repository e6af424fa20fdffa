"""Bugs of one line in attnlib/data/by_hand.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "data/by_hand.py", "data/test_by_hand.py",
    ("the target alone names a pair", 'f"{source}\\t{target}"', 'f"{target}"'),
    ("notes go to the pairs in their order", "yield pairs[name], note",
     "yield pairs.pop(next(iter(pairs))), note"),
    ("the first word of the note is lost", 'name, _, note = line.partition(" ")', 'name, *_, note = line.split(" ")'),
    ("a note about a stranger is left out", "raise DataError(", "continue\n            raise DataError("),
)

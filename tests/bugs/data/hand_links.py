"""Bugs of one line in attnlib/data/hand_links.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "data/hand_links.py", "data/test_hand_links.py",
    ("sure links are not possible", "sure, sure | possible))", "sure, possible))"),
    ("hand links (source, target)", "frozenset((int(i), int(j))", "frozenset((int(j), int(i))"),
)

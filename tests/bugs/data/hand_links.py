"""Bugs of one line in attnlib/data/hand_links.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "data/hand_links.py", "data/test_hand_links.py",
    ("sure links are not possible", "sure, sure | possible))", "sure, possible))",
     "test_every_link_lies_inside_its_sentences_and_what_is_the_same_in_both_is_linked"),
    ("hand links (source, target)", "frozenset((int(i), int(j))", "frozenset((int(j), int(i))",
     "test_every_link_lies_inside_its_sentences_and_what_is_the_same_in_both_is_linked"),
)

"""Bugs of one line in attnlib/checks/copying.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "checks/copying.py", "test_checks.py",
    ("a word copied from one place", "for j in places[w]]", "for j in places[w][:1]]"),
    ("words from elsewhere", "not strangers,", "True,"),
    ("any number of words", "len(given) == 60,", "given,"),
    ("the share that was copied", "share = p * said / P", "share = (1 - p) * copied / P"),
    ("a gate that is not a number", "not slope.isnan().any(),", "True,"),
    ("a small number in P unseen", "want.clamp(min=0)", "want.clamp(max=0)"),
    ("a wrong gate left as it is", "same(slope, want),", "True,"),
)

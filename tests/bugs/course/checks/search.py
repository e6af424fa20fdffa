"""Bugs of one line in attnlib/course/checks/search.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/checks/search.py", "course/test_checks.py",
    ("rows of k words", "flat // total.shape[1]", "flat // len(total)"),
    ("parents of anybody", "torch.equal(got[1].long(), parent) and torch.equal(got[2].long(), word),", "True,"),
    ("an ended beam goes on", "right = torch.where(ended.unsqueeze(1), kept, total)", "right = total"),
    ("length penalty as a power of n", "(5 + m) / (5 + n)\n", "m / n\n"),
)

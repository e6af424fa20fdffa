"""Bugs of one line in attnlib/checks/search.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "checks/search.py", "test_checks.py",
    ("rows of k words", "flat // total.shape[1]", "flat // len(total)"),
    ("parents of anybody", "torch.equal(got[1].long(), parent) and torch.equal(got[2].long(), word),", "True,"),
    ("an ended beam goes on", "right = torch.where(ended.unsqueeze(1), kept, total)", "right = total"),
    ("padding that pays back", "paid = kept + torch.where(", "paid = kept - torch.where("),
    ("one beam ended in all cases", "(4, 6, [True, False, True, True]), ", ""),
    ("length penalty as a power of n", "(5 + m) / (5 + n)\n", "m / n\n"),
    ("a penalty that is a reward", "not given < 0", "True"),
)

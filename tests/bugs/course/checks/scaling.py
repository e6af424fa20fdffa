"""Bugs of one line in attnlib/course/checks/scaling.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/checks/scaling.py", "course/test_checks.py",
    ("a merge from the left only", "_all(word[::-1],", "_all(word,"),
    ("the plain average", "(share * g).sum(0) / t.sum(),\n            {", "g.mean(0),\n            {"),
    ("no batch without a token", "t = draw(3, 4), torch.tensor([3, 0, 5])", "t = draw(3, 4), torch.tensor([3, 1, 5])"),
)

"""Bugs of one line in attnlib/checks/scaling.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "checks/scaling.py", "test_checks.py",
    ("pairs that overlap", "sum(map(len, given)) <= len(word),", "True,"),
    ("merges in any order", "kind=list), _all(word, merges)", "kind=list), _any_order(word, merges)"),
    ("one merge each", "and times:\n", "and times > 98:\n"),
    ("a merge from the left only", "_all(word[::-1],", "_all(word,"),
    ("the plain average", "(share * g).sum(0) / t.sum(),\n            {", "g.mean(0),\n            {"),
    ("no batch without a token", "t = draw(3, 4), torch.tensor([3, 0, 5])", "t = draw(3, 4), torch.tensor([3, 1, 5])"),
    ("a batch without a token speaks", "torch.allclose(given, (3 * g[0] + 5 * g[2]) / 8),", "True,"),
)

"""Bugs of one line in attnlib/course/checks/attention.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/checks/attention.py", "course/test_checks.py",
    ("padded on the right", "i >= j >= T - int(k)", "i >= j and j < int(k)"),
    ("blank rows are not tried", "        m[0, -1] = False\n", "        m[0, -1] = True\n"),
    ("masks need not broadcast",
     "[(s, m[:, :1]) for s, m in partly] + [(s, m[:1]) for s, m in partly] + [(s, m[0, 0]) for s, m in partly]",
     "partly"),
    ("small scores only", "low + [(s.where(m, 200), m) for s, m in partly]", "partly"),
    ("the absent have small scores only",
     "            (torch.tensor([60.0, -60.0, -58.0]), torch.tensor([0, 2, 1])),\n"
     "            (torch.tensor([-70.0, 50.0]), torch.tensor([1, 0])),\n",
     "            (torch.tensor([1.0, -1.0, -2.0]), torch.tensor([0, 2, 1])),\n"),
)

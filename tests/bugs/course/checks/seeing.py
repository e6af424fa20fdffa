"""Bugs of one line in attnlib/course/checks/seeing.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/checks/seeing.py", "course/test_checks.py",
    ("one look must not be flat", "T == 1 or not same(w, torch.full", "not same(w, torch.full"),
    ("above turned over", '        ("an", "apple", "above", "a", "star"),',
     '        ("a", "star", "above", "an", "apple"),'),
    ("p rises by ε", "want = torch.logit(p - eps) / z", "want = torch.logit(p + eps) / z"),
)

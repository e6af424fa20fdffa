"""Bugs of one line in attnlib/checks/seeing.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "checks/seeing.py", "test_checks.py",
    ("a region looked at twice", "((w > 1e-6).sum(0) == 1).all(),", "True,"),
    ("any totals", "same(total, torch.full_like(total, T / M)),", "True,"),
    ("one look must not be flat", "T == 1 or not same(w, torch.full", "not same(w, torch.full"),
    ("weights below 0", "need(w.min() >= 0,", "need(w.min() >= -9,"),
    ("above turned over",
     '        ("an", "apple", "above", "a", "star"),', '        ("a", "star", "above", "an", "apple"),'),
    ("two things and no others", "read(left) == tuple(", "True or read(left) == tuple("),
    ("sizes tell everything", 'there are.": 6 - 3 - 1,', 'there are.": 4,'),
    ("constants untried", "kind=int) == 5,", "kind=int) >= 0,"),
    ("p rises by ε", "want = torch.logit(p - eps) / z", "want = torch.logit(p + eps) / z"),
    ("weight below 0", "not (given < 0).any(),", "True,"),
)

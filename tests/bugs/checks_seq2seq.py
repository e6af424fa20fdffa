"""Bugs of one line in attnlib/checks/seq2seq.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "checks/seq2seq.py", "test_checks.py",
    ("a past with the present in it", "causal_mask(5, earlier=4, itself=False)", "causal_mask(5, earlier=4)"),
    ("gradient of the first context untried", "not slope.isnan().any()", "True"),
    ("a mask of numbers", "mask.dtype == torch.bool", "True"),
    ("one window for all", "[(4, 0, 3), (3, 6, 1), (2, 2, 50)]", "[]"),
    ("one sentence of three goes unnamed", "set(one_by_one)", "set(one_by_one[1:])"),
    ("no alignment is perfect", "ask_plain(answer, *perfect), 0.0,", "0.0, 0.0,"),
    ("columns moved for rows", "*((0, k) if columns else (k, 0))", "*((k, 0) if columns else (0, k))"),
    ("labels always too low", "[(1, 2), (-2, -1), (3, 1), (0, -2), (-1, 2)]", "[(1, 2)]"),
)

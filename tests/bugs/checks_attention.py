"""Bugs of one line in attnlib/checks/attention.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "checks/attention.py", "test_checks.py",
    ("no word is missing", "[1, 2, 0, 4, 1]", "[1, 2, 1, 4, 1]"),
    ("scores of 1 are large", "big = ask_tensor(answer, 1000 * e, n, shape=e.shape)",
     "big = ask_tensor(answer, e, n, shape=e.shape) * 0 + (1000 * e + n.log()).softmax(-1)"),
    ("a query of any length", "need(abs(q.norm() - 1) < 1e-3,", "need(q.norm() > 1e-3,"),
    ("more numbers than keys", "[(4, 7), (2, 3), (6, 6)]", "[(4, 7), (2, 3), (5, 6)]"),
    ("a mask of numbers will do", "given.dtype == torch.bool,", "given.dtype != torch.float32,"),
    ("padded on the right", "real, early = right.flip(-1)", "real, early = right"),
    ("a gradient of NaN is told off as any", 'need(not given.isnan().any(), "a weight', 'need(True, "a weight'),
    ("a single row of weights only", "[(5,), (3, 4), (2, 3, 5)]", "[(5,)]"),
    ("blank rows are not tried", "    mask[0, 1] = False\n", "    mask[0, 1] = True\n"),
    ("gradient of a blank row", "[slope] = gradients(answer, scores, mask)", "slope = scores"),
    ("masks need not broadcast", "padding = mask[:, :1]", "padding = mask"),
    ("hidden keys may keep a little", "not weights[~mask].any()", "weights[~mask].max() < 0.1"),
)

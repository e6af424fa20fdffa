"""Bugs of one line in attnlib/figures/alignments.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "figures/alignments.py", "figures/test_alignment_view.py",
    ("packed with the columns first", "(weights * UNIT).round().astype",
     "(weights.swapaxes(-1, -2) * UNIT).round().astype"),
    ("packed big-endian", '.astype("<u2")', '.astype(">u2")'),
    ("a limit of twice as much", "array in arrays) * 8 // 3", "array in arrays) * 4 // 3"),
    ("first head for the mean", "return heads.mean(0) if", "return heads[0] if"),
    ("later columns first", "((0, S - step.shape[-1]),)", "((S - step.shape[-1], 0),)"),
    ("heads for sentences", "return array[batch or 0]", "return array[:, batch or 0]"),
    ("a row counted for each link", "total = weights[sorted(set(i.tolist()))].sum()", "total = weights[i].sum()"),
    ("links of all rows", "weights[i, j].sum().item() / total", "weights[:, j].sum().item() / total"),
    ("who looks at nothing looks at gold", " and weights[i, best[i]].item() > 0 for", " for"),
)

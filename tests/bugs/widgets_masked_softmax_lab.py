"""Bugs of one line in the masked softmax that can be broken by hand."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "widgets/masked_versions.py", "test_masked_softmax_lab.py",
    ("lab: sums in 16 bits", "wide = numbers if numbers.dtype == torch.float64 else numbers.float()", "wide = numbers"),
    ("lab: the maximum of the whole batch", "x.amax(-1, keepdim=True)", "x.amax()"),
    ("lab: shift the wrong way round", "x.amax(-1, keepdim=True) if shift else x)",
     "x.amax(-1, keepdim=True) if not shift else x)"),
    ("lab: fill where it is visible", "torch.where(mask, e, torch.tensor(number).to(e.dtype))",
     "torch.where(mask, torch.tensor(number).to(e.dtype), e)"),
    ("lab: both is after", "softmax(e * mask) * mask", "softmax(e) * mask"),
    ("lab: both without its small number", "(added(weights) + 1e-13)", "added(weights)"),
    ("lab: a refused row is zeros", "torch.where(seen, torch.nan, torch.zeros_like(row))", "torch.zeros_like(row)"),
    ("lab: right for the scores before they were stored", "right_weights(e, mask), mask, fill",
     "right_weights(raw, mask), mask, fill"),
    ("lab: a leak is what is visible", "row[~seen].sum()", "row[seen].sum()"),
    ("lab: wrong weights pass", "<= tolerance).all() else", "<= tolerance).any() else"),
) + of(
    "widgets/masked_softmax_lab.py", "test_masked_softmax_lab.py",
    ("lab: offset before scale", "numbers(\"scores\", self.scores) * self.scale + self.offset",
     "(numbers(\"scores\", self.scores) + self.offset) * self.scale"),
    ("lab: the first row is open", "B - 1 if row is None else row", "0 if row is None else row"),
    ("lab: lengths beyond S", "(tensor < 0) | (tensor > S)", "(tensor < 0) | (tensor > S + 1)"),
    ("lab: the picture hatches what is visible", "if j >= self.lengths[b]:", "if j < self.lengths[b]:"),
    ("lab: scores may change their shape", "if self.start and (shape", "if not self.start and (shape"),
)

"""Bugs of one line in attnlib/course/figures/masked_versions.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/figures/masked_versions.py", "course/figures/test_masked_softmax_lab.py",
    ("lab: sums in 16 bits", "wide = numbers if numbers.dtype == torch.float64 else numbers.float()", "wide = numbers"),
    ("lab: the maximum of the whole batch", "x.amax(-1, keepdim=True)", "x.amax()"),
    ("lab: fill where it is visible", "torch.where(mask, e, torch.tensor(number).to(e.dtype))",
     "torch.where(mask, torch.tensor(number).to(e.dtype), e)"),
    ("lab: both without its small number", "(added(weights) + 1e-13)", "added(weights)"),
)

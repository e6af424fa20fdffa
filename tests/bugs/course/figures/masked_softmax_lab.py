"""Bugs of one line in attnlib/course/figures/masked_softmax_lab.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/figures/masked_softmax_lab.py", "course/figures/test_masked_softmax_lab.py",
    ("lab: offset before scale", "torch.float64) * self.scale + self.offset",
     "torch.float64).add(self.offset) * self.scale"),
    ("lab: the first row is open", "B - 1 if row is None else row", "0 if row is None else row"),
    ("lab: the picture hatches what is visible", "if j >= self.lengths[b]:", "if j < self.lengths[b]:"),
)

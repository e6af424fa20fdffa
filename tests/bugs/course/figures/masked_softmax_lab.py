"""Bugs of one line in attnlib/course/figures/masked_softmax_lab.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/figures/masked_softmax_lab.py", "course/figures/test_masked_softmax_lab.py",
    ("lab: offset before scale", "torch.float64) * self.scale + self.offset",
     "torch.float64).add(self.offset) * self.scale",
     "test_scores_are_multiplied_before_the_offset_is_added_and_each_row_has_its_own_largest"),
    ("lab: the first row is open", "B - 1 if row is None else row", "0 if row is None else row", "test_every_story"),
    ("lab: the picture hatches what is visible", "if j >= self.lengths[b]:", "if j < self.lengths[b]:",
     "test_the_picture_shows_the_state"),
)

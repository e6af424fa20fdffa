"""Bugs of one line in attnlib/course/figures/masked_versions.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/figures/masked_versions.py", "course/figures/test_masked_softmax_lab.py",
    ("lab: sums in 16 bits", "wide = numbers if numbers.dtype == torch.float64 else numbers.float()", "wide = numbers",
     "test_sums_of_16_bits_are_kept_in_32"),
    ("lab: the maximum of the whole batch", "x.amax(-1, keepdim=True)", "x.amax()",
     "test_scores_are_multiplied_before_the_offset_is_added_and_each_row_has_its_own_largest"),
    ("lab: fill where it is visible", "torch.where(mask, e, torch.tensor(number).to(e.dtype))",
     "torch.where(mask, torch.tensor(number).to(e.dtype), e)",
     "test_python_and_javascript_agree_on_weights_and_verdicts"),
    ("lab: both without its small number", "(added(weights) + 1e-13)", "added(weights)",
     "test_python_and_javascript_agree_on_weights_and_verdicts"),
)

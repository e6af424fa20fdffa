"""Bugs of one line in attnlib/course/figures/copier.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/figures/copier.py", "course/figures/test_copy_gate.py",
    ("gate held at the step after", "held(len(written.words))", "held(len(written.own))"),
    ("gate held before its σ", "torch.full_like(gate, p_gen).logit()", "torch.full_like(gate, p_gen)"),
    ("share of a word: copying weighted by p_gen", "(1 - p_gen) * copy_distribution", "p_gen * copy_distribution"),
)

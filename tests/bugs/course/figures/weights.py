"""Bugs of one line in attnlib/course/figures/weights.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/figures/weights.py", "course/figures/test_weights.py",
    ("weights: big-endian", 'numpy().astype("<f2")', 'numpy().astype(">f2")'),
    ("weights: loaded ones still learn", "model.eval().requires_grad_(False)", "model.eval()"),
) + of(
    "course/figures/weights.py", "course/figures/test_attention_surgery.py",
    ("weights: strange ones are ignored", "strict=True, assign", "strict=False, assign"),
)

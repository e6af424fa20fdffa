"""Bugs of one line in attnlib/course/figures/weights.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/figures/weights.py", "course/figures/test_weights.py",
    ("weights: big-endian", 'numpy().astype("<f2")', 'numpy().astype(">f2")'),
    ("weights: a step with too many digits", "math.ceil(1024 * mantissa)", "math.ceil(2**30 * mantissa) / 2**20"),
    ("weights: rounded down", "(weight / scale).round() * scale", "(weight / scale).floor() * scale"),
    ("weights: nothing but zeros is divided by zero", "exponent - 10) or 1.0", "exponent - 10)"),
    ("weights: infinity is sent", "if not near.isfinite().all():", "if near.isnan().any():"),
    ("weights: loaded ones still learn", "model.eval().requires_grad_(False)", "model.eval()"),
) + of(
    "course/figures/weights.py", "course/figures/test_attention_surgery.py",
    ("weights: strange ones are ignored", "strict=True, assign", "strict=False, assign", "test_bad_input_is_refused"),
)

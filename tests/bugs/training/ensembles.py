"""Bugs of one line in attnlib/training/ensembles.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "training/ensembles.py", "training/test_ensembles.py",
    ("GRU: the gates in another order", "(x_r, x_z, x_n), (s_r, s_z, s_n) =", "(x_z, x_r, x_n), (s_z, s_r, s_n) ="),
    ("GRU: r outside the product with the state", "torch.sigmoid(x_r + s_r) * s_n", "s_n"),
    ("GRU: z and 1 - z", "(n + torch.sigmoid(x_z + s_z) * (h - n),)", "(h + torch.sigmoid(x_z + s_z) * (n - h),)"),
    ("LSTM: candidate before the output gate", "i, f, g, o =", "i, f, o, g ="),
    ("the state that is given is not read", "if state is None:", "if not self.is_cell:"),
    ("no bias of the state", "now[0] @ W_h.mT + b_h", "now[0] @ W_h.mT"),
    ("a second layer is left out", "num_layers=1, bidirectional=False", "bidirectional=False"),
)

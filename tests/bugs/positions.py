"""Bugs of one line in attnlib/positions.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "positions.py", "core/test_devices.py",
    ("positions on the CPU", "dtype=exact, device=x.device).unsqueeze(1)", "dtype=exact).unsqueeze(1)",
     "test_models_compute_and_learn_there"),
) + of(
    "positions.py", "core/test_positions.py",
    ("waves: sine and cosine swapped", "[angles.sin(), angles.cos()]", "[angles.cos(), angles.sin()]"),
    ("waves: not interleaved", "dim=-1).flatten(1)  # interleaved", "dim=1).flatten(1)"),
    ("waves: n for 2n", "(even / self.d_model)", "(even / 2 / self.d_model)"),
    ("waves: 1000", "10_000 **", "1_000 **"),
    ("waves: start ignored", "torch.arange(start, start + x.shape[1],", "torch.arange(x.shape[1],"),
    ("waves: counted from 1", "torch.arange(start, start + x.shape[1],",
     "torch.arange(start + 1, start + x.shape[1] + 1,"),
    ("waves: counted in half precision", "torch.promote_types(x.dtype, torch.float32)", "x.dtype"),
    ("waves: type of the vectors lost", ".to(x.dtype)", ""),
    ("waves: odd widths", "waves[:, : self.d_model]", "waves"),
    ("waves: written into the vectors", "return x + waves[:, : self.d_model].to(x.dtype)",
     "return x.data.add_(waves[:, : self.d_model].to(x.dtype))"),
    ("learned: start ignored", "return x + self.p[start:end]", "return x + self.p[: x.shape[1]]"),
    ("learned: not learned", "nn.Parameter(0.02 * torch.randn(n_positions, d_model))",
     "nn.Parameter(0.02 * torch.randn(n_positions, d_model), requires_grad=False)"),
    ("learned: last position refused", "end > len(self.p):", "end >= len(self.p):"),
)

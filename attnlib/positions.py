"""What tells a model where a token stands: added to its vector, as waves or as learned numbers."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from attnlib.validation import check_sizes, check_vectors

MOST_POSITIONS = 2**24  # float32 holds integers exactly only up to here


class SinusoidalPositions(nn.Module):
    """Add where a token stands, written in waves: nothing is learned, and no length is chosen beforehand.

    `p_t[2n] = sin(t / 10000^(2n/d))` and `p_t[2n+1] = cos(t / 10000^(2n/d))`.

    Args:
        d_model: d, width of a token's vector.

    Raises:
        ValueError: d_model is no integer of at least 1; in `forward`, x is not (B, T, d_model) of floating-point
            numbers, or a position is not in 0..2^24-1.

    Example:
        >>> SinusoidalPositions(4)(torch.zeros(1, 2, 4))
        tensor([[[0.0000, 1.0000, 0.0000, 1.0000],
                 [0.8415, 0.5403, 0.0100, 0.9999]]])

    Source: vaswani2017attention, section 3.5.
    """

    def __init__(self, d_model: int):
        super().__init__()
        check_sizes(d_model=d_model)
        self.d_model = d_model

    def forward(self, x: Float[Tensor, "B T d_model"], start: int = 0) -> Float[Tensor, "B T d_model"]:
        """`x_t + p_t` for vectors at the positions from start on."""
        check_vectors(self.d_model, x)
        if start < 0 or start + x.shape[1] > MOST_POSITIONS:
            raise ValueError(f"positions lie in 0..{MOST_POSITIONS - 1}, got {start}..{start + x.shape[1] - 1}")
        exact = torch.promote_types(x.dtype, torch.float32)  # bfloat16 holds integers exactly only up to 256
        t = torch.arange(start, start + x.shape[1], dtype=exact, device=x.device).unsqueeze(1)
        even = torch.arange(0, self.d_model, 2, dtype=exact, device=x.device)  # 2n
        angles = t / 10_000 ** (even / self.d_model)  # (T, ⌈d/2⌉)
        waves = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)  # interleaved
        return x + waves[:, : self.d_model].to(x.dtype)


class LearnedPositions(nn.Module):
    """Add where a token stands, as one learned vector per position: `x_t + p_t`.

    Args:
        n_positions: the longest text it can place.
        d_model: width of a token's vector.

    Raises:
        ValueError: a size is no integer of at least 1; in `forward`, x is not (B, T, d_model) of floating-point
            numbers, or a position is not in 0..n_positions-1.

    Example:
        >>> LearnedPositions(n_positions=8, d_model=4)(torch.zeros(1, 5, 4)).shape
        torch.Size([1, 5, 4])

    Source: vaswani2017attention, section 3.5 (found as good as the waves there).
    """

    def __init__(self, n_positions: int, d_model: int):
        super().__init__()
        check_sizes(n_positions=n_positions, d_model=d_model)
        self.p = nn.Parameter(0.02 * torch.randn(n_positions, d_model))  # small beside a token's vector

    def forward(self, x: Float[Tensor, "B T d_model"], start: int = 0) -> Float[Tensor, "B T d_model"]:
        """`x_t + p_t` for vectors at the positions from start on."""
        check_vectors(self.p.shape[1], x)
        end = start + x.shape[1]
        if start < 0 or end > len(self.p):
            raise ValueError(f"LearnedPositions knows 0..{len(self.p) - 1}, got {start}..{end - 1}")
        return x + self.p[start:end]

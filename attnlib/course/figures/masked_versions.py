"""Ways to write a masked softmax, most of them wrong, one rounded operation after the other."""

from collections.abc import Callable, Sequence
from functools import reduce

import torch
from torch import Tensor

from attnlib.attention import length_mask, masked_softmax

PRECISIONS = {name: getattr(torch, name) for name in ("float64", "float32", "float16", "bfloat16")}

Softmax = Callable[[Tensor], Tensor]


def added(numbers: Tensor) -> Tensor:
    """Σ over the last dimension, one after the other, kept; 16 bits are added in float32 and rounded at the end."""
    wide = numbers if numbers.dtype == torch.float64 else numbers.float()
    return reduce(torch.add, wide.unbind(-1)).to(numbers.dtype).unsqueeze(-1)


def softmax_with(shift: bool) -> Softmax:
    """A softmax that writes down every step in the type of its input."""

    def softmax(x: Tensor) -> Tensor:
        exp = (x - x.amax(-1, keepdim=True) if shift else x).exp()
        return exp / added(exp)

    return softmax


def fill_with(number: float):
    """`number` goes where the mask is False; what does not fit the type becomes −∞."""
    return lambda e, mask, softmax: softmax(torch.where(mask, e, torch.tensor(number).to(e.dtype)))


def after(e: Tensor, mask: Tensor, softmax: Softmax) -> Tensor:
    """Softmax over everything, then the hidden places are set to 0: the rest no longer adds up to 1."""
    return softmax(e) * mask


def after_shared(e: Tensor, mask: Tensor, softmax: Softmax) -> Tensor:
    """The same, and what is left is divided by its sum: 0/0 where nothing is left."""
    weights = softmax(e) * mask
    return weights / added(weights)


def both_shared(e: Tensor, mask: Tensor, softmax: Softmax) -> Tensor:
    """The mask multiplied into the scores and into the weights, divided by their sum and a little more."""
    weights = softmax(e * mask) * mask
    return weights / (added(weights) + 1e-13)


def ours(e: Tensor, mask: Tensor, softmax: Softmax | None = None) -> Tensor:
    """attnlib's own."""
    return masked_softmax(e, mask)


VERSIONS: dict[str, Callable[[Tensor, Tensor, Softmax], Tensor]] = {
    "-1e9": fill_with(-1e9),
    "-1e4": fill_with(-1e4),
    "-inf": fill_with(-torch.inf),
    "after": after,
    "after, shared": after_shared,
    "both, shared": both_shared,
    "ours": ours,
}
LABELS = {"-1e9": "fill with −1e9", "-1e4": "fill with −1e4", "-inf": "fill with −∞"} | {
    "after": "multiply after",
    "after, shared": "multiply after, share again",
    "both, shared": "multiply before and after, share again",
    "ours": "attnlib",
}


def right_weights(e: Tensor, mask: Tensor) -> Tensor:
    """What the weights should be for the scores as they are stored, in float64."""
    return ours(e.double(), mask)


def verdicts(weights: Tensor, right: Tensor, mask: Tensor, dtype: torch.dtype) -> list[str]:
    """One for each row of float64 weights: "ok", or the first fault that shows."""
    tolerance = max(0.01, 4 * torch.finfo(dtype).eps)
    found = []
    for row, wanted, seen in zip(weights, right, mask, strict=True):
        leak, total = row[~seen].sum().item(), row.sum().item()
        if row.isnan().any():
            found.append("NaN")
        elif leak > tolerance:
            found.append(f"leaks {leak:.2f}")
        elif abs(total - wanted.sum().item()) > tolerance:
            found.append("zeros" if total == 0 else f"sum {total:.2f}")
        else:
            found.append("ok" if ((row - wanted).abs() <= tolerance).all() else "wrong")
    return found


def outcome(
    raw: Tensor, lengths: Sequence[int], fill: str, precision: str, shift: bool
) -> tuple[list[list[float]], list[str]]:
    """What becomes of rows of scores: float64 scores (B, S) are stored, masked and made weights.

    Returns:
        Weights (B, S), and a verdict for each row.
    """
    # 16 bits are reached through float32, as everywhere in torch
    e = raw if precision == "float64" else raw.float().to(PRECISIONS[precision])
    mask = length_mask(torch.tensor(lengths), raw.shape[-1])[:, 0]  # (B, S)
    weights = VERSIONS[fill](e, mask, softmax_with(shift))
    return weights.tolist(), verdicts(weights.double(), right_weights(e, mask), mask, e.dtype)

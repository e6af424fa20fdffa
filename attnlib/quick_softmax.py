"""A masked softmax that takes little longer than a softmax, where every row has ordinary scores.

What is meant stands in `attnlib.attention.masked_softmax`, which tries this first. It cannot be had from autograd at
this price: a hidden weight would get a gradient, and from there a NaN that a loss sends back would reach the row.
"""

from collections.abc import Iterator

import torch
from jaxtyping import Bool, Float
from torch import Tensor

#: Scores that are taken at once on a processor, 512 KiB in float32: the softmax still finds them in its cache.
IN_CACHE = 2**17


def quick_softmax(scores: Float[Tensor, "*shape"], mask: Bool[Tensor, "..."]) -> Float[Tensor, "*shape"]:
    """Softmax over the visible positions of the last dimension, `softmax(scores + 0 or −∞)`.

    Nothing comes back to a hidden score, whatever is sent to its weight.

    Args:
        scores: of any floating type; not changed.
        mask: boolean, True = visible, broadcasts to the shape of scores; not checked.

    Returns:
        Weights, of the shape and type of scores. All of a row is NaN where nothing is visible, and where one of
            its scores is NaN or +∞, hidden or not.

    Example:
        >>> quick_softmax(torch.zeros(2, 3), torch.tensor([[True, True, False], [False, False, False]]))
        tensor([[0.5000, 0.5000, 0.0000],
                [   nan,    nan,    nan]])

    Source: vaswani2017attention, section 3.2.3 (−∞ before the softmax).
    """
    return QuickSoftmax.apply(scores, mask)


def has_nan(weights: Tensor) -> bool:
    """Whether a row that came out of a softmax is NaN: one bad score makes NaN of all of it, so that a column tells."""
    return weights.shape[-1] > 0 and bool(weights[..., 0].sum().isnan())


def in_parts(*tensors: Tensor) -> Iterator[tuple[Tensor, ...]]:
    """Tensors of one shape, cut alike into parts of at most `IN_CACHE` numbers, but never along a row."""
    first = tensors[0]
    if first.numel() <= IN_CACHE or first.dim() == 1:
        yield tensors
    elif at_once := IN_CACHE * len(first) // first.numel():
        yield from zip(*(x.split(at_once) for x in tensors), strict=True)
    else:  # one alone is too much
        for ones in zip(*tensors, strict=True):
            yield from in_parts(*ones)


class QuickSoftmax(torch.autograd.Function):
    """Forward and backward of `quick_softmax`."""

    @staticmethod
    def forward(scores, mask):
        """In parts on a processor, at once elsewhere."""
        added = torch.where(mask, 0.0, -torch.inf).to(scores.dtype).expand(scores.shape)
        weights = torch.empty_like(scores, memory_format=torch.contiguous_format)
        whole = (scores, added, weights)
        for part, shift, out in in_parts(*whole) if scores.device.type == "cpu" else [whole]:
            torch.softmax(part + shift, -1, out=out)
        return weights

    @staticmethod
    def setup_context(ctx, inputs, weights):
        """What the way back needs."""
        ctx.save_for_backward(weights, inputs[1])

    @staticmethod
    def backward(ctx, grad):
        """`α_j (g_j − Σ_k α_k g_k)`. Where hidden, α is 0: g counts only if it is NaN or ∞, and is left out then."""
        weights, mask = ctx.saved_tensors
        back = torch._softmax_backward_data(grad, weights, -1, weights.dtype)
        if has_nan(back):
            back = torch._softmax_backward_data(torch.where(mask, grad, 0.0), weights, -1, weights.dtype)
        return back, None

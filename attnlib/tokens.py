"""Token ids as models take them: their form is checked everywhere, their values where that costs nothing."""

import torch
from torch import Tensor

PAD, BOS, EOS = range(3)  # what fills, begins and ends a target; the same as in `attnlib.data.vocabulary`


def values_are_free(x: Tensor) -> bool:
    """Whether reading a value costs nothing: on the CPU, outside of torch.compile, torch.export and torch.func.

    Checks of values ask this first, so that a mistake is named where students work and no call waits for a GPU.
    """
    traced = torch.compiler.is_compiling() or torch._C._functorch.is_functorch_wrapped_tensor(x)
    return type(x) is Tensor and x.device.type == "cpu" and not traced


def check_token_ids(tokens: Tensor, vocab_size: int) -> None:
    """Refuse what is not a batch of token ids.

    Raises:
        ValueError: tokens are not int64 or int32 of shape (B, T) with B, T ≥ 1, or, on the CPU, an id is not in
            0..vocab_size-1.
    """
    if tokens.dim() != 2 or not tokens.numel():
        raise ValueError(f"need token ids (B, T) with at least one row and one column, got {tuple(tokens.shape)}")
    if tokens.dtype not in (torch.int64, torch.int32):
        raise ValueError(f"token ids must be int64 or int32, got {tokens.dtype}")
    if not values_are_free(tokens):
        return
    low, high = tokens.aminmax()
    if low < 0 or high >= vocab_size:
        raise ValueError(f"token ids must lie in 0..{vocab_size - 1}, got {low.item()}..{high.item()}")

"""What every part refuses, by a ValueError of one sentence: sizes, vectors and token ids that cannot be right.

Types and shapes are checked at every call, values where reading them costs nothing.
"""

import torch
from torch import Tensor


def check_sizes(**sizes: int) -> None:
    """Refuse widths and counts that are no integers of at least 1, naming each with its value."""
    if wrong := {name: size for name, size in sizes.items() if not isinstance(size, int) or size < 1}:
        raise ValueError(f"sizes must be integers of at least 1, got {wrong}")


def check_vectors(d_model: int, *vectors: Tensor) -> None:
    """Refuse what is not (B, T, d_model) of floating-point numbers, naming the shape or the type."""
    if any(x.dim() != 3 or x.shape[2] != d_model for x in vectors):
        raise ValueError(f"need vectors (B, T, {d_model}), got {', '.join(str(tuple(x.shape)) for x in vectors)}")
    if any(not x.is_floating_point() for x in vectors):
        raise ValueError(f"vectors are floating-point numbers, got {', '.join(str(x.dtype) for x in vectors)}")


def check_token_ids(tokens: Tensor, vocab_size: int) -> None:
    """Refuse what is not a batch of token ids: int64 or int32, (B, T) with B, T ≥ 1, each in 0..vocab_size-1."""
    if tokens.dim() != 2 or not tokens.numel():
        raise ValueError(f"need token ids (B, T) with at least one row and one column, got {tuple(tokens.shape)}")
    if tokens.dtype not in (torch.int64, torch.int32):
        raise ValueError(f"token ids must be int64 or int32, got {tokens.dtype}")
    if values_are_free(tokens):
        low, high = tokens.aminmax()
        if low < 0 or high >= vocab_size:
            raise ValueError(f"token ids must lie in 0..{vocab_size - 1}, got {low.item()}..{high.item()}")


def values_are_free(x: Tensor) -> bool:
    """Whether reading a value costs nothing: on the CPU, outside of torch.compile, torch.export and torch.func.

    Checks of values ask this first, so that a mistake is named where students work and no call waits for a GPU.
    """
    traced = torch.compiler.is_compiling() or torch._C._functorch.is_functorch_wrapped_tensor(x)
    return type(x) is Tensor and x.device.type == "cpu" and not traced

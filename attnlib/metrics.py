"""How good is a model, in numbers that padding cannot touch."""

import math

import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor


def cross_entropy(
    logits: Float[Tensor, "... V"], targets: Int[Tensor, "..."], mask: Bool[Tensor, "..."] | None = None
) -> tuple[Float[Tensor, ""], int]:
    """Mean of `-log ŷ[target]` over the real tokens, and how many there are.

    Args:
        logits: scores before the softmax.
        targets: the token that came.
        mask: True = a real token, False = padding; None counts all.

    Returns:
        (nats per token, number of tokens it is the mean of).

    Raises:
        ValueError: shapes differ, or no token is real.
    """
    if logits.shape[:-1] != targets.shape:
        raise ValueError(
            f"need logits (..., V) and targets (...), got {tuple(logits.shape)} and {tuple(targets.shape)}"
        )
    if mask is not None:
        if mask.shape != targets.shape:
            raise ValueError(f"mask {tuple(mask.shape)} and targets {tuple(targets.shape)} differ in shape")
        logits, targets = logits[mask], targets[mask]
    if not targets.numel():
        raise ValueError(f"there is no token to judge: targets {tuple(targets.shape)}")
    return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1)), targets.numel()


def perplexity(nats_per_token: float) -> float:
    """`exp(nats per token)`: the number of equally likely tokens that would be as hard to guess among."""
    return math.exp(nats_per_token)

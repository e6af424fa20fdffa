"""Less memory for a little more time: what belongs to pairs is computed for a few queries at once."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor
from torch.utils.checkpoint import checkpoint

#: Numbers of pairs that are taken at once: 32 MiB in float32. A gradient holds three times as much.
AT_ONCE = 2**23


def few_at_once(
    of_pairs: Callable[[Tensor, Tensor], Tensor],
    query: Float[Tensor, "... T d_query"],
    key: Float[Tensor, "... S d_key"],
    width: int,
) -> Float[Tensor, "... T S"]:
    """`of_pairs(query, key)`, where every pair has numbers of its own; the same scores, the same gradients.

    Up to `AT_ONCE` numbers, that is one call. Beyond, the queries are taken a few at a time, and the gradient computes
    the numbers of a few pairs once more instead of keeping those of all.

    Args:
        of_pairs: scores (..., T, S) of all pairs.
        query: what is taken a few at a time.
        key: what is taken as a whole.
        width: how many numbers a pair has of its own.

    Example:
        >>> query, key = torch.ones(1, 3, 2), torch.ones(1, 4, 2)
        >>> few_at_once(lambda query, key: query @ key.mT, query, key, width=2).shape
        torch.Size([1, 3, 4])

    Source: chen2016training, section 3 (recomputation).
    """
    numbers = query[..., 0].numel() * key.shape[-2] * width
    if numbers <= AT_ONCE:
        return of_pairs(query, key)
    parts = query.split(max(1, query.shape[-2] * AT_ONCE // numbers), dim=-2)
    return torch.cat([checkpoint(of_pairs, part, key, use_reentrant=False) for part in parts], dim=-2)

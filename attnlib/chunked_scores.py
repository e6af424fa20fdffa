"""Scores of many pairs in memory that does not grow with their number."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor
from torch.utils.checkpoint import checkpoint

#: Numbers of a chunk, 32 MiB in float32. A gradient holds three times as much.
CHUNK_NUMEL = 2**23


def chunked_scores(
    pairwise_scores: Callable[[Tensor, Tensor], Tensor],
    query: Float[Tensor, "... T d_query"],
    key: Float[Tensor, "... S d_key"],
    width: int,
) -> Float[Tensor, "... T S"]:
    """`pairwise_scores(query, key)` in chunks of queries, where every pair has a vector of its own, of this width.

    Without chunks, memory grows with T·S·width. Up to `CHUNK_NUMEL` numbers there is one chunk. Beyond, each chunk is
    computed again in the backward pass, so that only one is held at a time. Values and gradients are the same.

    Source: chen2016training, section 3 (recomputation).
    """
    numbers = query[..., 0].numel() * key.shape[-2] * width
    if numbers <= CHUNK_NUMEL:
        return pairwise_scores(query, key)
    parts = query.split(max(1, query.shape[-2] * CHUNK_NUMEL // numbers), dim=-2)
    return torch.cat([checkpoint(pairwise_scores, part, key, use_reentrant=False) for part in parts], dim=-2)

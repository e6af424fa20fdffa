"""Masks, the one softmax of the package, and attention itself."""

import math
from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from attnlib.scores import DotScore, GeneralScore, ScaledDotScore, Score, make_score
from attnlib.validation import values_are_free


def masked_softmax(scores: Tensor, mask: Tensor | None = None) -> Float[Tensor, "..."]:
    """Softmax over the visible positions of the last dimension.

    `weights_ij = exp(scores_ij) / Σ_visible exp(scores_ij')`, of the type of scores, and exactly 0 where the mask is
    False, whatever the score there. A row in which nothing is visible has weights 0 and passes a gradient of 0 back.
    A visible NaN makes NaN of its row, as it does in `torch.softmax`.

    Args:
        scores: (..., S), usually (..., T, S), of any floating type; not changed.
        mask: boolean, True = may attend: (S,), or as many dimensions as scores, of size 1 where all are alike.

    Raises:
        ValueError: the scores are not floating-point numbers, or the mask is not boolean or does not fit them.

    Example:
        >>> masked_softmax(torch.zeros(1, 4), torch.tensor([True, True, False, False]))
        tensor([[0.5000, 0.5000, 0.0000, 0.0000]])

    Source: vaswani2017attention, section 3.2.3 (illegal connections are set to −∞ before the softmax).
    """
    if not scores.is_floating_point():
        raise ValueError(f"scores must be floating-point numbers, got {scores.dtype}")
    if mask is None:
        return scores.softmax(-1)
    check_mask(mask, scores.shape)
    blank = ~mask.any(-1, keepdim=True)  # −∞ in a whole row would be 0 / 0
    scores = torch.where(mask, scores, torch.where(blank, 0.0, -torch.inf).to(scores.dtype))
    return torch.where(mask, scores.softmax(-1), 0.0)


def check_mask(mask: Tensor, shape: tuple[int, ...]) -> None:
    """Refuse a mask that is not boolean, does not broadcast to the shape, or does not say which dimensions it has."""
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
        found = f"{mask.dtype} of shape {tuple(mask.shape)}" if isinstance(mask, Tensor) else type(mask).__name__
        raise ValueError(f"a mask is a boolean tensor, True = may attend; got {found} for scores {tuple(shape)}")
    sizes = zip(reversed(mask.shape), reversed(shape), strict=False)
    shapes = f"mask {tuple(mask.shape)} and scores {tuple(shape)}"
    if 1 < mask.dim() < len(shape):  # where B = T, (B, S) would be taken for (T, S)
        cure = "give a mask (B, S) as mask[:, None], a mask (T, S) as mask[None]"
        raise ValueError(f"a mask has as many dimensions as the scores: {shapes}; {cure}")
    if mask.dim() > len(shape) or any(m not in (1, s) for m, s in sizes):
        raise ValueError(f"the mask does not broadcast to the scores: {shapes}")


def length_mask(lengths: Tensor, S: int) -> Bool[Tensor, "B #T S"]:
    """Which of S positions are real, given how many are: True = real.

    Args:
        lengths: integers in 0..S: (B,), one per sentence, or (B, T), one per query; then the result is (B, T, S).

    Raises:
        ValueError: lengths are not integers, not of shape (B,) or (B, T), or, on the CPU, outside 0..S.

    Example:
        >>> length_mask(torch.tensor([2, 0]), 3).tolist()
        [[[True, True, False]], [[False, False, False]]]
    """
    if lengths.dim() not in (1, 2):
        raise ValueError(f"lengths must have shape (B,) or (B, T), got {tuple(lengths.shape)}")
    if lengths.is_floating_point() or lengths.is_complex() or lengths.dtype == torch.bool:
        raise ValueError(f"lengths must be integers, got {lengths.dtype}")
    lengths = lengths.long()  # a byte cannot be compared with 256
    if values_are_free(lengths) and lengths.numel() and (lengths.min() < 0 or lengths.max() > S):
        raise ValueError(f"lengths must lie in 0..{S}, got {lengths.tolist()}")
    if lengths.dim() == 1:
        lengths = lengths.unsqueeze(-1)  # (B, 1)
    return torch.arange(S, device=lengths.device) < lengths.unsqueeze(-1)


def causal_mask(
    T: int, past: int = 0, include_self: bool = True, device: torch.device | None = None
) -> Bool[Tensor, "T {past}+T"]:
    """Position i may attend to itself and to what came before: True where `j ≤ i + past`.

    Args:
        T: number of queries.
        past: positions carried over from before the first query; they are the first columns.
        include_self: False leaves strictly what came before, `j < i + past`.

    Raises:
        ValueError: T or past is negative.

    Example:
        >>> causal_mask(2, past=1).int()
        tensor([[1, 1, 0],
                [1, 1, 1]], dtype=torch.int32)

    Source: vaswani2017attention, section 3.2.3.
    """
    if T < 0 or past < 0:
        raise ValueError(f"T and past must be at least 0, got {T} and {past}")
    everything = torch.ones(T, past + T, dtype=torch.bool, device=device)
    return everything.tril(past if include_self else past - 1)


class AttentionOutput(NamedTuple):
    """What attention returns."""

    context: Float[Tensor, "... T d_value"]  # c_i = Σ_j α_ij v_j
    weights: Float[Tensor, "... T S"] | None  # α_ij, before dropout; None where nobody wanted them


class Attention(nn.Module):
    """Score, normalise, average: `c_i = Σ_j α_ij v_j` with `α_i = softmax(a(q_i, k_·))`.

    Args:
        score: how queries are compared with keys: a name of `SCORES`, or a score that is made already.
        d_query, d_key: widths; a score that is made has them.
        dropout: share of the weights set to 0 in training (the returned weights are those before it).

    Raises:
        ValueError: no such name, or widths that are missing or not those of the score.

    Example:
        >>> attention = Attention("dot", d_query=2, d_key=2)
        >>> query, key = torch.tensor([[[9.0, 0.0]]]), torch.tensor([[[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]]])
        >>> attention(query, key, value=key).weights.round(decimals=3).tolist()
        [[[1.0, 0.0, 0.0]]]

    Source: bahdanau2015neural, equations 5 and 6.
    """

    def __init__(self, score: str | Score, d_query: int | None = None, d_key: int | None = None, dropout: float = 0.0):
        super().__init__()
        self.score, self.dropout = make_score(score, d_query, d_key), nn.Dropout(dropout)

    def forward(
        self,
        query: Float[Tensor, "... T d_query"],
        key: Float[Tensor, "... S d_key"] | None,
        value: Float[Tensor, "... S_v d_value"],
        mask: Tensor | None = None,
        need_weights: bool = True,
        projected_key: Float[Tensor, "... S d_projected"] | None = None,
    ) -> AttentionOutput:
        """Attend from every query to every visible key.

        Args:
            mask: boolean, True = may attend, (..., T, S), of size 1 where all are alike; see `masked_softmax`.
            need_weights: False returns the context alone. The dot products then take torch's fused kernel,
                which never writes the scores down; hidden positions must hold numbers whose products are finite.
            projected_key: the keys after `score.project_key`, in place of `key`, for a caller with many queries.

        Raises:
            ValueError: widths, other dimensions or types do not fit, not one value per key, or as in `masked_softmax`.
        """
        self.score.check(query, key, projected_key)
        keys = self.score.project_key(key) if projected_key is None else projected_key
        if keys.shape[:-1] != value.shape[:-1] or query.shape[:-2] != value.shape[:-2]:
            shapes = f"query {tuple(query.shape)}, key {tuple(keys.shape)}, value {tuple(value.shape)}"
            raise ValueError(f"query, key and value need the same leading dimensions, one value per key; got {shapes}")
        if value.dtype != query.dtype and not torch.is_autocast_enabled(query.device.type):
            raise ValueError(f"query and value must have one type, got {query.dtype} and {value.dtype}")
        if not need_weights and type(self.score) in FUSED:  # a subclass may compare in another way
            scale, dropout = FUSED[type(self.score)](self.score.d_key), self.dropout.p if self.training else 0.0
            return AttentionOutput(context=fused(query, keys, value, mask, scale, dropout), weights=None)
        weights = masked_softmax(self.score(query, projected_key=keys), mask)  # (..., T, S)
        return AttentionOutput(context=self.dropout(weights) @ value, weights=weights if need_weights else None)


#: Scores that are `scale · q · k`, and their scale as a function of the width.
FUSED = {DotScore: lambda d: 1.0, ScaledDotScore: lambda d: 1 / math.sqrt(d), GeneralScore: lambda d: 1.0}


def fused(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, scale: float, dropout: float
) -> Float[Tensor, "... T d_value"]:
    """`Σ_j softmax(scale · q · k_·)_j v_j` in one kernel; a query that sees nothing gets 0, as ever."""
    if mask is not None:
        check_mask(mask, (*query.shape[:-1], key.shape[-2]))
        mask = mask[(None,) * (query.dim() - mask.dim())]
    if query.dim() == 3:  # the fast kernels know (B, H, T, d) only
        mask = None if mask is None else mask.unsqueeze(1)
        return fused(*(x.unsqueeze(1) for x in (query, key, value)), mask, scale, dropout).squeeze(1)
    if mask is None:
        return F.scaled_dot_product_attention(query, key, value, dropout_p=dropout, scale=scale)
    # scaled_dot_product_attention is undefined for a fully masked row: unmask it, then zero its context
    blank = ~mask.any(-1, keepdim=True)
    context = F.scaled_dot_product_attention(query, key, value, attn_mask=mask | blank, dropout_p=dropout, scale=scale)
    return torch.where(blank, 0.0, context)

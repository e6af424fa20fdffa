"""Masks, the one softmax of the package, and attention itself."""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from attnlib.scores import Score


def masked_softmax(scores: Tensor, mask: Tensor | None = None) -> Float[Tensor, "..."]:
    """Softmax over the visible positions of the last dimension.

    `weights_ij = exp(scores_ij) / Σ_visible exp(scores_ij')`, and exactly 0 where the mask is False.
    A row in which nothing is visible has nothing to distribute: all its weights are 0, and so is
    the gradient that flows into it.

    Args:
        scores: (..., S), usually (..., T, S), of any floating type; not changed.
        mask: boolean, True = may attend, broadcasts to the shape of scores.

    Returns:
        Weights, of the shape and type of scores. Every row with something visible sums to 1.

    Raises:
        ValueError: the scores are not floating-point numbers, or the mask is not boolean or does not
            broadcast to the scores.

    Example:
        >>> masked_softmax(torch.zeros(1, 4), torch.tensor([True, True, False, False]))
        tensor([[0.5000, 0.5000, 0.0000, 0.0000]])

    Source: vaswani2017attention, section 3.2.3 (illegal connections are set to −∞ before the softmax).
    """
    if not scores.is_floating_point():
        raise ValueError(f"scores must be floating-point numbers, got {scores.dtype}")
    if mask is None:
        return scores.softmax(-1)
    check_mask(mask, scores)
    hidden = ~mask
    blank = ~mask.any(-1, keepdim=True)  # rows with nothing visible
    # −∞ removes a position in every precision. A row of nothing but −∞ would be
    # 0/0, so blank rows go through the softmax as zeros; the last line empties
    # them again, in value and in gradient.
    scores = scores.masked_fill(hidden, -torch.inf).masked_fill(blank, 0.0)
    return scores.softmax(-1).masked_fill(hidden, 0.0)


def check_mask(mask: Tensor, scores: Tensor) -> None:
    """Refuse a mask that does not mean one yes or no for every score."""
    shapes = f"mask {tuple(mask.shape)} and scores {tuple(scores.shape)}"
    if mask.dtype != torch.bool:
        raise ValueError(f"a mask is boolean, True = may attend; got {mask.dtype} with {shapes}")
    try:
        fits = torch.broadcast_shapes(mask.shape, scores.shape) == scores.shape
    except RuntimeError:
        fits = False
    if not fits:
        raise ValueError(f"the mask does not broadcast to the scores: {shapes}")


def length_mask(lengths: Tensor, S: int) -> Bool[Tensor, "B #T S"]:
    """Which of S positions are real, given how many are.

    Args:
        lengths: valid lengths, integers in 0..S: (B,), one per sentence, or (B, T), one per query.
        S: the padded length.

    Returns:
        (B, 1, S) for one length per sentence, (B, T, S) for one per query. True = real.

    Raises:
        ValueError: lengths are not integers, not of shape (B,) or (B, T), or outside 0..S.

    Example:
        >>> length_mask(torch.tensor([2, 0]), 3).int()
        tensor([[[1, 1, 0]],
        <BLANKLINE>
                [[0, 0, 0]]], dtype=torch.int32)
    """
    if lengths.dim() not in (1, 2):
        raise ValueError(f"lengths must have shape (B,) or (B, T), got {tuple(lengths.shape)}")
    if lengths.is_floating_point() or lengths.is_complex() or lengths.dtype == torch.bool:
        raise ValueError(f"lengths must be integers, got {lengths.dtype}")
    if lengths.numel() and (lengths.min() < 0 or lengths.max() > S):
        raise ValueError(f"lengths must lie in 0..{S}, got {lengths.tolist()}")
    if lengths.dim() == 1:
        lengths = lengths.unsqueeze(-1)  # (B, 1)
    return torch.arange(S, device=lengths.device) < lengths.unsqueeze(-1)


def causal_mask(T: int, device: torch.device | None = None) -> Bool[Tensor, "T T"]:
    """Position i may attend to itself and to what came before: True where j ≤ i.

    Example:
        >>> causal_mask(3).int()
        tensor([[1, 0, 0],
                [1, 1, 0],
                [1, 1, 1]], dtype=torch.int32)

    Source: vaswani2017attention, section 3.2.3.
    """
    return torch.ones(T, T, dtype=torch.bool, device=device).tril()


class Attended(NamedTuple):
    """What attention returns."""

    context: Float[Tensor, "... T d_value"]  # c_i = Σ_j α_ij v_j
    weights: Float[Tensor, "... T S"]  # α_ij, before dropout


class Attention(nn.Module):
    """Score, normalise, average: `c_i = Σ_j α_ij v_j` with `α_i = softmax(a(q_i, k_·))`.

    Args:
        score: how queries are compared with keys.
        dropout: share of the weights set to 0 in training (the returned weights are those before it).

    Source: bahdanau2015neural, equations 5 and 6.
    """

    def __init__(self, score: Score, dropout: float = 0.0):
        super().__init__()
        self.score, self.dropout = score, nn.Dropout(dropout)

    def forward(
        self,
        query: Float[Tensor, "... T d_query"],
        key: Float[Tensor, "... S d_key"],
        value: Float[Tensor, "... S_v d_value"],
        mask: Tensor | None = None,
    ) -> Attended:
        """Attend from every query to every visible key.

        Args:
            mask: boolean, True = may attend, broadcasts to (..., T, S).

        Raises:
            ValueError: widths or leading dimensions do not fit, there is not one value per key, or
                the mask is refused by `masked_softmax`.
        """
        self.score.check(query, key)
        return self.attend(query, self.score.project_key(key), value, mask)

    def attend(self, query: Tensor, projected_key: Tensor, value: Tensor, mask: Tensor | None = None) -> Attended:
        """`forward` for a caller that has projected the keys already, once for all its queries."""
        if projected_key.shape[:-1] != value.shape[:-1] or query.shape[:-2] != value.shape[:-2]:
            raise ValueError(
                "query, key and value must share their leading dimensions, with one value per key; "
                f"got query {tuple(query.shape)}, key {tuple(projected_key.shape)}, value {tuple(value.shape)}"
            )
        weights = masked_softmax(self.score.compare(query, projected_key), mask)  # (..., T, S)
        return Attended(context=self.dropout(weights) @ value, weights=weights)

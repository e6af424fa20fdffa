"""Masks, the one softmax of the package, and attention itself."""

import math
from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from attnlib.quick_softmax import has_nan, quick_softmax
from attnlib.scores import DotScore, GeneralScore, ScaledDotScore, Score

#: Scores from which `quick_softmax` is the quicker way: below, its 0.1 ms of Python weigh more than what it saves.
MANY = 2**14


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
        ValueError: the scores are not floating-point numbers, a visible one is NaN or +∞ (or a whole row of
            them −∞), or the mask is not boolean or does not broadcast to the scores.

    Example:
        >>> masked_softmax(torch.zeros(1, 4), torch.tensor([True, True, False, False]))
        tensor([[0.5000, 0.5000, 0.0000, 0.0000]])

    Source: vaswani2017attention, section 3.2.3 (illegal connections are set to −∞ before the softmax).
    """
    if not scores.is_floating_point():
        raise ValueError(f"scores must be floating-point numbers, got {scores.dtype}")
    if mask is None:
        weights = scores.softmax(-1)
        check_weights(weights, scores)
        return weights
    check_mask(mask, scores.shape)
    if scores.numel() >= MANY:
        weights = quick_softmax(scores, mask)
        if not has_nan(weights):  # else a row sees nothing, or NaN stands somewhere
            return weights
    # Choose, and do not add: −∞ removes a position in every precision, whatever stands there.
    # A blank row gets zeros first; the last line empties it.
    blank = ~mask.any(-1, keepdim=True)
    chosen = torch.where(mask, scores, torch.where(blank, 0.0, -torch.inf).to(scores.dtype))
    weights = chosen.softmax(-1)
    check_weights(weights, chosen)
    return torch.where(mask, weights, 0.0)


def check_mask(mask: Tensor, shape: tuple[int, ...]) -> None:
    """Refuse a mask that does not mean one yes or no for every score of this shape.

    Raises:
        ValueError: the mask is not boolean, or does not broadcast to the shape.
    """
    shapes = f"mask {tuple(mask.shape)} and scores {tuple(shape)}"
    if mask.dtype != torch.bool:
        raise ValueError(f"a mask is boolean, True = may attend; got {mask.dtype} with {shapes}")
    try:
        mask.expand(shape)
    except RuntimeError as error:
        raise ValueError(f"the mask does not broadcast to the scores: {shapes}") from error


def check_weights(weights: Tensor, scores: Tensor) -> None:
    """Refuse what came out of a softmax as NaN, and say what went in.

    Raises:
        ValueError: a row of weights is NaN.
    """
    if not has_nan(weights):
        return
    broken = weights[..., 0].isnan()
    raise ValueError(
        f"{broken.sum()} of {broken.numel()} rows of the scores {tuple(scores.shape)} have no softmax: where visible, "
        f"{scores.isnan().sum()} are NaN and {scores.isposinf().sum()} are +∞ (nor may all of a row be −∞)"
    )


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


def causal_mask(
    T: int, earlier: int = 0, itself: bool = True, device: torch.device | None = None
) -> Bool[Tensor, "T {earlier}+T"]:
    """Position i may attend to itself and to what came before: True where `j ≤ i + earlier`.

    Args:
        T: number of queries.
        earlier: positions carried over from before the first query; they are the first columns.
        itself: False leaves strictly what came before, `j < i + earlier`.
        device: where the mask is made.

    Raises:
        ValueError: T or earlier is negative.

    Example:
        >>> causal_mask(3).int()
        tensor([[1, 0, 0],
                [1, 1, 0],
                [1, 1, 1]], dtype=torch.int32)
        >>> causal_mask(2, earlier=1, itself=False).int()
        tensor([[1, 0, 0],
                [1, 1, 0]], dtype=torch.int32)

    Source: vaswani2017attention, section 3.2.3.
    """
    if T < 0 or earlier < 0:
        raise ValueError(f"T and earlier must be at least 0, got {T} and {earlier}")
    everything = torch.ones(T, earlier + T, dtype=torch.bool, device=device)
    return everything.tril(earlier if itself else earlier - 1)


class Attended(NamedTuple):
    """What attention returns."""

    context: Float[Tensor, "... T d_value"]  # c_i = Σ_j α_ij v_j
    weights: Float[Tensor, "... T S"] | None  # α_ij, before dropout; None where nobody wanted them


class Attention(nn.Module):
    """Score, normalise, average: `c_i = Σ_j α_ij v_j` with `α_i = softmax(a(q_i, k_·))`.

    Args:
        score: how queries are compared with keys.
        dropout: share of the weights set to 0 in training (the returned weights are those before it).

    Example:
        >>> attention = Attention(ScaledDotScore(d_query=4, d_key=4))
        >>> query, key, value = torch.randn(2, 3, 4), torch.randn(2, 5, 4), torch.randn(2, 5, 7)
        >>> context, weights = attention(query, key, value, length_mask(torch.tensor([5, 2]), 5))
        >>> context.shape, weights.shape
        (torch.Size([2, 3, 7]), torch.Size([2, 3, 5]))

    Example:
        >>> attention = Attention(SCORES["dot"](d_query=2, d_key=2))
        >>> query, key = torch.tensor([[[9.0, 0.0]]]), torch.tensor([[[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]]])
        >>> attention(query, key, value=key).weights.round(decimals=3).tolist()
        [[[1.0, 0.0, 0.0]]]

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
        need_weights: bool = True,
    ) -> Attended:
        """Attend from every query to every visible key.

        Args:
            mask: boolean, True = may attend, broadcasts to (..., T, S).
            need_weights: False returns the context alone. The dot products then take torch's fused kernel,
                which never writes the scores down: a NaN among them is not refused but goes on into the
                context, and hidden positions must hold finite numbers.

        Raises:
            ValueError: widths or leading dimensions do not fit, there is not one value per key, or
                the scores or the mask are refused by `masked_softmax`.
        """
        self.score.check(query, key)
        return self.attend(query, self.score.project_key(key), value, mask, need_weights)

    def attend(
        self,
        query: Tensor,
        projected_key: Tensor,
        value: Tensor,
        mask: Tensor | None = None,
        need_weights: bool = True,
    ) -> Attended:
        """`forward` for a caller that has projected the keys already, once for all its queries."""
        if projected_key.shape[:-1] != value.shape[:-1] or query.shape[:-2] != value.shape[:-2]:
            raise ValueError(
                "query, key and value must share their leading dimensions, with one value per key; "
                f"got query {tuple(query.shape)}, key {tuple(projected_key.shape)}, value {tuple(value.shape)}"
            )
        if not need_weights and type(self.score) in FUSED:  # a subclass may compare in another way
            scale, dropout = FUSED[type(self.score)](self.score.d_key), self.dropout.p if self.training else 0.0
            return Attended(context=fused(query, projected_key, value, mask, scale, dropout), weights=None)
        weights = masked_softmax(self.score.compare(query, projected_key), mask)  # (..., T, S)
        return Attended(context=self.dropout(weights) @ value, weights=weights if need_weights else None)


#: Scores that are `scale · q · k`, and their scale as a function of the width.
FUSED = {DotScore: lambda d: 1.0, ScaledDotScore: lambda d: 1 / math.sqrt(d), GeneralScore: lambda d: 1.0}


def fused(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, scale: float, dropout: float
) -> Float[Tensor, "... T d_value"]:
    """`Σ_j softmax(scale · q · k_·)_j v_j` in one kernel; a query that sees nothing gets 0, as ever."""
    if mask is not None:
        check_mask(mask, (*query.shape[:-1], key.shape[-2]))
        mask = torch.atleast_2d(mask)
    if query.dim() == 3:  # the fast kernels know (B, H, T, d) only
        mask = mask.unsqueeze(1) if mask is not None and mask.dim() == 3 else mask
        return fused(*(x.unsqueeze(1) for x in (query, key, value)), mask, scale, dropout).squeeze(1)
    options = {"dropout_p": dropout, "scale": scale}
    if mask is None:
        return F.scaled_dot_product_attention(query, key, value, **options)
    blank = ~mask.any(-1, keepdim=True)  # torch promises nothing for them: they see all, then nothing of it is kept
    context = F.scaled_dot_product_attention(query, key, value, attn_mask=mask | blank, **options)
    return torch.where(blank, 0.0, context)

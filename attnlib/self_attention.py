"""A text that attends to itself, with one head or with several."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from attnlib.attention import Attention, AttentionOutput
from attnlib.scores import Score
from attnlib.validation import check_sizes, check_vectors


class SelfAttention(nn.Module):
    """One head: every token is query, key and value at once.

    `c_i = Σ_j α_ij W_v x_j` with `α_i = softmax(a(W_q x_i, W_k x_·))`. Without a mask it cannot tell positions
    apart: permute the tokens, and the contexts come out permuted.

    Args:
        d_model: width of a token's vector.
        d_head: width of queries, keys and values; d_model if not given.
        score, dropout: as in `Attention`.

    Raises:
        ValueError: a width is no integer of at least 1, or the score is refused by `Attention`; in `forward`, x is not
            (..., T, d_model), or the mask does not fit.

    Example:
        >>> SelfAttention(d_model=6, d_head=2)(torch.randn(1, 5, 6)).context.shape
        torch.Size([1, 5, 2])

    Source: vaswani2017attention, section 3.2.3.
    """

    def __init__(
        self, d_model: int, d_head: int | None = None, score: str | Score = "scaled_dot", dropout: float = 0.0
    ):
        super().__init__()
        d_head = d_model if d_head is None else d_head
        check_sizes(d_model=d_model, d_head=d_head)
        self.W_q = nn.Linear(d_model, d_head, bias=False)
        self.W_k = nn.Linear(d_model, d_head, bias=False)
        self.W_v = nn.Linear(d_model, d_head, bias=False)
        self.attention = Attention(score, d_head, d_head, dropout=dropout)

    def forward(
        self, x: Float[Tensor, "... T d_model"], mask: Tensor | None = None, need_weights: bool = True
    ) -> AttentionOutput:
        """Attend from every token to every visible token: context (..., T, d_head) and weights (..., T, T).

        mask and need_weights are those of `Attention.forward`, with S = T.
        """
        if x.dim() < 2 or x.shape[-1] != self.W_q.in_features:
            raise ValueError(f"need x (..., T, {self.W_q.in_features}), got {tuple(x.shape)}")
        return self.attention(self.W_q(x), self.W_k(x), self.W_v(x), mask, need_weights)


class MultiHeadAttention(nn.Module):
    """Several heads side by side, each in a space of its own, and what they found put together.

    `head_h = Attention(W_q^h q, W_k^h k, W_v^h v)` with the scaled dot product, and the context is
    `W_o [head_1; …; head_H]`. The H matrices of a kind are kept in one: rows h·d_head … are those of head h.

    Args:
        d_model: width of a token's vector.
        n_heads: H; each has the width d_head = d_model / H.
        dropout: share of the weights set to 0 in training.
        bias: give W_q, W_k, W_v and W_o a bias.

    Raises:
        ValueError: d_model or n_heads is no integer of at least 1, or n_heads does not divide d_model.

    Example:
        >>> x = torch.randn(1, 5, 6)
        >>> MultiHeadAttention(d_model=6, n_heads=2)(x, x, x).weights.shape
        torch.Size([1, 2, 5, 5])

    Source: vaswani2017attention, section 3.2.2.
    """

    def __init__(self, d_model: int, n_heads: int, dropout: float = 0.0, bias: bool = True):
        super().__init__()
        check_sizes(d_model=d_model, n_heads=n_heads)
        if d_model % n_heads:
            raise ValueError(f"d_model must be a multiple of n_heads, got d_model={d_model} and n_heads={n_heads}")
        self.n_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model, bias)
        self.W_k = nn.Linear(d_model, d_model, bias)
        self.W_v = nn.Linear(d_model, d_model, bias)
        self.W_o = nn.Linear(d_model, d_model, bias)
        self.attention = Attention("scaled_dot", d_model // n_heads, d_model // n_heads, dropout=dropout)

    def forward(
        self,
        query: Float[Tensor, "B T d_model"],
        key: Float[Tensor, "B S d_model"],
        value: Float[Tensor, "B S_v d_model"],
        mask: Tensor | None = None,
        need_weights: bool = True,
        heads: Bool[Tensor, " H"] | None = None,
    ) -> AttentionOutput:
        """Attend with every head: context (B, T, d_model) and the weights of each head, (B, H, T, S).

        Args:
            mask, need_weights: as in `Attention.forward`; the mask is (B, T, S), for all heads, or (B, H, T, S).
            heads: False switches a head off: its query becomes 0, so that it attends alike to all it may see.

        Raises:
            ValueError: an input is not (B, ·, d_model), heads is not boolean (H,), or as in `Attention.forward`.
        """
        check_vectors(self.W_q.in_features, query, key, value)
        q, k, v = (self.split(W(x)) for W, x in ((self.W_q, query), (self.W_k, key), (self.W_v, value)))
        if heads is not None:
            if heads.dtype != torch.bool or heads.shape != (self.n_heads,):
                raise ValueError(f"heads must be boolean ({self.n_heads},), got {heads.dtype} {tuple(heads.shape)}")
            q = torch.where(heads[:, None, None], q, 0.0)
        if mask is not None and mask.dim() == 3:
            mask = mask.unsqueeze(1)  # (B, 1, T, S)
        context, weights = self.attention(q, k, v, mask, need_weights)  # (B, H, T, d_head), (B, H, T, S)
        return AttentionOutput(context=self.W_o(context.transpose(1, 2).flatten(2)), weights=weights)

    def split(self, x: Float[Tensor, "B T d_model"]) -> Float[Tensor, "B H T d_head"]:
        """Each head's share of a vector, heads before positions."""
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

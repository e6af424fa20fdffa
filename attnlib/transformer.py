"""The pre-norm Transformer: a block, and a language model of several."""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from attnlib.attention import causal_mask, length_mask
from attnlib.language_models import LMOutput
from attnlib.positions import LearnedPositions, SinusoidalPositions, check_vectors
from attnlib.self_attention import MultiHeadAttention
from attnlib.tokens import check_token_ids


class BlockOutput(NamedTuple):
    """What a block returns."""

    hidden: Float[Tensor, "B T d_model"]  # x with what both steps have added
    weights: Float[Tensor, "B H T T"] | None  # of each head; None where nobody wanted them


class TransformerBlock(nn.Module):
    """Tokens look at each other, then each thinks for itself; both steps only add to what is there.

    `x ← x + MultiHead(LN(x))`, then `x ← x + W_2 ReLU(W_1 LN(x) + b_1) + b_2`. The norm stands before each step
    (pre-norm), so that the way from the last layer to the first is free.

    Args:
        d_model: width of a token's vector.
        n_heads: heads of attention.
        d_ff: width of the hidden layer of the second step.
        dropout: share set to 0 in training, of the weights, of the hidden layer and of what each step adds.

    Raises:
        ValueError: d_model is not a multiple of n_heads.

    Example:
        >>> x = torch.randn(1, 5, 6)
        >>> x, weights = TransformerBlock(d_model=6, n_heads=2, d_ff=24)(x, causal_mask(5))
        >>> x.shape, weights.shape
        (torch.Size([1, 5, 6]), torch.Size([1, 2, 5, 5]))

    Source: xiong2020layer, figure 1b (pre-norm); vaswani2017attention, equation 2; ba2016layer (LN).
    """

    def __init__(self, d_model: int, n_heads: int, d_ff: int, dropout: float = 0.0):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.W_1, self.W_2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self,
        x: Float[Tensor, "B T d_model"],
        mask: Tensor | None = None,
        need_weights: bool = True,
        heads: Bool[Tensor, " H"] | None = None,
    ) -> BlockOutput:
        """One layer.

        Args:
            x: one vector per token.
            mask, need_weights, heads: as in `MultiHeadAttention`.

        Raises:
            ValueError: x is not (B, T, d_model), or the mask, heads or scores are refused by `MultiHeadAttention`.
        """
        check_vectors(self.norm_1.normalized_shape[0], x)
        normed = self.norm_1(x)
        context, weights = self.attention(normed, normed, normed, mask, need_weights, heads)
        x = x + self.dropout(context)
        hidden = self.dropout(torch.relu(self.W_1(self.norm_2(x))))  # (B, T, d_ff)
        return BlockOutput(x + self.dropout(self.W_2(hidden)), weights)


POSITIONS = ("sinusoidal", "learned", "none")


class TransformerLM(nn.Module):
    """A language model of Transformer blocks: `ŷ_t = softmax(W LN(x_t) + b)`, x_t after the last block.

    With `causal=False` every token sees the whole text: then it labels tokens, it cannot predict the next.

    Args:
        vocab_size: V, number of different tokens.
        d_model: width of a token's vector.
        n_heads: heads per layer.
        n_layers: blocks; 0 leaves a model that sees the token alone.
        d_ff: width of a block's hidden layer; 4 d_model if not given.
        dropout: share set to 0 in training, of the embedding and in the blocks.
        positions: "sinusoidal", "learned", or "none" (then only the causal mask knows an order).
        n_positions: the longest text, where positions are learned.
        causal: a token sees itself and what came before.

    Raises:
        ValueError: unknown positions, n_layers < 0, or d_model is not a multiple of n_heads.

    Example:
        >>> model = TransformerLM(vocab_size=5, d_model=6, n_heads=2, n_layers=3)
        >>> output = model(torch.tensor([[0, 1, 2, 3]]))
        >>> output.logits.shape, output.weights.shape
        (torch.Size([1, 4, 5]), torch.Size([1, 3, 2, 4, 4]))

    Source: vaswani2017attention, section 3; xiong2020layer, figure 1b.
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        n_heads: int,
        n_layers: int,
        d_ff: int | None = None,
        dropout: float = 0.0,
        positions: str = "sinusoidal",
        n_positions: int = 512,
        causal: bool = True,
    ):
        super().__init__()
        if positions not in POSITIONS:
            raise ValueError(f"unknown positions {positions!r}, known are {', '.join(POSITIONS)}")
        if n_layers < 0:
            raise ValueError(f"n_layers must be at least 0, got {n_layers}")
        self.embedding, self.dropout = nn.Embedding(vocab_size, d_model), nn.Dropout(dropout)
        self.positions = {
            "sinusoidal": lambda: SinusoidalPositions(d_model),
            "learned": lambda: LearnedPositions(n_positions, d_model),
            "none": nn.Identity,
        }[positions]()
        d_ff = 4 * d_model if d_ff is None else d_ff
        self.blocks = nn.ModuleList(TransformerBlock(d_model, n_heads, d_ff, dropout) for _ in range(n_layers))
        self.norm, self.W = nn.LayerNorm(d_model), nn.Linear(d_model, vocab_size)
        self.n_heads, self.causal = n_heads, causal

    def forward(
        self,
        tokens: Int[Tensor, "B T"],
        lengths: Int[Tensor, " B"] | None = None,
        need_weights: bool = True,
        heads: Bool[Tensor, "n_layers H"] | None = None,
    ) -> LMOutput:
        """Read texts, all positions at once.

        Args:
            tokens: ids in 0..V-1, padded with any of them.
            lengths: real tokens of each text; None where all are real. Padding is seen by nobody.
            need_weights: False leaves the weights out and is faster.
            heads: False switches a head off, as in `MultiHeadAttention`.

        Returns:
            logits; states, the LN(x_t) they are read from; weights (B, n_layers, H, T, T).

        Raises:
            ValueError: tokens are not (B, T) with B, T ≥ 1, an id is not in the vocabulary, or lengths, heads
                or the number of positions do not fit.
        """
        check_token_ids(tokens, self.embedding.num_embeddings)
        (B, T), shape = tokens.shape, (len(self.blocks), self.n_heads)
        if lengths is not None and lengths.shape != (B,):
            raise ValueError(f"need one length per text, got lengths {tuple(lengths.shape)}, tokens {(B, T)}")
        if heads is not None and heads.shape != shape:
            raise ValueError(f"heads must be boolean {shape}, (n_layers, H), got {tuple(heads.shape)}")
        mask = causal_mask(T, device=tokens.device) if self.causal else None
        if lengths is not None:
            real = length_mask(lengths, T)  # (B, 1, T)
            mask = real if mask is None else mask & real
        x = self.dropout(self.positions(self.embedding(tokens)))  # (B, T, d_model)
        weights = []
        for n, block in enumerate(self.blocks):
            x, found = block(x, mask, need_weights, None if heads is None else heads[n])
            weights.append(found)
        states = self.norm(x)
        found = torch.stack(weights, dim=1) if need_weights and weights else None
        return LMOutput(logits=self.W(states), states=states, weights=found)

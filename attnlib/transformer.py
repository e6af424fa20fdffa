"""The pre-norm Transformer: a block, and a language model of several."""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from attnlib.attention import causal_mask, length_mask
from attnlib.language_models import LMOutput
from attnlib.positions import LearnedPositions, SinusoidalPositions
from attnlib.self_attention import MultiHeadAttention
from attnlib.validation import check_sizes, check_token_ids, check_vectors


class BlockOutput(NamedTuple):
    """What a block returns."""

    hidden: Float[Tensor, "B T d_model"]  # x with what both steps have added
    weights: Float[Tensor, "B H T T"] | None  # of each head; None where nobody wanted them


class TransformerBlock(nn.Module):
    """Self-attention, then a network for each position alone, each added to what came in.

    `x ← x + MultiHead(LN(x))`, then `x ← x + W_2 ReLU(W_1 LN(x) + b_1) + b_2`. The norm stands before each step
    (pre-norm), so that from the last layer to the first there is a path of sums alone.

    Args:
        d_model, n_heads: as in `MultiHeadAttention`.
        d_ff: width of the hidden layer of the second step.
        dropout: share set to 0 in training, of the weights, of the hidden layer and of what each step adds.

    Raises:
        ValueError: a size is no integer of at least 1, or n_heads does not divide d_model; in `forward`, x is not
            (B, T, d_model) of floating-point numbers, or as in `MultiHeadAttention.forward`.

    Example:
        >>> TransformerBlock(d_model=6, n_heads=2, d_ff=24)(torch.randn(1, 5, 6), causal_mask(5)[None]).hidden.shape
        torch.Size([1, 5, 6])

    Source: xiong2020layer, figure 1b (pre-norm); vaswani2017attention, equation 2; ba2016layer (LN).
    """

    def __init__(self, d_model: int, n_heads: int, d_ff: int, dropout: float = 0.0):
        super().__init__()
        check_sizes(d_ff=d_ff)
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
        """One layer; mask, need_weights and heads as in `MultiHeadAttention.forward`."""
        check_vectors(self.norm_1.normalized_shape[0], x)
        normed = self.norm_1(x)
        context, weights = self.attention(normed, normed, normed, mask, need_weights, heads)
        x = x + self.dropout(context)
        hidden = self.dropout(torch.relu(self.W_1(self.norm_2(x))))  # (B, T, d_ff)
        return BlockOutput(x + self.dropout(self.W_2(hidden)), weights)


class TransformerLM(nn.Module):
    """A language model of Transformer blocks: `ŷ_t = softmax(W LN(x_t) + b)`, x_t after the last block.

    Args:
        vocab_size: V, number of different tokens.
        d_model, n_heads, d_ff: as in `TransformerBlock`; d_ff is 4 d_model if not given.
        n_layers: blocks; 0 leaves a model that sees the token alone.
        dropout: share set to 0 in training, of the embedding and in the blocks.
        positions: "sinusoidal", "learned", or "none" (then only the causal mask knows an order).
        n_positions: the longest text, where positions are learned.

    Raises:
        ValueError: a size is out of range, n_heads does not divide d_model, or there are no such positions.

    Example:
        >>> TransformerLM(vocab_size=5, d_model=6, n_heads=2, n_layers=3)(torch.tensor([[0, 1, 2, 3]])).weights.shape
        torch.Size([1, 3, 2, 4, 4])

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
    ):
        super().__init__()
        check_sizes(vocab_size=vocab_size, d_model=d_model)
        if n_layers < 0:
            raise ValueError(f"n_layers must be at least 0, got {n_layers}")
        kinds = {
            "sinusoidal": lambda: SinusoidalPositions(d_model),
            "learned": lambda: LearnedPositions(n_positions, d_model),
            "none": nn.Identity,
        }
        if positions not in kinds:
            raise ValueError(f"unknown positions {positions!r}, known are {', '.join(kinds)}")
        self.embedding, self.dropout = nn.Embedding(vocab_size, d_model), nn.Dropout(dropout)
        self.positions = kinds[positions]()
        d_ff = 4 * d_model if d_ff is None else d_ff
        self.blocks = nn.ModuleList(TransformerBlock(d_model, n_heads, d_ff, dropout) for _ in range(n_layers))
        self.norm, self.W = nn.LayerNorm(d_model), nn.Linear(d_model, vocab_size)
        self.n_heads = n_heads

    def forward(
        self,
        tokens: Int[Tensor, "B T"],
        lengths: Int[Tensor, " B"] | None = None,
        need_weights: bool = True,
        heads: Bool[Tensor, "n_layers H"] | None = None,
    ) -> LMOutput:
        """Read texts, all positions at once.

        Args:
            tokens: ids in 0..V-1, int64 or int32, padded with any of them; on a GPU their values are not checked.
            lengths: real tokens of each text; None where all are real. Padding is seen by nobody.
            need_weights: False leaves the weights out and is faster.
            heads: False switches a head off, as in `MultiHeadAttention`.

        Returns:
            logits; states, the LN(x_t) they are read from; weights (B, n_layers, H, T, T).

        Raises:
            ValueError: tokens or lengths are refused as by `Encoder.forward`, or heads is not boolean (n_layers, H).
        """
        check_token_ids(tokens, self.embedding.num_embeddings)
        (B, T), shape = tokens.shape, (len(self.blocks), self.n_heads)
        if lengths is not None and lengths.shape != (B,):
            raise ValueError(f"need one length per text, got lengths {tuple(lengths.shape)}, tokens {(B, T)}")
        if heads is not None and heads.shape != shape:
            raise ValueError(f"heads must be boolean {shape}, (n_layers, H), got {tuple(heads.shape)}")
        mask = causal_mask(T, device=tokens.device)[None]  # (1, T, T)
        if lengths is not None:
            mask = mask & length_mask(lengths, T)  # (B, T, T)
        x = self.dropout(self.positions(self.embedding(tokens)))  # (B, T, d_model)
        weights = []
        for n, block in enumerate(self.blocks):
            x, found = block(x, mask, need_weights, None if heads is None else heads[n])
            weights.append(found)
        states = self.norm(x)
        found = torch.stack(weights, dim=1) if need_weights and weights else None
        return LMOutput(logits=self.W(states), states=states, weights=found)

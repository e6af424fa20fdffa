"""The pre-norm Transformer: a block, and a language model and an encoder of several."""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from attnlib.attention import causal_mask, length_mask
from attnlib.encoder import EncoderOutput
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


class Stack(nn.Module):
    """Embedding, positions, blocks and a last norm: what `TransformerLM` and `TransformerEncoder` are made of.

    Args:
        vocab_size, d_model, n_heads, n_layers, d_ff, dropout, positions, n_positions: as in `TransformerLM`.

    Raises:
        ValueError: as in `TransformerLM`.
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
        self.norm = nn.LayerNorm(d_model)

    def embed(
        self, tokens: Int[Tensor, "B T"], lengths: Int[Tensor, " B"] | None = None
    ) -> Float[Tensor, "B T d_model"]:
        """What the first block is given.

        Raises:
            ValueError: the tokens are no ids in 0..V-1, or there is not one length for each text.
        """
        check_token_ids(tokens, self.embedding.num_embeddings)
        if lengths is not None and lengths.shape != tokens.shape[:1]:
            sizes = f"lengths {tuple(lengths.shape)}, tokens {tuple(tokens.shape)}"
            raise ValueError(f"need one length per text, got {sizes}")
        return self.dropout(self.positions(self.embedding(tokens)))


class TransformerLM(Stack):
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
        super().__init__(vocab_size, d_model, n_heads, n_layers, d_ff, dropout, positions, n_positions)
        self.W, self.n_heads = nn.Linear(d_model, vocab_size), n_heads

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
        x, T, shape = self.embed(tokens, lengths), tokens.shape[1], (len(self.blocks), self.n_heads)
        if heads is not None and heads.shape != shape:
            raise ValueError(f"heads must be boolean {shape}, (n_layers, H), got {tuple(heads.shape)}")
        mask = causal_mask(T, device=tokens.device)[None]  # (1, T, T)
        if lengths is not None:
            mask = mask & length_mask(lengths, T)  # (B, T, T)
        weights = []
        for n, block in enumerate(self.blocks):
            x, found = block(x, mask, need_weights, None if heads is None else heads[n])
            weights.append(found)
        states = self.norm(x)
        found = torch.stack(weights, dim=1) if need_weights and weights else None
        return LMOutput(logits=self.W(states), states=states, weights=found)


class TransformerEncoder(Stack):
    """Transformer blocks that read a sentence for a decoder: every token looks at all tokens, before it and after it.

    `h_j = LN(x_j)`, x_j after the last block; the summary is their mean. Without positions it reads a bag: permute the
    tokens, and the annotations come out permuted.

    Args:
        vocab_size: V, number of different source tokens.
        d_model, n_heads, n_layers, d_ff, dropout, positions, n_positions: as in `TransformerLM`.

    Raises:
        ValueError: as in `TransformerLM`.

    Example:
        >>> encoder = TransformerEncoder(vocab_size=90, d_model=8, n_heads=2, n_layers=1)
        >>> encoder(torch.tensor([[5, 6, 7], [8, 9, 0]]), lengths=torch.tensor([3, 2])).annotations.shape
        torch.Size([2, 3, 8])

    Source: vaswani2017attention, section 3.1; xiong2020layer, figure 1b.
    """

    @property
    def d_annotation(self) -> int:
        """Width of an annotation, d_model."""
        return self.embedding.embedding_dim

    def forward(self, tokens: Int[Tensor, "B S"], lengths: Int[Tensor, " B"] | None = None) -> EncoderOutput:
        """Encode sentences; tokens, lengths and what is refused are those of `Encoder.forward`."""
        x, (B, S) = self.embed(tokens, lengths), tokens.shape
        known = tokens.new_full((B,), S) if lengths is None else lengths
        mask = length_mask(known, S).to(tokens.device, non_blocking=tokens.is_cuda)  # (B, 1, S)
        for block in self.blocks:
            x = block(x, mask).hidden
        annotations = torch.where(mask.mT, self.norm(x), 0.0)
        summary = annotations.sum(1) / mask.sum(-1).clamp(min=1)
        return EncoderOutput(annotations, summary, mask, tokens)

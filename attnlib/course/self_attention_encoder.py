"""An encoder of self-attention, for the decoders that stand behind a recurrent one everywhere else in the book."""

import torch
from jaxtyping import Int
from torch import Tensor, nn

from attnlib.attention import length_mask
from attnlib.encoder import EncoderOutput
from attnlib.positions import SinusoidalPositions
from attnlib.transformer import TransformerBlock
from attnlib.validation import check_sizes, check_token_ids


class SelfAttentionEncoder(nn.Module):
    """One Transformer block with one head: every token looks at all tokens, before it and after it.

    `h_j = LN(x_j)`, x_j after the block; the summary is the mean of all h_j. Without positions it reads a bag: permute
    the tokens, and the annotations come out permuted.

    Args:
        vocab_size: V, number of different source tokens.
        d_model: width of an embedding and of an annotation; the hidden layer of the block is twice as wide.
        positions: add where a token stands, in waves.

    Raises:
        ValueError: a size is no integer of at least 1.

    Example:
        >>> encoder = SelfAttentionEncoder(vocab_size=90, d_model=8)
        >>> encoder(torch.tensor([[5, 6, 7], [8, 9, 0]]), lengths=torch.tensor([3, 2])).annotations.shape
        torch.Size([2, 3, 8])

    Source: vaswani2017attention, section 3.1; xiong2020layer, figure 1b.
    """

    def __init__(self, vocab_size: int, d_model: int, positions: bool = True):
        super().__init__()
        check_sizes(vocab_size=vocab_size, d_model=d_model)
        self.embedding, self.d_annotation = nn.Embedding(vocab_size, d_model), d_model
        self.positions = SinusoidalPositions(d_model) if positions else nn.Identity()
        self.blocks = nn.ModuleList([TransformerBlock(d_model, 1, 2 * d_model)])
        self.norm = nn.LayerNorm(d_model)

    def forward(self, tokens: Int[Tensor, "B S"], lengths: Int[Tensor, " B"] | None = None) -> EncoderOutput:
        """Encode sentences; an empty one has the summary 0.

        Args:
            tokens: ids in 0..V-1, padded with any of them.
            lengths: real tokens of each sentence, in 0..S; None where all are real.

        Raises:
            ValueError: tokens are not such ids (B, S) with B, S ≥ 1, or lengths are not integers (B,) in 0..S.
        """
        check_token_ids(tokens, self.embedding.num_embeddings)
        B, S = tokens.shape
        if lengths is None:
            lengths = tokens.new_full((B,), S)
        if lengths.shape != (B,):
            raise ValueError(f"need one length per sentence, got lengths {tuple(lengths.shape)}, tokens {(B, S)}")
        mask, x = length_mask(lengths, S), self.positions(self.embedding(tokens))  # (B, 1, S), (B, S, d_model)
        for block in self.blocks:
            x = block(x, mask).hidden
        annotations = torch.where(mask.mT, self.norm(x), 0.0)
        return EncoderOutput(annotations, annotations.sum(1) / mask.sum(-1).clamp(min=1), mask, tokens)

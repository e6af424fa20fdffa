"""Read a sentence: one annotation per token, and a summary of the whole."""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from attnlib.attention import length_mask
from attnlib.validation import check_sizes, check_token_ids


class EncoderOutput(NamedTuple):
    """What an encoder hands to a decoder, of a sentence or of an image."""

    annotations: Float[Tensor, "B S d_annotation"]  # h_j, zero where padding
    summary: Float[Tensor, "B d_annotation"]  # one vector for the whole source
    mask: Bool[Tensor, "B 1 S"]  # True = a real position
    tokens: Int[Tensor, "B S"] | None  # the source as it was given, for a decoder that copies


CELLS: dict[str, type[nn.RNNBase]] = {"gru": nn.GRU, "lstm": nn.LSTM, "rnn": nn.RNN}


class Encoder(nn.Module):
    """Recurrent encoder, `h_j = RNN(x_j, h_{j-1})`, in one direction or both, `h_j = [→h_j; ←h_j]`.

    Padding reaches nothing: a sentence has the same annotations alone and in a batch. The summary is
    the state after the last real token, `→h_S`, or `[→h_S; ←h_1]` where there are two directions.

    Args:
        vocab_size, d_embed: V, number of different source tokens; width of an embedding.
        d_hidden: width of the state of one direction.
        cell: "gru", "lstm" or "rnn" (tanh).
        bidirectional: read from both ends; then d_annotation = 2 d_hidden, else d_hidden.
        dropout: share of the embedding set to 0 in training.
        unknown: the id that stands for every id from V on (see `attnlib.copying`); None refuses them.

    Raises:
        ValueError: a size is no integer of at least 1, no such cell, or unknown is not in 0..V-1.

    Example:
        >>> encoder = Encoder(vocab_size=90, d_embed=4, d_hidden=8, bidirectional=True)
        >>> encoder(torch.tensor([[5, 6, 7], [8, 9, 0]]), lengths=torch.tensor([3, 2])).annotations.shape
        torch.Size([2, 3, 16])

    Source: bahdanau2015neural, section 3.2 (annotations of a bidirectional encoder); cho2014learning (summary).
    """

    def __init__(
        self,
        vocab_size: int,
        d_embed: int,
        d_hidden: int,
        cell: str = "gru",
        bidirectional: bool = False,
        dropout: float = 0.0,
        unknown: int | None = None,
    ):
        super().__init__()
        check_sizes(vocab_size=vocab_size, d_embed=d_embed, d_hidden=d_hidden)
        if cell not in CELLS:
            raise ValueError(f"unknown cell {cell!r}, known are {', '.join(CELLS)}")
        if unknown is not None and not 0 <= unknown < vocab_size:
            raise ValueError(f"the unknown id must lie in 0..{vocab_size - 1}, got {unknown}")
        self.embedding, self.dropout = nn.Embedding(vocab_size, d_embed), nn.Dropout(dropout)
        self.rnn = CELLS[cell](d_embed, d_hidden, batch_first=True)
        self.rnn_backward = CELLS[cell](d_embed, d_hidden, batch_first=True) if bidirectional else None
        self.d_annotation = d_hidden * (2 if bidirectional else 1)
        self.vocab_size, self.unknown = vocab_size, unknown

    def forward(self, tokens: Int[Tensor, "B S"], lengths: Int[Tensor, " B"] | None = None) -> EncoderOutput:
        """Encode sentences; an empty one has the summary 0.

        Args:
            tokens: ids in 0..V-1, int64 or int32, padded with any of them; on a GPU their values are not checked.
            lengths: real tokens of each sentence, in 0..S; None where all are real.

        Raises:
            ValueError: tokens are not such ids (B, S) with B, S ≥ 1, or lengths are not integers (B,) in 0..S.
        """
        known = tokens if self.unknown is None else tokens.masked_fill(tokens >= self.vocab_size, self.unknown)
        check_token_ids(known, self.vocab_size)
        B, S = tokens.shape
        if lengths is None:
            lengths = tokens.new_full((B,), S)
        if lengths.shape != (B,):
            raise ValueError(f"need one length per sentence, got lengths {tuple(lengths.shape)}, tokens {(B, S)}")
        # Lengths come on the CPU, where they are checked; their copies do not wait for what a GPU still has to do.
        mask = length_mask(lengths, S).to(tokens.device, non_blocking=tokens.is_cuda)  # (B, 1, S)
        lengths = lengths.to(tokens.device, torch.int64, non_blocking=tokens.is_cuda).unsqueeze(1)  # (B, 1)
        embedded = self.dropout(self.embedding(known))  # (B, S, d_embed)
        # A state never sees what comes after it, so padding behind a sentence reaches none of its annotations.
        annotations = self.rnn(embedded)[0]  # (B, S, d_hidden)
        summary = at(annotations, (lengths - 1).clamp(min=0)).squeeze(1)
        if self.rnn_backward is not None:
            j = torch.arange(S, device=tokens.device)
            mirror = torch.where(j < lengths, lengths - 1 - j, j)  # (B, S): each sentence reversed, its padding left
            backward = at(self.rnn_backward(at(embedded, mirror))[0], mirror)
            summary = torch.cat([summary, backward[:, 0]], dim=-1)
            annotations = torch.cat([annotations, backward], dim=-1)
        annotations = torch.where(mask.mT, annotations, 0.0)
        summary = torch.where(lengths > 0, summary, 0.0)
        return EncoderOutput(annotations, summary, mask, tokens)


def at(x: Float[Tensor, "B S d"], index: Int[Tensor, "B n"]) -> Float[Tensor, "B n d"]:
    """The vectors at these positions of each sentence."""
    return x.gather(1, index.unsqueeze(-1).expand(-1, -1, x.shape[-1]))

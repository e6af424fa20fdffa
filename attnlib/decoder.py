"""What every decoder shares: how it begins, what it may look at, and what it returns.

A decoder reads tokens and says what follows each, `(tokens, memory, state) → Decoded`. Reading T tokens at once, as
in training, and one at a time, as in writing, is the same computation.
"""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from attnlib.attention import Attended, Attention
from attnlib.encoder import Encoded, check_tokens
from attnlib.scores import Score, make_score

State = tuple[Tensor, ...]  # what a decoder carries from step to step, each tensor with the batch first


class Memory(NamedTuple):
    """What a decoder may look at in every step; all of it is computed once per source."""

    annotations: Float[Tensor, "B S d_annotation"]
    summary: Float[Tensor, "B d_annotation"]
    mask: Bool[Tensor, "B 1 S"]
    projected_key: Float[Tensor, "B S d_projected"] | None  # None where there is no attention
    tokens: Int[Tensor, "B S"] | None  # for a decoder that copies

    def rows(self, index: Int[Tensor, " N"]) -> "Memory":
        """The memories of some sentences, in the order of an index; a sentence may occur again and again."""
        return Memory(*(field if field is None else field[index] for field in self))


class Decoded(NamedTuple):
    """What a decoder returns for the tokens it has read."""

    logits: Float[Tensor, "B T V"]  # of the token after each
    weights: Float[Tensor, "B T S"] | None  # α_ij, None without attention
    states: Float[Tensor, "B T d_hidden"]  # s_i
    contexts: Float[Tensor, "B T d_annotation"] | None  # c_i, None without attention
    carry: State  # to go on from here
    p_gen: Float[Tensor, "B T"] | None = None  # chance to say and not to copy; None where nothing is copied


class Decoder(nn.Module):
    """What the decoders share: embeddings, the first state `s_0 = tanh(W_s summary)`, and memory.

    Args:
        vocab_size: V, number of different target tokens.
        d_embed: width of an embedding.
        d_annotation: width of an annotation, the encoder's `d_annotation`.
        d_hidden: width of the state.
        score: how states are compared with annotations, a name of `SCORES` or a `Score`; None has no attention.
        dropout: share of the embedding set to 0 in training.

    Example:
        A subclass says how it reads; this one knows no order and no source:

        >>> class Forgetful(Decoder):
        ...     def read(self, embedded, memory, state):
        ...         return Decoded(embedded, None, embedded, None, carry=state)
        >>> decoder = Forgetful(vocab_size=7, d_embed=7, d_annotation=5, d_hidden=6)
        >>> memory, state = decoder.begin(Encoder(9, 4, 5)(torch.tensor([[1, 2, 3]])))
        >>> decoder(torch.tensor([[1, 5]]), memory, state).logits.shape
        torch.Size([1, 2, 7])

    Source: bahdanau2015neural, appendix A.2.2 (s_0; there from the backward state alone).
    """

    def __init__(
        self,
        vocab_size: int,
        d_embed: int,
        d_annotation: int,
        d_hidden: int,
        score: str | Score | None = None,
        dropout: float = 0.0,
    ):
        super().__init__()
        self.vocab_size, self.d_annotation, self.d_hidden = vocab_size, d_annotation, d_hidden
        self.embedding, self.dropout = nn.Embedding(vocab_size, d_embed), nn.Dropout(dropout)
        self.W_s = nn.Linear(d_annotation, d_hidden)
        self.attention = None if score is None else Attention(make_score(score, d_hidden, d_annotation))

    def begin(self, encoded: Encoded) -> tuple[Memory, State]:
        """Memory and first state, before any token is read. Keys are projected here, once per sentence.

        Raises:
            ValueError: the annotations are not of the width that the decoder was made for.
        """
        if encoded.annotations.shape[-1] != self.d_annotation:
            raise ValueError(
                f"the decoder was made for annotations of width {self.d_annotation}, "
                f"got {tuple(encoded.annotations.shape)}"
            )
        projected_key = None if self.attention is None else self.attention.score.project_key(encoded.annotations)
        memory = Memory(encoded.annotations, encoded.summary, encoded.mask, projected_key, encoded.tokens)
        return memory, self.first(torch.tanh(self.W_s(encoded.summary)), memory)

    def first(self, state: Float[Tensor, "B d_hidden"], memory: Memory) -> State:
        """What is carried into the first step, given s_0."""
        return (state,)

    def forward(self, tokens: Int[Tensor, "B T"], memory: Memory, state: State) -> Decoded:
        """Read tokens y_1 … y_T, say what follows each.

        Args:
            tokens: ids in 0..V-1.
            memory: as made by `begin`.
            state: as made by `begin`, or the `carry` of an earlier call.

        Raises:
            ValueError: tokens are not (B, T) with B, T ≥ 1, of another B than memory or state, or outside the
                vocabulary.
        """
        check_tokens(tokens, self.vocab_size)
        if any(len(part) != len(tokens) for part in (memory.summary, *state)):
            raise ValueError(
                f"got tokens {tuple(tokens.shape)}, a memory of {len(memory.summary)} sentences "
                f"and a state of shapes {[tuple(part.shape) for part in state]}"
            )
        return self.read(self.dropout(self.embedding(tokens)), memory, state)

    def read(self, embedded: Float[Tensor, "B T d_embed"], memory: Memory, state: State) -> Decoded:
        """`forward`, from embeddings on: what makes one decoder differ from another."""
        raise NotImplementedError(f"{type(self).__name__} must define read(embedded, memory, state)")

    def attend(self, query: Float[Tensor, "B T d_hidden"], memory: Memory) -> Attended:
        """Context and weights of decoder states."""
        return self.attention.attend(query, memory.projected_key, memory.annotations, memory.mask)

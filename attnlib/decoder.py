"""What every decoder shares: its first state, its memory of the source, and its output.

A decoder reads tokens and says what follows each, `(tokens, memory, state) → DecoderOutput`. Reading T tokens at
once, as in training, and one at a time, as in writing, is the same computation.
"""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from attnlib.attention import Attention, AttentionOutput
from attnlib.encoder import EncoderOutput
from attnlib.scores import AnyScore
from attnlib.validation import check_sizes, check_token_ids

State = tuple[Tensor, ...]  # what a decoder carries from step to step, each tensor with the batch first


class Memory(NamedTuple):
    """What a decoder may look at in every step; all of it is computed once per source."""

    annotations: Float[Tensor, "B S d_annotation"]
    summary: Float[Tensor, "B d_annotation"]
    mask: Bool[Tensor, "B 1 S"]
    projected_key: Float[Tensor, "B S d_projected"] | None  # None where there is no attention
    tokens: Int[Tensor, "B S"] | None  # for a decoder that copies
    pointer_key: Float[Tensor, "B S d_pointer"] | None = None  # projected for a copier's own attention

    def reorder(self, index: Int[Tensor, " N"]) -> "Memory":
        """The memories of some sentences, in the order of an index; a sentence may occur again and again."""
        return Memory(*(field if field is None else field[index] for field in self))


class DecoderOutput(NamedTuple):
    """What a decoder returns for the tokens it has read."""

    logits: Float[Tensor, "B T V"]  # of the token after each
    weights: Float[Tensor, "B T S"] | None  # α_ij, None without attention
    states: Float[Tensor, "B T d_hidden"]  # s_i
    contexts: Float[Tensor, "B T d_annotation"] | None  # c_i, None without attention
    state: State  # to go on from here
    p_gen: Float[Tensor, "B T"] | None = None  # chance to say and not to copy; None where nothing is copied


class Decoder(nn.Module):
    """What the decoders share: embeddings, the first state `s_0 = tanh(W_s summary)`, and memory.

    Args:
        vocab_size, d_embed: V, number of different target tokens; width of an embedding.
        d_annotation: width of an annotation, the encoder's `d_annotation`.
        d_hidden: width of the state.
        score: how states are compared with annotations, a name of `SCORES` or a `Score`; by default the
            class's `default_score`, and without one the decoder has no attention.
        dropout: share of the embedding set to 0 in training.

    Raises:
        ValueError: a size is no integer of at least 1, or the score is refused by `Attention`; in `init_state`, the
            annotations are not of width d_annotation.

    Example:
        >>> decoder = DECODERS["luong"](vocab_size=7, d_embed=4, d_annotation=5, d_hidden=6)
        >>> memory, state = decoder.init_state(Encoder(9, 4, 5)(torch.tensor([[1, 2, 3]])))
        >>> first = decoder(torch.tensor([[1, 5]]), memory, state)
        >>> decoder(torch.tensor([[4]]), memory, first.state).logits.shape  # goes on where the first ended
        torch.Size([1, 1, 7])

    Source: bahdanau2015neural, appendix A.2.2 (s_0; there from the backward state alone).
    """

    default_score: str | None = None

    def __init__(
        self,
        vocab_size: int,
        d_embed: int,
        d_annotation: int,
        d_hidden: int,
        score: AnyScore = None,
        dropout: float = 0.0,
    ):
        super().__init__()
        check_sizes(vocab_size=vocab_size, d_embed=d_embed, d_annotation=d_annotation, d_hidden=d_hidden)
        score = self.default_score if score is None else score
        attention = None if score is None else Attention(score, d_hidden, d_annotation)
        self.vocab_size, self.d_annotation, self.d_hidden = vocab_size, d_annotation, d_hidden
        self.embedding, self.dropout = nn.Embedding(vocab_size, d_embed), nn.Dropout(dropout)
        self.W_s = nn.Linear(d_annotation, d_hidden)
        self.attention = attention

    def init_state(self, encoded: EncoderOutput) -> tuple[Memory, State]:
        """Memory and first state, before any token is read. Keys are projected here, once per sentence."""
        if encoded.annotations.shape[-1] != self.d_annotation:
            shape = tuple(encoded.annotations.shape)
            raise ValueError(f"the decoder was made for annotations of width {self.d_annotation}, got {shape}")
        projected_key = None if self.attention is None else self.attention.score.project_key(encoded.annotations)
        memory = Memory(encoded.annotations, encoded.summary, encoded.mask, projected_key, encoded.tokens)
        s_0 = torch.tanh(self.W_s(encoded.summary))
        return memory, (s_0, *self.extra_state(s_0, memory))

    def extra_state(self, s_0: Float[Tensor, "B d_hidden"], memory: Memory) -> State:
        """What this decoder carries from step to step beside s_i, as it is before the first step."""
        return ()

    def forward(self, tokens: Int[Tensor, "B T"], memory: Memory, state: State) -> DecoderOutput:
        """Read tokens y_1 … y_T, and predict what follows each.

        Args:
            tokens: ids in 0..V-1, int64 or int32; on a GPU their values are not checked.
            memory: as made by `init_state`.
            state: as made by `init_state`, or the `state` of an earlier call.

        Raises:
            ValueError: tokens are not such ids (B, T) with B, T ≥ 1, or memory or state is of another B.
        """
        check_token_ids(tokens, self.vocab_size)
        if any(part.shape[0] != tokens.shape[0] for part in (memory.summary, *state)):
            shapes = f"a memory of {len(memory.summary)} sentences and a state {[tuple(part.shape) for part in state]}"
            raise ValueError(f"got tokens {tuple(tokens.shape)}, {shapes}")
        return self.decode_embedded(self.dropout(self.embedding(tokens)), memory, state)

    def decode_embedded(self, embedded: Float[Tensor, "B T d_embed"], memory: Memory, state: State) -> DecoderOutput:
        """`forward`, from embeddings on: what a subclass defines, and what makes one decoder differ from another."""
        raise NotImplementedError(f"{type(self).__name__} must define decode_embedded(embedded, memory, state)")

    def attend(self, query: Float[Tensor, "B T d_hidden"], memory: Memory) -> AttentionOutput:
        """Context and weights of decoder states."""
        return self.attention(query, None, memory.annotations, memory.mask, projected_key=memory.projected_key)

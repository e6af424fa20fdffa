"""Copy: write a word because it stands in the source, even if it is not in the vocabulary.

Source and target share one vocabulary of V words. Words beyond it have ids V, V+1, … that mean something for one
source only (`attnlib.data.ExtendedVocabulary`).
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from attnlib.attention import Attention
from attnlib.decoder import Decoder, DecoderOutput, Memory, State
from attnlib.encoder import EncoderOutput
from attnlib.scores import AnyScore
from attnlib.validation import check_token_ids


def copy_distribution(
    weights: Float[Tensor, "B T S"], source: Int[Tensor, "B S"], size: int
) -> Float[Tensor, "B T size"]:
    """How likely each word is to be copied, `P(w) = Σ_{j: x_j = w} α_ij`; a word that stands twice counts twice.

    Args:
        weights: α_ij, 0 where the source is padding.
        source: ids of the source words, int64 or int32; on a GPU their values are not checked.
        size: number of words, those of the extended vocabulary included.

    Raises:
        ValueError: shapes do not fit, or the source is not made of such ids in 0..size-1, with B, S ≥ 1.

    Example:
        >>> copy_distribution(torch.tensor([[[0.25, 0.5, 0.25]]]), torch.tensor([[1, 0, 1]]), size=3)
        tensor([[[0.5000, 0.5000, 0.0000]]])

    Source: see2017get, equation 9; vinyals2015pointer (without the sum).
    """
    if weights.dim() != 3 or weights.shape[::2] != source.shape:
        shapes = f"{tuple(weights.shape)} and {tuple(source.shape)}"
        raise ValueError(f"need weights (B, T, S) and source (B, S), got {shapes}")
    check_token_ids(source, size)
    words = source.long().unsqueeze(1).expand(weights.shape)
    return weights.new_zeros(*weights.shape[:2], size).scatter_add(2, words, weights)


def pointer_generator_log_probs(
    logits: Float[Tensor, "B T V"], gate: Float[Tensor, "B T 1"], copied: Float[Tensor, "B T size"]
) -> Float[Tensor, "B T size"]:
    """Log-probability of every word, `log(p_gen P_vocab(w) + (1 - p_gen) P_copy(w))`.

    Here P_vocab = softmax(logits), p_gen = σ(gate) and P_copy = copied, as of `copy_distribution`; in log space, so
    that value and gradient stay finite where p_gen rounds to 0 or 1. What can neither be said nor copied has −∞.

    Raises:
        ValueError: there is not one gate and one distribution over size ≥ V words for each (B, T).

    Source: see2017get, equation 9.
    """
    shapes = f"logits {tuple(logits.shape)}, gate {tuple(gate.shape)}, copied {tuple(copied.shape)}"
    if not logits.shape[:-1] == gate.shape[:-1] == copied.shape[:-1] or gate.shape[-1] != 1:
        raise ValueError(f"need one gate and one copy distribution for each distribution, got {shapes}")
    V = logits.shape[-1]
    if copied.shape[-1] < V:
        raise ValueError(f"the copy distribution must cover the vocabulary, got {shapes}")
    gate = gate.clamp(-1e4, 1e4)  # 0 and 1 in every precision, and finite
    say = F.logsigmoid(gate) + logits.log_softmax(-1)  # (B, T, V)
    there = copied > 0
    # Words that are not in the source get log 1, which the last lines replace, so that no log 0 is differentiated.
    mass = copied.clamp(min=torch.finfo(copied.dtype).tiny).masked_fill(~there, 1.0)
    copy = (F.logsigmoid(-gate) + mass.log()).masked_fill(~there, 0.0)
    known = torch.where(there[..., :V], torch.logaddexp(say, copy[..., :V]), say)
    return torch.cat([known, copy[..., V:].masked_fill(~there[..., V:], -torch.inf)], dim=-1)


class CopyDecoder(nn.Module):
    """Pointer-generator: any decoder, which may copy words of the source as well as generate words of its vocabulary.

    It points with the weights of the decoder's attention, or, if that has none, of an attention of its own
    from the states s_i. `p_gen = σ(w_gᵀ [c_i; s_i; y_{i-1}] + b_g)` mixes the two, in `pointer_generator_log_probs`.
    It is used like the decoder inside. Logits are log-probabilities over V + S words: a source of S words has at most
    S new ones, and an id that no source uses has −∞. The encoder must be told which id stands for new words
    (`Encoder(..., unknown=...)`). Where the source is empty, p_gen is 1.

    Args:
        decoder: what generates the words of the vocabulary.
        unknown: the id it reads in place of a word that it does not know.
        score: for a decoder without attention, and only then: how to point.

    Raises:
        ValueError: a score is missing, or given to a decoder with attention, or unknown is not in 0..V-1; in
            `init_state`, the source is not made of tokens.

    Example:
        >>> copier = CopyDecoder(LuongDecoder(vocab_size=7, d_embed=4, d_annotation=5, d_hidden=6), unknown=3)
        >>> model = Seq2Seq(Encoder(vocab_size=7, d_embed=4, d_hidden=5, unknown=3), copier)
        >>> model(torch.tensor([[7, 5, 8]]), inputs=torch.tensor([[1, 7]])).logits.shape  # 7 and 8 are new words
        torch.Size([1, 2, 10])

    Source: see2017get, equations 8 and 9.
    """

    def __init__(self, decoder: Decoder, unknown: int, score: AnyScore = None):
        super().__init__()
        if (decoder.attention is None) == (score is None):
            given = f"{type(decoder).__name__}, score={score!r}"
            raise ValueError(f"a score is needed if, and only if, the decoder has no attention; got {given}")
        if not 0 <= unknown < decoder.vocab_size:
            raise ValueError(f"the unknown id must lie in 0..{decoder.vocab_size - 1}, got {unknown}")
        self.decoder, self.unknown = decoder, unknown
        self.vocab_size, self.d_annotation, self.d_hidden = decoder.vocab_size, decoder.d_annotation, decoder.d_hidden
        self.pointer = None if score is None else Attention(score, self.d_hidden, self.d_annotation)
        self.w_g = nn.Linear(self.d_annotation + self.d_hidden + decoder.embedding.embedding_dim, 1)

    def init_state(self, encoded: EncoderOutput) -> tuple[Memory, State]:
        """As `Decoder.init_state`; a source that is not made of tokens is refused."""
        if encoded.tokens is None:
            raise ValueError("there is nothing to copy: the encoder gives no source tokens")
        memory, state = self.decoder.init_state(encoded)
        if self.pointer is not None:
            memory = memory._replace(pointer_key=self.pointer.score.project_key(encoded.annotations))
        return memory, state

    def forward(self, tokens: Int[Tensor, "B T"], memory: Memory, state: State) -> DecoderOutput:
        """As `Decoder.forward`, with ids of the extended vocabulary, 0..V+S-1; `p_gen` is returned with the rest."""
        size = self.vocab_size + memory.tokens.shape[1]
        check_token_ids(tokens, size)
        known = tokens.masked_fill(tokens >= self.vocab_size, self.unknown)
        decoded = self.decoder(known, memory, state)
        contexts, weights = decoded.contexts, decoded.weights
        if self.pointer is not None:
            where = {"mask": memory.mask, "projected_key": memory.pointer_key}
            contexts, weights = self.pointer(decoded.states, None, memory.annotations, **where)
        gate = self.w_g(torch.cat([contexts, decoded.states, self.decoder.embedding(known)], dim=-1))  # (B, T, 1)
        gate = gate.masked_fill(~memory.mask.any(-1, keepdim=True), torch.inf)
        # A weight may underflow to 0. Without a floor its word would be impossible, and the loss infinite.
        floored = weights.clamp(min=torch.finfo(weights.dtype).tiny).masked_fill(~memory.mask, 0.0)
        copied = copy_distribution(floored, memory.tokens, size)  # (B, T, size)
        log_probs, p_gen = pointer_generator_log_probs(decoded.logits, gate, copied), gate.sigmoid().squeeze(-1)
        return decoded._replace(logits=log_probs, weights=weights, contexts=contexts, p_gen=p_gen)

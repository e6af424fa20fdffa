"""Say a word because it stands in the source, not because it is in the vocabulary.

Source and target share one vocabulary of V words. Each source that holds words beyond it has ids of its own
for them, V, V+1, …: its extended vocabulary.
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from attnlib.attention import Attention
from attnlib.data.vocabulary import Vocabulary
from attnlib.decoder import Decoded, Decoder, Memory, State
from attnlib.encoder import Encoded, check_tokens
from attnlib.scores import Score, make_score


class ExtendedVocabulary:
    """A vocabulary and the words of one source that are not in it; the first of these gets the id V.

    Args:
        vocabulary: with an unknown token.
        source: the words of the source.

    Raises:
        ValueError: the vocabulary has no unknown token, which models read in place of the new words.

    Example:
        >>> vocabulary = Vocabulary(["<unk>", "call", "now"], unknown="<unk>")
        >>> extended = ExtendedVocabulary(vocabulary, ["call", "Ada", "call", "Bo"])
        >>> extended.encode(["call", "Bo", "and", "Ada"])
        tensor([1, 4, 0, 3])
        >>> extended.decode(torch.tensor([4, 2]))
        ['Bo', 'now']

    Source: see2017get, section 2.2.
    """

    def __init__(self, vocabulary: Vocabulary, source: Sequence[str]):
        if vocabulary.unknown is None:
            raise ValueError("copying needs a vocabulary with an unknown token")
        self.vocabulary = vocabulary
        self.new = list(dict.fromkeys(word for word in source if word not in vocabulary.ids))
        self.ids = {word: len(vocabulary) + n for n, word in enumerate(self.new)}

    def __len__(self) -> int:
        return len(self.vocabulary) + len(self.new)

    def encode(self, words: Sequence[str]) -> Int[Tensor, " T"]:
        """Ids of words: of the vocabulary, of this source, or the unknown token."""
        known = self.vocabulary.ids
        unknown = known[self.vocabulary.unknown]
        return torch.tensor([known.get(word, self.ids.get(word, unknown)) for word in words], dtype=torch.long)

    def decode(self, ids: Int[Tensor, " T"]) -> list[str]:
        """Words of ids.

        Raises:
            ValueError: an id means nothing for this source (it may for another).
        """
        words = self.vocabulary.tokens + self.new
        if strangers := sorted({i for i in ids.tolist() if not 0 <= i < len(words)}):
            raise ValueError(f"the extended vocabulary of this source has the ids 0..{len(words) - 1}, not {strangers}")
        return [words[i] for i in ids.tolist()]


def copy_distribution(
    weights: Float[Tensor, "B T S"], source: Int[Tensor, "B S"], size: int
) -> Float[Tensor, "B T size"]:
    """How likely each word is to be copied, `P(w) = Σ_{j: x_j = w} α_ij`; a word that stands twice counts twice.

    Args:
        weights: α_ij, 0 where the source is padding.
        source: ids of the source words.
        size: number of words, those of the extended vocabulary included.

    Raises:
        ValueError: shapes differ, or ids are not integers in 0..size-1.

    Example:
        >>> copy_distribution(torch.tensor([[[0.25, 0.5, 0.25]]]), torch.tensor([[1, 0, 1]]), size=3)
        tensor([[[0.5000, 0.5000, 0.0000]]])

    Source: see2017get, equation 9; vinyals2015pointer (without the sum).
    """
    if weights.dim() != 3 or weights.shape[::2] != source.shape:
        raise ValueError(
            f"need weights (B, T, S) and source (B, S), got {tuple(weights.shape)} and {tuple(source.shape)}"
        )
    check_tokens(source, size)
    words = source.long().unsqueeze(1).expand(weights.shape)
    return weights.new_zeros(*weights.shape[:2], size).scatter_add(2, words, weights)


def mix(
    logits: Float[Tensor, "B T V"], gate: Float[Tensor, "B T 1"], copied: Float[Tensor, "B T size"]
) -> Float[Tensor, "B T size"]:
    """Log-probability of every word, `log(p_gen P_vocab(w) + (1 - p_gen) P_copy(w))`, with p_gen = σ(gate).

    Summed in log space, so that value and gradient stay finite where p_gen is 0 or 1 to the last bit. A word
    that can neither be said nor copied has −∞.

    Args:
        logits: of the words of the vocabulary.
        gate: p_gen before its σ.
        copied: P_copy, as of `copy_distribution`, with size ≥ V.

    Raises:
        ValueError: shapes do not fit.

    Source: see2017get, equation 9.
    """
    shapes = f"logits {tuple(logits.shape)}, gate {tuple(gate.shape)}, copied {tuple(copied.shape)}"
    if not logits.shape[:-1] == gate.shape[:-1] == copied.shape[:-1] or gate.shape[-1] != 1:
        raise ValueError(f"need one gate and one copy distribution for each distribution, got {shapes}")
    new_words = copied.shape[-1] - logits.shape[-1]
    if new_words < 0:
        raise ValueError(f"the copy distribution must cover the vocabulary, got {shapes}")
    gate = gate.clamp(-1e4, 1e4)  # 0 and 1 in every precision, and finite
    say = F.pad(F.logsigmoid(gate) + logits.log_softmax(-1), (0, new_words), value=-torch.inf)
    there = copied > 0
    # A weight that underflowed counts as the smallest number there is; words that are not there get
    # a harmless number, which the last line throws away together with its gradient.
    mass = copied.clamp(min=torch.finfo(copied.dtype).tiny).masked_fill(~there, 1.0)
    copy = (F.logsigmoid(-gate) + mass.log()).masked_fill(~there, 0.0)
    return torch.where(there, torch.logaddexp(say, copy), say)


class CopyDecoder(nn.Module):
    """Pointer-generator: any decoder, which may copy source words instead of saying words of its own.

    It points with the weights of the decoder's attention, or, if that has none, of an attention of its own
    from the states s_i. `p_gen = σ(w_gᵀ [c_i; s_i; y_{i-1}] + b_g)` mixes the two (see `mix`). It is used like the
    decoder inside; logits are log-probabilities over the extended vocabulary of the batch. The encoder must be told
    which id stands for new words (`Encoder(..., unknown=...)`). Where the source is empty, p_gen is 1.

    Args:
        decoder: what says the words of the vocabulary.
        unknown: the id it reads in place of a word that it does not know.
        score: for a decoder without attention, how to point: a name of `SCORES` or a `Score`.

    Raises:
        ValueError: a decoder without attention and no score, or both.

    Example:
        >>> copier = CopyDecoder(LuongDecoder(vocab_size=7, d_embed=4, d_annotation=5, d_hidden=6), unknown=3)
        >>> model = Seq2Seq(Encoder(vocab_size=7, d_embed=4, d_hidden=5, unknown=3), copier)
        >>> decoded = model(torch.tensor([[7, 5, 8]]), inputs=torch.tensor([[1, 7]]))  # 7 and 8 are new words
        >>> decoded.logits.shape, decoded.p_gen.shape
        (torch.Size([1, 2, 9]), torch.Size([1, 2]))

    Source: see2017get, equations 8 and 9.
    """

    def __init__(self, decoder: Decoder, unknown: int, score: str | Score | None = None):
        super().__init__()
        if (decoder.attention is None) == (score is None):
            raise ValueError(
                f"a score is needed if, and only if, the decoder has no attention; got {type(decoder).__name__}, "
                f"score={score!r}"
            )
        self.decoder, self.unknown = decoder, unknown
        self.vocab_size, self.d_annotation, self.d_hidden = decoder.vocab_size, decoder.d_annotation, decoder.d_hidden
        self.pointer = None if score is None else Attention(make_score(score, self.d_hidden, self.d_annotation))
        self.w_g = nn.Linear(self.d_annotation + self.d_hidden + decoder.embedding.embedding_dim, 1)

    def begin(self, encoded: Encoded) -> tuple[Memory, State]:
        """As `Decoder.begin`; the source must be made of tokens.

        Raises:
            ValueError: it is not.
        """
        if encoded.tokens is None:
            raise ValueError("there is nothing to copy: the encoder gives no source tokens")
        memory, state = self.decoder.begin(encoded)
        if self.pointer is not None:
            memory = memory._replace(projected_key=self.pointer.score.project_key(encoded.annotations))
        return memory, state

    def forward(self, tokens: Int[Tensor, "B T"], memory: Memory, state: State) -> Decoded:
        """As `Decoder.forward`, with ids of the extended vocabulary; `p_gen` is returned with the rest."""
        size = max(self.vocab_size, int(memory.tokens.max()) + 1)
        check_tokens(tokens, size)
        known = tokens.masked_fill(tokens >= self.vocab_size, self.unknown)
        decoded = self.decoder(known, memory, state)
        contexts, weights = decoded.contexts, decoded.weights
        if self.pointer is not None:
            contexts, weights = self.pointer.attend(
                decoded.states, memory.projected_key, memory.annotations, memory.mask
            )
        gate = self.w_g(torch.cat([contexts, decoded.states, self.decoder.embedding(known)], dim=-1))  # (B, T, 1)
        gate = gate.masked_fill(~memory.mask.any(-1, keepdim=True), torch.inf)
        # A weight may underflow to 0. Without a floor a word that only stands there would be impossible,
        # and the loss infinite.
        floored = weights.clamp(min=torch.finfo(weights.dtype).tiny).masked_fill(~memory.mask, 0.0)
        copied = copy_distribution(floored, memory.tokens, size)  # (B, T, size)
        return decoded._replace(
            logits=mix(decoded.logits, gate, copied),
            weights=weights,
            contexts=contexts,
            p_gen=torch.sigmoid(gate).squeeze(-1),
        )


def coverage_loss(weights: Float[Tensor, "B T S"], mask: Bool[Tensor, "B T"]) -> Float[Tensor, ""]:
    """How much is looked at again, `Σ_j min(α_ij, Σ_{i'<i} α_i'j)`, mean over the real target steps.

    Raises:
        ValueError: shapes differ, the mask is not boolean, or no step is real.

    Example:
        >>> weights = torch.tensor([[[0.5, 0.5], [1.0, 0.0]]])  # the second step looks again at half of what it sees
        >>> coverage_loss(weights, torch.tensor([[True, True]]))
        tensor(0.2500)

    Source: see2017get, equations 10 and 12.
    """
    if weights.shape[:2] != mask.shape or mask.dtype != torch.bool or not mask.any():
        raise ValueError(
            f"need weights (B, T, S) and a boolean mask (B, T) with a real step, got {tuple(weights.shape)} and "
            f"{mask.dtype} {tuple(mask.shape)} with {int(mask.sum())}"
        )
    before = weights.cumsum(1) - weights
    return torch.minimum(weights, before).sum(-1)[mask].mean()

"""Write a target with a trained model: the likeliest token at every step, or the best of several attempts."""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from attnlib.data.vocabulary import BOS, EOS, PAD
from attnlib.seq2seq import Seq2Seq


class Decoding(NamedTuple):
    """Targets that a model has written, and where it looked."""

    tokens: Int[Tensor, "B T"]  # y_1 … y_n <eos>, then padding; no <bos>
    lengths: Int[Tensor, " B"]  # n, <eos> not counted
    log_prob: Float[Tensor, " B"]  # nats, of all tokens written, <eos> included
    weights: Float[Tensor, "B T S"] | None  # of each token written; 0 where padding

    def sentences(self) -> list[Tensor]:
        """The tokens of each target, without `<eos>` and padding."""
        return [row[:n] for row, n in zip(self.tokens, self.lengths.tolist(), strict=True)]


class Beams(NamedTuple):
    """The k best targets of each source, best first."""

    tokens: Int[Tensor, "B k T"]  # as in `Decoding`; where there are fewer than k different targets, padding
    lengths: Int[Tensor, "B k"]
    log_prob: Float[Tensor, "B k"]  # −∞ where there are fewer
    score: Float[Tensor, "B k"]  # what they are ordered by
    weights: Float[Tensor, "B k T S"] | None

    def best(self) -> Decoding:
        """The first of each."""
        weights = None if self.weights is None else self.weights[:, 0]
        return Decoding(self.tokens[:, 0], self.lengths[:, 0], self.log_prob[:, 0], weights)


@torch.no_grad()
def greedy_decode(
    model: Seq2Seq, source: Tensor, lengths: Int[Tensor, " B"] | None = None, *, max_length: int
) -> Decoding:
    """The likeliest token at every step, until every target has ended.

    Args:
        model: left in the mode it is in; `model.eval()` switches dropout off.
        source: as for `Seq2Seq.forward`.
        lengths: as for `Seq2Seq.forward`.
        max_length: tokens a target may have, `<eos>` included; a longer one is cut.

    Raises:
        ValueError: max_length < 1, or the model refuses the source.

    Example:
        >>> model = Seq2Seq(Encoder(9, 4, 5), LuongDecoder(7, 4, 5, 6))
        >>> written = greedy_decode(model, torch.tensor([[1, 2, 3], [4, 5, 6]]), max_length=8)
        >>> len(written.sentences())
        2
    """
    if max_length < 1:
        raise ValueError(f"max_length must be at least 1, got {max_length}")
    memory, state = model.encode(source, lengths)
    token = source.new_full((len(source), 1), BOS, dtype=torch.long)
    done = token[:, 0] == EOS  # (B,)
    total = memory.summary.new_zeros(len(source))
    tokens, weights = [], []
    while len(tokens) < max_length and not done.all():
        decoded = model.decoder(token, memory, state)
        log_prob, likeliest = decoded.logits[:, 0].log_softmax(-1).max(-1)  # (B,), (B,)
        token = likeliest.masked_fill(done, PAD).unsqueeze(1)
        total = total + log_prob.masked_fill(done, 0.0)
        if decoded.weights is not None:
            weights.append(decoded.weights.masked_fill(done.view(-1, 1, 1), 0.0))
        tokens.append(token)
        done, state = done | (token[:, 0] == EOS), decoded.carry
    written = torch.cat(tokens, dim=1)
    return Decoding(written, written_length(written), total, torch.cat(weights, dim=1) if weights else None)


def written_length(tokens: Int[Tensor, "... T"]) -> Int[Tensor, "..."]:
    """Tokens before `<eos>`, or all where there is none."""
    ended = (tokens == EOS).cumsum(-1) > 0
    return (~ended).sum(-1)


@torch.no_grad()
def beam_search(
    model: Seq2Seq,
    source: Tensor,
    lengths: Int[Tensor, " B"] | None = None,
    *,
    max_length: int,
    beams: int = 5,
    length_penalty: float = 0.0,
    coverage_penalty: float = 0.0,
) -> Beams:
    """Keep the k best targets at every step, of all sources at once.

    A target is ordered by `log P / ((5 + n) / 6)^length_penalty`, where n counts its tokens with `<eos>`. One that
    has ended stays in the beam as it is, as long as it is among the best. In the end the order is that of
    `log P / ((5 + n) / 6)^length_penalty + coverage_penalty Σ_j log min(Σ_i α_ij, 1)`, over the real positions j.

    Args:
        model: as for `greedy_decode`, with which one beam agrees.
        source: as for `Seq2Seq.forward`.
        lengths: as for `Seq2Seq.forward`.
        max_length: tokens a target may have, `<eos>` included; a longer one is cut.
        beams: k.
        length_penalty: 0 favours short targets, 1 about the mean log-probability of a token.
        coverage_penalty: how bad it is to have looked away from part of the source; needs attention.

    Raises:
        ValueError: max_length or beams < 1, a negative penalty, a coverage penalty without attention, or the model
            refuses the source.

    Example:
        >>> model = Seq2Seq(Encoder(9, 4, 5), LuongDecoder(7, 4, 5, 6))
        >>> found = beam_search(model, torch.tensor([[1, 2, 3], [4, 5, 6]]), max_length=8, beams=4, length_penalty=0.6)
        >>> found.score.shape, len(found.best().sentences())
        (torch.Size([2, 4]), 2)

    Source: wu2016google, equation 14.
    """
    if max_length < 1 or beams < 1 or length_penalty < 0 or coverage_penalty < 0:
        raise ValueError(
            f"max_length and beams must be at least 1, penalties at least 0, got max_length={max_length}, "
            f"beams={beams}, length_penalty={length_penalty}, coverage_penalty={coverage_penalty}"
        )
    memory, state = model.encode(source, lengths)
    if coverage_penalty and memory.projected_key is None:
        raise ValueError(f"a coverage penalty needs attention weights, {type(model.decoder).__name__} has none")
    B, device = len(source), memory.summary.device
    rows = torch.arange(B, device=device).repeat_interleave(beams)  # beam n belongs to sentence rows[n]
    memory, state = memory.rows(rows), tuple(part[rows] for part in state)
    first = torch.arange(B, device=device).unsqueeze(1) * beams  # number of each sentence's first beam
    log_prob = memory.summary.new_full((B, beams), -torch.inf)
    log_prob[:, 0] = 0.0  # all beams are alike: one of them counts
    tokens = torch.full((B * beams, 1), BOS, device=device)
    weights = None
    for step in range(1, max_length + 1):
        done = (tokens[:, 1:] == EOS).any(-1)  # (B k,)
        if done.logical_or(log_prob.flatten() == -torch.inf).all():
            break
        decoded = model.decoder(tokens[:, -1:], memory, state)
        extended = log_prob.view(-1, 1) + next_log_prob(decoded.logits[:, 0], done)  # (B k, V)
        n = torch.where(done, written_length(tokens[:, 1:]) + 1, step)
        order = normalised(extended, n.unsqueeze(1), length_penalty).view(B, -1)
        V = extended.shape[1]
        chosen = order.topk(beams, dim=1).indices  # (B, k) among k V
        parent = (first + chosen // V).flatten()  # (B k,)
        log_prob = extended.view(B, -1).gather(1, chosen)
        if decoded.weights is not None:
            looked = decoded.weights.masked_fill(done.view(-1, 1, 1), 0.0)
            weights = (looked if weights is None else torch.cat([weights, looked], dim=1))[parent]
        tokens = torch.cat([tokens[parent], (chosen % V).view(-1, 1)], dim=1)
        state = tuple(part[parent] for part in decoded.carry)
    nothing = log_prob == -torch.inf  # (B, k), beams that no target was left for
    tokens = tokens[:, 1:].view(B, beams, -1).masked_fill(nothing.unsqueeze(-1), PAD)
    n = written_length(tokens).masked_fill(nothing, 0)
    score = normalised(log_prob, n + (tokens == EOS).any(-1), length_penalty)
    if weights is not None:
        weights = weights.view(B, beams, *weights.shape[1:]).masked_fill(nothing[:, :, None, None], 0.0)
        if coverage_penalty:
            looked = weights.sum(2).clamp(min=torch.finfo(weights.dtype).tiny, max=1)  # (B, k, S)
            hidden = ~memory.mask.view(B, beams, -1)
            score = score + coverage_penalty * looked.log().masked_fill(hidden, 0.0).sum(-1)
    score, order = score.sort(dim=1, descending=True, stable=True)
    return Beams(
        tokens=pick(tokens, order),
        lengths=pick(n, order),
        log_prob=pick(log_prob, order),
        score=score,
        weights=None if weights is None else pick(weights, order),
    )


def next_log_prob(logits: Float[Tensor, "N V"], done: Bool[Tensor, " N"]) -> Float[Tensor, "N V"]:
    """log P of each next token; a target that has ended can only be padded, at no cost."""
    padding = torch.full_like(logits[0], -torch.inf)
    padding[PAD] = 0.0
    return torch.where(done.unsqueeze(1), padding, logits.log_softmax(-1))


def normalised(log_prob: Float[Tensor, "..."], n: Int[Tensor, "..."], length_penalty: float) -> Float[Tensor, "..."]:
    """Log-probabilities of targets of n tokens, made comparable."""
    return log_prob / ((5 + n.to(log_prob.dtype)) / 6) ** length_penalty


def pick(values: Tensor, order: Int[Tensor, "B k"]) -> Tensor:
    """Each sentence's beams in another order."""
    return values.gather(1, order.view(*order.shape, *(1,) * (values.dim() - 2)).expand_as(values))

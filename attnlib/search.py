"""Generate a target with a trained model: the likeliest token at every step, or the best of k targets."""

import math
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attnlib.seq2seq import Seq2Seq
from attnlib.validation import check_sizes

PAD, BOS, EOS = range(3)  # what fills, begins and ends a target; the same as in `attnlib.data.vocabulary`


class GreedyOutput(NamedTuple):
    """Targets that a model has generated, and where it looked."""

    tokens: Int[Tensor, "B T"]  # y_1 … y_n <eos>, then padding; no <bos>
    lengths: Int[Tensor, " B"]  # n, <eos> not counted
    log_prob: Float[Tensor, " B"]  # nats, of all tokens, <eos> included
    weights: Float[Tensor, "B T S"] | None  # of each token; 0 where padding

    def sentences(self) -> list[Tensor]:
        """The tokens of each target, without `<eos>` and padding."""
        return [row[:n] for row, n in zip(self.tokens, self.lengths.tolist(), strict=True)]


class BeamSearchOutput(NamedTuple):
    """The k best targets of each source, best first."""

    tokens: Int[Tensor, "B k T"]  # as in `GreedyOutput`; where there are fewer than k different targets, padding
    lengths: Int[Tensor, "B k"]
    log_prob: Float[Tensor, "B k"]  # −∞ where there are fewer
    score: Float[Tensor, "B k"]  # what they are ordered by
    weights: Float[Tensor, "B k T S"] | None

    def best(self) -> GreedyOutput:
        """The first of each."""
        weights = None if self.weights is None else self.weights[:, 0]
        return GreedyOutput(self.tokens[:, 0], self.lengths[:, 0], self.log_prob[:, 0], weights)


@torch.no_grad()
def greedy_decode(
    model: Seq2Seq, source: Tensor, lengths: Int[Tensor, " B"] | None = None, *, max_length: int
) -> GreedyOutput:
    """The likeliest token at every step, until every target has ended.

    Args:
        model: left in the mode it is in; `model.eval()` switches dropout off.
        source, lengths: as for `Seq2Seq.forward`.
        max_length: tokens a target may have, `<eos>` included; a longer one is cut.

    Raises:
        ValueError: max_length is no integer from 1 on, the model refuses the source, or its logits are NaN.

    Example:
        >>> model = Seq2Seq(Encoder(9, 4, 5), LuongDecoder(7, 4, 5, 6))
        >>> len(greedy_decode(model, torch.tensor([[1, 2, 3], [4, 5, 6]]), max_length=8).sentences())
        2
    """
    check_sizes(max_length=max_length)
    memory, state = model.encode(source, lengths)
    token = source.new_full((len(source), 1), BOS, dtype=torch.long)
    done = token[:, 0] == EOS  # (B,)
    total = torch.zeros(len(source), dtype=sum_type(memory.summary), device=source.device)  # (B,)
    tokens, weights = [], []
    while len(tokens) < max_length and not done.all():
        decoded = model.decoder(token, memory, state)
        log_prob, likeliest = next_log_prob(decoded.logits[:, 0]).max(-1)  # (B,), (B,)
        token = likeliest.masked_fill(done, PAD).unsqueeze(1)
        total = total + log_prob.masked_fill(done, 0.0)
        if decoded.weights is not None:
            weights.append(decoded.weights.masked_fill(done.view(-1, 1, 1), 0.0))
        tokens.append(token)
        done, state = done | (token[:, 0] == EOS), decoded.state
    check_finite(total)
    written = torch.cat(tokens, dim=1)
    return GreedyOutput(written, written_length(written), total, torch.cat(weights, dim=1) if weights else None)


def written_length(tokens: Int[Tensor, "... T"]) -> Int[Tensor, "..."]:
    """Tokens before `<eos>`, or all where there is none."""
    return ((tokens == EOS).cumsum(-1) == 0).sum(-1)


@torch.no_grad()
def beam_search(
    model: Seq2Seq,
    source: Tensor,
    lengths: Int[Tensor, " B"] | None = None,
    *,
    max_length: int,
    beam_size: int = 5,
    length_penalty: float = 0.0,
    coverage_penalty: float = 0.0,
) -> BeamSearchOutput:
    """Keep the k best targets at every step, of all sources at once.

    A target is ordered by `log P / ((5 + n) / 6)^length_penalty`, where n counts its tokens with `<eos>`. One that
    has ended stays in the beam as it is, as long as it is among the best. In the end
    `coverage_penalty Σ_j log min(Σ_i α_ij, 1)` is added, over the real positions j.

    Args:
        model, source, lengths, max_length: as for `greedy_decode`, with which one beam agrees.
        beam_size: k.
        length_penalty: 0 favours short targets, 1 about the mean log-probability of a token.
        coverage_penalty: price of looking away from part of the source; needs attention.

    Raises:
        ValueError: as in `greedy_decode`, a size or penalty out of range, or no attention for a coverage penalty.

    Example:
        >>> model = Seq2Seq(Encoder(9, 4, 5), LuongDecoder(7, 4, 5, 6))
        >>> beam_search(model, torch.tensor([[1, 2, 3], [4, 5, 6]]), max_length=8, beam_size=4).score.shape
        torch.Size([2, 4])

    Source: wu2016google, equation 14.
    """
    check_sizes(max_length=max_length, beam_size=beam_size)
    for name, penalty in (("length_penalty", length_penalty), ("coverage_penalty", coverage_penalty)):
        if not 0 <= penalty < math.inf:
            raise ValueError(f"{name} must be a number from 0 on, got {penalty}")
    memory, state = model.encode(source, lengths)
    if coverage_penalty and memory.projected_key is None and memory.pointer_key is None:
        raise ValueError(f"a coverage penalty needs attention weights, {type(model.decoder).__name__} has none")
    B, device = len(source), memory.summary.device
    first = torch.arange(B, device=device).unsqueeze(1) * beam_size  # (B, 1), each sentence's first among B k beams
    rows = torch.arange(B, device=device).repeat_interleave(beam_size)  # beam n belongs to sentence rows[n]
    memory, state = memory.reorder(rows), tuple(part[rows] for part in state)
    log_prob = torch.full((B, beam_size), -torch.inf, dtype=sum_type(memory.summary), device=device)
    log_prob[:, 0] = 0.0  # all beams are alike: one of them counts
    tokens = torch.full((B * beam_size, 1), BOS, device=device)
    weights = None
    for step in range(1, max_length + 1):
        done = (tokens[:, 1:] == EOS).any(-1)  # (B k,)
        if done.logical_or(log_prob.flatten() == -torch.inf).all():
            break
        decoded = model.decoder(tokens[:, -1:], memory, state)
        following = next_log_prob(decoded.logits[:, 0]).masked_fill_(done.unsqueeze(1), -torch.inf)  # (B k, V)
        following[:, PAD].masked_fill_(done, 0.0)  # a target that has ended can only be padded, at no cost
        extended = log_prob.view(-1, 1) + following  # (B k, V)
        n = torch.where(done, written_length(tokens[:, 1:]) + 1, step).unsqueeze(1)
        ranked, V = apply_length_penalty(extended, n, length_penalty), extended.shape[1]
        chosen = ranked.view(B, -1).topk(beam_size, dim=1).indices  # (B, k), of the k V that could follow
        beam, token = (first + chosen // V).flatten(), (chosen % V).flatten()  # (B k,) each
        log_prob = extended[beam, token].view(B, beam_size)
        if decoded.weights is not None:
            looked = decoded.weights.masked_fill(done.view(-1, 1, 1), 0.0)
            weights = (looked if weights is None else torch.cat([weights, looked], dim=1))[beam]
        tokens = torch.cat([tokens[beam], token.unsqueeze(1)], dim=1)
        state = tuple(part[beam] for part in decoded.state)
    check_finite(log_prob.masked_fill(log_prob == -torch.inf, 0.0))
    nothing = log_prob == -torch.inf  # (B, k), beams that no target was left for
    tokens = tokens[:, 1:].view(B, beam_size, -1).masked_fill(nothing.unsqueeze(-1), PAD)
    lengths = written_length(tokens).masked_fill(nothing, 0)
    score = apply_length_penalty(log_prob, lengths + (tokens == EOS).any(-1), length_penalty)
    if weights is not None:
        weights = weights.view(B, beam_size, *weights.shape[1:]).masked_fill(nothing[:, :, None, None], 0.0)
        if coverage_penalty:
            looked = weights.sum(2).clamp(min=torch.finfo(weights.dtype).tiny, max=1)  # (B, k, S)
            coverage = looked.log().masked_fill(~memory.mask.view(B, beam_size, -1), 0.0).sum(-1)
            score = score + coverage_penalty * coverage
    score, best_first = score.sort(dim=1, descending=True, stable=True)
    found = (tokens, lengths, log_prob, weights)
    by_score = [x if x is None else x.flatten(0, 1)[first + best_first] for x in found]
    return BeamSearchOutput(*by_score[:3], score=score, weights=by_score[3])


def next_log_prob(logits: Float[Tensor, "N V"]) -> Float[Tensor, "N V"]:
    """log P of each next token, in float32 at least: sums of many in half precision cannot be told apart."""
    log_prob = logits.log_softmax(-1, dtype=sum_type(logits))
    log_prob[:, :EOS] = -torch.inf  # <pad> and <bos> are never written
    return log_prob


def sum_type(x: Tensor) -> torch.dtype:
    """float32, or float64 where that is what the model computes in."""
    return torch.promote_types(x.dtype, torch.float32)


def check_finite(log_prob: Tensor) -> None:
    """Refuse log-probabilities that are NaN, once for a whole search: the model's logits were."""
    if log_prob.isnan().any():
        raise ValueError(f"the model's logits are NaN for {log_prob.isnan().any(-1).sum()} of the targets or sources")


def apply_length_penalty(log_prob: Tensor, n: Tensor, length_penalty: float) -> Float[Tensor, "..."]:
    """`log P / ((5 + n) / 6)^length_penalty` of targets of n tokens."""
    return log_prob / ((5 + n.to(log_prob.dtype)) / 6) ** length_penalty

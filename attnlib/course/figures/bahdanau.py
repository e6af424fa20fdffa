"""Bahdanau's translator from the weights of a page, and what it writes when a reader overrules its attention."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import NamedTuple

import torch
from torch import Tensor

from attnlib.attention import AttentionOutput
from attnlib.course.figures.weights import Weights, loaded, widths
from attnlib.decoders import BahdanauDecoder
from attnlib.encoder import Encoder
from attnlib.scores import AdditiveScore
from attnlib.seq2seq import Seq2Seq


def translator(weights: Weights) -> Seq2Seq:
    """`Seq2Seq(Encoder, BahdanauDecoder)`, with GRUs and the additive score, with these weights.

    Raises:
        ValueError: the weights are not those of such a model, or are not finite.
    """
    (V_s, d_x), (V_t, d_y) = (widths(weights, f"{side}.embedding.weight") for side in ("encoder", "decoder"))
    _, h = widths(weights, "encoder.rnn.weight_hh_l0")
    d, _ = widths(weights, "decoder.W_s.weight")
    d_score, _ = widths(weights, "decoder.attention.score.W_a.weight")
    with torch.device("meta"):
        encoder = Encoder(V_s, d_x, h, bidirectional="encoder.rnn_backward.weight_hh_l0" in weights)
        score = AdditiveScore(d, encoder.d_annotation, d_hidden=d_score)
        decoder = BahdanauDecoder(V_t, d_y, encoder.d_annotation, d, score=score)
        return loaded(Seq2Seq(encoder, decoder), weights)


class Written(NamedTuple):
    """A target, as it was written."""

    tokens: list[int]  # y_1 … y_T; ends with the end symbol, unless it was cut
    weights: Tensor  # (T, S), α of each step, or what was put in its place
    logits: Tensor  # (T, V)


@torch.no_grad()
def write(
    model: Seq2Seq, source: Sequence[int], edits: Mapping[int, Tensor], begin: int, end: int, max_length: int
) -> Written:
    """The likeliest token at every step, with weights from outside in some of them.

    Args:
        model: any whose decoder has an attention that looks once in a step.
        source: ids, at least one.
        edits: step -> (S,), taken in place of α.
        begin: the token before the first.
        end: the token after which nothing comes.
        max_length: tokens a target may have, `end` included.
    """
    memory, state = model.encode(torch.tensor([source]))
    token, steps = begin, []
    while len(steps) < max_length and (not steps or token != end):
        row = edits.get(len(steps))
        with nullcontext() if row is None else model.decoder.attention.register_forward_hook(instead(row)):
            decoded = model.decoder(torch.tensor([[token]]), memory, state)
        state, token = decoded.state, decoded.logits.argmax().item()
        steps.append((token, decoded.weights[0, 0], decoded.logits[0, 0]))
    tokens, weights, logits = zip(*steps, strict=True)
    return Written(list(tokens), torch.stack(weights), torch.stack(logits))


def instead(row: Tensor):
    """A hook of `Attention`: whatever it was asked, this row (S,) is its weights."""

    def look(attention, given, own: AttentionOutput) -> AttentionOutput:
        weights = row.to(own.weights.dtype).expand_as(own.weights)
        return AttentionOutput(context=weights @ given[2], weights=weights)  # query, key, value, mask

    return look

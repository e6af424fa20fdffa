"""A copier from the weights of a page, and what it writes when a reader holds its gate."""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from attnlib.copying import CopyDecoder, copy_distribution
from attnlib.course.figures.weights import Weights, loaded, widths
from attnlib.decoders import LuongDecoder
from attnlib.encoder import Encoder
from attnlib.search import BOS, EOS
from attnlib.seq2seq import Seq2Seq


def copier(weights: Weights, unknown: int) -> Seq2Seq:
    """`Seq2Seq(Encoder, CopyDecoder(LuongDecoder))`, with GRUs and the score "general", with these weights.

    Args:
        weights: of all its layers.
        unknown: the id read in place of a new word.

    Raises:
        ValueError: the weights are not those of such a model, or are not finite.
    """
    (V, d_x), (_, d_y) = (widths(weights, f"{side}.embedding.weight") for side in ("encoder", "decoder.decoder"))
    (_, h), (_, d) = (widths(weights, f"{side}.rnn.weight_hh_l0") for side in ("encoder", "decoder.decoder"))
    with torch.device("meta"):
        both = "encoder.rnn_backward.weight_hh_l0" in weights
        encoder = Encoder(V, d_x, h, bidirectional=both, unknown=unknown)
        decoder = CopyDecoder(LuongDecoder(V, d_y, encoder.d_annotation, d), unknown)
        return loaded(Seq2Seq(encoder, decoder), weights)


class Written(NamedTuple):
    """What a copier has written, step by step; the last word is `<eos>` unless it was cut."""

    words: list[str]  # T
    p_gen: list[float]  # T, the gate that counted
    own: list[float]  # T, the gate that the model would have had
    share: list[float]  # T, how much of a word's probability was said and not copied
    weights: list[list[float]]  # (T, S)
    log_prob: list[Tensor]  # T of (V and the new words,)


def words_of(text: str) -> list[str]:
    """What stands between blanks.

    Example:
        >>> words_of("  call Ada ")
        ['call', 'Ada']
    """
    return re.findall(r"[^ \t\r\n\u00a0\u3000]+", text)


@torch.no_grad()
def write(
    model: Seq2Seq,
    vocabulary: Sequence[str],
    words: Sequence[str],
    held: Callable[[int], float | None],
    max_length: int,
) -> Written:
    """The likeliest word at every step, until the end.

    Args:
        model: as `copier` makes it.
        vocabulary: V words, of which number 1 begins and number 2 ends a target.
        words: the source, at least one word.
        held: step -> p_gen from outside, or None for the model's own.
        max_length: words an answer may have, `<eos>` included.
    """
    everything = list(dict.fromkeys([*vocabulary, *words]))  # the new words of this source come last
    source = torch.tensor([[everything.index(word) for word in words]])
    memory, state = model.encode(source)
    written = Written([], [], [], [], [], [])

    def hold(layer, given, gate: Tensor) -> Tensor:
        written.own.append(gate.sigmoid().item())
        p_gen = held(len(written.words))
        return gate if p_gen is None else torch.full_like(gate, p_gen).logit()

    token = BOS
    with model.decoder.w_g.register_forward_hook(hold):
        while len(written.words) < max_length and token != EOS:
            decoded = model.decoder(torch.tensor([[token]]), memory, state)
            state, p_gen = decoded.state, decoded.p_gen.item()
            log_prob = decoded.logits[0, 0, : len(everything)]  # there is room for more new words than this source has
            token = int(log_prob.argmax())
            copied = (1 - p_gen) * copy_distribution(decoded.weights, source, len(everything))[0, 0, token]
            written.words.append(everything[token])
            written.p_gen.append(p_gen)
            written.share.append(1 - (copied / log_prob[token].exp()).clamp(max=1).item())
            written.weights.append(decoded.weights[0, 0].tolist())
            written.log_prob.append(log_prob)
    return written

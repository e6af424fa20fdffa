"""Training steps of decoders: ours, the textbook's, and without attention."""

import torch
import torch.nn.functional as F
from torch import Tensor

from attnlib.attention import length_mask
from attnlib.decoder import Decoder
from attnlib.decoders import BahdanauDecoder, InitialStateDecoder, LuongDecoder
from attnlib.encoder import EncoderOutput
from attnlib.scores import AdditiveScore, ProjectedDotScore
from benchmarks.rows import Plan, Row, label, less, share
from benchmarks.textbook import BahdanauSimpleOutput, LuongStepByStep, LuongWithoutAttention, TextbookDecoder
from benchmarks.timing import Run, interleaved, milliseconds, stopwatch

#: Times faster than the textbook design, what one would wish, and the same for times the floor.
AGAINST_TEXTBOOK = ((1.3, 1.5), (1.7, 2.0), (2.0, 2.5), (1.8, 2.0))
AGAINST_FLOOR = (1.2, 1.6, 2.5, 1.4)


def decoder_steps(plan: Plan, device: torch.device) -> list[Row]:
    """Training steps of decoders, keys and loss included: ours, the textbook's, and without attention.

    And ours with a dot product as score. Bahdanau's then keeps all products of matrices and has no hidden layers: that
    is what would be left if they cost nothing. Luong's has no keys to project.
    """
    rows = []
    for sizes, (bound, aim), aim_floor in zip(plan.decoders, AGAINST_TEXTBOOK, AGAINST_FLOOR, strict=True):
        B, S, T, V, d_embed, d = sizes
        widths = {"vocab_size": V, "d_embed": d_embed, "d_annotation": d, "d_hidden": d}
        decoders = {
            "simple": BahdanauSimpleOutput(**widths, score=AdditiveScore(d, d, d_hidden=d)),
            "simple, textbook": TextbookDecoder(**widths),
            "simple, dot": BahdanauSimpleOutput(**widths, score=ProjectedDotScore(d, d, d_hidden=d)),
            "simple, floor": InitialStateDecoder(**widths),
            "deep": BahdanauDecoder(**widths, score=AdditiveScore(d, d, d_hidden=d)),
            "deep, textbook": TextbookDecoder(**widths, deep=True),
            "luong": LuongDecoder(**widths),
            "luong, additive": LuongDecoder(**widths, score=AdditiveScore(d, d, d_hidden=d)),
            "luong, additive, by steps": LuongStepByStep(**widths, score=AdditiveScore(d, d, d_hidden=d)),
            "luong, dot": LuongDecoder(**widths, score="dot"),
            "luong, floor": LuongWithoutAttention(**widths),
        }
        batch, time_first = (decoder_batch(B, S, T, V, d, device, how) for how in (False, True))
        runs = {
            name: training_step(decoder.to(device), *(time_first if "textbook" in name else batch))
            for name, decoder in decoders.items()
        }
        ms = milliseconds(interleaved(runs, stopwatch(device), seconds=8 * plan.seconds, least=plan.least))
        where = ("decoders", label(B=B, S=S, T=T, V=V, d_embed=d_embed, d=d), "ms")
        rows += [
            less("Bahdanau: the textbook design", where, ms["simple"], ms["simple, textbook"],
                 at_least=bound, aim=aim, with_dot=ms["simple, textbook"] / ms["simple, dot"]),
            share("Bahdanau: without attention", where, ms["simple"], ms["simple, floor"],
                  aim=aim_floor, with_dot=ms["simple, dot"] / ms["simple, floor"]),
            less("Bahdanau, deep output: the textbook design", where, ms["deep"], ms["deep, textbook"]),
            less("Luong, additive score: Joey NMT's design", where,
                 ms["luong, additive"], ms["luong, additive, by steps"]),
            share("Luong: without attention", where, ms["luong"], ms["luong, floor"],
                  at_most=1.25, with_dot=ms["luong, dot"] / ms["luong, floor"]),
        ]  # fmt: skip
    return rows


def decoder_batch(
    B: int, S: int, T: int, V: int, d: int, device: torch.device, time_first: bool = False
) -> tuple[EncoderOutput, Tensor, Tensor]:
    """What an encoder would hand over, sentences of S/2 to S words, and tokens to read and to say.

    Annotations (B, S, d) lie in memory as they came out of its `nn.GRU`: batch first, or time first, as by default.
    """
    lengths = torch.randint((S + 1) // 2, S + 1, (B,), generator=torch.Generator().manual_seed(0)).to(device)
    annotations = (
        torch.randn(S, B, d, device=device).transpose(0, 1) if time_first else torch.randn(B, S, d, device=device)
    ).requires_grad_()
    summary = torch.randn(B, d, device=device, requires_grad=True)
    encoded = EncoderOutput(annotations, summary, length_mask(lengths, S), None)
    return encoded, *torch.randint(V, (2, B, T), device=device)


def training_step(decoder: Decoder, encoded: EncoderOutput, inputs: Tensor, targets: Tensor) -> Run:
    """Forward with teacher forcing, loss, and backward to the parameters and into the encoder."""
    wanted = [*decoder.parameters(), encoded.annotations, encoded.summary]

    def step():
        logits = decoder(inputs, *decoder.init_state(encoded)).logits
        loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        return torch.autograd.grad(loss, wanted, allow_unused=True)

    return step

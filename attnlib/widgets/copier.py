"""A trained copier as a page holds it: names and shapes of its weights, and what it writes, in float64.

The same as `static/copier.js`, step for step: the figure's picture and its results need no browser.
"""

import base64
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

BEGIN, END = 1, 2  # <bos> and <eos> in every vocabulary of attnlib that has them
TINY = torch.finfo(torch.float32).tiny
FIRM = 1e4  # a gate beyond this is 0 or 1 in every precision, and its logarithm is still finite
GRU = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")


class Written(NamedTuple):
    """What a copier has written, step by step; the last word is `<eos>` unless it was cut."""

    words: list[str]  # T
    p_gen: list[float]  # T
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


def expected_shapes(exported: Mapping[str, Mapping], V: int) -> dict[str, tuple[int, ...]]:
    """Names and shapes of the weights of `Seq2Seq(Encoder, CopyDecoder(LuongDecoder))`, both with GRUs.

    Four widths are taken from the weights themselves; all the others must agree.
    """

    def columns(name: str) -> int:
        shape = exported[name]["shape"] if name in exported else ()
        return shape[1] if len(shape) == 2 else 0

    reads, says = columns("encoder.embedding.weight"), columns("decoder.decoder.embedding.weight")
    h, d = columns("encoder.rnn.weight_hh_l0"), columns("decoder.decoder.rnn.weight_hh_l0")
    directions = ["", "_reverse"] if "encoder.rnn.weight_hh_l0_reverse" in exported else [""]
    wide = h * len(directions)  # d_annotation
    shapes: dict[str, tuple[int, ...]] = {"encoder.embedding.weight": (V, reads)}
    for name, shape in zip(GRU, [(3 * h, reads), (3 * h, h), (3 * h,), (3 * h,)], strict=True):
        shapes |= {f"encoder.rnn.{name}{suffix}": shape for suffix in directions}
    inner = {
        "embedding.weight": (V, says),
        "W_s.weight": (d, wide),
        "W_s.bias": (d,),
        "attention.score.W.weight": (d, wide),
        **dict(zip((f"rnn.{name}" for name in GRU), [(3 * d, says), (3 * d, d), (3 * d,), (3 * d,)], strict=True)),
        "W_c.weight": (d, wide + d),
        "W_o.weight": (V, d),
        "W_o.bias": (V,),
    }
    shapes |= {f"decoder.decoder.{name}": shape for name, shape in inner.items()}
    return shapes | {"decoder.w_g.weight": (1, wide + d + says), "decoder.w_g.bias": (1,)}


def unpacked(exported: Mapping[str, Mapping], V: int) -> dict[str, Tensor]:
    """Exported weights as tensors, checked.

    Raises:
        ValueError: a name is missing or unknown, a shape does not fit the others or the vocabulary, or the numbers
            are not as many as the shape says.
    """
    wanted = expected_shapes(exported, V)
    if wanted.keys() != exported.keys():
        raise ValueError(
            "weights must be those of Seq2Seq(Encoder, CopyDecoder(LuongDecoder)), with GRUs of one layer and the "
            f"score 'general': missing {sorted(wanted.keys() - exported.keys())}, "
            f"unknown {sorted(exported.keys() - wanted.keys())}"
        )
    weights = {}
    for name, shape in wanted.items():
        if (got := tuple(exported[name]["shape"])) != shape:
            raise ValueError(f"{name} must have shape {shape}, for {V} words and the other weights, got {got}")
        data = base64.b64decode(exported[name]["data"])
        if len(data) != 2 * math.prod(shape):
            raise ValueError(f"{name} {shape} needs {2 * math.prod(shape)} bytes, got {len(data)}")
        weights[name] = torch.frombuffer(bytearray(data), dtype=torch.float16).double().view(shape)
    return weights


def write(
    weights: Mapping[str, Tensor],
    vocabulary: Sequence[str],
    unknown: int,
    words: Sequence[str],
    held: Callable[[int], float | None],
    most: int,
) -> Written:
    """The likeliest word at every step, until the end.

    Args:
        weights: as `unpacked` returns them.
        vocabulary: V words.
        unknown: the id read in place of a new word.
        words: the source, at least one word.
        held: step -> p_gen from outside, or None for the model's own.
        most: words, `<eos>` included.
    """
    V, places = len(vocabulary), {word: n for n, word in enumerate(vocabulary)}
    everything = [*vocabulary, *dict.fromkeys(word for word in words if word not in places)]
    ids = torch.tensor([everything.index(word) for word in words])
    inner = {name.removeprefix("decoder.decoder."): weight for name, weight in weights.items()}

    embedded = weights["encoder.embedding.weight"][ids.masked_fill(ids >= V, unknown)]  # (S, d_embed)
    annotations, summary = encode(weights, embedded)  # (S, d_annotation), (d_annotation,)
    key = annotations @ inner["attention.score.W.weight"].T
    state = torch.tanh(inner["W_s.weight"] @ summary + inner["W_s.bias"])
    token, written = BEGIN, Written([], [], [], [], [])
    while len(written.words) < most and token != END:
        y = inner["embedding.weight"][token if token < V else unknown]
        state = torch.gru_cell(y[None], state[None], *(inner[f"rnn.{name}"] for name in GRU))[0]
        alpha = (key @ state).softmax(-1)  # (S,)
        both = torch.cat([alpha @ annotations, state])
        logits = inner["W_o.weight"] @ torch.tanh(inner["W_c.weight"] @ both) + inner["W_o.bias"]
        gate = weights["decoder.w_g.weight"] @ torch.cat([both, y]) + weights["decoder.w_g.bias"]  # (1,)
        p_held = held(len(written.words))
        if p_held is not None:
            gate = torch.logit(gate.new_tensor([p_held]))
        gate = gate.clamp(-FIRM, FIRM)
        said = F.pad(F.logsigmoid(gate) + logits.log_softmax(-1), (0, len(everything) - V), value=-torch.inf)
        copied = torch.zeros(len(everything)).double().scatter_add(0, ids, alpha.clamp(min=TINY))
        log_prob = torch.logaddexp(said, F.logsigmoid(-gate) + copied.log())
        token = int(log_prob.argmax())
        written.words.append(everything[token])
        written.p_gen.append(gate.sigmoid().item())
        written.share.append((said[token] - log_prob[token]).exp().item())
        written.weights.append(alpha.tolist())
        written.log_prob.append(log_prob)
    return written


def encode(weights: Mapping[str, Tensor], embedded: Tensor) -> tuple[Tensor, Tensor]:
    """Annotations (S, d_annotation) and summary (d_annotation) of an embedded source, read in one or both ways."""
    states, last = [], []
    for suffix in [""] if "encoder.rnn.weight_hh_l0_reverse" not in weights else ["", "_reverse"]:
        cell = [weights[f"encoder.rnn.{name}{suffix}"] for name in GRU]
        h, read = cell[1].new_zeros(1, cell[1].shape[1]), []
        for x in embedded.flip(0) if suffix else embedded:
            h = torch.gru_cell(x[None], h, *cell)
            read.append(h[0])
        states.append(torch.stack(read[::-1] if suffix else read))
        last.append(h[0])
    return torch.cat(states, dim=-1), torch.cat(last)

"""Bahdanau's encoder and decoder from their bare weights, for a figure that lets a reader overrule the attention.

`static/bahdanau.js` computes the same in the page. Both are held equal to `attnlib.decoders.BahdanauDecoder`.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from attnlib.attention import masked_softmax

Weights = Mapping[str, Tensor]  # by the names of a state dict, in float64

ENCODER, SCORE = "encoder.rnn.", "decoder.attention.score."


class Written(NamedTuple):
    """A target, as it was written."""

    tokens: list[int]  # y_1 … y_T; ends with the end symbol, unless it was cut
    weights: Tensor  # (T, S), α of each step, or what was put in its place
    logits: Tensor  # (T, V)


def shapes(weights: Weights) -> dict[str, tuple[int, ...]]:
    """The names and shapes that the weights of such a model have, given a few of them.

    Raises:
        ValueError: one of those few is missing, or is no matrix.
    """

    def size(name: str) -> tuple[int, int]:
        if name not in weights:
            raise ValueError(f"not a Bahdanau encoder and decoder: there is no {name}")
        if weights[name].dim() != 2:
            raise ValueError(f"{name} must be a matrix, got the shape {tuple(weights[name].shape)}")
        return tuple(weights[name].shape)

    (V_s, d_x), (V_t, d_y) = size("encoder.embedding.weight"), size("decoder.embedding.weight")
    _, h = size(f"{ENCODER}weight_hh_l0")
    ends = ["", "_reverse"] if f"{ENCODER}weight_hh_l0_reverse" in weights else [""]
    d, a = size("decoder.W_s.weight")[0], h * len(ends)
    d_score, d_output = size(f"{SCORE}W_a.weight")[0], size("decoder.W_o.weight")[1]
    encoder = {}
    for end in ends:
        encoder |= {f"{ENCODER}weight_ih_l0{end}": (3 * h, d_x), f"{ENCODER}weight_hh_l0{end}": (3 * h, h)}
        encoder |= {f"{ENCODER}bias_ih_l0{end}": (3 * h,), f"{ENCODER}bias_hh_l0{end}": (3 * h,)}
    return encoder | {
        "encoder.embedding.weight": (V_s, d_x),
        "decoder.embedding.weight": (V_t, d_y),
        "decoder.W_s.weight": (d, a),
        "decoder.W_s.bias": (d,),
        f"{SCORE}W_a.weight": (d_score, d),
        f"{SCORE}U_a.weight": (d_score, a),
        f"{SCORE}v_a.weight": (1, d_score),
        "decoder.cell.weight_ih": (3 * d, d_y + a),
        "decoder.cell.weight_hh": (3 * d, d),
        "decoder.cell.bias_ih": (3 * d,),
        "decoder.cell.bias_hh": (3 * d,),
        "decoder.U_o.weight": (2 * d_output, d),
        "decoder.U_o.bias": (2 * d_output,),
        "decoder.V_o.weight": (2 * d_output, d_y),
        "decoder.C_o.weight": (2 * d_output, a),
        "decoder.W_o.weight": (V_t, d_output),
        "decoder.W_o.bias": (V_t,),
    }


def check(weights: Weights, source_size: int, target_size: int) -> None:
    """Refuse what is not a Bahdanau encoder and decoder for vocabularies of these sizes.

    Raises:
        ValueError: a weight is missing, is not one of theirs, has another shape, or is not finite.
    """
    expected = shapes(weights)
    if missing := sorted(expected.keys() - weights.keys()):
        raise ValueError(f"not a Bahdanau encoder and decoder: there is no {', '.join(missing)}")
    if strange := sorted(weights.keys() - expected.keys()):
        raise ValueError(f"not a Bahdanau encoder and decoder with an additive score: {', '.join(strange)}")
    for name, shape in expected.items():
        if tuple(weights[name].shape) != shape:
            raise ValueError(f"{name} must have shape {shape}, got {tuple(weights[name].shape)}")
        if not weights[name].isfinite().all():
            raise ValueError(f"{name} must be finite")
    for side, size in (("encoder", source_size), ("decoder", target_size)):
        if (rows := len(weights[f"{side}.embedding.weight"])) != size:
            raise ValueError(f"{side}.embedding.weight has {rows} rows for a vocabulary of {size} tokens")


def read(weights: Weights, ids: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Annotations (S, d_annotation) and summary (d_annotation) of a source of at least one token."""
    own = {name.removeprefix(ENCODER): w for name, w in weights.items() if name.startswith(ENCODER)}
    (_, d_x), (_, h) = own["weight_ih_l0"].shape, own["weight_hh_l0"].shape
    rnn = nn.GRU(d_x, h, bidirectional="weight_hh_l0_reverse" in own, dtype=torch.float64)
    rnn.load_state_dict(own)
    annotations, last = rnn(weights["encoder.embedding.weight"][list(ids)])
    return annotations, last.flatten()


@torch.no_grad()
def write(
    weights: Weights, ids: Sequence[int], edits: Mapping[int, Tensor], begin: int, end: int, max_length: int
) -> Written:
    """The likeliest token at every step, with weights from outside in some of them.

    Args:
        weights: checked by `check`.
        ids: the source, at least one token.
        edits: step -> (S,), taken in place of α.
        begin: the token before the first.
        end: the token after which nothing comes.
        max_length: tokens a target may have, `end` included.
    """
    w = {name.removeprefix("decoder."): weight for name, weight in weights.items()}
    h, summary = read(weights, ids)
    score = "attention.score."
    projected = h @ w[f"{score}U_a.weight"].T  # (S, d_score)
    s = torch.tanh(w["W_s.weight"] @ summary + w["W_s.bias"])
    cell = nn.GRUCell(w["cell.weight_ih"].shape[1], len(s), dtype=torch.float64)
    cell.load_state_dict({name.removeprefix("cell."): weight for name, weight in w.items() if name.startswith("cell.")})
    token, steps = begin, []
    while len(steps) < max_length and (not steps or token != end):
        alpha = edits.get(len(steps))
        if alpha is None:
            energy = torch.tanh(projected + w[f"{score}W_a.weight"] @ s) @ w[f"{score}v_a.weight"][0]  # (S,)
            alpha = masked_softmax(energy)
        y, c = w["embedding.weight"][token], alpha @ h
        s = cell(torch.cat([y, c]), s)
        t = w["U_o.weight"] @ s + w["U_o.bias"] + w["V_o.weight"] @ y + w["C_o.weight"] @ c
        logits = w["W_o.weight"] @ t.unflatten(0, (-1, 2)).amax(-1) + w["W_o.bias"]
        token = logits.argmax().item()
        steps.append((token, alpha, logits))
    tokens, alphas, logits = zip(*steps, strict=True)
    return Written(list(tokens), torch.stack(alphas), torch.stack(logits))

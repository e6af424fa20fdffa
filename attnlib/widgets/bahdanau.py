"""Bahdanau's encoder and decoder from their bare weights, for a figure that lets a reader overrule the attention.

`static/bahdanau.js` computes the same in the page. Both are held equal to `attnlib.decoders.BahdanauDecoder`.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from attnlib.attention import masked_softmax
from attnlib.widgets.network import READER, Shapes, Weights, check, encode, encoder_shapes, gru_shapes

SCORE = "attention.score."


class Written(NamedTuple):
    """A target, as it was written."""

    tokens: list[int]  # y_1 … y_T; ends with the end symbol, unless it was cut
    weights: Tensor  # (T, S), α of each step, or what was put in its place
    logits: Tensor  # (T, V)


KIND = "a Bahdanau encoder and decoder, with GRUs and an additive score"


def shapes(weights: Weights) -> Shapes:
    """The names and shapes that the weights of such a model have, given a few of them.

    Raises:
        ValueError: one of those few is missing, or is no matrix.
    """

    def size(name: str) -> tuple[int, int]:
        if name not in weights:
            raise ValueError(f"the weights are not those of {KIND}: missing {[name]}")
        if weights[name].dim() != 2:
            raise ValueError(f"{name} must be a matrix, got the shape {tuple(weights[name].shape)}")
        return tuple(weights[name].shape)

    (V_s, d_x), (V_t, d_y) = size("encoder.embedding.weight"), size("decoder.embedding.weight")
    encoder, a = encoder_shapes(list(weights), V_s, d_x, size(f"{READER}weight_hh_l0")[1])
    d, d_score, d_output = (
        size(f"decoder.{name}.weight")[n] for name, n in (("W_s", 0), (f"{SCORE}W_a", 0), ("W_o", 1))
    )
    decoder = {
        "embedding.weight": (V_t, d_y),
        "W_s.weight": (d, a),
        "W_s.bias": (d,),
        f"{SCORE}W_a.weight": (d_score, d),
        f"{SCORE}U_a.weight": (d_score, a),
        f"{SCORE}v_a.weight": (1, d_score),
        **gru_shapes("cell.", d_y + a, d, ""),
        "U_o.weight": (2 * d_output, d),
        "U_o.bias": (2 * d_output,),
        "V_o.weight": (2 * d_output, d_y),
        "C_o.weight": (2 * d_output, a),
        "W_o.weight": (V_t, d_output),
        "W_o.bias": (V_t,),
    }
    return encoder | {f"decoder.{name}": shape for name, shape in decoder.items()}


def check_model(weights: Weights, source_size: int, target_size: int) -> None:
    """Refuse what is not a Bahdanau encoder and decoder for vocabularies of these sizes.

    Raises:
        ValueError: a weight is missing, is not one of theirs, has another shape, or is not finite.
    """
    check(KIND, weights, shapes(weights))
    for side, size in (("encoder", source_size), ("decoder", target_size)):
        if (rows := len(weights[f"{side}.embedding.weight"])) != size:
            raise ValueError(f"{side}.embedding.weight has {rows} rows for a vocabulary of {size} tokens")


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
    h, summary = encode(weights, ids)
    projected = h @ w[f"{SCORE}U_a.weight"].T  # (S, d_score)
    s = torch.tanh(w["W_s.weight"] @ summary + w["W_s.bias"])
    cell = nn.GRUCell(w["cell.weight_ih"].shape[1], len(s), dtype=torch.float64)
    cell.load_state_dict({name.removeprefix("cell."): weight for name, weight in w.items() if name.startswith("cell.")})
    token, steps = begin, []
    while len(steps) < max_length and (not steps or token != end):
        alpha = edits.get(len(steps))
        if alpha is None:
            energy = torch.tanh(projected + w[f"{SCORE}W_a.weight"] @ s) @ w[f"{SCORE}v_a.weight"][0]  # (S,)
            alpha = masked_softmax(energy)
        y, c = w["embedding.weight"][token], alpha @ h
        s = cell(torch.cat([y, c]), s)
        t = w["U_o.weight"] @ s + w["U_o.bias"] + w["V_o.weight"] @ y + w["C_o.weight"] @ c
        logits = w["W_o.weight"] @ t.unflatten(0, (-1, 2)).amax(-1) + w["W_o.bias"]
        token = logits.argmax().item()
        steps.append((token, alpha, logits))
    tokens, alphas, logits = zip(*steps, strict=True)
    return Written(list(tokens), torch.stack(alphas), torch.stack(logits))

"""What the trained networks of the figures share, in float64; in the page `static/network.js` does the same."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

Weights = Mapping[str, Tensor]  # by the names of a state dict, in float64
Shapes = dict[str, tuple[int, ...]]

READER = "encoder.rnn."


def gru_shapes(prefix: str, d_in: int, d: int, suffix: str = "_l0") -> Shapes:
    """Names and shapes of one direction of a GRU."""
    shapes = {"weight_ih": (3 * d, d_in), "weight_hh": (3 * d, d), "bias_ih": (3 * d,), "bias_hh": (3 * d,)}
    return {f"{prefix}{name}{suffix}": shape for name, shape in shapes.items()}


def encoder_shapes(names: Sequence[str], V: int, d_embed: int, d_hidden: int) -> tuple[Shapes, int]:
    """Names and shapes of an Encoder with a GRU, and the width of its annotations.

    Args:
        names: of all weights; a `…_reverse` among them makes two directions.
        V: number of source tokens.
        d_embed: width of an embedding.
        d_hidden: width of a direction's state.
    """
    ends = ["", "_reverse"] if f"{READER}weight_hh_l0_reverse" in names else [""]
    shapes: Shapes = {"encoder.embedding.weight": (V, d_embed)}
    for end in ends:
        shapes |= gru_shapes(READER, d_embed, d_hidden, f"_l0{end}")
    return shapes, d_hidden * len(ends)


def check(kind: str, weights: Weights, expected: Shapes) -> None:
    """Refuse weights that are not those of a model.

    Args:
        kind: what the model is, for the message.
        weights: by name.
        expected: the names it has, and their shapes.

    Raises:
        ValueError: a weight is missing, is not one of the model's, has another shape, or is not finite.
    """
    missing, unknown = sorted(expected.keys() - weights.keys()), sorted(weights.keys() - expected.keys())
    if missing or unknown:
        raise ValueError(f"the weights are not those of {kind}: missing {missing}, unknown {unknown}")
    for name, shape in expected.items():
        if tuple(weights[name].shape) != shape:
            raise ValueError(f"{name} must have shape {shape}, to fit the others, got {tuple(weights[name].shape)}")
        if not weights[name].isfinite().all():
            raise ValueError(f"{name} must be finite")


def encode(weights: Weights, ids: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Annotations (S, d_annotation) and summary (d_annotation) of a source of at least one token."""
    own = {name.removeprefix(READER): w for name, w in weights.items() if name.startswith(READER)}
    (_, d_embed), (_, d) = own["weight_ih_l0"].shape, own["weight_hh_l0"].shape
    rnn = nn.GRU(d_embed, d, bidirectional="weight_hh_l0_reverse" in own, dtype=torch.float64)
    rnn.load_state_dict(own)
    annotations, last = rnn(weights["encoder.embedding.weight"][list(ids)])
    return annotations.detach(), last.flatten().detach()

"""Trained weights on their way into a page, and back into the model they came from."""

import base64
import math
from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor, nn

Weights = Mapping[str, Tensor]  # by the names of a state dict


def export(module: nn.Module, bits: int = 16) -> dict[str, dict]:
    """The weights of a module, in 16 or 8 bits each, as `tensors()` of `static/network.js` reads them.

    Fewer bits make the page lighter. They also change the model, by a little: call `rounded(module, bits)` first, and
    what is measured in Python is what runs in the page, to the last bit.

    Args:
        module: what is sent.
        bits: 16, or 8: then a weight is a whole number of -127..127 times the scale of its matrix.

    Returns:
        Under every name of the state dict the entries "shape" and "data"; the data are base64 of little-endian float16.
        With 8 bits they are of int8, and there is an entry "scale".

    Raises:
        ValueError: a weight is not what so many bits can hold: call `rounded(module, bits)`, or it is outside ±65504.
    """
    return {name: packed(name, weight, bits) for name, weight in module.state_dict().items()}


def packed(name: str, weight: Tensor, bits: int = 16) -> dict:
    """One tensor as shape and text, and with 8 bits its scale."""
    weight = weight.detach().cpu().float()
    near = nearest(name, weight, bits)
    if not torch.equal(near, weight):
        worst, call = (near - weight).abs().max().item(), "rounded(module)" if bits == 16 else "rounded(module, bits=8)"
        raise ValueError(f"{name} {tuple(weight.shape)} does not fit {bits} bits (off by {worst:.2g}): use {call}")
    scale = {} if bits == 16 else {"scale": scale_of(weight)}
    numbers = weight.half().numpy().astype("<f2") if bits == 16 else (weight / scale["scale"]).round().char().numpy()
    return {"shape": list(weight.shape), "data": base64.b64encode(numbers.tobytes()).decode(), **scale}


@torch.no_grad()
def rounded(module: nn.Module, bits: int = 16) -> nn.Module:
    """The same module with each weight rounded, in place, to the nearest number of so many bits.

    What that does to a trained RNN of chapter 1 (107,535 weights), over 32,000 places of the test plays: with 16 bits
    0.01 % of a guess's probability moves on average and 0.06 % at most, with 8 bits 0.6 % and 2.5 %; the loss changes
    by less than 0.001 nats.

    Raises:
        ValueError: a weight is not finite, or with 16 bits outside ±65504.
    """
    for name, weight in module.state_dict().items():
        weight.copy_(nearest(name, weight, bits))
    return module


def nearest(name: str, weight: Tensor, bits: int) -> Tensor:
    """The numbers of 16 or 8 bits that are nearest to some weights.

    Raises:
        ValueError: another number of bits, or a weight that so many bits cannot hold.
    """
    if bits not in (8, 16):
        raise ValueError(f"bits must be 16 or 8, got {bits}")
    near = weight.half().to(weight.dtype) if bits == 16 else _whole_steps(weight)
    if not near.isfinite().all():
        limit = "outside ±65504" if bits == 16 else "infinite"
        raise ValueError(f"{name} {tuple(weight.shape)} holds a number that {bits} bits cannot: {limit} or NaN")
    return near


def _whole_steps(weight: Tensor) -> Tensor:
    scale = scale_of(weight)
    return (weight / scale).round() * scale


def scale_of(weight: Tensor, steps: int = 127) -> float:
    """One step of 8 bits, or of fewer: so many of them reach the largest weight.

    It has ten binary digits, so that any multiple of it is exact in float32, and what is rounded keeps its scale.
    """
    mantissa, exponent = math.frexp(weight.abs().max().item() / steps)
    if not math.isfinite(mantissa):
        return math.nan
    return math.ldexp(math.ceil(1024 * mantissa), exponent - 10) or 1.0


def unpacked(exported: Mapping[str, Mapping]) -> dict[str, Tensor]:
    """What `export` has packed, name by name, in float64: the numbers that the page computes with.

    Raises:
        ValueError: an entry has no shape or no data, is not base64, or has not as many numbers as its shape says.
    """
    return {name: unpack(name, entry) for name, entry in exported.items()}


def unpack(name: str, entry: Mapping) -> Tensor:
    """One tensor from shape and text."""
    try:
        shape, data = entry["shape"], base64.b64decode(entry["data"], validate=True)
    except (TypeError, KeyError, ValueError) as error:
        raise ValueError(f"{name} is not a weight as export() packs it: {error!r}") from error
    kind, scale = ("i1", entry["scale"]) if "scale" in entry else ("<f2", 1)
    needed = np.dtype(kind).itemsize * math.prod(shape)
    if len(data) != needed:
        raise ValueError(f"{name} of shape {tuple(shape)} needs {needed} bytes, got {len(data)}")
    numbers = np.frombuffer(data, dtype=kind).astype(np.float64) * scale
    return torch.from_numpy(numbers).reshape(list(shape))


def widths(weights: Weights, name: str) -> tuple[int, int]:
    """Rows and columns of one of the weights, from which a model's sizes are read.

    Raises:
        ValueError: there is no such weight, or it is no matrix.
    """
    if name not in weights or weights[name].dim() != 2 or 0 in weights[name].shape:
        got = f"the shape {tuple(weights[name].shape)}" if name in weights else f"only {sorted(weights)}"
        raise ValueError(f"{name} must be among the weights, and a matrix: got {got}")
    return tuple(weights[name].shape)


def loaded(model: nn.Module, weights: Weights) -> nn.Module:
    """A model with these weights in place of its own, and in their precision, ready to run.

    Args:
        model: on the device "meta", where nothing is drawn at random that a reader's seed has to do with.
        weights: all of the model's, and no other.

    Raises:
        ValueError: a weight is missing, is not one of the model's, has another shape, or is not finite.
    """
    for name, weight in weights.items():
        if not weight.isfinite().all():
            raise ValueError(f"{name} must be finite")
    try:
        model.load_state_dict(weights, strict=True, assign=True)
    except RuntimeError as error:
        raise ValueError(f"the weights do not fit the model: {' '.join(str(error).split())}") from error
    return model.eval().requires_grad_(False)

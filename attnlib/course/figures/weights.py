"""Trained weights on their way into a page, and back into the model they came from."""

import base64
import math
from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor, nn

Weights = Mapping[str, Tensor]  # by the names of a state dict


def export(module: nn.Module) -> dict[str, dict]:
    """The weights of a module, in 16 bits each, as `tensors()` of `static/network.js` reads them.

    Half precision halves the page. It also changes the model, by a little: call `rounded(module)` first, and what is
    measured in Python is what runs in the page, to the last bit.

    Returns:
        Under every name of the state dict the entries "shape" and "data"; the data are base64 of little-endian float16.

    Raises:
        ValueError: a weight is not what 16 bits can hold: call `rounded(module)`, or it is outside ±65504.
    """
    return {name: packed(name, weight) for name, weight in module.state_dict().items()}


def packed(name: str, weight: Tensor) -> dict:
    """One tensor as shape and text."""
    weight = weight.detach().cpu().float()
    half = weight.half()
    if not torch.equal(half.float(), weight):
        worst = (half.float() - weight).abs().max().item()
        raise ValueError(f"{name} {tuple(weight.shape)} does not fit 16 bits (off by {worst:.2g}): use rounded(module)")
    data = half.contiguous().numpy().astype("<f2").tobytes()
    return {"shape": list(weight.shape), "data": base64.b64encode(data).decode()}


@torch.no_grad()
def rounded(module: nn.Module) -> nn.Module:
    """The same module with each weight rounded, in place, to the nearest number of 16 bits.

    Raises:
        ValueError: a weight is not finite, or outside ±65504.
    """
    for name, weight in module.state_dict().items():
        if not weight.half().isfinite().all():
            raise ValueError(f"{name} {tuple(weight.shape)} holds a number that 16 bits cannot: outside ±65504 or NaN")
        weight.copy_(weight.half())
    return module


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
    if len(data) != 2 * math.prod(shape):
        raise ValueError(f"{name} of shape {tuple(shape)} needs {2 * math.prod(shape)} bytes, got {len(data)}")
    numbers = np.frombuffer(data, dtype="<f2").astype(np.float64)
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

"""One answer in many dresses: numbers of NumPy, arrays, parameters and lists are taken as what they stand for.

`undressed(x, like)` is the one place in which a check decides whether an answer is of the kind that was asked for.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from attnlib.course.checks.verdict import Mistake

KINDS = {
    float: "a number", int: "a plain int", bool: "True or False", str: "a word", list: "a list", tuple: "a tuple",
    Tensor: "a torch.Tensor",
}  # fmt: skip


def undressed(x: Any, like: Any, name: str = "it") -> Any:
    """The answer as plain as `like`, which is a right one.

    A tensor may be a parameter, an array, a number, or a list of numbers; a number may be NumPy's, or a tensor or array
    without axes; a float may be an int. Types are compared exactly: a class of one's own may call itself equal to
    everything.

    Args:
        x: What the student's function has returned.
        like: A tensor, float, int, bool, str, or a list or tuple of one of them.
        name: How a sentence names the answer.

    Raises:
        Mistake: It is of another kind.
    """
    kind = Tensor if isinstance(like, Tensor) else type(like)
    found = _tensor(x) if kind is Tensor else _sequence(x, like) if kind in (list, tuple) else _one(x, kind)
    if found is None:
        verb = "returns" if name == "it" else "is"
        raise Mistake(f"{name} {verb} {_kind(x)}; {KINDS[kind]} is asked for.")
    return found


def _kind(x: Any) -> str:
    """The type of something that was returned, with its shape where it has one."""
    shape = f" of shape {tuple(x.shape)}" if type(x) in (Tensor, nn.Parameter, np.ndarray) and x.shape else ""
    return type(x).__name__ + shape


def _tensor(x: Any) -> Tensor | None:
    if type(x) is nn.Parameter:
        return x.view_as(x)  # a plain tensor on the same graph
    if type(x) is Tensor:
        return x
    if (type(x) is np.ndarray or isinstance(x, np.generic)) and x.dtype.kind in "fiub":
        return torch.as_tensor(x.copy())
    if type(x) in (float, int, bool):
        return torch.tensor(x)
    if type(x) in (list, tuple) and x:
        parts = [_tensor(part) for part in x]
        if all(part is not None for part in parts) and len({part.shape for part in parts}) == 1:
            return torch.stack(parts)
    return None


def _sequence(x: Any, like: list | tuple) -> list | tuple | None:
    if type(x) is np.ndarray and x.ndim == 1 and type(like) is list:
        x = x.tolist()
    if type(x) is not type(like):
        return None
    return type(like)(str(part) if type(part) is np.str_ else part for part in x)


def _one(x: Any, kind: type) -> Any:
    """A single number, truth value or word."""
    if (type(x) in (Tensor, nn.Parameter, np.ndarray) and x.shape == ()) or isinstance(x, np.number | np.bool_):
        x = x.item()
    elif type(x) is np.str_:
        x = str(x)
    if kind is float and type(x) is int:
        return float(x)
    return x if type(x) is kind else None

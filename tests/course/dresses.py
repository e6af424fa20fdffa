"""Right answers in other dress: the same numbers, as another type holds them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

DRESSES = {
    "float64": lambda y: y.double() if isinstance(y, Tensor) and y.is_floating_point() else y,
    "parameter": lambda y: torch.nn.Parameter(y) if isinstance(y, Tensor) and y.is_floating_point() else y,
    "array": lambda y: y.detach().numpy() if isinstance(y, Tensor) else y,
    "list": lambda y: y.tolist() if isinstance(y, Tensor) else y,
    "NumPy": lambda y: np.array([y])[0] if isinstance(y, float | int | str) else y,
    "number of NumPy": lambda y: np.array([y])[0] if isinstance(y, float | int) else y,
    "tensor": lambda y: torch.tensor(y) if isinstance(y, float | int) else y,
    "parameter without axes": lambda y: torch.nn.Parameter(torch.tensor(y)) if isinstance(y, float) else y,
    "array without axes": lambda y: np.array(y) if isinstance(y, float | int) else y,
}


def dressed(answer: Callable, dress: str) -> Callable:
    """An answer that gives what another gives, in one of the dresses; in lists, tuples and dictionaries, each item."""
    change = DRESSES[dress]

    def one(y: Any) -> Any:
        if isinstance(y, dict):
            return {key: one(x) for key, x in y.items()}
        return type(y)(map(one, y)) if type(y) in (list, tuple) else change(y)

    return lambda *inputs, **named: one(answer(*inputs, **named))

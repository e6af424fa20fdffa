"""What is given to a figure, checked: numbers in arrays, a positive number, a whole number."""

import math

import numpy as np


def numbers(name: str, given: object) -> np.ndarray:
    """Lists, arrays and tensors alike as float64, finite."""
    try:
        array = as_array(given)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numbers of a rectangular shape, got {given!r}") from error
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got {array.tolist()}")
    return array


def as_array(given: object) -> np.ndarray:
    """Lists, arrays and tensors alike as float64; a tensor may be on a device, in a graph or in 16 bits.

    Raises:
        ValueError: it is not rectangular, or not of numbers.
    """
    if hasattr(given, "detach"):
        given = given.detach().cpu().double()
    elif isinstance(given, list | tuple) and any(hasattr(row, "detach") for row in given):
        given = [as_array(row) for row in given]
    array = np.asarray(given)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"these are no numbers: {array.dtype}")
    return array.astype(np.float64)


def as_float(given) -> float:
    """A number, also of an array or a tensor with one element, which may be on a device or in a graph."""
    return float(given.detach() if hasattr(given, "detach") else given)


def positive(name: str, given) -> float:
    """A number above 0, or a ValueError."""
    if not (0 < as_float(given) < float("inf")):
        raise ValueError(f"{name} must be positive and finite, got {given!r}")
    return as_float(given)


def whole(name: str, given, low: int, high: int, more: str = "") -> int:
    """A whole number in low..high, or a ValueError, which also names what `more` may be given."""
    message = f"{name} must be a whole number in {low}..{high}{more}, got {given!r}"
    try:
        number = math.nan if isinstance(given, bool | str) else as_float(given)
    except (TypeError, ValueError) as error:
        raise ValueError(message) from error
    if not (number.is_integer() and low <= number <= high):
        raise ValueError(message)
    return int(number)

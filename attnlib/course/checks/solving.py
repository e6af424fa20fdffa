"""Answers found by trial: a check needs no formula where it can ask whether a number is too small."""

from collections.abc import Callable


def smallest(enough: Callable[[float], bool], low: float = 0.0, high: float = 1.0) -> float:
    """The smallest number from `low` on that is enough, if all larger ones are: infinity where none below 1e15 is."""
    if enough(low):
        return low
    while not enough(high):
        low, high = high, 2 * high
        if high > 1e15:
            return float("inf")
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high

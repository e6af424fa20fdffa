"""From long tensors to batches."""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from jaxtyping import Int
from torch import Tensor


class LMBatch(NamedTuple):
    """What a language model reads, and what it should have said: the same text, one token later."""

    inputs: Int[Tensor, "B T"]
    targets: Int[Tensor, "B T"]

    def to(self, device: torch.device) -> "LMBatch":
        return LMBatch(self.inputs.to(device), self.targets.to(device))


def random_windows(
    tokens: Int[Tensor, " N"], batch: int, length: int, generator: torch.Generator | None = None
) -> Iterator[LMBatch]:
    """Windows from random places of a long text, without end.

    Args:
        tokens: the text, N ids.
        batch: B, windows at a time.
        length: T, tokens per window.
        generator: source of randomness.

    Raises:
        ValueError: the text is too short for one window and the token after it.
    """
    if len(tokens) < length + 1:
        raise ValueError(f"a window of {length} needs {length + 1} tokens, the text has {len(tokens)}")
    return _windows(tokens, batch, length, generator)


def _windows(tokens, batch, length, generator):
    offsets = torch.arange(length + 1)
    while True:
        starts = torch.randint(len(tokens) - length, (batch, 1), generator=generator)
        window = tokens[starts + offsets]  # (B, T + 1)
        yield LMBatch(inputs=window[:, :-1], targets=window[:, 1:])

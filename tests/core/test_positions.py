"""Positions are the waves of the paper or learned vectors, and go on where a text is cut."""

import math

import pytest
import torch
from torch.testing import assert_close

from attnlib.positions import LearnedPositions, SinusoidalPositions

B, T, D = 2, 5, 6


def draw(width: int = D) -> torch.Tensor:
    return torch.randn(B, T, width, dtype=torch.float64)


def learned(width: int) -> LearnedPositions:
    return LearnedPositions(9, width)


@pytest.mark.parametrize("start", [0, 1, 4000])
@pytest.mark.parametrize("width", [1, 2, 6, 7])
def test_waves_are_those_of_the_paper(width, start):
    x = draw(width)
    expected = x.clone()
    for t in range(T):
        for c in range(width):
            angle = (start + t) / 10_000 ** (2 * (c // 2) / width)
            expected[:, t, c] += math.sin(angle) if c % 2 == 0 else math.cos(angle)
    assert_close(SinusoidalPositions(width)(x, start), expected)
    assert not list(SinusoidalPositions(width).parameters())


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_waves_in_half_precision_still_tell_far_neighbours_apart(dtype):
    start = 4000  # half precision cannot count this far in steps of one
    found = SinusoidalPositions(D)(torch.zeros(1, 3, D, dtype=dtype), start)
    exact = SinusoidalPositions(D)(torch.zeros(1, 3, D).double(), start)
    assert found.dtype == dtype
    assert_close(found.double(), exact, rtol=0, atol=8e-3)


@pytest.mark.parametrize("make", [SinusoidalPositions, learned])
def test_positions_go_on_where_the_last_text_ended(make):
    positions, x = make(D).double(), draw()
    whole = positions(x)
    for cut in range(T + 1):
        halves = [positions(x[:, :cut]), positions(x[:, cut:], cut)]
        assert_close(torch.cat(halves, dim=1), whole)
    shift = (whole - x)[0]
    assert_close((whole - x)[1], shift)  # the same for every text
    assert (shift[1:] - shift[:-1]).abs().amax(-1).min() > 1e-4  # and another at every place


def test_learned_vectors_are_added_and_learned():
    positions, x = learned(D).double(), draw()
    assert_close(positions(x, 2), x + positions.p[2:7])
    positions(x, 4).sum().backward()  # 4..8: up to the last
    assert_close(positions.p.grad, torch.tensor([0.0] * 4 + [B] * 5)[:, None].expand(9, D).double())


@pytest.mark.parametrize(
    ("make", "start", "message"),
    [
        (learned, 5, r"0\.\.8, got 5\.\.9"),
        (learned, -1, r"got -1\.\.3"),
        (learned, 100, r"got 100\.\.104"),
        (SinusoidalPositions, -1, r"0\.\.16777215, got -1\.\.3$"),
        (SinusoidalPositions, 2**24 - T + 1, r"0\.\.16777215, got 16777212\.\.16777216$"),  # float32 counts no further
    ],
)
def test_positions_that_there_are_not_are_refused(make, start, message):
    SinusoidalPositions(D)(draw(), 2**24 - T)
    with pytest.raises(ValueError, match=message):
        make(D)(draw(), start)

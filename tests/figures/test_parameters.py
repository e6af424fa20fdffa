"""What is given to a figure: numbers of all kinds come in, and what is none is refused by its name."""

import math
import re

import numpy as np
import pytest
import torch

from attnlib.figures.parameters import as_float, numbers, positive, whole

TABLE = torch.tensor([[1.0, 0.5], [-2.0, 3.0]])


@pytest.mark.parametrize(
    "given",
    [
        TABLE, TABLE.clone().requires_grad_(), TABLE.bfloat16(), TABLE.half(), TABLE.double(), TABLE.numpy(),
        TABLE.tolist(), tuple(map(tuple, TABLE.tolist())), list(TABLE), list(TABLE.numpy()), list(TABLE.bfloat16()),
    ],
)  # fmt: skip
def test_lists_arrays_and_tensors_are_the_same_numbers(given):
    found = numbers("table", given)
    assert found.dtype == np.float64 and found.tolist() == [[1.0, 0.5], [-2.0, 3.0]]


@pytest.mark.parametrize("given", [[1, 0], torch.tensor([True, False]), np.array([1, 0], dtype=np.uint8), (1.0, False)])
def test_whole_numbers_and_truth_values_are_numbers_too(given):
    assert numbers("given", given).tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([[1.0], [1.0, 2.0]], "table must be numbers of a rectangular shape"), ("ab", "'ab'"), ([["a"]], "'a'"),
        ([None], "None"), ([1j], "1j"), ([math.nan, 1.0], "table must be finite, got [nan, 1.0]"),
        (torch.tensor(math.inf), "table must be finite, got inf"),
    ],
)  # fmt: skip
def test_what_are_no_finite_numbers_is_refused(given, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        numbers("table", given)


ONE = [0.5, np.float32(0.5), torch.tensor(0.5, requires_grad=True), torch.tensor([0.5]), torch.tensor(0.5).bfloat16()]


@pytest.mark.parametrize("given", ONE)
def test_one_number_of_any_kind(given):
    assert as_float(given) == positive("scale", given) == 0.5
    assert type(positive("scale", given)) is float


@pytest.mark.parametrize("given", [0, 0.0, -1.0, math.inf, math.nan])
def test_what_is_not_positive_and_finite(given):
    with pytest.raises(ValueError, match=re.escape(f"scale must be positive and finite, got {given!r}")):
        positive("scale", given)


@pytest.mark.parametrize("given", [0, 4, 4.0, np.int64(2), torch.tensor(2), torch.tensor([4.0], requires_grad=True)])
def test_whole_numbers_in_a_range(given):
    assert whole("step", given, 0, 4) == int(given)
    assert type(whole("step", given, 0, 4)) is int


@pytest.mark.parametrize("given", [-1, 5, 1.5, math.nan, math.inf, None, True, "2", [1, 2]])
def test_what_is_no_whole_number_in_a_range(given):
    message = f"step must be a whole number in 0..4 or None, got {given!r}"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        whole("step", given, 0, 4, " or None")

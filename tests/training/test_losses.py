"""What the losses refuse, and where perplexity ends."""

import math

import pytest
import torch

from attnlib import RNNLM
from attnlib.training.losses import coverage_loss, cross_entropy, doubly_stochastic_penalty
from attnlib.training.metrics import nats_per_token, perplexity


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bool])
def test_targets_that_are_not_token_ids_are_refused(without_shape_checks, dtype):
    with pytest.raises(ValueError, match=str(dtype)):
        cross_entropy(torch.zeros(2, 3), torch.ones(2).to(dtype))


@pytest.mark.parametrize("loss", [doubly_stochastic_penalty, coverage_loss])
@pytest.mark.parametrize(
    ("weights", "mask"),
    [((3, 4), (3,)), ((2, 8, 3, 4), (2, 8)), ((2, 8, 3, 4), (2, 8, 3)), ((0, 3, 4), (0, 3)), ((2, 3, 4), (2, 4))],
)
def test_weights_that_are_not_of_one_batch_are_refused(without_shape_checks, loss, weights, mask):
    with pytest.raises(ValueError, match=r"need weights|need one boolean"):
        loss(torch.zeros(weights), torch.ones(mask, dtype=torch.bool))


@pytest.mark.parametrize("shape", [(2, 50), (100, 1)])
def test_nats_of_several_texts_at_once_are_refused(without_shape_checks, shape):
    with pytest.raises(ValueError, match="one text"):
        nats_per_token(RNNLM(vocab_size=5, d_embed=3, d_hidden=4), torch.zeros(shape, dtype=torch.long), streams=1)


def test_perplexity_too_large_for_a_float_is_infinite():
    assert perplexity(1000.0) == math.inf

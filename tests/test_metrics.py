"""Numbers that padding cannot touch."""

import math

import pytest
import torch
from torch.testing import assert_close

from attnlib.metrics import cross_entropy, perplexity
from tests import oracles

B, T, V = 2, 3, 7


def draw():
    return torch.randn(B, T, V).double(), torch.randint(V, (B, T)), torch.tensor([[True] * 3, [True, False, False]])


@pytest.mark.parametrize("masked", [False, True])
def test_cross_entropy_equals_its_formula(masked):
    logits, targets, mask = draw()
    mask = mask if masked else torch.ones(B, T, dtype=torch.bool)
    expected = oracles.cross_entropy(logits.view(-1, V).tolist(), targets.view(-1).tolist(), mask.view(-1).tolist())
    mean, n_tokens = cross_entropy(logits, targets, mask if masked else None)
    assert_close(mean.item(), expected[0])
    assert n_tokens == expected[1] == (4 if masked else 6)
    assert type(n_tokens) is int


@pytest.mark.parametrize("shape", [(), (5,), (2, 3, 5)])
def test_cross_entropy_takes_any_leading_dimensions(shape):
    logits, targets = torch.randn(*shape, V).double(), torch.randint(V, shape)
    mean, n_tokens = cross_entropy(logits, targets)
    picked = logits.log_softmax(-1).gather(-1, targets[..., None])
    assert_close(mean, -picked.mean())
    assert n_tokens == math.prod(shape)


def test_what_stands_on_padding_changes_neither_the_loss_nor_a_gradient():
    logits, targets, mask = draw()
    results = []
    for logit, target in ((0.0, 0), (1e6, 3)):
        x = torch.where(mask[..., None], logits, torch.tensor(logit).double()).requires_grad_()
        mean, n_tokens = cross_entropy(x, targets.masked_fill(~mask, target), mask)
        mean.backward()
        results.append((mean.detach(), torch.tensor(n_tokens), x.grad))
        assert (x.grad[~mask] == 0).all()
    assert_close(results[0], results[1])


def test_more_padding_changes_nothing():
    logits, targets, mask = draw()
    wider = [torch.cat([x, torch.zeros_like(x)], dim=1) for x in (logits, targets, mask)]
    assert_close(cross_entropy(*wider), cross_entropy(logits, targets, mask))


def test_extreme_logits_stay_finite():
    logits = torch.tensor([[1e4, -1e4]])
    assert_close(cross_entropy(logits, torch.tensor([0]))[0], torch.tensor(0.0))
    assert_close(cross_entropy(logits, torch.tensor([1]))[0], torch.tensor(2e4))


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (((2, 3, 7), (2, 4), None), r"\(2, 3, 7\) and \(2, 4\)"),
        (((2, 3, 7), (2, 3, 7), None), r"\(2, 3, 7\) and \(2, 3, 7\)"),
        (((2, 3, 7), (3,), None), r"\(2, 3, 7\) and \(3,\)"),
        (((2, 3, 7), (2, 3), (2, 1)), r"mask \(2, 1\) and targets \(2, 3\)"),
        (((2, 3, 7), (2, 3), (2,)), r"mask \(2,\) and targets \(2, 3\)"),
        (((0, 7), (0,), None), "no token to judge"),
    ],
)
def test_what_does_not_fit_is_refused(shapes, message):
    logits, targets, mask = shapes
    mask = None if mask is None else torch.ones(mask, dtype=torch.bool)
    with pytest.raises(ValueError, match=message):
        cross_entropy(torch.zeros(logits), torch.zeros(targets, dtype=torch.long), mask)


def test_all_padding_has_no_loss():
    logits, targets, mask = draw()
    with pytest.raises(ValueError, match="no token to judge"):
        cross_entropy(logits, targets, torch.zeros_like(mask))


def test_perplexity_counts_equally_likely_tokens():
    for n in (1, 2, 65):
        nats, _ = cross_entropy(torch.zeros(5, n).double(), torch.zeros(5, dtype=torch.long))
        assert_close(perplexity(nats.item()), float(n))

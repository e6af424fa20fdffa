"""Numbers that padding cannot touch: each loss against its formula, and what the losses refuse."""

import pytest
import torch
from torch.testing import assert_close

from attnlib.training.losses import coverage_loss, cross_entropy, doubly_stochastic_penalty
from tests import oracles

V = 7
MASK = torch.tensor([[True] * 3, [True, False, False]])


def draw():
    return torch.randn(2, 3, V).double(), torch.randint(V, (2, 3)), MASK


@pytest.mark.parametrize("dtype", [torch.long, torch.int])
@pytest.mark.parametrize(("shape", "masked"), [((), False), ((5,), False), ((2, 3, 5), False), ((2, 3), True)])
def test_cross_entropy_equals_its_formula(shape, masked, dtype):
    logits, targets = torch.randn(*shape, V).double(), torch.randint(V, shape, dtype=dtype)
    mask = MASK if masked else torch.ones(shape, dtype=torch.bool)
    expected = oracles.cross_entropy(logits.view(-1, V).tolist(), targets.view(-1).tolist(), mask.view(-1).tolist())
    mean, n_tokens = cross_entropy(logits, targets, mask if masked else None)
    assert_close(mean.item(), expected[0])
    assert n_tokens == expected[1] == mask.sum()
    assert type(n_tokens) is int


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


def test_extreme_logits_stay_finite():
    logits = torch.tensor([[1e4, -1e4]])
    assert_close(cross_entropy(logits, torch.tensor([0]))[0], torch.tensor(0.0))
    assert_close(cross_entropy(logits, torch.tensor([1]))[0], torch.tensor(2e4))


def ids(*shape: int) -> torch.Tensor:
    return torch.zeros(shape, dtype=torch.long)


@pytest.mark.parametrize(
    ("logits", "targets", "mask", "message"),
    [
        ((2, 3, 7), ids(2, 4), None, r"\(2, 3, 7\) and \(2, 4\)"),
        ((2, 3, 7), ids(3), None, r"\(2, 3, 7\) and \(3,\)"),
        ((2, 3, 7), ids(2, 3), MASK[:, :1], r"mask \(2, 1\) and targets \(2, 3\)"),
        ((2, 3, 7), ids(2, 3), MASK[:, 0], r"mask \(2,\) and targets \(2, 3\)"),
        ((2, 3, 7), ids(2, 3), MASK.long(), r"a mask is boolean, .* got torch\.int64"),
        ((2, 3, 7), ids(2, 3), MASK & ~MASK, r"no token to judge: targets \(0,\)"),
        ((0, 7), ids(0), None, r"no token to judge: targets \(0,\)"),
        ((2, 3), ids(2).float(), None, r"token ids, integers; got torch\.float32"),
        ((2, 3), ids(2).bool(), None, r"token ids, integers; got torch\.bool"),
    ],
)
def test_what_has_no_cross_entropy_is_refused(logits, targets, mask, message, without_shape_checks):
    with pytest.raises(ValueError, match=message):
        cross_entropy(torch.zeros(logits), targets, mask)


@pytest.mark.parametrize(("token", "named"), [(V, r"0\.\.6, got \d\.\.7"), (-1, r"-1\.\."), (-100, r"-100\.\.")])
def test_target_outside_the_vocabulary_is_refused_unless_it_is_padding(token, named):
    logits, targets, mask = draw()
    spoilt = torch.where(mask, targets, torch.tensor(token))
    assert_close(cross_entropy(logits, spoilt, mask), cross_entropy(logits, targets, mask))
    for read in (None, ~mask):
        with pytest.raises(ValueError, match=f"targets must lie in .*{named}"):
            cross_entropy(logits, spoilt, read)


# --- losses of the weights --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("loss", "formula"), [(coverage_loss, oracles.coverage), (doubly_stochastic_penalty, oracles.penalty)]
)
def test_loss_of_the_weights_equals_its_formula(loss, formula):
    weights = (3 * torch.randn(2, 5, 4).double()).softmax(-1)
    for lengths in ([5, 5], [5, 2], [1, 4]):
        mask = torch.arange(5) < torch.tensor(lengths).unsqueeze(1)
        assert_close(loss(weights, mask).item(), formula(weights.numpy(), mask.numpy()))
        padded = weights.masked_fill(~mask.unsqueeze(-1), torch.nan)
        assert_close(loss(padded, mask), loss(weights, mask))
    assert torch.autograd.gradcheck(lambda w: loss(w, mask), weights.requires_grad_())


@pytest.mark.parametrize("loss", [doubly_stochastic_penalty, coverage_loss])
@pytest.mark.parametrize(
    ("weights", "mask"),
    [((3, 4), (3,)), ((2, 8, 3, 4), (2, 8)), ((2, 8, 3, 4), (2, 8, 3)), ((0, 3, 4), (0, 3)), ((2, 3, 4), (2, 4))],
)
def test_weights_that_are_not_of_one_batch_are_refused(without_shape_checks, loss, weights, mask):
    with pytest.raises(ValueError, match=r"need weights .* boolean") as error:
        loss(torch.zeros(weights), torch.ones(mask, dtype=torch.bool))
    assert str(weights) in str(error.value) and str(mask) in str(error.value)


@pytest.mark.parametrize("loss", [doubly_stochastic_penalty, coverage_loss])
def test_masks_of_numbers_are_refused_and_coverage_needs_a_step(without_shape_checks, loss):
    with pytest.raises(ValueError, match=r"torch\.float32"):
        loss(torch.zeros(2, 3, 5), torch.ones(2, 3))
    with pytest.raises(ValueError, match="with 0"):
        coverage_loss(torch.zeros(2, 3, 5), torch.zeros(2, 3, dtype=torch.bool))

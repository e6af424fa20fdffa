"""quick_softmax: a softmax over the visible in value and gradient, however it is cut into parts."""

import itertools
from unittest import mock

import pytest
import torch
from torch.testing import assert_close

from attnlib import attention
from attnlib import quick_softmax as module
from attnlib.attention import causal_mask, length_mask, masked_softmax
from attnlib.quick_softmax import has_nan, quick_softmax

B, H, T, S = 7, 2, 3, 5
MASKS = {
    "lengths": length_mask(torch.arange(B) % S + 1, S).unsqueeze(1),  # (B, 1, 1, S)
    "causal": causal_mask(T, S - T),
    "each its own": torch.rand(B, H, T, S, generator=torch.Generator().manual_seed(0)) < 0.5,
    "one for all": torch.arange(S) < 4,
}
MASKS["each its own"][..., 2] = True  # every row sees something


def by_choice(scores, mask):
    """The plain way, whose gradient is autograd's own."""
    return torch.where(mask, scores.masked_fill(~mask, -torch.inf).softmax(-1), 0.0)


def there_and_back(softmax, scores, mask):
    """Weights, gradient, and the gradient of the gradient, of sums that tell all numbers apart."""
    leaf = scores.detach().clone(memory_format=torch.preserve_format).requires_grad_()
    weights = softmax(leaf, mask)
    apart = torch.linspace(-1, 2, weights.numel(), dtype=weights.dtype).view_as(weights)
    (gradient,) = torch.autograd.grad((weights * apart).sum(), leaf, create_graph=True)
    (second,) = torch.autograd.grad((gradient * apart.square()).sum(), leaf)
    return weights, gradient, second


@pytest.mark.parametrize("in_cache", [1, H * T * S - 1, H * T * S, 3 * H * T * S + 1, 10**6])
@pytest.mark.parametrize("name", MASKS)
def test_the_same_in_parts_as_by_choice(name, in_cache, monkeypatch):
    monkeypatch.setattr(module, "IN_CACHE", in_cache)
    scores = torch.randn(B, H, T, S).double()
    found, wanted = (there_and_back(softmax, scores, MASKS[name]) for softmax in (quick_softmax, by_choice))
    for one, other in zip(found, wanted, strict=True):
        assert_close(one, other, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("in_cache", [1, 10**6])
@pytest.mark.parametrize("shape", [(S,), (T, S), (1, S), (S, 1), (0, S), (T, 0), (0,)])
def test_any_number_of_dimensions(shape, in_cache, monkeypatch):
    monkeypatch.setattr(module, "IN_CACHE", in_cache)
    scores, mask = torch.randn(shape).double(), torch.ones(shape[-1:], dtype=torch.bool)
    mask[1:2] = False
    assert_close(quick_softmax(scores, mask), by_choice(scores, mask))


@pytest.mark.parametrize("view", [lambda x: x.mT, lambda x: x[::2, :, :, 1::2], lambda x: x[:1].expand(B, H, S, T)])
def test_scores_may_lie_in_memory_as_they_like(view, monkeypatch):
    monkeypatch.setattr(module, "IN_CACHE", 2 * H * S * T)
    scores = view(torch.randn(B, H, S, T).double())
    mask = torch.rand(scores.shape) < 0.5
    mask[..., 0] = True
    before = scores.clone()
    for one, other in zip(*(there_and_back(f, scores, mask) for f in (quick_softmax, by_choice)), strict=True):
        assert_close(one, other, rtol=1e-12, atol=1e-13)
    assert_close(scores, before, rtol=0, atol=0)


def test_more_than_fits_is_taken_in_parts_that_fit(monkeypatch):
    sizes, softmax = [], torch.softmax

    def note(part, *given, **options):
        sizes.append(part.numel())
        return softmax(part, *given, **options)

    monkeypatch.setattr(torch, "softmax", note)
    one, head = H * T * S, T * S  # scores of a sentence, and of one of its heads
    for room, parts in {
        B * one: [B * one],
        B * one - 1: [(B - 1) * one, one],
        3 * one: [3 * one, 3 * one, one],
        one: [one] * B,
        one - 1: [head] * H * B,
        head - 1: [(T - 1) * S, S] * H * B,
        S - 1: [S] * T * H * B,  # a row is never cut
    }.items():
        monkeypatch.setattr(module, "IN_CACHE", room)
        sizes.clear()
        quick_softmax(torch.randn(B, H, T, S), MASKS["causal"])
        assert sizes == parts, room


@pytest.mark.parametrize("poison", [torch.nan, torch.inf, -torch.inf])
def test_whatever_is_sent_to_a_hidden_weight_is_lost(poison):
    mask = MASKS["each its own"]
    scores, sent = torch.randn(2, B, H, T, S, dtype=torch.float64)
    scores.requires_grad_()
    (clean,) = torch.autograd.grad(quick_softmax(scores, mask), scores, sent)
    for hidden in (~mask, ~mask & (torch.arange(B) == 3).view(B, 1, 1, 1)):  # everywhere, and in some rows
        assert hidden.any()
        (found,) = torch.autograd.grad(quick_softmax(scores, mask), scores, sent.masked_fill(hidden, poison))
        assert_close(found, clean, rtol=0, atol=1e-15)
        assert (found[~mask] == 0).all()


def test_nan_for_a_visible_weight_comes_back():
    scores, mask = torch.randn(B, H, T, S, requires_grad=True), MASKS["causal"]
    sent = torch.zeros(B, H, T, S)
    sent[0, 1, 2, 0] = torch.nan
    (found,) = torch.autograd.grad(quick_softmax(scores, mask), scores, sent)
    assert found[0, 1, 2].isnan().all() and found.isnan().sum() == S


@pytest.mark.parametrize("number", [torch.nan, torch.inf])
def test_a_row_that_it_is_not_for_is_nan_and_no_other(number):
    mask = MASKS["lengths"].expand(B, H, T, S).clone()
    scores = torch.randn(B, H, T, S)
    mask[0, 0, 0] = False
    scores[2, 1, 0, 0] = number
    weights = quick_softmax(scores, mask)
    wrong = torch.zeros(B, H, T, dtype=torch.bool)
    wrong[0, 0, 0] = wrong[2, 1, 0] = True
    assert_close(weights.isnan(), wrong.unsqueeze(-1).expand(B, H, T, S))
    assert has_nan(weights) and not has_nan(weights[3:])


def test_one_nan_anywhere_is_found():
    rows = torch.zeros(B, T, S)
    assert not has_nan(rows) and not has_nan(rows[..., :0])
    for place in itertools.product(range(B), range(T)):
        bad = rows.clone()
        bad[place] = torch.nan
        assert has_nan(bad)


@pytest.mark.parametrize("in_cache", [1, 10**6])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("autocast", [False, True])
def test_weights_and_gradients_have_the_type_of_the_scores(dtype, in_cache, autocast, monkeypatch):
    monkeypatch.setattr(module, "IN_CACHE", in_cache)
    monkeypatch.setattr(attention, "MANY", 0)
    scores = torch.randn(B, H, T, S).to(dtype).requires_grad_()
    seen, blank = MASKS["causal"], MASKS["causal"].clone()
    blank[1] = False
    for mask in (seen, blank, None):
        with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
            weights = masked_softmax(scores, mask)
        (gradient,) = torch.autograd.grad(weights, scores, torch.ones_like(weights))
        assert weights.dtype == gradient.dtype == dtype
        wanted = by_choice(scores.detach().double(), torch.ones(S, dtype=torch.bool) if mask is None else mask)
        assert_close(weights.double(), wanted.nan_to_num(0.0), rtol=0, atol=2 * torch.finfo(dtype).eps)


def test_it_is_taken_for_many_scores_only(monkeypatch):
    monkeypatch.setattr(attention, "MANY", T * S)
    few, many = torch.randn(T, S - 1), torch.randn(T, S)
    with mock.patch.object(attention, "quick_softmax", side_effect=quick_softmax) as taken:
        for scores in (few, many):
            masked_softmax(scores, torch.ones(1, dtype=torch.bool))
    assert [call.args[0].shape for call in taken.call_args_list] == [many.shape]

"""The softmax of the package keeps its promises, and attention is the sum it says it is."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from attnlib.attention import Attention, AttentionOutput, causal_mask, length_mask, masked_softmax
from attnlib.scores import SCORES, GeneralScore, ScaledDotScore
from attnlib.training import pick_device
from tests import oracles
from tests.core.test_scores import arrays, draw, make

B, T, S, D, D_VALUE = 2, 3, 5, 7, 13

#: the error that each precision may make of a weight
PRECISIONS = {torch.float16: 1e-3, torch.bfloat16: 8e-3, torch.float32: 1e-6, torch.float64: 1e-12}


def draw_mask(*shape: int) -> torch.Tensor:
    """Some of each, and row 0 blank, row 1 all visible."""
    mask = torch.rand(shape) < 0.6
    mask.view(-1, shape[-1])[0] = False
    mask.view(-1, shape[-1])[1] = True
    return mask


# --- masked_softmax ---------------------------------------------------------------------------------


def test_weights_equal_the_formula():
    scores, mask = torch.randn(B, T, S).double(), draw_mask(B, T, S)
    expected = oracles.masked_softmax(scores.numpy(), mask.numpy())
    assert_close(masked_softmax(scores, mask), torch.from_numpy(expected))
    everything = oracles.masked_softmax(scores.numpy(), np.ones((B, T, S)))
    assert_close(masked_softmax(scores), torch.from_numpy(everything))


@pytest.mark.parametrize("shape", [(S,), (1, S), (T, 1), (B, 1, S), (1, T, S), (B, 1, 1), (1,), ()])
def test_mask_broadcasts(shape):
    scores, mask = torch.randn(B, T, S).double(), torch.rand(shape) < 0.5
    expected = oracles.masked_softmax(scores.numpy(), np.broadcast_to(mask.numpy(), scores.shape))
    if mask.dim():
        assert_close(masked_softmax(scores, mask), torch.from_numpy(expected))
    else:
        for yes in (True, False):
            expected = oracles.masked_softmax(scores.numpy(), np.full(scores.shape, yes))
            assert_close(masked_softmax(scores, torch.tensor([yes])), torch.from_numpy(expected))


@pytest.mark.parametrize(("dtype", "atol"), [(torch.float16, 1e-3), (torch.bfloat16, 8e-3)])
@pytest.mark.parametrize("scale", [1.0, 200.0, 1e4])
def test_half_precision_is_as_good_as_its_inputs(dtype, atol, scale):
    scores, mask = (torch.randn(B, T, S) * scale).to(dtype), draw_mask(B, T, S)
    weights = masked_softmax(scores, mask)
    assert weights.dtype == dtype
    expected = oracles.masked_softmax(scores.double().numpy(), mask.numpy())
    assert_close(weights.double(), torch.from_numpy(expected), rtol=0, atol=atol)
    assert (weights[~mask] == 0).all()


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("level", [-200.0, -1e4, 1e4, 0.0])
def test_real_scores_survive_wherever_they_lie(dtype, level):
    scores = torch.full((1, 4), level, dtype=dtype)
    found = masked_softmax(scores, torch.tensor([[True, True, False, False]]))
    assert_close(found, torch.tensor([[0.5, 0.5, 0.0, 0.0]], dtype=dtype))


@pytest.mark.parametrize("hidden", [0.0, torch.nan])  # beside NaN, scores are chosen and nothing is added
@pytest.mark.parametrize("dtype", PRECISIONS)
def test_no_visible_score_is_too_low(dtype, hidden):
    lowest = torch.finfo(dtype).min  # a fill that is a number would lie above some
    for level in (lowest, lowest / 2):
        scores = torch.tensor([[level, level, hidden, level]], dtype=dtype)
        found = masked_softmax(scores, torch.tensor([[True, True, False, False]]))
        assert_close(found, torch.tensor([[0.5, 0.5, 0.0, 0.0]], dtype=dtype))


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_row_with_nothing_visible_gets_nothing_and_sends_nothing_back(dtype):
    scores, mask = torch.randn(B, T, S).to(dtype).requires_grad_(), draw_mask(B, T, S)
    with torch.autograd.set_detect_anomaly(True):  # no NaN in any step of the way back either
        weights = masked_softmax(scores, mask)
        (weights * torch.randn(B, T, S).to(dtype)).sum().backward()
    assert (weights[0, 0] == 0).all()
    assert (scores.grad[0, 0] == 0).all()
    assert (scores.grad[~mask] == 0).all()
    assert (scores.grad[0, 1] != 0).all()
    assert scores.grad.isfinite().all()


def test_everything_blank_is_all_zeros():
    scores = torch.randn(B, T, S).requires_grad_()
    weights = masked_softmax(scores, torch.zeros(B, T, S, dtype=torch.bool))
    weights.sum().backward()
    assert_close(weights, torch.zeros(B, T, S))
    assert_close(scores.grad, torch.zeros(B, T, S))


def test_softmax_has_the_gradients_of_its_values():
    scores, mask = torch.randn(B, T, S).double().requires_grad_(), draw_mask(B, T, S)
    assert torch.autograd.gradcheck(lambda s: masked_softmax(s, mask), (scores,))
    assert torch.autograd.gradgradcheck(lambda s: masked_softmax(s, mask), (scores,))


@pytest.mark.parametrize("view", [lambda x: x, lambda x: x[:, :, ::2], lambda x: x.mT, lambda x: x.view(-1, S)])
def test_softmax_never_changes_its_inputs(view):
    base = torch.randn(B, T, S)
    scores = view(base)
    mask = draw_mask(*scores.shape)
    before, mask_before, versions = base.clone(), mask.clone(), (base._version, mask._version)
    weights = masked_softmax(scores, mask)
    weights += 1  # nor is the result a view of them
    masked_softmax(scores).add_(1)
    assert_close(base, before, rtol=0, atol=0)
    assert_close(mask, mask_before, rtol=0, atol=0)
    assert (base._version, mask._version) == versions


@pytest.mark.parametrize("garbage", [torch.inf, -torch.inf, torch.nan, 1e30])
def test_what_stands_under_the_mask_changes_nothing(garbage):
    clean, mask = torch.randn(B, T, S), draw_mask(B, T, S)
    coefficients = torch.randn(B, T, S)
    results = []
    for scores in (clean, clean.masked_fill(~mask, garbage)):
        scores.requires_grad_()
        weights = masked_softmax(scores, mask)
        (weights * coefficients).sum().backward()
        results.append((weights.detach(), scores.grad))
    assert_close(results[1], results[0], rtol=0, atol=0)


def test_what_the_loss_makes_of_a_hidden_weight_does_not_come_back():
    scores, mask = torch.randn(B, T, S).double().requires_grad_(), draw_mask(B, T, S)
    log = masked_softmax(scores, mask).log()  # -∞ where hidden; its derivative there is 1/0
    torch.where(mask, log, 0.0).sum().backward()
    assert (scores.grad[~mask] == 0).all()
    visible = scores.detach().clone().requires_grad_()
    torch.where(mask, visible.masked_fill(~mask, -1e9).log_softmax(-1), 0.0).sum().backward()
    assert_close(scores.grad[mask], visible.grad[mask])


SEEN = {
    "lengths": length_mask(torch.tensor([1, 4]), S),
    "causal": causal_mask(T, S - T),
    "each its own": torch.tensor([[[1, 0, 1, 1, 0], [0, 0, 1, 0, 0], [1, 1, 1, 1, 1]]] * B).bool(),
}


@pytest.mark.parametrize("hidden_nan", [False, True])
@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("name", SEEN)
def test_value_and_gradient_where_every_row_sees_something(name, dtype, hidden_nan):
    """The masks of most other tests have blank rows, which are computed in another way; so is a hidden NaN."""
    scores, mask = (5 * torch.randn(B, T, S)).to(dtype), SEEN[name].expand(B, T, S)
    alpha = oracles.masked_softmax(scores.double().numpy(), mask.numpy())
    if hidden_nan:
        scores[~mask] = torch.nan
    coefficients = torch.randn(B, T, S).to(dtype)
    weights = masked_softmax(scores.requires_grad_(), SEEN[name])
    (gradient,) = torch.autograd.grad(weights, scores, coefficients)
    g = coefficients.double().numpy()
    expected = alpha * (g - (alpha * g).sum(-1, keepdims=True))  # the derivative of a softmax
    assert weights.dtype == gradient.dtype == dtype
    assert_close(weights.detach().double(), torch.from_numpy(alpha), rtol=0, atol=PRECISIONS[dtype])
    assert_close(gradient.double(), torch.from_numpy(expected), rtol=0, atol=20 * PRECISIONS[dtype])
    assert (weights[~mask] == 0).all() and (gradient[~mask] == 0).all()
    if dtype == torch.float64 and not hidden_nan:
        assert torch.autograd.gradcheck(lambda s: masked_softmax(s, SEEN[name]), (scores,))
        assert torch.autograd.gradgradcheck(lambda s: masked_softmax(s, SEEN[name]), (scores,))


@pytest.mark.parametrize("name", SEEN)
def test_a_loss_may_send_anything_back_to_a_hidden_weight(name):
    scores, mask = torch.randn(B, T, S).double().requires_grad_(), SEEN[name].expand(B, T, S)
    weights = masked_softmax(scores, SEEN[name])
    torch.where(mask, weights.log(), 0.0).sum().backward()  # log 0 = -∞; on the way back, 0/0
    n = mask.sum(-1, keepdim=True)
    assert_close(scores.grad, torch.where(mask, 1 - n * weights.detach(), 0.0))  # of Σ log α, by hand


@pytest.mark.parametrize("shape", [(B, T, 0), (B, 0, S), (0, T, S), (0,)])
def test_no_scores_no_weights(shape):
    scores = torch.zeros(shape)
    for mask in (None, torch.ones(shape, dtype=torch.bool)):
        assert masked_softmax(scores, mask).shape == shape


@pytest.mark.parametrize(
    "mask",
    [
        torch.ones(B, T, S),
        torch.ones(B, T, S, dtype=torch.uint8),
        torch.ones(B, T, S, dtype=torch.long),
        torch.ones(B, T, S + 1, dtype=torch.bool),
        torch.ones(B, S, T, dtype=torch.bool),
        torch.ones(B, dtype=torch.bool),
        torch.ones(4, B, T, S, dtype=torch.bool),  # would blow the scores up
        torch.ones(1, 1, T, S, dtype=torch.bool),
    ],
    ids=lambda mask: f"{mask.dtype}{tuple(mask.shape)}",
)
def test_mask_that_is_no_mask_is_refused_with_both_shapes(mask):
    attention = Attention(make("dot"))
    query, key = draw(attention.score, B)
    for attend in (lambda: masked_softmax(torch.randn(B, T, S), mask), lambda: attention(query, key, key, mask)):
        with pytest.raises(ValueError) as error:
            attend()
        assert str(tuple(mask.shape)) in str(error.value) and str((B, T, S)) in str(error.value)


def test_mask_may_not_stretch_the_scores():
    with pytest.raises(ValueError, match="does not broadcast"):
        masked_softmax(torch.randn(B, 1, S), torch.ones(B, T, S, dtype=torch.bool))


# --- masks ------------------------------------------------------------------------------------------


@given(st.integers(0, 6), st.data())
@settings(max_examples=60, deadline=None)
def test_length_mask_counts(S, data):
    lengths = data.draw(st.lists(st.integers(0, S), min_size=1, max_size=4))
    found = length_mask(torch.tensor(lengths), S)
    assert found.dtype == torch.bool and found.shape == (len(lengths), 1, S)
    assert found.tolist() == oracles.length_mask(lengths, S)


@given(st.integers(0, 6), st.integers(1, 3), st.integers(1, 4), st.data())
@settings(max_examples=60, deadline=None)
def test_length_mask_counts_per_query(S, n_sentences, n_queries, data):
    row = st.lists(st.integers(0, S), min_size=n_queries, max_size=n_queries)
    lengths = data.draw(st.lists(row, min_size=n_sentences, max_size=n_sentences))
    found = length_mask(torch.tensor(lengths), S)
    assert found.dtype == torch.bool and found.shape == (n_sentences, n_queries, S)
    assert found.tolist() == oracles.length_mask(lengths, S)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.uint16, torch.uint32, torch.int32, torch.int64])
@pytest.mark.parametrize("S", [127, 260])  # a byte holds lengths up to 127, and no S of 260
def test_length_mask_takes_any_integers(dtype, S):
    found = length_mask(torch.tensor([127, 0, 3], dtype=dtype), S)
    assert found.tolist() == oracles.length_mask([127, 0, 3], S)


@pytest.mark.parametrize(
    ("lengths", "message"),
    [
        (torch.tensor([1, 6]), r"lie in 0\.\.5, got \[1, 6\]"),
        (torch.tensor([-1, 2]), r"lie in 0\.\.5, got \[-1, 2\]"),
        (torch.tensor([1.0, 2.0]), "integers, got torch.float32"),
        (torch.tensor([True, False]), "integers, got torch.bool"),
        (torch.tensor([1j]), "integers, got torch.complex64"),
        (torch.tensor(3), r"shape \(B,\) or \(B, T\), got \(\)"),
        (torch.zeros(2, 3, 5, dtype=torch.long), r"got \(2, 3, 5\)"),
    ],
)
def test_lengths_that_are_none_are_refused(lengths, message):
    with pytest.raises(ValueError, match=message):
        length_mask(lengths, 5)


@pytest.mark.parametrize("size", [0, 1, 2, 5])
def test_causal_mask_sees_itself_and_the_past(size):
    found = causal_mask(size)
    assert found.dtype == torch.bool and found.shape == (size, size)
    assert found.tolist() == oracles.causal_mask(size)


@pytest.mark.parametrize("size", [0, 1, 2, 5])
@pytest.mark.parametrize("earlier", [0, 1, 3])
@pytest.mark.parametrize("itself", [True, False])
def test_causal_mask_sees_what_was_carried_over(size, earlier, itself):
    found = causal_mask(size, earlier, itself)
    whole = causal_mask(earlier + size, include_self=itself)
    assert found.dtype == torch.bool and found.shape == (size, earlier + size)
    assert found.tolist() == whole[earlier:].tolist()  # the later rows of one mask for all
    assert found.tolist() == oracles.causal_mask(size, earlier, itself)


def test_causal_mask_is_made_where_it_is_wanted():
    assert causal_mask(3).device.type == "cpu"
    assert causal_mask(3, device=torch.device("meta")).device.type == "meta"


@pytest.mark.parametrize(("T", "earlier"), [(-1, 0), (2, -1)])
def test_causal_mask_of_less_than_nothing_is_refused(T, earlier):
    with pytest.raises(ValueError, match=f"got {T} and {earlier}"):
        causal_mask(T, earlier)


def test_masks_combine():
    found = length_mask(torch.tensor([2, 3]), 3) & causal_mask(3)
    both = [[[j < n and j <= i for j in range(3)] for i in range(3)] for n in (2, 3)]
    assert found.tolist() == both


# --- Attention --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", oracles.PAIR)
@pytest.mark.parametrize("masked", [False, True])
def test_attention_equals_its_formula(name, masked):
    score = make(name)
    query, key = draw(score, B)
    value = torch.randn(B, S, D_VALUE).double()
    mask = draw_mask(B, T, S) if masked else None
    visible = mask.numpy() if masked else np.ones((B, T, S))
    weights = oracles.masked_softmax(oracles.scores(name, query.numpy(), key.numpy(), arrays(score)), visible)
    found = Attention(score)(query, key, value, mask)
    assert isinstance(found, AttentionOutput)
    assert_close(found.weights.detach(), torch.from_numpy(weights))
    assert_close(found.context.detach(), torch.from_numpy(oracles.context(weights, value.numpy())))


@pytest.mark.parametrize("name", SCORES)
def test_every_registered_score_makes_attention(name):
    attention = Attention(make(name))
    query, key = (x.requires_grad_() for x in draw(attention.score, B))
    value = torch.randn(B, S, D_VALUE).double().requires_grad_()
    mask = draw_mask(B, 1, S)  # sentence 0 is blank
    context, weights = attention(query, key, value, mask)
    assert context.shape == (B, T, D_VALUE) and weights.shape == (B, T, S)
    assert_close(weights.sum(-1), mask.any(-1).double().expand(B, T))
    assert_close(context, weights @ value)
    assert (context[0] == 0).all()
    context.sum().backward()
    assert all(x.grad is None or x.grad.isfinite().all() for x in (query, key, value, *attention.parameters()))
    assert (value.grad[0] == 0).all()


@pytest.mark.parametrize("masked", [False, True])
def test_attention_equals_torch_in_value_and_gradient(masked):
    score = make("scaled_dot")
    query, key = draw(score, B)
    value, mask = torch.randn(B, S, D_VALUE).double(), torch.rand(B, T, S) < 0.5
    mask[..., 2] = True  # torch promises nothing for a blank row
    direction = torch.randn(B, T, D_VALUE).double()
    results = []
    for attend in (
        lambda q, k, v: Attention(score)(q, k, v, mask if masked else None).context,
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, attn_mask=mask if masked else None),
    ):
        inputs = [x.clone().requires_grad_() for x in (query, key, value)]
        context = attend(*inputs)
        (context * direction).sum().backward()
        results.append([context.detach(), *(x.grad for x in inputs)])
    assert_close(results[0], results[1])


def test_causal_attention_equals_torch():
    score = make("scaled_dot")
    query, key = draw(score, B, n_queries=S)
    found = Attention(score)(query, key, key, causal_mask(S)).context
    assert_close(found, F.scaled_dot_product_attention(query, key, key, is_causal=True))


def test_attention_has_the_gradients_of_its_values():
    score = make("additive", d_hidden=3)
    query, key = draw(score, B)
    value, mask = torch.randn(B, S, 2).double(), draw_mask(B, T, S)
    inputs = [x.requires_grad_() for x in (query, key, value)]
    assert torch.autograd.gradcheck(lambda q, k, v: Attention(score)(q, k, v, mask).context, inputs)


def test_weights_are_those_before_dropout_and_the_context_is_after_it():
    score = make("scaled_dot")
    query, key = draw(score, 50)
    value = torch.eye(S).double().expand(50, S, S)  # then the context is what the weights were made into
    mask = length_mask(torch.arange(50) % S + 1, S)
    attention = Attention(score, dropout=0.9).train()
    context, weights = attention(query, key, value, mask)
    assert_close(weights.sum(-1), torch.ones(50, T).double())
    kept = context != 0
    assert 0.05 < kept[mask.expand_as(kept)].double().mean() < 0.15
    assert_close(context[kept], weights[kept] / 0.1)
    attention.eval()
    assert_close(attention(query, key, value, mask).context, weights)


def test_keys_are_projected_once_however_many_queries_ask(monkeypatch):
    score = make("additive")
    attention = Attention(score)
    query, key = draw(score, B)
    value, mask = torch.randn(B, S, D_VALUE).double(), draw_mask(B, T, S)
    calls = []
    project_key = score.project_key
    monkeypatch.setattr(score, "project_key", lambda key: calls.append(1) or project_key(key))
    whole = attention(query, key, value, mask)
    assert len(calls) == 1
    projected = project_key(key)
    assert_close(attention(query, None, value, mask, projected_key=projected), whole)
    for i in range(T):  # step by step, as a decoder does
        step = attention(query[:, i : i + 1], None, value, mask[:, i : i + 1], projected_key=projected)
        assert_close(step.context, whole.context[:, i : i + 1])
        assert_close(step.weights, whole.weights[:, i : i + 1])
    assert len(calls) == 1


@pytest.mark.parametrize("name", SCORES)
def test_changing_a_masked_key_or_value_changes_nothing(name):
    attention = Attention(make(name))
    query, key = draw(attention.score, B)
    value, mask = torch.randn(B, S, D_VALUE).double(), length_mask(torch.tensor([2, 4]), S)
    results = []
    for scale in (1.0, -1e6):
        hidden = ~mask[:, 0, :, None]
        k, v = torch.where(hidden, key * scale, key), torch.where(hidden, value * scale, value)
        q, k, v = (x.clone().requires_grad_() for x in (query, k, v))
        context, weights = attention(q, k, v, mask)
        context.square().sum().backward()
        results.append([context.detach(), weights.detach(), *(x.grad for x in (q, k, v) if x.grad is not None)])
        assert k.grad is None or (k.grad[hidden.expand_as(k)] == 0).all()
        assert (v.grad[hidden.expand_as(v)] == 0).all()
    assert_close(results[0], results[1])


@pytest.mark.parametrize("name", sorted(set(SCORES) - {"location"}))
def test_padding_a_sentence_changes_nothing(name):
    attention = Attention(make(name))
    query, key = draw(attention.score, 1, n_keys=3)
    value = torch.randn(1, 3, D_VALUE).double()
    alone = attention(query, key, value)
    padded = attention(
        query, *(F.pad(x, (0, 0, 0, 2), value=9.0) for x in (key, value)), length_mask(torch.tensor([3]), 5)
    )
    assert_close(padded.context, alone.context)
    assert_close(padded.weights, F.pad(alone.weights, (0, 2)))


@pytest.mark.parametrize("leading", [(), (2, 3)])
def test_attention_takes_any_leading_dimensions(leading):
    attention = Attention(make("general"))
    query, key = draw(attention.score, *leading)
    found = attention(query, key, key, causal_mask(S)[-T:])
    assert found.context.shape == (*leading, T, attention.score.d_key) and found.weights.shape == (*leading, T, S)


@given(st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_context_lies_within_the_values_it_averages(seed):
    generator = torch.Generator().manual_seed(seed)
    query, key, value = (torch.randn(B, n, D, generator=generator).double() for n in (T, S, S))
    mask = torch.rand(B, T, S, generator=generator) < 0.5
    mask[..., 0] = True
    context = Attention(make("dot"))(query, key, value, mask).context
    seen = value[:, None].expand(B, T, S, D)
    low = seen.masked_fill(~mask[..., None], torch.inf).min(2).values
    high = seen.masked_fill(~mask[..., None], -torch.inf).max(2).values
    assert (context >= low - 1e-12).all() and (context <= high + 1e-12).all()


@pytest.mark.parametrize("shape", [(B, S - 1, D_VALUE), (B, S + 1, D_VALUE), (1, S, D_VALUE), (S, D_VALUE)])
def test_one_value_per_key(shape):
    attention = Attention(make("dot"))
    query, key = draw(attention.score, B)
    value = torch.zeros(shape).double()
    for attend in (attention, lambda q, k, v: attention(q, None, v, projected_key=k)):
        with pytest.raises(ValueError, match="one value per key") as error:
            attend(query, key, value)
        assert str(tuple(key.shape)) in str(error.value) and str(shape) in str(error.value)


def test_attention_checks_what_its_score_checks():
    attention = Attention(make("general"))
    query, key = draw(attention.score, B)
    with pytest.raises(ValueError, match=r"\(2, 3, 6\).*\(2, 5, 11\)"):
        attention(query[..., 1:], key, key)
    with pytest.raises(ValueError, match="leading dimensions"):
        attention(query[:1], key, key)
    attention = Attention(make("dot"))
    query, key = draw(attention.score, B)
    for inputs in ((query, key.float(), key), (query.float(), key.float(), key)):
        with pytest.raises(ValueError, match=r"one type, got torch\.float\d\d and torch\.float\d\d"):
            attention(*inputs)


def test_uniform_attention_is_the_mean():
    attention = Attention(make("zero"))
    query, key = draw(attention.score, B)
    assert_close(attention(query, key, key).context, key.mean(1, keepdim=True).expand(B, T, -1))


@pytest.mark.usefixtures("without_shape_checks")
def test_nothing_is_broadcast_behind_the_callers_back():
    query, key = torch.zeros(2, T, D), torch.zeros(1, S, D)
    with pytest.raises(ValueError, match=r"query \(2, 3, 7\) and projected_key \(1, 5, 7\)"):
        Attention(SCORES["dot"](D, D))(query, None, key, projected_key=key)


@pytest.mark.usefixtures("without_shape_checks")
def test_scores_that_are_no_floating_point_numbers_are_refused():
    with pytest.raises(ValueError, match=r"got torch\.int64"):
        masked_softmax(torch.ones(2, 3, dtype=torch.long))


def test_a_single_row_of_scores_is_enough():
    weights = masked_softmax(torch.zeros(4), torch.tensor([True, True, False, False]))
    assert_close(weights, torch.tensor([0.5, 0.5, 0.0, 0.0]))


# --- without weights: the fused kernel ----------------------------------------------------------------

FUSED = ("dot", "scaled_dot", "general")
MASKS = [None, (S,), (1, S), (T, 1), (1, 1), (), (T, S), (B, T, S), (B, 1, S), (1, T, S), (B, 1, 1)]


def run(attention: Attention, inputs, mask, need_weights: bool, direction):
    """Context, weights, and every gradient."""
    inputs = [x.detach().clone().requires_grad_() for x in inputs]
    attention.zero_grad()
    context, weights = attention(*inputs, mask, need_weights)
    (context * direction).sum().backward()
    parameters = [p.grad.clone() for p in attention.parameters()]
    return context.detach(), weights, [x.grad for x in inputs], parameters


@pytest.mark.parametrize("shape", MASKS, ids=str)
@pytest.mark.parametrize("name", FUSED)
def test_fused_attention_equals_the_plain_one_in_value_and_gradient(name, shape):
    attention = Attention(make(name))
    inputs = (*draw(attention.score, B), torch.randn(B, S, D_VALUE).double())
    mask = None if shape is None else torch.rand(shape) < 0.5
    if mask is not None and mask.numel() > 1:
        mask.view(-1, mask.shape[-1])[0] = False
    direction = torch.randn(B, T, D_VALUE).double()
    context, weights, *gradients = run(attention, inputs, mask, True, direction)
    assert weights is not None
    found, nothing, *found_gradients = run(attention, inputs, mask, False, direction)
    assert nothing is None
    assert_close(found, context)
    assert_close(found_gradients, gradients)


@pytest.mark.parametrize("leading", [(), (1,), (2, 3), (2, 1, 3)])
@pytest.mark.parametrize("name", FUSED)
def test_fused_attention_takes_any_leading_dimensions(name, leading):
    attention = Attention(make(name))
    inputs = (*draw(attention.score, *leading), torch.randn(*leading, S, D_VALUE).double())
    direction = torch.randn(*leading, T, D_VALUE).double()
    for mask in (None, draw_mask(*leading, T, S), causal_mask(T, S - T, include_self=False)):
        plain = run(attention, inputs, mask, True, direction)
        found = run(attention, inputs, mask, False, direction)
        assert_close((found[0], *found[2:]), (plain[0], *plain[2:]))


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("leading", [(B,), (B, 2)])
def test_fused_query_that_sees_nothing_gets_nothing_and_sends_nothing_back(leading, dtype):
    attention = Attention(ScaledDotScore(D, D))
    device = pick_device()
    inputs = [torch.randn(*leading, n, D).to(device, dtype) for n in (T, S, S)]
    mask = draw_mask(*leading, T, S).to(device)  # row 0 is blank
    mask[-1] = False  # and so is a whole sentence
    direction = torch.randn(*leading, T, D).to(device, dtype)
    plain = run(attention, inputs, mask, True, direction)
    with torch.autograd.set_detect_anomaly(True):
        context, _, (query, key, value), _ = run(attention, inputs, mask, False, direction)
    blank = ~mask.any(-1)
    assert (context[blank] == 0).all() and (query[blank] == 0).all()
    assert (key[-1] == 0).all() and (value[-1] == 0).all()
    assert (context[~blank] != 0).all()
    atol = 3e-2 if dtype.itemsize == 2 else 1e-5  # half precision: the two round at different places
    for found, expected in zip((context, query, key, value), (plain[0], *plain[2]), strict=True):
        assert_close(found, expected, rtol=0, atol=atol)


@pytest.mark.parametrize(("n_queries", "n_keys"), [(T, 0), (0, S), (0, 0), (1, 1)])
@pytest.mark.parametrize("name", FUSED)
def test_fused_attention_over_nothing_is_zero(name, n_queries, n_keys):
    attention = Attention(make(name))
    query, key = draw(attention.score, B, n_queries=n_queries, n_keys=n_keys)
    value = torch.randn(B, n_keys, D_VALUE).double()
    direction = torch.randn(B, n_queries, D_VALUE).double()
    for mask in (None, torch.ones(B, n_queries, n_keys, dtype=torch.bool)):
        plain = run(attention, (query, key, value), mask, True, direction)
        found = run(attention, (query, key, value), mask, False, direction)
        assert_close((found[0], *found[2:]), (plain[0], *plain[2:]))
    assert n_keys or (found[0] == 0).all()


@pytest.mark.parametrize("name", sorted(set(SCORES) - set(FUSED)))
def test_without_weights_every_other_score_computes_as_ever(name):
    attention = Attention(make(name))
    query, key = draw(attention.score, B)
    value, mask = torch.randn(B, S, D_VALUE).double(), draw_mask(B, T, S)
    found = attention(query, key, value, mask, need_weights=False)
    assert found.weights is None
    assert_close(found.context, attention(query, key, value, mask).context)


class Doubled(GeneralScore):
    """What a student may write: it inherits the projection and compares in its own way."""

    def compare(self, query, projected_key):
        return 2 * super().compare(query, projected_key)


def test_the_kernel_runs_where_it_may_and_nowhere_else(monkeypatch):
    kernel, seen = F.scaled_dot_product_attention, []
    monkeypatch.setattr(
        F, "scaled_dot_product_attention", lambda q, *a, **k: seen.append(q.dim()) or kernel(q, *a, **k)
    )
    for score in (*(make(name) for name in SCORES), Doubled(D, D).double()):
        attention = Attention(score)
        query, key = draw(score, B)
        plain = attention(query, key, key)
        assert not seen
        assert_close(attention(query, key, key, need_weights=False).context, plain.context)
        name = next((name for name in SCORES if SCORES[name] is type(score)), None)
        assert seen == ([4] if name in FUSED else [])  # four dimensions: with three, torch has no fast kernel
        seen.clear()


def test_fused_dropout_is_that_of_the_weights():
    score = make("scaled_dot")
    query, key = draw(score, 50)
    value = torch.eye(S).double().expand(50, S, S)
    attention = Attention(score, dropout=0.9).train()
    weights = attention(query, key, value).weights
    context = attention(query, key, value, need_weights=False).context
    kept = context != 0
    assert 0.05 < kept.double().mean() < 0.15
    assert_close(context[kept], weights[kept] / 0.1)
    attention.eval()
    assert_close(attention(query, key, value, need_weights=False).context, weights)


def test_fused_attention_has_the_gradients_of_its_values():
    score = make("general")
    query, key = draw(score, B)
    value, mask = torch.randn(B, S, 2).double(), draw_mask(B, T, S)
    inputs = [x.requires_grad_() for x in (query, key, value)]
    assert torch.autograd.gradcheck(lambda q, k, v: Attention(score)(q, k, v, mask, False).context, inputs)


@pytest.mark.parametrize(
    "mask",
    [torch.ones(B, T, S), torch.ones(B, T, S + 1).bool(), torch.ones(B).bool(), torch.ones(1, 1, T, S).bool()],
    ids=lambda mask: f"{mask.dtype}{tuple(mask.shape)}",
)
def test_fused_attention_refuses_the_same_masks(mask):
    attention = Attention(make("dot"))
    query, key = draw(attention.score, B)
    with pytest.raises(ValueError) as error:
        attention(query, key, key, mask, need_weights=False)
    assert str(tuple(mask.shape)) in str(error.value) and str((B, T, S)) in str(error.value)


@pytest.mark.parametrize("name", SCORES)
def test_single_and_double_precision_agree(name):
    attention = Attention(make(name))
    query, key = draw(attention.score, B)
    value, mask = torch.randn(B, S, D_VALUE).double(), draw_mask(B, T, S)
    for need_weights in (True, False):
        double = attention.double()(query, key, value, mask, need_weights).context
        single = attention.float()(query.float(), key.float(), value.float(), mask, need_weights).context
        assert single.dtype == torch.float32
        assert_close(single.double(), double.detach(), rtol=1e-4, atol=1e-5)


# --- ten thousand examples, half of them each way; last, because it takes longest -------------------

#: what a byte of an example may stand for
NUMBERS = torch.cat(
    [torch.tensor([0.0, -200.0, 1e4, -1e4, 200.0, 1e-4, -1e-4, 9990.0]), torch.linspace(-9, 9, 120)]
).double()
COEFFICIENTS = torch.linspace(-2, 3, 18)


def example(raw: bytes) -> tuple[torch.Tensor, torch.Tensor, int]:
    """Scores, mask and a shift. The first four bytes choose precision, rows and shift; each of the others is a
    score: its lowest bit says whether it is visible, the rest picks the number.
    """
    head, numbers = raw[:4], torch.tensor(list(raw[4:]))
    rows = 1 + head[1] % min(3, len(numbers))
    numbers = numbers[: len(numbers) // rows * rows].view(rows, -1)
    scores = NUMBERS[numbers // 2].to(list(PRECISIONS)[head[0] % 4])
    return scores, (numbers % 2).bool(), 8 * head[2] - head[3]


@given(st.binary(min_size=5, max_size=22))  # one draw: hypothesis needs longer to draw than we to compute
@settings(max_examples=5_000, deadline=None, database=None)
def test_softmax_keeps_its_promises(raw):
    scores, mask, shift = example(raw)
    atol, before, seen = PRECISIONS[scores.dtype], scores.double().numpy(), mask.numpy()
    weights = masked_softmax(scores.requires_grad_(), mask)
    found, expected = weights.detach().double().numpy(), oracles.masked_softmax(before, seen)
    assert weights.dtype == scores.dtype
    assert not found[~seen].any() and (found >= 0).all()
    assert (abs(found.sum(-1) - seen.any(-1)) <= seen.shape[-1] * atol).all()
    assert (abs(found - expected) <= atol).all()
    top = np.where(seen, before, -np.inf).argmax(-1)
    assert (found[range(len(top)), top] == found.max(-1)).all()
    weights.backward(COEFFICIENTS[: weights.numel()].view_as(weights).to(weights.dtype))
    gradient = scores.grad.double().numpy()
    assert not gradient[~seen].any() and np.isfinite(gradient).all()  # what is hidden includes the blank rows
    assert (scores.detach().double().numpy() == before).all() and scores._version == 0
    shifted = masked_softmax(scores.detach().double() + shift, mask)  # exact in double precision only
    assert (abs(shifted.numpy() - expected) <= 1e-9).all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_a_visible_nan_stays_in_its_row_and_a_hidden_one_changes_nothing(dtype):
    scores = torch.randn(3, 4, dtype=dtype)
    mask = torch.tensor([[True, True, False, True]] * 3)
    clean = masked_softmax(scores, mask)
    scores[0, 1], scores[1, 2] = math.nan, math.nan
    found = masked_softmax(scores, mask)
    assert found[0, [0, 1, 3]].isnan().all() and found[0, 2] == 0
    assert torch.equal(found[1:], clean[1:])


def test_blank_rows_are_silent_under_anomaly_detection_in_every_derivative():
    scores = torch.randn(2, 3, dtype=torch.float64, requires_grad=True)
    mask = torch.tensor([[True, False, True], [False, False, False]])
    with torch.autograd.detect_anomaly(check_nan=True):
        (grad,) = torch.autograd.grad(masked_softmax(scores, mask).square().sum(), scores, create_graph=True)
        (second,) = torch.autograd.grad(grad.square().sum(), scores)
    assert (grad[1] == 0).all() and (second[1] == 0).all() and second.isfinite().all()
    assert torch.autograd.gradgradcheck(lambda x: masked_softmax(x, mask), scores)
    jacobians = [f(lambda x: masked_softmax(x, mask))(scores.detach()) for f in (torch.func.jacrev, torch.func.jacfwd)]
    assert_close(*jacobians)

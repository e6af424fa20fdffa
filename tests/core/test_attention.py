"""The softmax of the package keeps its promises, and attention is the sum it says it is."""

import itertools
import math
import re

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
from tests.core.test_scores import draw, make

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


@pytest.mark.parametrize("shape", [None, (B, T, S), (S,), (B, 1, S), (1, T, S), (1, T, 1), (B, 1, 1), (1,), ()])
def test_weights_equal_the_formula(shape):
    scores = torch.randn(B, T, S).double()
    some = None if shape is None else torch.rand(shape) < 0.5
    for mask in [None] if some is None else [some, ~some]:
        visible = np.broadcast_to(True if mask is None else mask.numpy(), scores.shape)
        expected = oracles.masked_softmax(scores.numpy(), visible)
        assert_close(masked_softmax(scores, mask), torch.from_numpy(expected))


@pytest.mark.parametrize("hidden", [0.0, torch.nan])  # beside NaN, scores are chosen and nothing is added
@pytest.mark.parametrize("dtype", PRECISIONS)
def test_no_visible_score_is_too_low(dtype, hidden):
    lowest = torch.finfo(dtype).min  # a fill that is a number would lie above some
    for level in (lowest, lowest / 2):
        scores = torch.tensor([[level, level, hidden, level]], dtype=dtype)
        found = masked_softmax(scores, torch.tensor([[True, True, False, False]]))
        assert_close(found, torch.tensor([[0.5, 0.5, 0.0, 0.0]], dtype=dtype))


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_a_visible_nan_stays_in_its_row_and_a_hidden_one_changes_nothing(dtype):
    scores = torch.randn(3, 4, dtype=dtype)
    mask = torch.tensor([[True, True, False, True]] * 3)
    clean = masked_softmax(scores, mask)
    scores[0, 1], scores[1, 2] = math.nan, math.nan
    found = masked_softmax(scores, mask)
    assert found[0, [0, 1, 3]].isnan().all() and found[0, 2] == 0
    assert torch.equal(found[1:], clean[1:])


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


SEEN = {
    "lengths": length_mask(torch.tensor([1, 4]), S),
    "causal": causal_mask(T, S - T)[None],
    "each its own": torch.tensor([[[1, 0, 1, 1, 0], [0, 0, 1, 0, 0], [1, 1, 1, 1, 1]]] * B).bool(),
    "some see nothing": torch.tensor([[[0, 0, 0, 0, 0], [1, 1, 1, 1, 1], [0, 1, 0, 0, 1]], [[0] * S] * T]).bool(),
}


@pytest.mark.parametrize("hidden_nan", [False, True])
@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("name", SEEN)
def test_value_and_gradient_equal_the_formula_in_every_precision(name, dtype, hidden_nan):
    """Blank rows are computed in another way; so is a hidden NaN."""
    scores, mask = (5 * torch.randn(B, T, S)).to(dtype), SEEN[name].expand(B, T, S)
    alpha = oracles.masked_softmax(scores.double().numpy(), mask.numpy())
    if hidden_nan:
        scores[~mask] = torch.nan
    coefficients = torch.randn(B, T, S).to(dtype)
    with torch.autograd.set_detect_anomaly(True):  # no NaN in any step of the way back, nor of the way back from there
        weights = masked_softmax(scores.requires_grad_(), SEEN[name])
        (gradient,) = torch.autograd.grad(weights, scores, coefficients, create_graph=True)
        (second,) = torch.autograd.grad(gradient.square().sum(), scores, retain_graph=True)
    g = coefficients.double().numpy()
    expected = alpha * (g - (alpha * g).sum(-1, keepdims=True))  # the derivative of a softmax
    assert weights.dtype == gradient.dtype == dtype
    assert_close(weights.detach().double(), torch.from_numpy(alpha), rtol=0, atol=PRECISIONS[dtype])
    assert_close(gradient.detach().double(), torch.from_numpy(expected), rtol=0, atol=20 * PRECISIONS[dtype])
    assert all((found[~mask] == 0).all() for found in (weights, gradient, second))
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
    ("shape", "dtype"),
    [
        *(((B, T, S), dtype) for dtype in (torch.float32, torch.uint8, torch.long)),
        *((shape, torch.bool) for shape in [(B, T, S + 1), (B, S, T), (B,)]),
        *((shape, torch.bool) for shape in [(4, B, T, S), (1, 1, T, S)]),  # would blow the scores up
        ((T, S), torch.bool),  # where B = T, one of sentences would be taken for this
    ],
)
def test_mask_that_is_no_mask_is_refused_with_both_shapes(shape, dtype):
    mask = torch.ones(shape, dtype=dtype)
    attention = Attention(make("dot"))
    query, key = draw(attention.score, B)
    for attend in (
        lambda: masked_softmax(torch.randn(B, T, S), mask),
        lambda: attention(query, key, key, mask),
        lambda: attention(query, key, key, mask, need_weights=False),
    ):
        with pytest.raises(ValueError) as error:
            attend()
        assert str(shape) in str(error.value) and str((B, T, S)) in str(error.value)


def test_scores_that_are_stretched_or_no_numbers_are_refused(without_shape_checks):
    with pytest.raises(ValueError, match=r"does not broadcast .*\(2, 3, 5\) and scores \(2, 1, 5\)"):
        masked_softmax(torch.randn(B, 1, S), torch.ones(B, T, S).bool())
    with pytest.raises(ValueError, match=r"got torch\.int64"):
        masked_softmax(torch.ones(2, 3, dtype=torch.long))


@pytest.mark.parametrize("leading", [(2,), (2, 2)])
def test_a_mask_that_leaves_out_dimensions_is_refused_with_the_cure(leading):
    """As many sentences as queries, and as heads: its shape would fit."""
    query, mask = torch.randn(*leading, 2, 3), torch.ones(*leading[1:], 2, 3).bool()
    for attend in (
        lambda: masked_softmax(query, mask),
        lambda: Attention("dot", 3, 3)(query, query, query, mask[..., :2]),
    ):
        with pytest.raises(ValueError, match=r"\(B, S\) as mask\[:, None\], a mask \(T, S\) as mask\[None\]$"):
            attend()


# --- masks ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.uint16, torch.uint32, torch.int32, torch.int64])
@pytest.mark.parametrize("S", [127, 260])  # a byte holds lengths up to 127, and no S of 260
@pytest.mark.parametrize("lengths", [[127, 0, 3], [[127, 1], [0, 2], [3, 127]]])  # of sentences, and of queries
def test_length_mask_counts(lengths, S, dtype):
    found = length_mask(torch.tensor(lengths, dtype=dtype), S)
    assert found.dtype == torch.bool and found.tolist() == oracles.length_mask(lengths, S)
    nothing = length_mask(torch.zeros(2, dtype=dtype), 0)
    assert nothing.shape == (2, 1, 0)


@pytest.mark.parametrize("size", [0, 1, 2, 5])
@pytest.mark.parametrize("earlier", [0, 1, 3])
@pytest.mark.parametrize("itself", [True, False])
def test_causal_mask_sees_itself_or_not_and_what_came_before(size, earlier, itself):
    found = causal_mask(size, earlier, itself)
    assert found.dtype == torch.bool and found.shape == (size, earlier + size)
    assert found.tolist() == oracles.causal_mask(size, earlier, itself)
    assert causal_mask(size).tolist() == oracles.causal_mask(size)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: length_mask(torch.tensor([1, 6]), 5), r"lie in 0\.\.5, got \[1, 6\]"),
        (lambda: length_mask(torch.tensor([-1, 2]), 5), r"lie in 0\.\.5, got \[-1, 2\]"),
        (lambda: length_mask(torch.tensor([1.0, 2.0]), 5), "integers, got torch.float32"),
        (lambda: length_mask(torch.tensor([True, False]), 5), "integers, got torch.bool"),
        (lambda: length_mask(torch.tensor([1j]), 5), "integers, got torch.complex64"),
        (lambda: length_mask(torch.tensor(3), 5), r"shape \(B,\) or \(B, T\), got \(\)"),
        (lambda: length_mask(torch.zeros(2, 3, 5, dtype=torch.long), 5), r"got \(2, 3, 5\)"),
        (lambda: causal_mask(-1, 0), "got -1 and 0"),
        (lambda: causal_mask(2, -1), "got 2 and -1"),
    ],
)
def test_what_makes_no_mask_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# --- Attention --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", oracles.PAIR)
@pytest.mark.parametrize("masked", [False, True])
def test_attention_equals_its_formula(name, masked):
    score = make(name)
    query, key = draw(score, B)
    value = torch.randn(B, S, D_VALUE).double()
    mask = draw_mask(B, T, S) if masked else None
    visible = mask.numpy() if masked else np.ones((B, T, S))
    weights = oracles.masked_softmax(oracles.scores(name, query.numpy(), key.numpy(), oracles.arrays(score)), visible)
    found = Attention(score)(query, key, value, mask)
    assert isinstance(found, AttentionOutput)
    assert_close(found.weights.detach(), torch.from_numpy(weights))
    assert_close(found.context.detach(), torch.from_numpy(oracles.context(weights, value.numpy())))


@pytest.mark.parametrize("need_weights", [True, False])
def test_attention_has_the_gradients_of_its_values(need_weights):
    score = make("general") if not need_weights else make("additive", d_hidden=3)
    query, key = draw(score, B)
    value, mask = torch.randn(B, S, 2).double(), draw_mask(B, T, S)
    inputs = [x.requires_grad_() for x in (query, key, value)]
    assert torch.autograd.gradcheck(lambda q, k, v: Attention(score)(q, k, v, mask, need_weights).context, inputs)


@pytest.mark.parametrize("need_weights", [True, False])
def test_weights_are_those_before_dropout_and_the_context_is_after_it(need_weights):
    score = make("scaled_dot")
    query, key = draw(score, 50)
    value = torch.eye(S).double().expand(50, S, S)  # then the context is what the weights were made into
    mask = length_mask(torch.arange(50) % S + 1, S)
    attention = Attention(score, dropout=0.9).train()
    context, weights = attention(query, key, value, mask)
    if not need_weights:
        context = attention(query, key, value, mask, need_weights=False).context
    assert_close(weights.sum(-1), torch.ones(50, T).double())
    kept = context != 0
    assert 0.05 < kept[mask.expand_as(kept)].double().mean() < 0.15
    assert_close(context[kept], weights[kept] / 0.1)
    attention.eval()
    assert_close(attention(query, key, value, mask, need_weights).context, weights)


def test_keys_that_are_projected_already_are_compared_as_they_are():
    attention = Attention(make("additive"))
    query, key = draw(attention.score, B)
    value, mask = torch.randn(B, S, D_VALUE).double(), draw_mask(B, T, S)
    whole, projected = attention(query, key, value, mask), attention.score.project_key(key)
    for i in range(T):  # step by step, as a decoder does
        step = attention(query[:, i : i + 1], None, value, mask[:, i : i + 1], projected_key=projected)
        assert_close((step.context, step.weights), (whole.context[:, i : i + 1], whole.weights[:, i : i + 1]))


Q, K, W = torch.zeros(2, 3, 7), torch.zeros(2, 5, 7), torch.zeros(2, 5, 13)


@pytest.mark.parametrize(
    ("query", "key", "value", "message"),
    [
        *(
            (Q, K, value, rf"one value per key.*\(2, 5, 7\), value {re.escape(str(tuple(value.shape)))}")
            for value in (W[:, :4], W[:1], W[0])
        ),
        (Q[..., 1:], K, W, r"\(2, 3, 6\).*\(2, 5, 7\)"),
        (Q, K[:1], W[:1], r"leading dimensions.*\(2, 3, 7\).*\(1, 5, 7\)"),
        (Q, K.double(), W, r"one type, got torch\.float32 and torch\.float64"),
        (Q, K, W.double(), r"one type, got torch\.float32 and torch\.float64"),
        (Q.double(), K, W, r"one type, got torch\.float64 and torch\.float32"),
    ],
)
def test_what_does_not_fit_is_refused(query, key, value, message, without_shape_checks):
    attention = Attention(SCORES["dot"](D, D))  # which leaves its keys as they are
    for attend in (attention, lambda q, k, v: attention(q, None, v, projected_key=k)):
        with pytest.raises(ValueError, match=message):
            attend(query, key, value)


# --- without weights: the fused kernel ----------------------------------------------------------------

FUSED = ("dot", "scaled_dot", "general")


def run(attention: Attention, inputs, mask, need_weights: bool, direction):
    """Context, weights, and every gradient."""
    inputs = [x.detach().clone().requires_grad_() for x in inputs]
    attention.zero_grad()
    context, weights = attention(*inputs, mask, need_weights)
    (context * direction).sum().backward()
    parameters = [p.grad.clone() for p in attention.parameters()]
    return context.detach(), weights, [x.grad for x in inputs], parameters


@pytest.mark.parametrize(
    ("leading", "n_queries", "n_keys"),
    [
        *((leading, T, S) for leading in [(), (1,), (B,), (2, 3), (2, 1, 3)]),
        *(((B,), *numbers) for numbers in [(T, 0), (0, S), (0, 0), (1, 1)]),
    ],
)
@pytest.mark.parametrize("name", FUSED)
def test_fused_attention_equals_the_plain_one_in_value_and_gradient(name, leading, n_queries, n_keys):
    attention = Attention(make(name))
    inputs = (
        *draw(attention.score, *leading, n_queries=n_queries, n_keys=n_keys),
        torch.randn(*leading, n_keys, D_VALUE).double(),
    )
    direction = torch.randn(*leading, n_queries, D_VALUE).double()
    whole = (*leading, n_queries, n_keys)
    shapes = [(), (n_keys,), *itertools.product(*({1, n} for n in whole))]  # each dimension, or one for all of it
    for mask in (None, *(torch.rand(shape) < 0.5 for shape in shapes), torch.zeros(whole).bool()):
        context, weights, *gradients = run(attention, inputs, mask, True, direction)
        found, nothing, *found_gradients = run(attention, inputs, mask, False, direction)
        assert weights is not None and nothing is None
        assert_close((found, *found_gradients), (context, *gradients))
    assert (found == 0).all()


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


class Doubled(GeneralScore):
    """What a student may write: it inherits the projection and compares in its own way."""

    def compare(self, query, projected_key):
        return 2 * super().compare(query, projected_key)


def test_the_kernel_runs_where_it_may_and_nowhere_else(monkeypatch):
    kernel, seen = F.scaled_dot_product_attention, []
    monkeypatch.setattr(
        F, "scaled_dot_product_attention", lambda q, *a, **k: seen.append(q.dim()) or kernel(q, *a, **k)
    )
    for name, score in (*((name, make(name)) for name in SCORES), ("doubled", Doubled(D, D).double())):
        attention, mask = Attention(score), draw_mask(B, T, S)
        query, key = draw(score, B)
        plain = attention(query, key, key, mask)
        assert not seen
        found = attention(query, key, key, mask, need_weights=False)
        assert found.weights is None
        assert_close(found.context, plain.context)
        assert seen == ([4] if name in FUSED else [])  # four dimensions: with three, torch has no fast kernel
        seen.clear()


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
@settings(max_examples=10 * settings.default.max_examples, database=None)
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

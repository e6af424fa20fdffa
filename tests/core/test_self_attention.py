"""Heads are what torch has, masks hide what they should, and positions are the waves of the paper."""

import math

import numpy as np
import pytest
import torch
from torch import nn
from torch.testing import assert_close

from attnlib.attention import AttentionOutput, causal_mask, length_mask
from attnlib.positions import LearnedPositions, SinusoidalPositions
from attnlib.scores import SCORES, AdditiveScore
from attnlib.self_attention import MultiHeadAttention, SelfAttention
from tests import oracles
from tests.core.test_scores import arrays

B, T, S, H, D_HEAD = 2, 5, 7, 3, 2
D = H * D_HEAD


def draw(n: int = T, width: int = D, rows: int = B) -> torch.Tensor:
    return torch.randn(rows, n, width, dtype=torch.float64)


def of_all(*arguments, **options) -> MultiHeadAttention:
    return MultiHeadAttention(D, H, *arguments, **options).double()


def linear(p: dict, name: str, x: np.ndarray) -> np.ndarray:
    """W x + b, vector by vector."""
    return np.array([oracles.times(p[f"{name}.weight"], row) + p.get(f"{name}.bias", 0.0) for row in x])


# --- SelfAttention ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", oracles.PAIR)
@pytest.mark.parametrize("masked", [False, True])
def test_one_head_equals_its_formula(name, masked):
    head, x = SelfAttention(D, D_HEAD, name).double(), draw()
    p = arrays(head)
    score = {key.removeprefix("attention.score."): value for key, value in p.items()}
    mask = causal_mask(T) if masked else None
    seen = np.broadcast_to(mask.numpy() if masked else True, (B, T, T))
    q, k, v = (np.array([linear(p, W, row) for row in x.numpy()]) for W in ("W_q", "W_k", "W_v"))
    weights = oracles.masked_softmax(oracles.scores(name, q, k, score), seen)
    found = head(x, mask)
    assert isinstance(found, AttentionOutput)
    assert_close(found.weights.detach(), torch.from_numpy(weights))
    assert_close(found.context.detach(), torch.from_numpy(oracles.context(weights, v)))


@pytest.mark.parametrize("name", sorted(set(SCORES) - {"location"}))
def test_without_positions_order_means_nothing(name):
    head, x, order = SelfAttention(D, score=name).double(), draw(), torch.randperm(T)
    context, weights = head(x)
    shuffled = head(x[:, order])
    assert_close(shuffled.context, context[:, order])
    assert_close(shuffled.weights, weights[:, order][:, :, order])
    assert name == "zero" or (context - context[:, order]).abs().max() > 1e-3  # the tokens do differ


def test_width_of_a_head_is_that_of_the_model_if_not_given():
    assert SelfAttention(D).double()(draw()).context.shape == (B, T, D)
    assert SelfAttention(D, 11).double()(draw()).context.shape == (B, T, 11)
    assert {name for name, _ in SelfAttention(D).named_parameters()} == {"W_q.weight", "W_k.weight", "W_v.weight"}


@pytest.mark.parametrize("leading", [(), (2, 3)])
def test_one_head_takes_any_leading_dimensions(leading):
    head, x = SelfAttention(D, D_HEAD).double(), torch.randn(*leading, T, D).double()
    found = head(x, causal_mask(T))
    assert found.context.shape == (*leading, T, D_HEAD) and found.weights.shape == (*leading, T, T)


@pytest.mark.parametrize("shape", [(B, T, D + 1), (D,), (B, D, T)])
def test_one_head_refuses_other_widths(shape, without_shape_checks):
    with pytest.raises(ValueError, match=rf"need x \(\.\.\., T, {D}\)") as error:
        SelfAttention(D)(torch.zeros(shape))
    assert f"got {shape}" in str(error.value)


def test_score_of_one_head_is_a_name_or_made_already():
    assert isinstance(SelfAttention(D, 4, AdditiveScore(4, 4)).attention.score, AdditiveScore)
    with pytest.raises(ValueError, match="unknown score 'adition', known are dot"):
        SelfAttention(D, score="adition")
    with pytest.raises(ValueError, match=f"d_query={D}"):
        SelfAttention(D, score=AdditiveScore(4, 4))


# --- MultiHeadAttention -----------------------------------------------------------------------------


class Reference(nn.Module):
    """torch's own layer, with copied weights. Its masks mean the opposite: True = may not."""

    def __init__(self, ours: MultiHeadAttention, bias: bool):
        super().__init__()
        self.layer = nn.MultiheadAttention(D, H, bias=bias, batch_first=True).double()
        with torch.no_grad():
            self.layer.in_proj_weight.copy_(torch.cat([W.weight for W in (ours.W_q, ours.W_k, ours.W_v)]))
            self.layer.out_proj.weight.copy_(ours.W_o.weight)
            if bias:
                self.layer.in_proj_bias.copy_(torch.cat([W.bias for W in (ours.W_q, ours.W_k, ours.W_v)]))
                self.layer.out_proj.bias.copy_(ours.W_o.bias)

    def forward(self, query, key, value, padding, mask):
        hidden = {
            "key_padding_mask": None if padding is None else ~padding[:, 0],
            "attn_mask": None if mask is None else ~mask,
        }
        return self.layer(query, key, value, **hidden, average_attn_weights=False)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("padded", "causal"), [(False, False), (True, False), (False, True), (True, True)])
def test_heads_equal_torch_in_value_weights_and_gradient(padded, causal, bias):
    ours = of_all(bias=bias)
    if bias:
        for W in (ours.W_q, ours.W_k, ours.W_v, ours.W_o):
            nn.init.normal_(W.bias)
    theirs = Reference(ours, bias)
    padding = length_mask(torch.tensor([S - 3, S]), S) if padded else None
    mask = causal_mask(T, S - T) if causal else None
    both = padding & mask if padded and causal else padding if padded else mask
    directions, results = (draw(), torch.randn(B, H, T, S).double()), []
    given = draw(), draw(S), draw(S)
    for run in (lambda *x: ours(*x, both), lambda *x: theirs(*x, padding, mask)):
        inputs = [x.clone().requires_grad_() for x in given]
        context, weights = run(*inputs)
        ((context * directions[0]).sum() + (weights * directions[1]).sum()).backward()
        results.append([context.detach(), weights.detach(), *(x.grad for x in inputs)])
    assert_close(results[0], results[1])
    gradients = torch.cat([W.weight.grad for W in (ours.W_q, ours.W_k, ours.W_v)])
    assert_close(gradients, theirs.layer.in_proj_weight.grad)
    assert_close(ours.W_o.weight.grad, theirs.layer.out_proj.weight.grad)
    assert sum(p.numel() for p in ours.parameters()) == sum(p.numel() for p in theirs.parameters())


def test_heads_equal_their_formula():
    """Head by head, in loops."""
    attention, x, y = of_all(), draw(), draw(S)
    mask = torch.rand(B, T, S) < 0.5  # some rows may be blank
    p, joined, seen = arrays(attention), [], []
    q, k, v = (np.array([linear(p, W, row) for row in z.numpy()]) for W, z in (("W_q", x), ("W_k", y), ("W_v", y)))
    for h in range(H):
        part = slice(h * D_HEAD, (h + 1) * D_HEAD)
        scores = oracles.scores("scaled_dot", q[..., part], k[..., part], {})  # divided by √d_head
        seen.append(oracles.masked_softmax(scores, mask.numpy()))
        joined.append(oracles.context(seen[-1], v[..., part]))
    context = np.array([linear(p, "W_o", row) for row in np.concatenate(joined, axis=-1)])
    found = attention(x, y, y, mask)
    assert_close(found.weights.detach(), torch.from_numpy(np.stack(seen, axis=1)))
    assert_close(found.context.detach(), torch.from_numpy(context))


@pytest.mark.parametrize("shape", [None, (T, S), (1, S), (S,), (), (B, T, S), (B, 1, S), (1, T, S), (B, H, T, S)])
def test_context_alone_is_the_same_context(shape):
    attention, x, y = of_all(), draw(), draw(S)
    mask = None if shape is None else torch.rand(shape) < 0.5
    context, weights = attention(x, y, y, mask)
    found, nothing = attention(x, y, y, mask, need_weights=False)
    assert nothing is None
    assert_close(found, context)
    if mask is not None and len(shape) < 4:
        expected = mask.expand(B, T, S).unsqueeze(1).expand(B, H, T, S)
        assert ((weights > 0) == expected).all()  # the same for every head


def test_a_mask_of_four_dimensions_is_one_for_each_head():
    attention, x, y, mask = of_all(), draw(), draw(S), torch.rand(B, H, T, S) < 0.5
    assert ((attention(x, y, y, mask).weights > 0) == mask).all()
    mask = torch.rand(H, 1, S) < 0.5
    assert ((attention(x, y, y, mask[None]).weights > 0) == mask.expand(B, H, T, S)).all()
    with pytest.raises(ValueError, match="does not broadcast"):
        attention(x, y, y, mask)  # three dimensions are (B, T, S)


def test_batch_and_heads_are_not_taken_for_each_other():
    x = torch.randn(H, T, D).double()  # as many texts as heads
    mask = length_mask(torch.tensor([1, 2, 3]), T)
    weights = of_all()(x, x, x, mask).weights
    assert ((weights > 0) == mask.unsqueeze(1).expand(H, H, T, T)).all()


def test_heads_without_positions_take_any_order_alike():
    attention, x, order = of_all(), draw(), torch.randperm(T)
    context, weights = attention(x, x, x)
    y = x[:, order]
    assert_close(attention(y, y, y).context, context[:, order])
    assert_close(attention(y, y, y).weights, weights[:, :, order][..., order])


def test_the_future_does_not_reach_the_past():
    attention, x = of_all(), draw()
    before = attention(x, x, x, causal_mask(T)).context
    for t in range(T):
        y = x.clone()
        y[:, t] += 1
        after = attention(y, y, y, causal_mask(T)).context
        assert_close(after[:, :t], before[:, :t])
        assert ((after - before)[:, t:].abs().amax(-1) > 1e-9).all()


def test_padding_and_what_stands_in_it_change_nothing():
    attention, x = of_all(), draw(3, rows=1)
    alone = attention(x, x, x)
    for junk in (0.0, 9.0, -1e6):
        y = torch.cat([x, torch.full((1, 4, D), junk).double()], dim=1).requires_grad_()
        padded = attention(y, y, y, length_mask(torch.tensor([3]), 7))
        assert_close(padded.context[:, :3], alone.context)
        assert_close(padded.weights[:, :, :3, :3], alone.weights)
        assert (padded.weights[..., 3:] == 0).all()
        padded.context[:, :3].sum().backward()
        assert (y.grad[:, 3:] == 0).all()


def test_text_alone_is_treated_as_in_a_batch():
    attention, x, y = of_all(), draw(), draw(S)
    mask = length_mask(torch.tensor([S - 2, S]), S)
    together = attention(x, y, y, mask)
    for b in range(B):
        alone = attention(*(z[b : b + 1] for z in (x, y, y, mask)))
        assert_close((alone.context[0], alone.weights[0]), (together.context[b], together.weights[b]))


@pytest.mark.parametrize("need_weights", [True, False])
def test_text_of_padding_only_is_no_danger(need_weights):
    attention, x = of_all(), draw().requires_grad_()
    context, _ = attention(x, x, x, length_mask(torch.tensor([0, T]), T), need_weights)
    assert_close(context[0].detach(), attention.W_o.bias.detach().expand(T, D))  # W_o 0 + b
    context.square().sum().backward()
    assert (x.grad[0] == 0).all() and x.grad.isfinite().all()


def test_weights_are_those_before_dropout():
    attention, x = of_all(dropout=0.9).train(), draw()
    first, second = attention(x, x, x, causal_mask(T)), attention(x, x, x, causal_mask(T))
    assert_close(first.weights.sum(-1), torch.ones(B, H, T).double())
    assert_close(first.weights, second.weights)
    assert (first.context - second.context).abs().max() > 1e-3
    attention.eval()
    assert_close(attention(x, x, x).context, attention(x, x, x).context)


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("off", [[], [0], [1, 2], [0, 1, 2]])
def test_a_head_that_is_off_attends_alike_to_all_it_may_see(off, need_weights):
    attention, x, y, mask = of_all(), draw(), draw(S), torch.rand(B, T, S) < 0.6
    mask[0, 0] = False
    heads = torch.tensor([h not in off for h in range(H)])
    uniform = mask / mask.sum(-1, keepdim=True).clamp(min=1)
    weights = attention(x, y, y, mask).weights.clone()
    weights[:, off] = uniform.double().unsqueeze(1)
    found = attention(x, y, y, mask, need_weights, heads)
    values = attention.W_v(y).unflatten(-1, (H, D_HEAD))
    context = attention.W_o(torch.einsum("bhts,bshd->bthd", weights, values).flatten(2))
    assert_close(found.context, context)
    if need_weights:
        assert_close(found.weights, weights)
        assert (found.weights[0, :, 0] == 0).all()
    found.context.sum().backward()
    gradient = attention.W_q.weight.grad.unflatten(0, (H, D_HEAD))
    assert (gradient[off] == 0).all()  # what it asks is not heard
    assert all((gradient[h] != 0).any() for h in range(H) if h not in off)


@pytest.mark.parametrize(
    "heads", [torch.ones(H), torch.ones(H + 1).bool(), torch.ones(1).bool(), torch.ones(1, H).bool()]
)
def test_what_is_no_choice_of_heads_is_refused(heads, without_shape_checks):
    x = draw()
    with pytest.raises(ValueError, match=rf"heads must be boolean \({H},\)") as error:
        of_all()(x, x, x, heads=heads)
    assert str(tuple(heads.shape)) in str(error.value) and str(heads.dtype) in str(error.value)


@pytest.mark.parametrize(("d_model", "n_heads"), [(7, 2), (6, 4), (2, 3)])
def test_heads_share_the_width_out_evenly(d_model, n_heads):
    with pytest.raises(ValueError, match=f"got d_model={d_model} and n_heads={n_heads}"):
        MultiHeadAttention(d_model, n_heads)


@pytest.mark.parametrize(
    "shapes",
    [
        [(B, T, D + 1), (B, S, D), (B, S, D)],
        [(B, T, D), (B, S, D - 1), (B, S, D)],
        [(B, T, D), (B, S, D), (B, S, 1)],
        [(T, D), (S, D), (S, D)],
        [(1, B, T, D), (1, B, S, D), (1, B, S, D)],
        [(B, T, D, 1), (B, S, D, 1), (B, S, D, 1)],
    ],
)
def test_vectors_of_other_shapes_are_refused(shapes, without_shape_checks):
    with pytest.raises(ValueError, match=rf"need vectors \(B, T, {D}\)") as error:
        of_all()(*(torch.zeros(shape).double() for shape in shapes))
    assert all(str(shape) in str(error.value) for shape in shapes)


@pytest.mark.usefixtures("without_shape_checks")
def test_batches_and_lengths_that_differ_are_refused():
    x, y = draw(), draw(S)
    for arguments in ((x, y[:1], y[:1]), (x, y, x)):
        with pytest.raises(ValueError, match="leading dimensions"):
            of_all()(*arguments)


@pytest.mark.parametrize(("n_queries", "n_keys"), [(1, 1), (0, S), (T, 0), (0, 0)])
@pytest.mark.parametrize("need_weights", [True, False])
def test_sizes_of_one_and_nothing(n_queries, n_keys, need_weights):
    attention = of_all()
    context, weights = attention(draw(n_queries), draw(n_keys), draw(n_keys), None, need_weights)
    assert context.shape == (B, n_queries, D) and context.isfinite().all()
    assert not need_weights or weights.shape == (B, H, n_queries, n_keys)
    x = torch.randn(1, 1, 1)
    assert_close(MultiHeadAttention(1, 1)(x, x, x).weights, torch.ones(1, 1, 1, 1))


def small(name: str) -> tuple[nn.Module, object]:
    """A layer of each kind, and a function that runs it on x (B, T, d_model)."""
    if name == "one head":
        head = SelfAttention(D, D_HEAD)
        return head, lambda x: head(x, causal_mask(x.shape[1]).to(x.device)).context
    if name == "heads":
        heads = MultiHeadAttention(D, H)
        return heads, lambda x: heads(x, x, x, causal_mask(x.shape[1]).to(x.device)).context
    if name == "waves":
        waves = SinusoidalPositions(D)
        return waves, lambda x: waves(x, 3)
    learned = LearnedPositions(11, D)
    return learned, lambda x: learned(x, 3)


LAYERS = ["one head", "heads", "waves", "learned"]


@pytest.mark.parametrize("name", LAYERS)
def test_layers_have_the_gradients_of_their_values(name):
    layer, run = small(name)
    layer.double()
    x = draw(3).requires_grad_()
    assert torch.autograd.gradcheck(lambda x, *parameters: run(x), (x, *layer.parameters()))


# --- positions --------------------------------------------------------------------------------------


@pytest.mark.parametrize("start", [0, 1, 4000])
@pytest.mark.parametrize("width", [1, 2, 6, 7])
def test_waves_are_those_of_the_paper(width, start):
    x = draw(T, width)
    expected = x.clone()
    for t in range(T):
        for c in range(width):
            angle = (start + t) / 10_000 ** (2 * (c // 2) / width)
            expected[:, t, c] += math.sin(angle) if c % 2 == 0 else math.cos(angle)
    assert_close(SinusoidalPositions(width)(x, start), expected)
    assert not list(SinusoidalPositions(width).parameters())


def test_waves_of_a_shift_are_a_rotation():
    """What made the paper choose them: p_{t+k} is the same linear map of p_t, whatever t."""
    waves = SinusoidalPositions(D)(torch.zeros(1, 40, D).double())[0]
    for k in (1, 7):
        now, later = waves[:-k], waves[k:]
        rotation = torch.linalg.lstsq(now, later).solution
        assert_close(now @ rotation, later)
        assert_close(rotation @ rotation.mT, torch.eye(D).double())


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_waves_in_half_precision_still_tell_far_neighbours_apart(dtype):
    start = 4000  # half precision cannot count this far in steps of one
    found = SinusoidalPositions(D)(torch.zeros(1, 3, D, dtype=dtype), start)
    exact = SinusoidalPositions(D)(torch.zeros(1, 3, D).double(), start)
    assert found.dtype == dtype
    assert_close(found.double(), exact, rtol=0, atol=8e-3)


@pytest.mark.parametrize("make", [SinusoidalPositions, lambda width: LearnedPositions(9, width)])
def test_positions_go_on_where_the_last_text_ended(make):
    positions, x = make(D).double(), draw()
    whole = positions(x)
    for cut in range(T + 1):
        halves = [positions(x[:, :cut]), positions(x[:, cut:], cut)]
        assert_close(torch.cat(halves, dim=1), whole)
    shift = (whole - x)[0]
    assert_close((whole - x)[1], shift)  # the same for every text
    assert (shift[1:] - shift[:-1]).abs().amax(-1).min() > 1e-4  # and another at every place


def test_learned_positions_are_added_and_learned():
    positions, x = LearnedPositions(9, D).double(), draw()
    assert_close(positions(x, 2), x + positions.p[2:7])
    positions(x, 4).sum().backward()  # 4..8: up to the last
    assert_close(positions.p.grad, torch.tensor([0.0] * 4 + [B] * 5)[:, None].expand(9, D).double())


@pytest.mark.parametrize(
    ("start", "named"), [(5, r"0\.\.8, got 5\.\.9"), (-1, r"got -1\.\.3"), (100, r"got 100\.\.104")]
)
def test_learned_positions_end(start, named):
    with pytest.raises(ValueError, match=named):
        LearnedPositions(9, D).double()(draw(), start)


@pytest.mark.parametrize("start", [-1, 2**24 - T + 1])
def test_waves_are_for_positions_that_float32_can_count(start):
    SinusoidalPositions(D)(draw(), 2**24 - T)
    with pytest.raises(ValueError, match=rf"0\.\.16777215, got {start}\.\.{start + T - 1}$"):
        SinusoidalPositions(D)(draw(), start)


@pytest.mark.parametrize("make", [SinusoidalPositions, lambda width: LearnedPositions(9, width)])
def test_integers_have_no_place_for_waves(make, without_shape_checks):
    with pytest.raises(ValueError, match=r"floating-point numbers, got torch\.int64"):
        make(D)(torch.zeros(B, T, D, dtype=torch.long))


@pytest.mark.parametrize("make", [SinusoidalPositions, lambda width: LearnedPositions(9, width)])
@pytest.mark.parametrize("shape", [(B, T, D + 1), (T, D), (B, T, 1), (1, B, T, D), (B, T, D, 1)])
def test_positions_fit_one_width(make, shape, without_shape_checks):
    with pytest.raises(ValueError, match=rf"need vectors \(B, T, {D}\)") as error:
        make(D)(torch.zeros(shape))
    assert f"got {shape}" in str(error.value)

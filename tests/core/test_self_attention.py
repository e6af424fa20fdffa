"""Heads are what torch has, masks hide what they should, and a head can be switched off."""

import re

import numpy as np
import pytest
import torch
from torch import nn
from torch.testing import assert_close

from attnlib.attention import AttentionOutput, causal_mask, length_mask
from attnlib.scores import AdditiveScore
from attnlib.self_attention import MultiHeadAttention, SelfAttention
from tests import oracles

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
@pytest.mark.parametrize(("masked", "width"), [(False, D_HEAD), (True, None)])
def test_one_head_equals_its_formula(name, masked, width):
    head, x = SelfAttention(D, width, name).double(), draw()
    p = oracles.arrays(head)
    score = {key.removeprefix("attention.score."): value for key, value in p.items()}
    mask = causal_mask(T)[None] if masked else None
    seen = np.broadcast_to(mask.numpy() if masked else True, (B, T, T))
    q, k, v = (np.array([linear(p, W, row) for row in x.numpy()]) for W in ("W_q", "W_k", "W_v"))
    weights = oracles.masked_softmax(oracles.scores(name, q, k, score), seen)
    found = head(x, mask)
    assert isinstance(found, AttentionOutput)
    assert_close(found.weights.detach(), torch.from_numpy(weights))
    assert_close(found.context.detach(), torch.from_numpy(oracles.context(weights, v)))
    assert found.context.shape[-1] == (width or D) and not any(name.endswith("bias") for name in p)


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
            "attn_mask": None if mask is None else ~mask[0],
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
    mask = causal_mask(T, S - T)[None] if causal else None
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


@pytest.mark.parametrize("shape", [None, (S,), (), (B, T, S), (B, 1, S), (1, T, S), (B, H, T, S)])
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
    x = torch.randn(H, T, D).double()  # as many texts as heads
    mask = length_mask(torch.tensor([1, 2, 3]), T)
    assert ((attention(x, x, x, mask).weights > 0) == mask.unsqueeze(1).expand(H, H, T, T)).all()


@pytest.mark.parametrize("need_weights", [True, False])
def test_text_of_padding_only_is_no_danger(need_weights):
    attention, x = of_all(), draw().requires_grad_()
    context, _ = attention(x, x, x, length_mask(torch.tensor([0, T]), T), need_weights)
    assert_close(context[0].detach(), attention.W_o.bias.detach().expand(T, D))  # W_o 0 + b
    context.square().sum().backward()
    assert (x.grad[0] == 0).all() and x.grad.isfinite().all()


def test_weights_are_those_before_dropout():
    attention, x = of_all(dropout=0.9).train(), draw()
    first, second = attention(x, x, x, causal_mask(T)[None]), attention(x, x, x, causal_mask(T)[None])
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


@pytest.mark.parametrize(("n_queries", "n_keys"), [(1, 1), (0, S), (T, 0), (0, 0)])
@pytest.mark.parametrize("need_weights", [True, False])
def test_sizes_of_one_and_nothing(n_queries, n_keys, need_weights):
    attention = of_all()
    context, weights = attention(draw(n_queries), draw(n_keys), draw(n_keys), None, need_weights)
    assert context.shape == (B, n_queries, D) and context.isfinite().all()
    assert not need_weights or weights.shape == (B, H, n_queries, n_keys)
    x = torch.randn(1, 1, 1)
    assert_close(MultiHeadAttention(1, 1)(x, x, x).weights, torch.ones(1, 1, 1, 1))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: SelfAttention(D)(torch.zeros(B, T, D + 1)), r"need x \(\.\.\., T, 6\).*got \(2, 5, 7\)"),
        (lambda: SelfAttention(D)(torch.zeros(D)), r"need x \(\.\.\., T, 6\).*got \(6,\)"),
        (lambda: SelfAttention(D, score=AdditiveScore(4, 4)), "d_query=6"),
        (lambda: MultiHeadAttention(7, 2), "got d_model=7 and n_heads=2"),
        (lambda: MultiHeadAttention(2, 3), "got d_model=2 and n_heads=3"),
        (lambda: of_all()(draw(), draw(S, rows=1), draw(S, rows=1)), "leading dimensions"),
        (lambda: of_all()(draw(), draw(S), draw(T)), "leading dimensions"),
        *(
            (lambda on=on: of_all()(*[draw()] * 3, heads=on), re.escape(f"(3,), got {on.dtype} {tuple(on.shape)}"))
            for on in (torch.ones(H), torch.ones(H + 1).bool(), torch.ones(1).bool(), torch.ones(1, H).bool())
        ),
    ],
)
def test_what_does_not_fit_is_refused(call, message, without_shape_checks):
    with pytest.raises(ValueError, match=message):
        call()

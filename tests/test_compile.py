"""Given to torch.compile, the layers compute the same. Nothing needs it: it is only never in the way."""

import copy
import gc

import pytest
import torch
from torch.testing import assert_close

from attnlib.attention import Attention, causal_mask, length_mask
from attnlib.decoders import DECODERS
from attnlib.encoder import Encoder
from attnlib.scores import SCORES, make_score
from attnlib.self_attention import MultiHeadAttention
from attnlib.seq2seq import Seq2Seq

B, T, S, V, D = 2, 3, 4, 9, 6
LENGTHS = torch.tensor([S, 2])


@pytest.fixture(autouse=True)
def forget(unhooked):  # a compiler cannot read the shape checks
    yield
    torch._dynamo.reset()
    gc.collect()  # it leaves weak references to nothing, which whoever looks through all objects would trip over


def same(module, *inputs):
    """Compiled, forward and backward (traced, and run by torch: no compiler of C++ is needed), beside as it is."""
    compiled = copy.deepcopy(module)
    compiled.compile(backend="aot_eager")
    for one, other in zip(results(compiled, inputs), results(module, inputs), strict=True):
        assert_close(one, other)


def results(module, inputs):
    """All floating outputs, and the gradients of a sum that tells them apart."""
    wanted = [*module.parameters(), *(x for x in inputs if torch.is_tensor(x) and x.requires_grad)]
    outputs = [x for x in module(*inputs) if torch.is_tensor(x)]
    apart = sum((x * torch.linspace(-1, 2, x.numel()).view_as(x)).sum() for x in outputs)
    gradients = torch.autograd.grad(apart, wanted, allow_unused=True)
    return outputs + [gradient for gradient in gradients if gradient is not None]


def draw(*shape):
    return torch.randn(*shape, requires_grad=True)


@pytest.mark.parametrize("name", SCORES)
def test_attention(name):
    mask = length_mask(LENGTHS, S)  # (B, 1, S)
    same(Attention(make_score(name, D, D)), draw(B, T, D), draw(B, S, D), draw(B, S, D), mask)


@pytest.mark.usefixtures("few_or_many")
@pytest.mark.parametrize("itself", [True, False])  # else the first place sees nothing
def test_heads(itself):
    x = draw(B, S, D)
    same(MultiHeadAttention(D, 2), x, x, x, causal_mask(S, itself=itself))


@pytest.mark.parametrize("name", DECODERS)
def test_a_translator(name):
    model = Seq2Seq(Encoder(V, D, D), DECODERS[name](V, D, D, D))
    same(model, torch.randint(V, (B, S)), torch.randint(V, (B, T)), LENGTHS)

"""What holds for every model of the package, whatever it models."""

import copy
import inspect

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

import attnlib
from attnlib.copying import CopyDecoder
from attnlib.decoders import DECODERS
from attnlib.encoder import Encoder
from attnlib.rnn_lm import RNNLM, AttentionLM
from attnlib.self_attention import LearnedPositions, MultiHeadAttention, SelfAttention, SinusoidalPositions
from attnlib.seq2seq import Seq2Seq
from attnlib.training import pick_device
from attnlib.transformer import TransformerBlock, TransformerLM
from attnlib.visual import GridEncoder, attention_captioner, static_captioner

V, B, S, T = 11, 3, 7, 5
LENGTHS = [7, 1, 4]


def seq2seq(decoder: str, copying: bool = False, **options) -> Seq2Seq:
    made = DECODERS[decoder](V, 3, 10, 6, **options)
    if copying:
        made = CopyDecoder(made, unknown=3, score="general" if made.attention is None else None)
    return Seq2Seq(Encoder(V, 2, 5, bidirectional=True, unknown=3), made)


def pairs(high: int = V) -> tuple[Tensor, ...]:
    return torch.randint(high, (B, S)), torch.randint(V, (B, T)), torch.tensor(LENGTHS)


def sequences() -> tuple[Tensor, ...]:
    return (torch.randn(B, T, 6),)


def images() -> tuple[Tensor, ...]:
    return torch.rand(B, 1, 48, 48), torch.randint(V, (B, T))


#: name → what makes the model, and what makes inputs for it
MODELS = {
    "RNNLM": (lambda: RNNLM(V, 3, 6), lambda: (torch.randint(V, (B, T)),)),
    "AttentionLM": (lambda: AttentionLM(V, 3, 6), lambda: (torch.randint(V, (B, T)),)),
    **{f"Seq2Seq, {name}": (lambda name=name: seq2seq(name), pairs) for name in DECODERS},
    **{f"Seq2Seq, {name}, copying": (lambda name=name: seq2seq(name, True), lambda: pairs(V + 2)) for name in DECODERS},
    "Seq2Seq, bahdanau, coverage": (lambda: seq2seq("bahdanau", coverage=True), pairs),
    "SelfAttention": (lambda: SelfAttention(6), sequences),
    "MultiHeadAttention": (lambda: MultiHeadAttention(6, 2), lambda: sequences() * 3),
    "SinusoidalPositions": (lambda: SinusoidalPositions(6), sequences),
    "LearnedPositions": (lambda: LearnedPositions(T, 6), sequences),
    "TransformerBlock": (lambda: TransformerBlock(6, 2, 13), sequences),
    "TransformerLM": (lambda: TransformerLM(V, 6, 2, 2), lambda: (torch.randint(V, (B, T)),)),
    "GridEncoder": (lambda: GridEncoder(1, 5), lambda: images()[:1]),
    "static captioner": (lambda: static_captioner(V), images),
    "attention captioner": (lambda: attention_captioner(V), images),
}


@pytest.fixture(params=MODELS)
def case(request) -> tuple[nn.Module, tuple[Tensor, ...]]:
    model, inputs = MODELS[request.param]
    return model(), inputs()


def tensors(output) -> list[Tensor]:
    """Every tensor of an output, nested as it may be."""
    if isinstance(output, Tensor):
        return [output]
    return [tensor for part in output if part is not None for tensor in tensors(part)]


def test_the_list_is_whole():
    offered = {
        name for name in attnlib.__all__
        if inspect.isclass(thing := getattr(attnlib, name)) and issubclass(thing, nn.Module)
    }  # fmt: skip
    parts = {type(part).__name__ for model, _ in MODELS.values() for part in model().modules()}
    bases = {"Score", "Decoder"}
    assert offered - bases <= parts, offered - bases - parts


def test_a_copy_computes_the_same_and_shares_nothing(case):
    model, inputs = case
    expected = tensors(model(*inputs))
    twin = copy.deepcopy(model)
    assert_close(tensors(twin(*inputs)), expected, rtol=0, atol=0)
    with torch.no_grad():
        for parameter in twin.parameters():
            parameter.add_(1.0)
    assert_close(tensors(model(*inputs)), expected, rtol=0, atol=0)


def test_its_weights_are_all_of_it(case):
    model, inputs = case
    fresh = copy.deepcopy(model)
    with torch.no_grad():
        for parameter in fresh.parameters():
            parameter.normal_()
    fresh.load_state_dict(model.state_dict())
    assert_close(tensors(fresh(*inputs)), tensors(model(*inputs)), rtol=0, atol=0)


def test_a_call_leaves_nothing_behind(case):
    model, inputs = case
    before = {name: set(vars(part)) for name, part in model.named_modules()}
    held = [value for part in model.modules() for value in vars(part).values() if isinstance(value, Tensor)]
    model(*inputs)
    assert {name: set(vars(part)) for name, part in model.named_modules()} == before
    assert [v for part in model.modules() for v in vars(part).values() if isinstance(v, Tensor)] == held == []


def test_every_parameter_learns(case):
    model, inputs = case
    with torch.no_grad():
        for parameter in model.parameters():
            if not parameter.any():  # a coverage weight of 0 says nothing about what it would do
                parameter.fill_(0.1)
    outputs = [t.masked_fill(t.isinf(), 0.0) for t in tensors(model(*inputs)) if t.requires_grad]
    if outputs:
        sum(t.square().sum() for t in outputs).backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None and parameter.grad.isfinite().all() and parameter.grad.any(), name


def test_single_and_double_precision_agree(case):
    model, inputs = case
    double = copy.deepcopy(model).double()
    precise = [x.double() if x.is_floating_point() else x for x in inputs]
    expected = [t.float() if t.is_floating_point() else t for t in tensors(double(*precise))]
    assert_close(tensors(model(*inputs)), expected, rtol=1e-4, atol=1e-5)


def test_the_fastest_device_at_hand_agrees_with_the_cpu(case):
    model, inputs = case
    device = pick_device()
    elsewhere = copy.deepcopy(model).to(device)
    moved = [t.cpu() for t in tensors(elsewhere(*(x.to(device) for x in inputs)))]
    assert_close(moved, tensors(model(*inputs)), rtol=1e-3, atol=1e-4)


def test_a_batch_is_so_many_single_examples(case):
    model, inputs = case
    whole = tensors(model(*inputs))
    for b in range(B):
        alone = tensors(model(*(x[b : b + 1] for x in inputs)))
        for one, many in zip(alone, whole, strict=True):
            if many.shape[0] == B:
                shared = tuple(slice(n) for n in one.shape[1:])  # new words of other sources have columns of their own
                assert_close(one, many[b : b + 1][:, *shared])

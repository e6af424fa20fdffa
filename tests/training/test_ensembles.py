"""Unrolled layers against PyTorch's own, and stacked models against one model after the other."""

import copy

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from attnlib.training.ensembles import UnrolledRNN, unroll_recurrent_layers_

LAYERS = {"RNN": nn.RNN, "GRU": nn.GRU, "LSTM": nn.LSTM}


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("begun", [False, True])
def test_an_unrolled_layer_is_the_layer(name, begun):
    layer = LAYERS[name](3, 4, batch_first=True).double()
    x = torch.randn(2, 5, 3, dtype=torch.double)
    state = torch.randn(1, 2, 4, dtype=torch.double)
    start = ((state, -state) if name == "LSTM" else state,) if begun else ()
    expected = layer(x, *start)
    unrolled = UnrolledRNN(copy.deepcopy(layer))
    found = unrolled(x, *start)
    assert_close(found, expected)
    gradients = [torch.autograd.grad(out[0].square().sum(), list(each.parameters())) for out, each in
                 ((found, unrolled), (expected, layer))]  # fmt: skip
    assert_close(*gradients)


def test_an_unrolled_cell_is_the_cell():
    cell = nn.GRUCell(3, 4).double()
    x, h = torch.randn(2, 3, dtype=torch.double), torch.randn(2, 4, dtype=torch.double)
    assert_close(UnrolledRNN(cell)(x, h), cell(x, h))


def test_parameters_keep_their_names_and_stay_the_same_tensors():
    model = nn.ModuleDict({"deep": nn.ModuleDict({"rnn": nn.GRU(3, 4, batch_first=True)}), "out": nn.Linear(4, 2)})
    before = dict(model.named_parameters())
    assert unroll_recurrent_layers_(model) is model
    after = dict(model.named_parameters())
    assert list(after) == list(before) and all(after[name] is before[name] for name in before)
    assert isinstance(model["deep"]["rnn"], UnrolledRNN) and isinstance(model["out"], nn.Linear)


@pytest.mark.parametrize(
    "layer",
    [
        nn.GRU(3, 4),
        nn.GRU(3, 4, num_layers=2, batch_first=True),
        nn.GRU(3, 4, bidirectional=True, batch_first=True),
        nn.LSTM(3, 4, proj_size=2, batch_first=True),
        nn.RNN(3, 4, nonlinearity="relu", batch_first=True),
        nn.GRU(3, 4, bias=False, batch_first=True),
        nn.GRUCell(3, 4, bias=False),
        nn.LSTMCell(3, 4),
    ],
    ids=repr,
)
def test_other_layers_are_refused_by_name(layer):
    with pytest.raises(ValueError, match="cannot unroll") as refusal:
        unroll_recurrent_layers_(nn.Sequential(layer))
    assert repr(layer) in str(refusal.value)

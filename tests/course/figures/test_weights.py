"""Weights on their way into a page, and the layers that run there."""

import base64
import itertools
import math

import numpy as np
import pytest
import torch
from torch import nn

from attnlib.course.figures import weights
from attnlib.course.figures.bahdanau import translator
from attnlib.course.figures.copier import copier
from attnlib.course.figures.heads import HeadsModel
from attnlib.course.figures.language_model import language_model
from attnlib.course.figures.weights import export, rounded, unpacked
from attnlib.figures.assets import module
from benchmarks.examples import EXAMPLES
from tests.node import run_in_node

NETWORK = module("network.js", beside=weights.__file__)


def test_every_half_is_read_as_torch_reads_it():
    bits = torch.arange(65536, dtype=torch.int32).to(torch.uint16)
    wanted = bits.view(torch.float16).double().numpy()
    # JSON knows neither NaN nor infinity: they travel as text
    got = run_in_node(NETWORK, "Array.from({ length: 65536 }, (_, bits) => String(m.half(bits)))", None)
    got = np.array([float(text.replace("Infinity", "inf")) for text in got])
    np.testing.assert_array_equal(got, wanted)  # NaN equals NaN here
    assert run_in_node(NETWORK, "1 / m.half(0x8000) < 0", None) is True


@pytest.mark.parametrize("bits", [16, 8])
def test_weights_arrive_with_their_shape_and_numbers(bits):
    torch.manual_seed(0)
    layer = rounded(nn.Sequential(nn.Linear(3, 5), nn.Embedding(4, 2), nn.Linear(2, 1, bias=False)), bits)
    got = run_in_node(
        NETWORK,
        "Object.entries(m.tensors(argument)).map(([name, w]) => [name, w.rows, w.columns, Array.from(w.data)])",
        export(layer, bits),
    )
    back = unpacked(export(layer, bits))
    assert [name for name, *_ in got] == list(layer.state_dict()) == list(back)
    for name, rows, columns, data in got:
        weight = layer.state_dict()[name].double()
        assert (rows, columns) == (weight.shape[0], weight.shape[1] if weight.dim() > 1 else 1)
        assert data == weight.flatten().tolist()
        assert torch.equal(back[name], weight)


def test_exported_numbers_are_little_endian_halves():
    layer = nn.Linear(2, 1, bias=False)
    layer.weight.data = torch.tensor([[1.0, -2.0]])
    ((name, exported),) = export(layer).items()
    assert (name, exported["shape"]) == ("weight", [1, 2])
    assert base64.b64decode(exported["data"]) == bytes([0x00, 0x3C, 0x00, 0xC0])


def test_eight_bits_are_whole_numbers_times_a_scale():
    layer = nn.Linear(2, 2, bias=False)
    layer.weight.data = torch.tensor([[1.27, -0.644], [0.0, 0.003]])
    (exported,) = export(rounded(layer, bits=8), bits=8).values()
    assert list(base64.b64decode(exported["data"])) == [127, 256 - 64, 0, 0]
    assert exported["shape"] == [2, 2] and exported["scale"] == pytest.approx(0.01, rel=2e-3)
    mantissa, _ = math.frexp(exported["scale"])
    assert (1024 * mantissa).is_integer()  # so few digits that products are exact


@pytest.mark.parametrize("largest", [0.0, 1e-9, 0.9999, 1.0, 1.0001, 127.0, 63.6, 1e6])
def test_what_is_rounded_to_eight_bits_is_off_by_half_a_step_at_most_and_stays(largest):
    layer, generator = nn.Linear(40, 30), torch.Generator().manual_seed(0)
    for weight in layer.parameters():
        weight.data = largest * (2 * torch.rand(weight.shape, generator=generator) - 1)
        weight.data.view(-1)[0] = -largest
    before = [weight.clone() for weight in layer.parameters()]
    export(rounded(layer, bits=8), bits=8)
    for weight, was in zip(layer.parameters(), before, strict=True):
        assert (weight - was).abs().max() <= 0.501 * largest / 127
    once = [weight.clone() for weight in layer.parameters()]
    assert all(map(torch.equal, rounded(layer, bits=8).parameters(), once))


def test_what_is_not_rounded_does_not_fit_and_there_are_16_bits_or_8():
    layer = nn.Linear(2, 1)
    layer.weight.data = torch.tensor([[1.0, 1 / 3]])
    for bits, call in ((16, r"rounded\(module\)"), (8, r"rounded\(module, bits=8\)")):
        with pytest.raises(ValueError, match=rf"weight \(1, 2\) does not fit {bits} bits .*: use {call}"):
            export(layer, bits)
    for call in (rounded, export):
        with pytest.raises(ValueError, match="bits must be 16 or 8, got 4"):
            call(layer, bits=4)


@pytest.mark.parametrize("value", [65520.0, -70000.0, float("nan"), float("inf")])
def test_what_cannot_be_rounded_is_refused(value):
    layer = nn.Linear(1, 1)
    layer.weight.data.zero_()
    layer.bias.data.fill_(value)
    limits = {16: "outside ±65504"} | ({} if np.isfinite(value) else {8: "infinite"})
    for (bits, limit), call in itertools.product(limits.items(), (rounded, export)):
        with pytest.raises(ValueError, match=rf"bias \(1,\) holds a number that {bits} bits cannot: {limit} or NaN"):
            call(layer, bits)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"shape": [1]}, "a is not a weight"),
        ({"shape": [1], "data": "A?=="}, "a is not a weight"),
        ({"shape": [2], "data": "AAA="}, r"a of shape \(2,\) needs 4 bytes, got 2"),
        ({"shape": [3], "data": "AAA=", "scale": 1.0}, r"a of shape \(3,\) needs 3 bytes, got 2"),
    ],
)
def test_what_was_not_exported_is_not_unpacked(entry, message):
    with pytest.raises(ValueError, match=message):
        unpacked({"a": entry})


def test_a_model_that_is_loaded_leaves_the_readers_seed_alone():
    """What a chapter trains after a figure does not depend on whether the figure was shown."""
    figures = [EXAMPLES[name].make("word") for name in ("AttentionSurgery", "CopyGate", "HeadGrid", "LookBack")]
    two_heads = figures[2].models["2 heads"]["weights"]
    networks = figures[0].network, figures[1].weights, two_heads, figures[3].weights
    surgery, gate, heads, reader = map(unpacked, networks)
    before = torch.get_rng_state()
    models = translator(surgery), copier(gate, unknown=3), HeadsModel(2, heads, V=32, n_out=64), language_model(reader)
    figures[0].text, figures[1].text, figures[2].off, figures[3].text = "abc", "w1 iPad", [0], "abc"
    assert torch.equal(torch.get_rng_state(), before)
    for model, given in zip(models, (surgery, gate, heads, reader), strict=True):
        assert not any(weight.requires_grad for weight in model.parameters())
        assert all(torch.equal(weight, given[name]) for name, weight in model.state_dict().items())


def test_argmax_takes_the_first_of_equals_and_log_softmax_never_overflows():
    cases = [[0.0, 2.0, 2.0], [1000.0, 0.0, -1000.0], [3.0, 3.0, 1.0], [-5.0, -1.0], [7.0]]
    answers = run_in_node(NETWORK, "argument.map((x) => [m.argmax(x), [...m.logSoftmax(Float64Array.from(x))]])", cases)
    assert [best for best, _ in answers] == [1, 0, 0, 1, 0]
    for case, (_, log) in zip(cases, answers, strict=True):
        np.testing.assert_allclose(log, torch.tensor(case).double().log_softmax(-1).tolist(), atol=1e-12)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("m.affine({ rows: 1, columns: 2, data: [1, 2] }, null, [1, 2, 3])", "2 columns cannot meet a vector of 3"),
        ("m.rowOf({ rows: 2, columns: 1, data: new Float64Array(2) }, 2)", "no row 2 in a table of 2"),
    ],
)
def test_what_does_not_fit_is_an_error(expression, message):
    said = run_in_node(NETWORK, f"(() => {{ try {{ {expression} }} catch (e) {{ return e.message }} }})()", None)
    assert message in said

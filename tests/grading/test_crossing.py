"""What crosses between the grader and a hand-in is what it was, gradients too; bytes that are no message do no harm."""

import contextlib
import itertools
import json
import socket
import struct
import threading
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from attnlib.grading import crossing, encoding, kernel
from attnlib.grading.crossing import Peer
from attnlib.grading.encoding import DTYPES, Elsewhere, Gone, Malformed, Remote


def read(cell, x, state, k=99):
    """States of a cell, cut after k steps."""
    states = []
    for t, x_t in enumerate(x.unbind(1)):
        state = state.detach() if t and t % k == 0 else state
        state = cell(x_t, state)
        states.append(state)
    return torch.stack(states, 1)


def change(x, numbers, table, places):
    x.mul_(2)
    numbers.append(7)
    table["new"] = table.pop("old")
    places.discard((0, 1))


def raises(kind, *words):
    raise kind[0](*words)


class Own(Exception):
    pass


INSIDE = {
    "same": lambda *given, **named: (given, named),
    "read": read,
    "change": change,
    "softmax": lambda x: x.softmax(-1),
    "both": lambda x, y: (x * y, x + 1, y.exp()),
    "squares": lambda stream: sum((x * x).sum() for x in stream),
    "once": lambda stream: (list(stream), list(stream)),
    "adder": lambda n: lambda x: x + n,
    "count": lambda n: iter(range(n)),
    "thing": object,
    "apply": lambda f, x: f(x),
    "is_contiguous": lambda x: (x.is_contiguous(), x.stride()),
    "value": lambda: 1 / 0,
    "own": lambda: raises([Own], "of my own"),
    "asserts": lambda: raises([AssertionError], "full points"),
    "late": lambda: raises([TimeoutError], "late"),
    "exits": lambda: raises([SystemExit], 3),
    "deep": lambda: [deep := [], [deep.append(deep) for _ in range(1)]][0],
    "no_grad": lambda x: x.requires_grad,
    "frozen": lambda: torch.ones(2, requires_grad=True) * 3,
}


@pytest.fixture
def ask():
    """Call a function that stands on the other side, over a real socket, in a thread."""
    here, there = socket.socketpair()
    outside, inside = Peer(here, outside=True), Peer(there, outside=False)
    inside.objects[0] = INSIDE.__getitem__

    def serve():
        with contextlib.suppress(Gone, Malformed):
            inside.serve()
        there.close()

    thread = threading.Thread(target=serve)
    thread.start()

    def ask(name, *given, **named):
        return outside.call(0, [name])(*given, **named)

    ask.peer = outside
    yield ask
    with here:
        outside.end()
    thread.join(10)
    assert not thread.is_alive()


def equal(one, other):
    """The same type, the same values; NaN is NaN."""
    if isinstance(one, torch.Tensor):
        same = one.dtype == other.dtype and one.shape == other.shape
        return same and torch.equal(*(x.contiguous().reshape(-1).view(torch.uint8) for x in (one, other)))
    if isinstance(one, np.ndarray | np.generic):
        return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    if type(one) is not type(other):
        return False
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(equal, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(map(equal, one.values(), other.values()))
    return one == other or one != one


SHAPES = st.lists(st.integers(0, 3), max_size=3)
TENSORS = st.builds(
    lambda name, shape: (torch.rand(shape) * 9).to(DTYPES[name]), st.sampled_from(sorted(DTYPES)), SHAPES
)
ARRAYS = st.builds(
    lambda kind, shape: (np.random.default_rng(0).random(shape) * 9).astype(kind),
    st.sampled_from(["?", "i1", "u2", "i8", "f4", "f8", "c16", ">f4"]),
    SHAPES,
)
PLAIN = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**40), 10**40), st.floats(), st.text(), st.complex_numbers()
)
KEYS = st.one_of(st.booleans(), st.integers(), st.text(), st.tuples(st.integers(), st.text()))
VALUES = st.recursive(
    st.one_of(PLAIN, TENSORS, ARRAYS, st.sampled_from([range(3), slice(1, None, 2), torch.float16, np.float32(2)])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(KEYS, inner, max_size=3),
        st.sets(KEYS, max_size=3),
        st.frozensets(KEYS, max_size=3),
    ),
    max_leaves=8,
)


class Alone(Peer):
    """A peer without a connection."""

    def __init__(self, outside):
        super().__init__(None, outside)


def through(value, outside=True):
    """A value written and read again."""
    writer = encoding.Writer(Alone(not outside))
    header = json.loads(json.dumps({"value": writer.value(value), "arrays": writer.arrays}))
    return encoding.Reader(Alone(outside), header, writer.blobs).value(header["value"])


@settings(deadline=None)
@given(VALUES, st.booleans())
def test_data_crosses_as_it_is(value, outside):
    there = through(value, outside)
    native = value.astype(value.dtype.newbyteorder("=")) if isinstance(value, np.ndarray) else value
    assert equal(native, there) or ">" in str(getattr(value, "dtype", value)), (value, there)


def test_data_comes_back_through_a_call(ask):
    values = [{1, (2, "a")}, {"a": [torch.tensor(1.5), None]}, float("nan"), 10**30, np.arange(3), "ü\ud800"]
    assert equal(ask("same", *values, key=[True]), (tuple(values), {"key": [True]}))


def test_shapes_in_memory_reach_the_box_and_only_the_box(ask):
    x = torch.arange(12.0).view(3, 4)
    one = torch.ones(1, 1).expand(1, 1).as_strided((1, 1), (0, 0))
    for given_ in (x, x.T, x[:, :2], torch.ones(3, 1).expand(3, 4), x.view(2, 6)[:, ::2], one, x[:1, ::4]):
        assert ask("is_contiguous", given_) == (given_.is_contiguous(), given_.stride())
        [[back], _] = ask("same", given_)
        assert back.is_contiguous() and torch.equal(back, given_)


def test_one_tensor_given_twice_is_one_tensor_there():
    x = torch.ones(2)
    one, other = through([x, x], outside=False)
    assert one is other


@pytest.mark.parametrize("k", [99, 2])
def test_gradients_cross_both_ways(ask, k):
    torch.manual_seed(0)
    cell = nn.GRUCell(3, 4).double()
    x, state = torch.randn(2, 5, 3).double().requires_grad_(), torch.randn(2, 4).double().requires_grad_()
    wanted, got = read(cell, x, state, k), ask("read", cell, x, state, k)
    assert torch.equal(wanted, got) and got.requires_grad
    weights = torch.randn(wanted.shape).double()
    sources = [x, state, *cell.parameters()]
    for pick in ([x], [cell.weight_hh], sources):
        ours = torch.autograd.grad((wanted * weights).sum(), pick, retain_graph=True)
        back = torch.autograd.grad((got * weights).sum(), pick, retain_graph=True)
        assert all(torch.allclose(a, b, atol=1e-12) for a, b in zip(ours, back, strict=True))


def test_gradients_against_small_steps(ask):
    x, y = (torch.randn(2, 3, dtype=torch.float64, requires_grad=True) for _ in range(2))
    assert torch.autograd.gradcheck(lambda x, y: ask("both", x, y), (x, y))
    assert torch.autograd.gradcheck(lambda x: ask("apply", torch.tanh, x), (x,))
    assert torch.autograd.gradcheck(lambda x: ask("adder", y)(ask("softmax", x * 2)), (x,))


def test_gradients_reach_what_a_stream_holds(ask):
    parts = [torch.randn(3, requires_grad=True) for _ in range(3)]
    ask("squares", iter(parts)).backward()
    assert all(torch.allclose(part.grad, 2 * part) for part in parts)


def test_what_needs_no_gradient_has_none(ask):
    x = torch.ones(2, requires_grad=True)
    assert ask("no_grad", x) is True and ask("no_grad", x.detach()) is False
    with torch.no_grad():
        assert ask("no_grad", x) is False
    assert ask("frozen").requires_grad  # a graph of its own
    assert not ask("softmax", x.detach()).requires_grad


def test_what_a_call_changes_in_place_is_changed(ask):
    base, numbers, table, places = torch.ones(2, 2), [1], {"old": torch.zeros(1)}, {(0, 1), (2, 3)}
    ask("change", base[:, 0], numbers, table, places)
    assert base.tolist() == [[2, 1], [2, 1]] and numbers == [1, 7] and list(table) == ["new"] and places == {(2, 3)}
    assert ask.peer.changed
    ask.peer.keep_changes = False
    ask("change", base[:, 0], numbers, {"old": 1}, places)
    assert base.tolist() == [[2, 1], [2, 1]] and numbers == [1, 7]


def test_nothing_is_changed_where_nothing_was(ask):
    ask("same", torch.tensor([float("nan")]), [1], {2: (3,)}, iter([1]), lambda: 1)
    assert not ask.peer.changed


def test_functions_and_iterators_stay_where_they_are(ask):
    assert ask("adder", 3)(4) == 7
    assert list(ask("count", 3)) == [0, 1, 2]
    assert ask("once", iter([1, 2])) == ([1, 2], [])
    assert ask("once", {"a": 1}.keys()) == (["a"], ["a"])
    assert ask("apply", lambda x: ask("adder", 1)(x), 5) == 6
    [[back, thing], _] = ask("same", len, mine := object())
    assert back is len and thing is mine


def test_a_thing_can_do_nothing_and_equals_nothing(ask):
    thing = ask("thing")
    assert isinstance(thing, Remote) and type(thing).__name__ == "object" and thing != 1 and not callable(thing)
    for use in (bool, iter, len, float, lambda x: x + 1, lambda x: x < 1):
        with pytest.raises(TypeError):
            use(thing)


@pytest.mark.parametrize(
    "name,kind,words",
    [
        ("value", ZeroDivisionError, "division by zero"),
        ("nobody", KeyError, "nobody"),
        ("own", Elsewhere, "Own: of my own"),
        ("asserts", Elsewhere, "AssertionError: full points"),
        ("late", Elsewhere, "TimeoutError: late"),
        ("exits", Elsewhere, "SystemExit: 3"),
        ("deep", ValueError, "nested in more than"),
    ],
)
def test_errors_cross_and_none_passes_for_the_graders_own(ask, name, kind, words):
    with pytest.raises(kind, match=words):
        ask(name)
    assert ask("adder", 1)(1) == 2, "the connection lives on"


def test_an_alarm_outside_is_not_handed_to_the_box(ask):
    def alarm(_):
        raise TimeoutError("the grader's limit")

    with pytest.raises(TimeoutError, match="the grader's limit"):
        ask("apply", alarm, 1)


@pytest.mark.parametrize("alarm", [False, True])
def test_a_kernel_that_has_answered_may_take_its_time_and_one_that_has_not_is_interrupted(ask, monkeypatch, alarm):
    def back(x):
        ask("adder", x)
        if alarm:
            raise TimeoutError("the grader's limit")

    patience = []
    lazy = object.__new__(kernel.Kernel)
    lazy.address, lazy.client = "", SimpleNamespace(timeout=60, kc=SimpleNamespace(execute=lambda *a, **k: "asked"))
    lazy._comes, lazy._idle = lambda asked: contextlib.nullcontext(), lambda asked, seconds: patience.append(seconds)
    monkeypatch.setattr(kernel, "Peer", lambda connection, outside: ask.peer)
    monkeypatch.setattr(ask.peer, "end", lambda: None)  # `ask` does so
    with lazy.answering(0), contextlib.suppress(TimeoutError):
        ask("apply", back, 1)
    assert patience == [0.5 if alarm else 60]


def test_calls_that_wait_for_each_other_have_an_end(ask):
    def again(x):
        return ask("apply", again, x + 1)

    with pytest.raises(RecursionError, match="wait for each other"):
        ask("apply", again, 0)


# --- bytes that are no message -----------------------------------------------------------------------


def frame(header, body=b"", sizes=None):
    header = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack(">QQ", *(sizes or (len(header), len(body)))) + header + body


def answered(data):
    """What a call gives when these bytes come back."""
    here, there = socket.socketpair()
    with here, there:
        there.sendall(data)
        there.shutdown(socket.SHUT_WR)
        return Peer(here, outside=True).call(0, [])


ONE = ["float32", [2], [1], 0, 8]
HOSTILE = {
    "nothing": b"",
    "half a size": b"\0" * 9,
    "a size beyond all": frame(b"", sizes=(1 << 62, 0)),
    "arrays beyond all": frame(b"{}", sizes=(2, 1 << 62)),
    "no JSON": frame(b"\xff\xfe{"),
    "a pickle": frame(b"cos\nsystem\n(S'true'\ntR."),
    "depth": frame(b'{"value":' + b"[" * 100_000),
    "depth that is closed": frame(b'{"value":' + b'["list",[' * 200 + b"]]" * 200 + b"}"),
    "a list": frame(b"[1]"),
    "no value": frame({}),
    "a mapping": frame({"value": {"a": 1}}),
    "a tag alone": frame({"value": ["list"]}),
    "an unknown tag": frame({"value": ["eval", "1"]}),
    "a list as a key": frame({"value": ["dict", [[["list", []], 1]]]}),
    "another's object": frame({"value": ["yours", 1]}),
    "an attribute": frame({"value": ["dtype", "nn"]}),
    "a number too long": frame(b'{"value": 1' + b"0" * 5000 + b"}"),
    "an array of nobody": frame({"value": ["tensor", 7]}),
    "a shape too large": frame({"value": ["tensor", 0], "arrays": [["float32", [1 << 40], [0], 0, 4]]}, b"1234"),
    "a negative shape": frame({"value": ["tensor", 0], "arrays": [["float32", [-2, -1], [1, 1], 0, 8]]}, b"12345678"),
    "a shape that lies": frame({"value": ["tensor", 0], "arrays": [["float32", [3], [1], 0, 8]]}, b"12345678"),
    "a size that lies": frame({"value": 1, "arrays": [[*ONE[:4], 9]]}, b"12345678"),
    "negative sizes": frame({"value": 1, "arrays": [[*ONE[:4], 16], [*ONE[:4], -8]]}, b"12345678"),
    "an array of objects": frame({"value": ["array", 0], "arrays": [["|O8", [1], 8]]}, b"12345678"),
    "a structure": frame({"value": ["array", 0], "arrays": [["i4,i4", [1], 8]]}, b"12345678"),
    "a long dtype": frame({"value": ["array", 0], "arrays": [["V2000000000", [0], 0]]}),
    "many dimensions": frame({"value": ["tensor", 0], "arrays": [["uint8", [1] * 99, [1] * 99, 0, 1]]}, b"1"),
    "an error that is none": frame({"error": 3}),
    "errors in plenty": frame({"error": ["a", "b", "c"]}),
    "a call of nobody's": frame({"op": "call", "object": 5, "value": ["list", []]}),
    "a call without inputs": frame({"op": "call", "object": 0}),
    "a gradient of nothing": frame({"op": "backward", "call": 3, "value": ["list", []]}),
    "an unknown wish": frame({"op": "exec", "object": 1, "value": ["list", [["list", []], ["dict", []]]]}),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_bytes_that_are_no_message_are_refused(name):
    with pytest.raises((Malformed, Gone)):
        answered(HOSTILE[name])


@pytest.mark.parametrize("name", ["a size beyond all", "arrays beyond all"])
def test_a_size_is_refused_before_anything_is_read(name):
    with pytest.raises(Malformed, match="a message of"):
        answered(HOSTILE[name])


@settings(deadline=None)
@given(st.binary(max_size=200), st.binary(max_size=64))
def test_any_bytes_end_in_a_value_or_in_an_error_of_ours(header, body):
    with pytest.raises((Malformed, Gone)):
        answered(frame(header, body))


JSON = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-3, 3),
        st.floats(),
        st.sampled_from(
            [
                "list",
                "tuple",
                "set",
                "dict",
                "tensor",
                "array",
                "scalar",
                "mine",
                "yours",
                "dtype",
                "range",
                "slice",
                "float32",
            ]
        ),
    ),
    lambda inner: st.lists(inner, max_size=4),
    max_leaves=20,
)


@settings(deadline=None)
@given(JSON, st.lists(JSON, max_size=2), st.binary(max_size=16))
def test_any_header_ends_in_a_value_or_in_an_error_of_ours(value, arrays, body):
    with contextlib.suppress(Malformed, Gone):
        answered(frame({"value": value, "arrays": arrays}, body))


def test_a_boolean_has_two_values_whatever_the_byte():
    for described, tag in ((["bool", [2], [1], 0, 2], "tensor"), (["|b1", [2], 2], "array")):
        got = answered(frame({"value": [tag, 0], "arrays": [described]}, b"\x02\x00"))
        assert (
            got.tolist() == [True, False] and bytes(got.view(torch.uint8 if tag == "tensor" else np.uint8)) == b"\1\0"
        )


def test_a_name_is_a_name():
    for name in ("a b<script>", "x" * 10_000, "", "1"):
        got = answered(frame({"value": ["mine", 3, "", name]}))
        assert len(type(got).__name__) <= 60 and "<" not in type(got).__name__


def test_a_socket_may_lie_under_a_long_path(tmp_path):
    folder = tmp_path / ("long " * 40)
    folder.mkdir()
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
        with crossing.short(str(folder / "here")) as path:
            server.bind(path)
        server.listen()
        with crossing.short(str(folder / "here")) as path:
            client.connect(path)
        assert (folder / "here").is_socket()


def test_what_is_too_large_is_not_sent(ask, monkeypatch):
    monkeypatch.setattr(encoding, "HEADER", 1000)
    monkeypatch.setattr(crossing, "HEADER", 1000)
    with pytest.raises(ValueError, match="beside arrays"):
        ask("same", list(range(1000)))
    monkeypatch.setattr(encoding, "BODY", 1000)
    with pytest.raises(ValueError, match="arrays of more than"):
        ask("same", torch.ones(1000))
    assert ask("adder", 1)(1) == 2


def test_an_endless_stream_of_calls_ends_with_the_alarm():
    count = itertools.count()

    def tick():
        if next(count) == 50:
            raise TimeoutError("the grader's limit")

    here, there = socket.socketpair()
    with here, there:
        there.sendall(frame({"op": "call", "object": 1, "value": ["list", [["list", []], ["dict", []]]]}) * 100)
        peer = Peer(here, outside=True)
        with pytest.raises(TimeoutError):
            peer.call(0, [tick])

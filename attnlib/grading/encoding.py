"""Values as messages between the grader and a hand-in: a header of JSON and the raw bytes of arrays.

Nothing is pickled, and reading a message executes nothing. None, numbers, text, lists, tuples, sets, dictionaries,
tensors and arrays are copied. Functions and iterators stay where they are: the other side gets a `Remote`, and its use
is a call back. Everything else arrives as a `Remote` that can do nothing.
"""

import builtins
import contextlib
import functools
import json
import math
import re
import struct

import numpy as np
import torch
from torch import Tensor

#: Bytes of a header and of all arrays of a message; levels of lists in lists, and of calls in calls; characters.
HEADER, BODY, LEVELS, CALLS, TEXT = 16 << 20, 256 << 20, 64, 40, 2000
INTEGERS = ("bool", "uint8", "int8", "int16", "int32", "int64")
FLOATS = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")
DTYPES = {name: getattr(torch, name) for name in INTEGERS + FLOATS}
#: Exceptions that arrive as what they were. An assertion that fails or a limit that is met must be the grader's own.
OURS = (AssertionError, TimeoutError, StopIteration, StopAsyncIteration)


class Gone(ConnectionError):
    """The other side has ended."""


class Malformed(ValueError):
    """What came is no message."""


class Elsewhere(Exception):
    """An exception of the other side whose type is not known here."""


def exception(name: str, text: str) -> Exception:
    """The built-in exception of this name, or `Elsewhere`."""
    kind = getattr(builtins, name, None)
    if isinstance(kind, type) and issubclass(kind, Exception) and not issubclass(kind, OURS):
        with contextlib.suppress(TypeError):  # some want more than a text
            return kind(text)
    return Elsewhere(f"{name}: {text}" if text else name)


class Remote:
    """Something that stays on the other side."""

    def __init__(self, peer: object, number: int):
        self._peer, self._number = peer, number

    def __bool__(self):
        if self._peer.outside:  # else it would be true wherever a test asks no more
            raise TypeError(f"a {type(self).__name__} is no data that could be compared")
        return True


@functools.lru_cache(1000)
def remote_type(name: str, can: str) -> type:
    """A type of remotes that says `name`, and can what `can` says: c be called, n give the next item, i be iterated."""

    def use(how):
        return lambda self, *given, **named: self._peer.call(self._number, given, named, how)

    def following(self):
        try:
            return self._peer.call(self._number, (), {}, "next")
        except Elsewhere as error:
            if str(error).startswith("StopIteration"):
                raise StopIteration from None
            raise

    methods = {"__call__": use("call")} if "c" in can else {}
    if "n" in can:
        methods |= {"__next__": following, "__iter__": lambda self: self}
    elif "i" in can:
        methods["__iter__"] = use("iter")
    return type(re.sub(r"\W", "", name)[:60] or "thing", (Remote,), methods)


class Writer:
    """Turns values into a header and arrays.

    Args:
        peer: Whose functions and iterators the other side may use then.
        keep: Gives each of them its number.
    """

    def __init__(self, peer: object, keep=None):
        self.peer, self.arrays, self.blobs, self.tensors = peer, [], [], []
        self.seen: dict[int, int] = {}
        self.keep = keep or peer.keep

    def value(self, x, level: int = 0):
        """What stands for a value in the header."""
        if x is None or type(x) in (bool, int, float, str):
            return x
        if level > LEVELS:
            raise ValueError(f"nested in more than {LEVELS} levels")
        deeper = functools.partial(self.value, level=level + 1)
        for kind in (list, tuple, set, frozenset):
            if isinstance(x, kind):
                return [kind.__name__, [deeper(item) for item in x]]
        if isinstance(x, dict):
            return ["dict", [[deeper(key), deeper(item)] for key, item in x.items()]]
        if type(x) in (Tensor, torch.nn.Parameter) and x.layout is torch.strided and x.device.type == "cpu":
            return ["tensor", self._tensor(x)]
        if isinstance(x, np.ndarray | np.generic) and x.dtype.kind in "biufc":
            self._add([x.dtype.newbyteorder("=").str, list(x.shape)], np.ascontiguousarray(x).tobytes())
            return ["scalar" if isinstance(x, np.generic) else "array", len(self.blobs) - 1]
        if type(x) in (complex, range, slice):
            parts = (x.real, x.imag) if type(x) is complex else (x.start, x.stop, x.step)
            return [type(x).__name__, [deeper(part) for part in parts]]
        if isinstance(x, torch.dtype):
            return ["dtype", str(x).removeprefix("torch.")]
        if isinstance(x, Remote) and x._peer is self.peer:
            return ["yours", x._number]
        can = "".join(c for c, name in zip("cni", ("__call__", "__next__", "__iter__"), strict=True) if _has(x, name))
        return ["mine", self.keep(x), can, type(x).__name__[:60]]

    def _add(self, described: list, data: bytes) -> None:
        self.arrays.append([*described, len(data)])
        self.blobs.append(data)
        if sum(map(len, self.blobs)) > BODY:
            raise ValueError(f"arrays of more than {BODY >> 20} MB")

    def _tensor(self, x: Tensor) -> int:
        if id(x) not in self.seen:
            data = x.detach().resolve_conj().resolve_neg()
            for dim, (size, stride) in enumerate(zip(data.shape, data.stride(), strict=True)):
                data = data.narrow(dim, 0, 1) if size > 1 and stride == 0 else data
            raw = (data.view(torch.int16) if data.dtype is torch.bfloat16 else data).numpy().tobytes()
            grad = (1 if x.is_leaf else 2) if x.requires_grad and torch.is_grad_enabled() else 0
            self.seen[id(x)] = len(self.blobs)
            self._add([str(x.dtype).removeprefix("torch."), list(x.shape), list(x.stride()), grad], raw)
            self.tensors += [x] if grad else []
        return self.seen[id(x)]


def _has(x, name: str) -> bool:
    try:
        return callable(getattr(x, name, None))
    except Exception:
        return False


class Reader:
    """Turns a header and arrays into values; whatever they hold, it ends, and executes nothing.

    Args:
        peer: Who has received them.
        message: The header.
        blobs: The arrays.
        inputs: Are they inputs of a call? Then tensors that need a gradient become leaves.

    Attributes:
        leaves: These leaves.
        made: All arrays; those at `places` have a graph on the other side.
    """

    def __init__(self, peer: object, message: dict, blobs: list[bytes], inputs: bool = False):
        self.peer, self.leaves, self.made, self.places = peer, [], [], []
        for described, blob in zip(message.get("arrays", []), blobs, strict=True):
            if len(described) == 3:
                self.made.append(_numpy(described, blob))
                continue
            x = _torch(described, blob, faithful=not peer.outside)
            if described[3] and (x.is_floating_point() or x.is_complex()):
                self.places.append(len(self.made))
                if inputs:
                    self.leaves.append(x.requires_grad_())
                    x = x.clone() if described[3] == 2 else x  # what is no leaf there may be changed in place
            self.made.append(x)

    def value(self, x, level: int = 0):
        """The value that a header describes."""
        if not isinstance(x, list):
            if isinstance(x, dict):
                raise Malformed("a mapping without a tag")
            return x
        if level > LEVELS:
            raise Malformed("nested too deeply")
        tag, content, *more = x
        deeper = functools.partial(self.value, level=level + 1)
        if tag in ("list", "tuple", "set", "frozenset"):
            return getattr(builtins, tag)([deeper(item) for item in content])
        if tag == "dict":
            return {deeper(key): deeper(item) for key, item in content}
        if tag == "tensor" or tag == "array":
            return self.made[content]
        if tag == "scalar":
            return self.made[content].reshape(())[()]
        if tag in ("complex", "range", "slice"):
            return getattr(builtins, tag)(*map(deeper, content))
        if tag == "dtype":
            return DTYPES[content]
        if tag == "yours":
            return self.peer.objects[content]
        if tag == "mine":
            return remote_type(str(more[1])[:60], str(more[0])[:3])(self.peer, int(content))
        raise Malformed(f"unknown: {str(tag)[:20]}")


def _numpy(described: list, blob: bytes) -> np.ndarray:
    dtype = np.dtype(described[0])
    if dtype.kind not in "biufc" or dtype.itemsize > 32:
        raise Malformed("no numbers")
    data = np.frombuffer(blob, np.uint8).astype(bool) if dtype.kind == "b" else np.frombuffer(blob, dtype).copy()
    return data.reshape(described[1])


def _torch(described: list, blob: bytes, faithful: bool) -> Tensor:
    """The tensor, with the strides that it had where the other side is trusted."""
    name, shape, strides = described[:3]
    dtype, stored = DTYPES[name], [1 if s == 0 and n > 1 else n for n, s in zip(shape, strides, strict=True)]
    if math.prod(shape) * dtype.itemsize > BODY or min([*shape, *strides, 0]) < 0 or len(shape) > 16:
        raise Malformed("no shape of a tensor")
    raw = torch.frombuffer(bytearray(blob), dtype=torch.uint8) if blob else torch.empty(0, dtype=torch.uint8)
    x = (raw != 0 if dtype is torch.bool else raw.view(dtype)).reshape(stored)
    if faithful and x.numel() and list(x.stride()) != strides:
        with contextlib.suppress(RuntimeError):  # places that overlap
            x = torch.empty_strided(stored, strides, dtype=dtype).copy_(x)
    return x if stored == shape else x.expand(shape) if faithful else x.expand(shape).contiguous()


def framed(message: dict, blobs: list[bytes]) -> list[bytes]:
    """The bytes of a message: two sizes, the header, the arrays."""
    header = json.dumps(message).encode()
    if len(header) > HEADER:
        raise ValueError(f"more than {HEADER >> 20} MB beside arrays")
    return [struct.pack(">QQ", len(header), sum(map(len, blobs))), header, *blobs]


def put_back(old, new) -> None:
    """Give arguments the contents that they had after the call; what cannot be changed is left."""
    if type(old) is not type(new):
        return
    if isinstance(old, Tensor):
        with torch.no_grad():
            if old.shape != new.shape or old.dtype != new.dtype:
                old.data = new.detach()
            elif not torch.equal(old, new):
                old.data.copy_(new)
    elif isinstance(old, np.ndarray) and old.shape == new.shape:
        old[...] = new
    elif isinstance(old, list) and len(old) != len(new):
        old[:] = new
    elif isinstance(old, list | tuple):
        for place, (one, other) in enumerate(zip(old, new, strict=True)):
            put_back(one, other)
            if isinstance(old, list) and not isinstance(one, Tensor | np.ndarray | list | tuple | set | dict | Remote):
                old[place] = other if type(one) is type(other) or not callable(one) else one
    elif isinstance(old, set):
        old.clear()
        old |= new
    elif isinstance(old, dict):
        for key in [*old]:
            if key not in new:
                del old[key]
            else:
                put_back(old[key], new[key])
        old |= {key: item for key, item in new.items() if key not in old or type(old[key]) in (int, float, str, bool)}


def words(error: BaseException) -> str:
    """What an error says; nothing where even that fails, as it may with an error of the student's own."""
    try:
        return str(error)
    except Exception:
        return ""

"""Calls between the grader and a hand-in: inputs go in, arrays come out, and nothing but data crosses (`encoding`).

The same file stands on both sides: in the box, where it needs nothing but PyTorch and NumPy, and outside.

Gradients cross. A tensor that needs one arrives as a leaf; an output that has a graph comes back as the output of
`Across`, whose backward asks the other side. What a function outside holds, as a cell its parameters, gets its
gradients too. An argument that a call has changed in place comes back changed.
"""

import contextlib
import functools
import io
import itertools
import json
import os
import random
import socket
import struct
import sys

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from attnlib.grading.encoding import (
    BODY,
    CALLS,
    HEADER,
    TEXT,
    Gone,
    Malformed,
    Reader,
    Writer,
    exception,
    framed,
    put_back,
    words,
)


class Across(torch.autograd.Function):
    """Outputs of a call, whose gradients the other side computes."""

    @staticmethod
    def forward(ctx, peer, call, values, captured, *inputs):
        """Called by autograd with the tensors that came, for whichever inputs need a gradient."""
        ctx.peer, ctx.call, ctx.captured = peer, call, captured
        ctx.set_materialize_grads(False)
        return tuple(values)

    @staticmethod
    @once_differentiable
    def backward(ctx, *grads):
        """Called by autograd."""
        return None, None, None, None, *ctx.peer.pull(ctx.call, grads, ctx.captured), None


class Peer:
    """One end of a connection.

    Args:
        connection: A socket that is connected.
        outside: Is this the grader's end, which trusts nothing that comes?

    Attributes:
        objects: What the other side may use here, by number.
        keep_changes: Are arguments changed that a call has changed over there?
        changed: Has one been?
        unanswered: How many calls the other side has not answered.
    """

    def __init__(self, connection: socket.socket, outside: bool):
        self.connection, self.outside = connection, outside
        self.objects, self.numbers, self.calls = {}, itertools.count(1), itertools.count(1)
        self.graphs: dict[int, tuple] = {}
        self.captured: list[dict[int, Tensor]] = []  # of each call that waits: leaves that functions here hold
        self.anchors: list[list[Tensor]] = []  # of each call that is answered: through them lie calls back
        self.pending: dict[int, Tensor] = {}
        self.keep_changes, self.changed = True, False
        self.level, self.unanswered = 0, 0

    def keep(self, x) -> int:
        """Let the other side use an object; return its number."""
        number = next(self.numbers)
        self.objects[number] = x
        return number

    def call(self, number: int, given=(), named=None, how: str = "call"):
        """Use an object of the other side: call it, or ask it for an iterator or for its next item.

        Raises:
            Exception: What was raised over there; `Gone` if it has ended, `Malformed` if it does not keep to the rules.
        """
        writer, call = Writer(self), next(self.calls)
        named = named or {}
        value = writer.value([list(given), named])
        self.captured.append({})
        try:
            message, blobs = self._ask(writer, value, op=how, object=number, call=call, grad=torch.is_grad_enabled())
        finally:
            captured = list(self.captured.pop().values())
        self._raise(message)
        with self._reading():
            reader = Reader(self, message, blobs)
            if reader.places:
                values = [reader.made[place] for place in reader.places]
                anchor = torch.zeros((), requires_grad=True)  # what needs a gradient there needs one here
                for answered in self.anchors[-1:]:
                    answered.append(anchor)
                outputs = Across.apply(self, call, values, captured, *writer.tensors, *captured, anchor)
                for place, output in zip(reader.places, outputs, strict=True):
                    reader.made[place] = output
            result = reader.value(message["value"])
            if message.get("changed") is not None:
                self.changed = True
                if self.keep_changes:
                    put_back([list(given), named], reader.value(message["changed"]))
        return result

    def pull(self, call: int, grads, captured: list[Tensor]) -> list[Tensor | None]:
        """Gradients of the inputs of a call, and of what functions on this side hold that it has called back."""
        writer = Writer(self)
        before, self.pending = self.pending, {}
        try:
            message, blobs = self._ask(writer, writer.value(list(grads)), op="backward", call=call)
        finally:
            found, self.pending = self.pending, before
        self._raise(message)
        with self._reading():
            own = Reader(self, message, blobs).value(message["value"])
            if not isinstance(own, list) or not all(g is None or type(g) is Tensor for g in own):
                raise Malformed("no gradients")
        return [*own, *(found.get(id(leaf)) for leaf in captured)]

    def serve(self) -> None:
        """Answer until the other side says that it needs nothing more."""
        while True:
            message, blobs = self._receive()
            if message.get("op") == "end":
                return
            self._answer(message, blobs)

    def end(self) -> None:
        """Tell the other side so."""
        self._send(framed({"op": "end"}, []))

    def _ask(self, writer: Writer, value, **what) -> tuple[dict, list[bytes]]:
        self.unanswered += 1
        self._send(framed({**what, "value": value, "arrays": writer.arrays}, writer.blobs))
        while True:
            message, blobs = self._receive()
            if "op" not in message:
                self.unanswered -= 1
                return message, blobs
            self._answer(message, blobs)

    def _answer(self, message: dict, blobs: list[bytes]) -> None:
        self.level += 1
        try:
            if self.level > CALLS:
                raise RecursionError(f"more than {CALLS} calls wait for each other")
            answer = self._backward if message["op"] == "backward" else self._do
            frame = framed(*answer(message, blobs))
        except (Gone, Malformed, KeyboardInterrupt):
            raise
        except BaseException as error:
            if self.outside and isinstance(error, TimeoutError):
                raise  # the grader's own alarm: nobody in the box may catch it
            text = error.args[0] if len(error.args) == 1 and isinstance(error.args[0], str) else words(error)
            frame = framed({"error": [type(error).__name__[:60], text[:TEXT]]}, [])
        finally:
            self.level -= 1
        self._send(frame)

    def _do(self, message: dict, blobs: list[bytes]) -> tuple[dict, list[bytes]]:
        with self._reading():
            reader, function = Reader(self, message, blobs, inputs=True), self.objects[message["object"]]
            both = given, named = reader.value(message["value"])
            use = {"call": lambda: function, "next": lambda: functools.partial(next, function)}
            use = use.get(message["op"], lambda: functools.partial(iter, function))()
        before = None if self.outside else self._written(both)
        self.anchors.append([])
        with contextlib.ExitStack() as stack:
            anchors = self.anchors[-1]
            stack.callback(self.anchors.pop)
            stack.enter_context(torch.set_grad_enabled(bool(message.get("grad", True))))
            result = use(*given, **named)
            writer = Writer(self)
            reply = {"value": writer.value(result), "arrays": writer.arrays}
            if before is not None and self._written(both) != before:
                reply["changed"] = writer.value(both)
            if writer.tensors:
                known = {id(leaf) for leaf in reader.leaves}
                held = leaves(writer.tensors) if self.captured else {}
                held = {number: leaf for number, leaf in held.items() if number not in known}
                for waiting in self.captured[-1:]:
                    waiting |= held
                self.graphs[message["call"]] = writer.tensors, reader.leaves, list(held.values()), anchors
        return reply, writer.blobs

    def _written(self, both: list) -> tuple[str, list[bytes]]:
        """Arguments as bytes, to be compared."""
        writer = Writer(self, keep=id)
        return json.dumps([writer.value(both), writer.arrays]), writer.blobs

    def _backward(self, message: dict, blobs: list[bytes]) -> tuple[dict, list[bytes]]:
        with self._reading():
            outputs, inputs, held, anchors = self.graphs[message["call"]]
            grads = Reader(self, message, blobs).value(message["value"])
            pairs = [(y, g) for y, g in zip(outputs, grads, strict=True) if g is not None]
        wanted = [*inputs, *held, *anchors]
        found = [None] * len(wanted)
        if pairs and wanted:
            ys, gs = zip(*pairs, strict=True)
            found = torch.autograd.grad(ys, wanted, gs, retain_graph=True, allow_unused=True)
        for leaf, grad in zip(held, found[len(inputs) :], strict=False):
            if grad is not None:
                self.pending[id(leaf)] = self.pending[id(leaf)] + grad if id(leaf) in self.pending else grad
        writer = Writer(self)
        return {"value": writer.value(list(found[: len(inputs)])), "arrays": writer.arrays}, writer.blobs

    def _raise(self, message: dict) -> None:
        if "error" in message:
            with self._reading():
                error = exception(*(str(part)[:TEXT] for part in message["error"]))
            raise error

    @contextlib.contextmanager
    def _reading(self):
        """Whatever is wrong with a message is `Malformed`."""
        try:
            yield
        except (Malformed, TimeoutError):
            raise
        except Exception as error:
            raise Malformed(f"the answer is no message: {type(error).__name__}") from None

    def _send(self, frame: list[bytes]) -> None:
        try:
            self.connection.sendall(b"".join(frame))
        except TimeoutError:
            raise
        except OSError as error:
            raise Gone("it has ended") from error

    def _receive(self) -> tuple[dict, list[bytes]]:
        size, body = struct.unpack(">QQ", self._bytes(16))
        if size > HEADER or body > BODY:
            raise Malformed(f"a message of {(size + body) >> 20} MB")
        header, data = bytes(self._bytes(size)), memoryview(self._bytes(body))
        with self._reading():
            message = json.loads(header)
            sizes = [described[-1] for described in message.get("arrays", [])]
            if sum(sizes) != body or min(sizes, default=0) < 0:
                raise Malformed("arrays of another size")
            ends = list(itertools.accumulate(sizes))
            return message, [bytes(data[end - size : end]) for size, end in zip(sizes, ends, strict=True)]

    def _bytes(self, count: int) -> bytearray:
        data = bytearray()
        while len(data) < count:
            try:
                part = self.connection.recv(min(count - len(data), 1 << 20))
            except TimeoutError:
                raise
            except OSError as error:
                raise Gone("it has ended") from error
            if not part:
                raise Gone("it has ended")
            data += part
        return data


def leaves(tensors: list[Tensor]) -> dict[int, Tensor]:
    """`{id: leaf}` of all leaves that need a gradient from which these come."""
    found = {id(x): x for x in tensors if x.grad_fn is None}
    nodes, seen = [x.grad_fn for x in tensors if x.grad_fn is not None], set()
    while nodes:
        node = nodes.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if (leaf := getattr(node, "variable", None)) is not None:
            found[id(leaf)] = leaf
        nodes += [following for following, _ in node.next_functions]
    return found


@contextlib.contextmanager
def short(path: str):
    """The path of a socket, which may have 107 characters: through its open folder it is short, wherever that lies."""
    if len(path) < 100 or not os.path.isdir("/proc/self/fd"):
        yield path
        return
    handle = os.open(os.path.dirname(path), os.O_RDONLY)
    try:
        yield f"/proc/self/fd/{handle}/{os.path.basename(path)}"
    finally:
        os.close(handle)


def serve(address: str, seed: int) -> None:
    """Let the grader at this address use what the notebook has defined; what is printed meanwhile is nobody's.

    Args:
        address: A Unix socket.
        seed: Whoever draws in an answer draws the same when a grading is repeated.
    """
    torch.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed)
    with socket.socket(socket.AF_UNIX) as connection, contextlib.redirect_stdout(_Nowhere()):
        with short(address) as path:
            connection.connect(path)
        peer = Peer(connection, outside=False)
        peer.objects[0] = sys.modules["__main__"].__dict__.__getitem__
        peer.serve()


class _Nowhere(io.TextIOBase):
    def write(self, text: str) -> int:
        return len(text)

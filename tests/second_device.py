"""A second device for machines without one: tensors on it live in main memory, and are refused where a GPU's would be.

    python -m tests.second_device 03 11                  run the code of chapters 3 and 11 on it
    python -m tests.second_device --steps 24             of all pages, each training cut to 24 steps

PyTorch lets a program register a backend of its own. The device made here, `elsewhere`, computes on the CPU. But its
tensors do not mix with the CPU's, do not become arrays, and draw no numbers from the CPU's generators, as on cuda: a
`device=` that was forgotten is an error here too.
"""

import argparse
import os
import subprocess
import sys
import time
import traceback
from functools import cache, partial
from pathlib import Path

import torch
from torch import Tensor
from torch.utils._python_dispatch import return_and_correct_aliasing
from torch.utils._pytree import tree_flatten, tree_map_only, tree_unflatten
from torch.utils.backend_registration import _DummyBackendModule, _setup_privateuseone_for_python_backend

from scripts import notebooks

NAME = "elsewhere"
aten = torch.ops.aten
#: What moves numbers from one device to another.
MOVES = {aten._to_copy.default, aten.copy_.default}
#: What takes positions from either device.
INDEXED = (aten.index.Tensor, aten.index_put.default, aten.index_put_.default, aten._index_put_impl_.default)
#: Of these, the inputs and the outputs with these numbers are on the CPU, on cuda as well.
ON_CPU = {
    **dict.fromkeys(INDEXED, ([1], [])),
    aten._pack_padded_sequence.default: ([1], [1]),
    aten._pack_padded_sequence_backward.default: ([2], []),
}


class Elsewhere(Tensor):
    """A tensor of the second device; `inner` holds its numbers."""

    inner: Tensor
    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, inner: Tensor) -> "Elsewhere":
        layout = {"strides": inner.stride(), "storage_offset": inner.storage_offset(), "dtype": inner.dtype}
        made = Tensor._make_wrapper_subclass(cls, inner.size(), device=device(), requires_grad=False, **layout)
        made.inner = inner
        return made

    @classmethod
    def __torch_dispatch__(cls, operation, types, args=(), kwargs=None):
        return compute(operation, *args, **kwargs or {})

    def __repr__(self, **_) -> str:
        return f"{self.inner!r} on {NAME}"

    def __format__(self, spec: str) -> str:
        return format(self.inner, spec)

    def tolist(self) -> list:
        return self.inner.tolist()

    def __deepcopy__(self, memo: dict) -> "Elsewhere":
        if id(self) not in memo:
            memo[id(self)] = twin = Elsewhere(self.inner.clone()).requires_grad_(self.requires_grad)
            if isinstance(self, torch.nn.Parameter):
                twin._is_param = True
        return memo[id(self)]

    def __reduce_ex__(self, protocol: int):  # a file holds numbers; where they go is said when it is read
        return self.inner.__reduce_ex__(protocol)


def compute(operation, *args, **kwargs):
    """Do on the CPU what was asked of the second device, if a GPU would do it."""
    goes = torch.device(kwargs["device"]).type if kwargs.get("device") is not None else NAME
    taken, left = ON_CPU.get(operation, ((), ()))
    inner: list[Elsewhere] = []
    strange: list[Tensor] = []
    args_in = [inward(value, inner, [] if n in taken else strange) for n, value in enumerate(args)]
    kwargs_in = {name: inward(value, inner, strange) for name, value in kwargs.items()}
    if operation not in MOVES:
        if operation not in INDEXED and any(isinstance(args[n], Elsewhere) for n in taken):
            raise RuntimeError(f"{operation}: lengths and sizes must be on the CPU")
        refuse(operation, strange if inner else [], kwargs.get("generator") if goes == NAME else None)
    if "device" in kwargs and goes == NAME:
        kwargs_in["device"] = torch.device("cpu")
    found = operation(*args_in, **kwargs_in)
    if goes != NAME:
        return found
    if operation is aten.copy_.default:
        return args[0]
    if torch.Tag.inplace_view in operation.tags:
        return return_and_correct_aliasing(operation, args, kwargs, found)
    outer = {id(tensor.inner): tensor for tensor in inner} if operation._schema.is_mutable else {}
    if isinstance(found, (tuple, list)):
        return type(found)(value if n in left else outward(value, outer) for n, value in enumerate(found))
    return outward(found, outer)


def inward(value, inner: list[Elsewhere], strange: list[Tensor]):
    """An argument as the CPU takes it; notes the tensors of either device."""
    if isinstance(value, Elsewhere):
        inner.append(value)
        return value.inner
    if isinstance(value, Tensor) and value.dim():  # a single number may come along
        strange.append(value)
    return [inward(part, inner, strange) for part in value] if isinstance(value, (tuple, list)) else value


def outward(value, outer: dict[int, Elsewhere]):
    """A result as the second device gives it: what was changed in place is what it was."""
    if not isinstance(value, Tensor):
        return value
    return outer[id(value)] if id(value) in outer else Elsewhere(value)


def refuse(operation, strange: list[Tensor], generator: torch.Generator | None = None) -> None:
    """Raise where a GPU would: for tensors on two devices, and for a generator of the other."""
    if strange:
        raise RuntimeError(f"{operation}: tensors on two devices, {NAME} and cpu {[tuple(t.shape) for t in strange]}")
    if generator is not None:
        raise RuntimeError(f"{operation}: expected a generator of {NAME}, found one of {generator.device.type}")


class Recurrent(torch.autograd.Function):
    """A recurrent layer as a whole: PyTorch takes it apart into operations that the CPU does not have."""

    @staticmethod
    def forward(ctx, layer, spec, *leaves):
        ctx.leaves = [
            leaf.inner.detach().requires_grad_(leaf.requires_grad) if isinstance(leaf, Elsewhere) else leaf
            for leaf in leaves
        ]
        with torch.enable_grad():
            found = layer(*tree_unflatten(ctx.leaves, spec))
        ctx.found = found if isinstance(found, tuple) else (found,)
        made = tuple(Elsewhere(value.detach()) for value in ctx.found)
        return made if isinstance(found, tuple) else made[0]

    @staticmethod
    def backward(ctx, *gradients):
        wanted = [leaf for leaf in ctx.leaves if isinstance(leaf, Tensor) and leaf.requires_grad]
        given = [gradient.inner for gradient in gradients]
        found = iter(torch.autograd.grad(ctx.found, wanted, given, allow_unused=True))
        each = (next(found) if any(leaf is w for w in wanted) else None for leaf in ctx.leaves)
        return None, None, *(value if value is None else Elsewhere(value) for value in each)


def recurrent(layer, *args):
    """The layer; with tensors of the second device, by `Recurrent`."""
    leaves, spec = tree_flatten(args)
    if not any(isinstance(leaf, Elsewhere) for leaf in leaves):
        return layer(*args)
    packed = isinstance(args[1], Tensor) and args[1].dtype == torch.int64  # how many sentences each step has
    strange = [leaf for leaf in leaves if isinstance(leaf, Tensor) and not isinstance(leaf, Elsewhere)]
    refuse(layer.__name__, [tensor for tensor in strange if not (packed and tensor is args[1])])
    return Recurrent.apply(layer, spec, *leaves)


class Backend(_DummyBackendModule):
    """What PyTorch asks of `torch.elsewhere`."""

    def get_amp_supported_dtype(self) -> list[torch.dtype]:
        return [torch.bfloat16, torch.float16]


@cache
def device() -> torch.device:
    """The second device; registered when it is first asked for."""
    # Autograd starts a thread for each device that it knows at its first call, and no fork of a process with such
    # threads can learn. Without one for this device, it must do all in the thread that calls it.
    torch.ones((), requires_grad=True).backward()
    torch.autograd.set_multithreading_enabled(False)
    _setup_privateuseone_for_python_backend(NAME, backend_module=Backend())
    device.library = torch.library.Library("_", "IMPL")  # what it registers lives as long as it does
    device.library.fallback(compute, "PrivateUse1")
    device.copies = torch.library.Library("aten", "IMPL")  # for `torch.tensor`, which goes past `__torch_dispatch__`
    device.copies.impl("copy_", partial(compute, aten.copy_.default), "PrivateUse1")
    for name in ("gru", "lstm", "gru_cell", "lstm_cell"):
        setattr(torch._VF, name, partial(recurrent, getattr(torch._VF, name)))
    return torch.device(NAME, 0)


# --- the pages on it --------------------------------------------------------------------------------


def run(name: str, steps: int | None) -> list[str]:
    """Run the code of a page with the second device as the fastest; what went wrong, cell by cell."""
    from IPython.core.interactiveshell import InteractiveShell

    from attnlib.training import loop as training

    (source,) = notebooks.choose(name)
    os.chdir(notebooks.BOOK)
    os.environ.update(notebooks.KERNEL_ENVIRONMENT, MPLBACKEND="agg")
    training.pick_device, fit, load = device, training.fit, torch.load
    device()

    def short(model, batches, loss, **settings):
        settings["steps"] = min(settings["steps"], steps)
        return fit(model, batches, loss, **settings)

    def to_place(path, map_location=None, **options):
        state = load(path, map_location="cpu", **options)
        there = map_location is not None and torch.device(map_location).type == NAME
        return tree_map_only(Tensor, lambda t: t.to(device()), state) if there else state

    torch.load = to_place
    if steps is not None:
        training.fit = short
    shell, found = InteractiveShell.instance(), []
    shell.showtraceback = shell.showsyntaxerror = lambda *_, **__: None  # told below, in short
    code = [cell for cell in notebooks.cells_of(source).cells if cell.cell_type == "code"]
    for number, cell in enumerate(code, 1):
        error = shell.run_cell(cell.source).error_in_exec
        if error is None:
            continue
        where = [frame for frame in traceback.extract_tb(error.__traceback__) if "site-packages" not in frame.filename]
        last = Path(where[-1].filename)
        claims = isinstance(error, AssertionError) and (last.parent.name != "attnlib" or last.stem == "claims")
        if claims and steps is not None:
            continue
        lines = "".join(f"\n    {Path(f.filename).name}:{f.lineno}: {f.line}" for f in where[-3:])
        found.append(f"{source.name}, code cell {number}: {type(error).__name__}: {error}{lines}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.second_device", description=__doc__.split("\n")[0])
    parser.add_argument("pages", nargs="*", help="01 or 01_rnn_language_model; all without a name")
    parser.add_argument("--steps", type=int, help="of each training, at most; what a page asserts may then fail")
    arguments = parser.parse_args()
    pages = arguments.pages or [page.stem for page in notebooks.chapters()]
    if len(pages) == 1:
        start = time.perf_counter()
        found = run(pages[0], arguments.steps)
        print(
            *found, f"{pages[0]}: {len(found)} failures, {time.perf_counter() - start:.0f} s", sep="\n", file=sys.stderr
        )
        return bool(found)
    steps = [] if arguments.steps is None else ["--steps", str(arguments.steps)]
    command = [sys.executable, "-m", "tests.second_device", *steps]  # one process each: a page leaves things behind
    return max([subprocess.run([*command, page], stdout=subprocess.DEVNULL).returncode for page in pages])


if __name__ == "__main__":
    sys.exit(main())

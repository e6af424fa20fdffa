"""How a check asks a student's function: always on copies.

- `ask` calls it, and tells whoever it stops, returns nothing, changes an input, or never ends.
- `gradients`: what flows back from the answer to its inputs.

Each of them raises `Mistake` with the sentence for the student.
"""

import contextlib
import copy
import dis
import inspect
import traceback
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from attnlib.course.asserts import same
from attnlib.course.checks.verdict import Mistake, Unwritten, need

#: What Python does in a function that does nothing.
NOTHING = {"RESUME", "NOP", "LOAD_CONST", "RETURN_CONST", "RETURN_VALUE"}
CONTAINERS = (list, tuple, set, dict)


def draw(*shape: int, seed: int = 0, scale: float = 1.0, dtype: torch.dtype = torch.float32) -> Tensor:
    """Normal numbers of this shape, the same ones each time. With the scale 1 no softmax saturates."""
    return scale * torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def ask(answer: Callable, *inputs: Any, **named: Any) -> Any:
    """Call the student's function on copies of the inputs.

    Raises:
        Unwritten: It has no lines of its own.
        Mistake: It stopped with an error, returned nothing, or changed one of its inputs.
        TimeoutError: It has not ended in time.
    """
    given, given_named = [_copied(x) for x in inputs], {name: _copied(x) for name, x in named.items()}
    try:
        result = answer(*given, **given_named)
    except TimeoutError:
        raise  # the time of the whole check is over
    except Exception as error:
        if isinstance(error, NotImplementedError) and not error.args:  # torch raises it too, in words of its own
            raise Unwritten("replace `raise NotImplementedError` by your own lines.") from None
        where, kind = described(*inputs, of=answer, **named), type(error).__name__
        raise Mistake(f"it stopped on {where}: {kind}: {error}{line_of(error, answer)}") from None
    if result is None and empty(answer):
        raise Unwritten("put your own lines in place of the `...`.")
    need(result is not None, "it returns None. Is there a `return`, and something after it?")
    for before, after in [*zip(inputs, given, strict=True), *((named[n], given_named[n]) for n in named)]:
        if isinstance(before, Tensor):
            need(
                same(after, before),
                f"it changes the {tuple(before.shape)} tensor it was given. Whoever called it still needs that "
                "tensor: work on a new one (functions that end in `_`, and `x[...] = `, write in place).",
            )
        elif isinstance(before, CONTAINERS):
            need(
                after == before,
                f"it changes the {type(before).__name__} it was given. Whoever called it still needs that: work on "
                "a new one.",
            )
    return result


def empty(answer: Callable) -> bool:
    """Whether the body of a function is `...`, `pass`, or a docstring and no more."""
    code = getattr(inspect.unwrap(answer), "__code__", None)
    return code is not None and {line.opname for line in dis.get_instructions(code)} <= NOTHING


def _copied(x: Any) -> Any:
    """A copy of what a function can change; a model stays itself, because a check listens to it."""
    if isinstance(x, Tensor):
        return x.detach().clone().requires_grad_(x.requires_grad)
    return copy.deepcopy(x) if isinstance(x, CONTAINERS) else x


def gradients(answer: Callable, *inputs: Any) -> list[Tensor]:
    """Gradients of the sum of squares of the answer, one for each floating-point input.

    Raises:
        Mistake: It stopped, or no gradient reaches one of those inputs.
    """
    leaves = [x.clone().requires_grad_() if isinstance(x, Tensor) and x.is_floating_point() else x for x in inputs]
    wanted = [x for x in leaves if isinstance(x, Tensor) and x.requires_grad]
    result = ask(lambda *_: answer(*leaves), *inputs)
    need(
        isinstance(result, Tensor) and result.requires_grad,
        "no gradient leads back to the inputs: something was detached, or became numbers, on the way.",
    )
    slopes = torch.autograd.grad(result.square().sum(), wanted, allow_unused=True)
    for x, slope in zip(wanted, slopes, strict=True):
        need(slope is not None, f"no gradient reaches the {tuple(x.shape)} input: was it detached on the way?")
    return list(slopes)


def described(*inputs: Any, of: Callable | None = None, **named: Any) -> str:
    """The inputs in a few words, with the names that a function gives them where it gives one to each."""
    names = [""] * len(inputs)
    with contextlib.suppress(TypeError, ValueError):
        given = [p for p in inspect.signature(of).parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
        if len(given) == len(inputs) > 0:
            names = [f"{p.name} = " for p in given]
    parts = [name + shown(x) for name, x in zip(names, inputs, strict=True)]
    return "inputs " + ", ".join(parts + [f"{name} = {shown(x)}" for name, x in named.items()])


def shown(x: Any) -> str:
    """Something in a few words: short tensors in three digits, long ones by shape and type, others as they are."""
    if not isinstance(x, Tensor):
        return f"{x:.4g}" if type(x) is float else f"{x!r:.90}"
    if x.numel() > 6 or x.dim() > 1:
        return f"{tuple(x.shape)} {str(x.dtype).removeprefix('torch.')}"
    numbers = [f"{y:.3g}" if type(y) is float else str(y) for y in x.flatten().tolist()]
    return f"[{', '.join(numbers)}]" if x.dim() else numbers[0]


def line_of(error: Exception, answer: Callable) -> str:
    """The line of the student's own code in which it happened, where that can be found."""
    try:
        file = inspect.getsourcefile(inspect.unwrap(answer))
    except TypeError:
        return ""
    lines = [f.line for f in traceback.extract_tb(error.__traceback__) if f.filename == file and f.line]
    return f" (in the line `{lines[-1]}`)" if lines else ""

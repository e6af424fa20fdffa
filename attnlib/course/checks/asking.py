"""How a check asks a student's function: always on copies, and each time for one kind of answer.

- `ask`: anything but None.
- `ask_tensor`: one tensor of a given shape.
- `ask_tensors`: several tensors, each with its name and shape.
- `ask_number`: the float of a formula, Python's or NumPy's; an int has been rounded.
- `ask_plain`: exactly a float, an int, a bool, a str, a list or a tuple; an int will do for a float, NumPy's not.
- `gradients`: what flows back from the answer to its inputs.

Each of them raises `Mistake` when the function stops, returns nothing, changes an input or returns something else.
"""

import copy
import dis
import inspect
import traceback
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnlib.course.checks.verdict import Mistake, Unwritten, need, same

PLAIN = {
    float: "a plain float", int: "a plain int", bool: "True or False", str: "a word", list: "a list", tuple: "a tuple",
}  # fmt: skip
#: What Python does in a function that does nothing.
NOTHING = {"RESUME", "NOP", "LOAD_CONST", "RETURN_CONST", "RETURN_VALUE"}
CONTAINERS = (list, tuple, set, dict)


def draw(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> Tensor:
    """Standard normal numbers of this shape, the same ones each time: scores that no softmax saturates."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def ask(answer: Callable, *inputs: Any, **named: Any) -> Any:
    """Call the student's function on copies of the inputs.

    Raises:
        Unwritten: It has no lines of its own.
        Mistake: It stopped with an error, returned nothing, or changed one of its inputs.
    """
    given, given_named = [_copied(x) for x in inputs], {name: _copied(x) for name, x in named.items()}
    try:
        result = answer(*given, **given_named)
    except Exception as error:
        if isinstance(error, NotImplementedError) and not error.args:  # torch raises it too, in words of its own
            raise Unwritten("replace `raise NotImplementedError` by your own lines.") from None
        raise Mistake(
            f"it stopped on {described(*inputs, **named)}: {type(error).__name__}: {error}{line_of(error, answer)}"
        ) from None
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
    code = getattr(answer, "__code__", None)
    return code is not None and {line.opname for line in dis.get_instructions(code)} <= NOTHING


def _copied(x: Any) -> Any:
    """A copy of what a function can change; a model stays itself, because a check listens to it."""
    if isinstance(x, Tensor):
        return x.detach().clone().requires_grad_(x.requires_grad)
    return copy.deepcopy(x) if isinstance(x, CONTAINERS) else x


def ask_tensor(
    answer: Callable,
    *inputs: Any,
    shape: tuple[int, ...],
    instead: Mapping[tuple[int, ...], str] = MappingProxyType({}),
    **named: Any,
) -> Tensor:
    """Like `ask`, for an answer that must be one tensor of this shape.

    Args:
        answer: The student's function.
        inputs: What it is given.
        shape: What it must return.
        instead: Other shapes, with what each of them tells of the mistake.
        named: What it is given by name.

    Raises:
        Mistake: It is something else, or has another shape; both shapes are named.
    """
    result = ask(answer, *inputs, **named)
    # an exact type: a class of one's own may call itself equal to everything
    need(type(result) is Tensor, f"it returns {type(result).__name__}; a torch.Tensor is asked for.")
    need(result.shape == shape or tuple(result.shape) not in instead, instead.get(tuple(result.shape), ""))
    need(
        result.shape == shape,
        f"its shape is {tuple(result.shape)}; asked for is {tuple(shape)}, on {described(*inputs, **named)}.",
    )
    return result


def ask_tensors(answer: Callable, *inputs: Any, shapes: dict[str, tuple[int, ...]]) -> list[Tensor]:
    """Like `ask`, for an answer that must be a tuple of tensors of these shapes, which have names in the sentences.

    Raises:
        Mistake: It is something else, there are more or fewer, or one has another shape.
    """
    result = ask(answer, *inputs)
    names = ", ".join(shapes)
    need(
        isinstance(result, tuple | list) and len(result) == len(shapes),
        f"it returns {type(result).__name__}; {len(shapes)} tensors are asked for, {names}.",
    )
    for (name, shape), part in zip(shapes.items(), result, strict=True):
        # an exact type: a class of one's own may call itself equal to everything
        need(type(part) is Tensor, f"{name} is {type(part).__name__}; a torch.Tensor is asked for.")
        need(
            part.shape == shape,
            f"{name} has the shape {tuple(part.shape)}; asked for is {shape}, on {described(*inputs)}.",
        )
    return list(result)


def ask_number(answer: Callable, *inputs: Any, **named: Any) -> float:
    """Like `ask`, for an answer that must be one plain number, Python's or NumPy's.

    Raises:
        Mistake: It is something else.
    """
    result = ask(answer, *inputs, **named)
    # exact types again
    need(
        type(result) in (float, np.float64),
        f"it returns {type(result).__name__}; a plain number is asked for, a float.",
    )
    return float(result)


def ask_plain(answer: Callable, *inputs: Any, kind: type = float, **named: Any) -> Any:
    """Like `ask`, for an answer that must be exactly of this kind, one of `PLAIN`.

    An int is taken for a float, nothing else is: a bool, or a number of a library, is something else.

    Raises:
        Mistake: It is something else.
    """
    result = ask(answer, *inputs, **named)
    if kind is float and type(result) is int:
        return float(result)
    need(type(result) is kind, f"it returns {type(result).__name__}; {PLAIN[kind]} is asked for.")
    return result


def gradients(answer: Callable, *inputs: Any) -> list[Tensor]:
    """Gradients of the sum of squares of the answer, one for each floating-point input.

    Raises:
        Mistake: It stopped, or no gradient reaches one of those inputs.
    """
    leaves = [x.clone().requires_grad_() if isinstance(x, Tensor) and x.is_floating_point() else x for x in inputs]
    wanted = [x for x in leaves if isinstance(x, Tensor) and x.requires_grad]
    result = ask(lambda *_: answer(*leaves), *inputs)
    need(
        type(result) is Tensor and result.requires_grad,
        "no gradient leads back to the inputs: something was detached, or became numbers, on the way.",
    )
    slopes = torch.autograd.grad(result.square().sum(), wanted, allow_unused=True)
    for x, slope in zip(wanted, slopes, strict=True):
        need(slope is not None, f"no gradient reaches the {tuple(x.shape)} input: was it detached on the way?")
    return list(slopes)


def described(*inputs: Any, **named: Any) -> str:
    """The inputs in a few words: shapes of tensors, other things as they are."""

    def one(x: Any) -> str:
        return f"{tuple(x.shape)} {str(x.dtype).removeprefix('torch.')}" if isinstance(x, Tensor) else f"{x!r:.60}"

    parts = [one(x) for x in inputs] + [f"{name}={one(x)}" for name, x in named.items()]
    return "inputs " + ", ".join(parts)


def line_of(error: Exception, answer: Callable) -> str:
    """The line of the student's own code in which it happened, where that can be found."""
    try:
        file = inspect.getsourcefile(inspect.unwrap(answer))
    except TypeError:
        return ""
    lines = [f.line for f in traceback.extract_tb(error.__traceback__) if f.filename == file and f.line]
    return f" (in the line `{lines[-1]}`)" if lines else ""

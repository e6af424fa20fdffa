"""Ask for answers that are not one tensor: numbers, lists, several tensors at once."""

import copy
from collections.abc import Callable
from typing import Any

from torch import Tensor

from attnlib.checks.verdict import ask, described, need

A = {float: "a plain float", int: "a plain int", list: "a list", tuple: "a tuple"}


def ask_plain(answer: Callable, *inputs: Any, kind: type = float) -> Any:
    """Call the student's function on copies of plain inputs; its answer must be exactly of this kind.

    An int is taken for a float, nothing else is: a bool, or a number of a library, is something else.

    Raises:
        Mistake: It stopped, returned something else, or changed a list, set or tuple that it was given.
    """
    given = copy.deepcopy(inputs)
    result = ask(answer, *given)
    for before, after in zip(inputs, given, strict=True):
        if not isinstance(before, Tensor):  # `ask` has compared those
            need(
                after == before,
                f"it changes the {type(before).__name__} it was given. Whoever called it still needs that: work on "
                "a new one.",
            )
    if kind is float and type(result) is int:
        return float(result)
    need(
        type(result) is kind,
        f"it returns {type(result).__name__}; {A[kind]} is asked for.",
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

"""How a check asks a student's object, and how it answers: in words, at once, without the answer itself."""

import inspect
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from types import MappingProxyType
from typing import Any

import numpy as np
import torch
from torch import Tensor


@dataclass(frozen=True)
class Verdict:
    """What a check says. It counts as true when the answer is right, and prints as a sentence.

    Attributes:
        right: Is the answer right?
        words: What was tried and held, or which mistake this looks like.
    """

    right: bool
    words: str

    def __bool__(self) -> bool:
        return self.right

    def __repr__(self) -> str:
        return f"{'Right' if self.right else 'Not yet'}: {self.words}"


class Mistake(Exception):
    """What is wrong with an answer, in words that name the usual cause."""


def check(body: Callable[[Any], str]) -> Callable[[Any], Verdict]:
    """Make a check of a function that raises `Mistake`, or returns what it has found to be right."""

    @wraps(body)
    def checked(answer: Any) -> Verdict:
        try:
            if not callable(answer):
                kind = "a Tensor" if isinstance(answer, Tensor) else f"{type(answer).__name__} {answer!r:.60}"
                raise Mistake(f"hand in the function itself, without calling it. This is {kind}.")
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(0)
                return Verdict(True, body(answer))
        except Mistake as mistake:
            return Verdict(False, str(mistake))

    checked.__annotations__ = {"answer": Callable, "return": Verdict}
    return checked


def need(holds: bool | Tensor, words: str) -> None:
    """Go on when it holds; say what is wrong when not."""
    if not holds:
        raise Mistake(words)


def draw(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> Tensor:
    """Standard normal numbers of this shape, the same ones each time: scores that no softmax saturates."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def ask(answer: Callable, *inputs: Any, **named: Any) -> Any:
    """Call the student's function on copies of the inputs.

    Raises:
        Mistake: It stopped with an error, returned nothing, or changed one of its inputs.
    """

    def copy(x: Any) -> Any:
        return x.detach().clone().requires_grad_(x.requires_grad) if isinstance(x, Tensor) else x

    given, given_named = [copy(x) for x in inputs], {name: copy(x) for name, x in named.items()}
    try:
        result = answer(*given, **given_named)
    except NotImplementedError:
        raise Mistake("nothing is written yet. Replace `raise NotImplementedError` by your own lines.") from None
    except Exception as error:
        raise Mistake(
            f"it stopped on {described(*inputs, **named)}: {type(error).__name__}: {error}{line_of(error, answer)}"
        ) from None
    need(result is not None, "it returns None. Is there a `return`, and something after it?")
    pairs = [*zip(inputs, given, strict=True), *((named[n], given_named[n]) for n in named)]
    for before, after in pairs:
        if isinstance(before, Tensor) and not same(after, before):
            raise Mistake(
                f"it changes the {tuple(before.shape)} tensor it was given. Whoever called it still needs that "
                "tensor: work on a new one (functions that end in `_`, and `x[...] = `, write in place)."
            )
    return result


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


def ask_number(answer: Callable, *inputs: Any, **named: Any) -> float:
    """Like `ask`, for an answer that must be one plain number, Python's or NumPy's.

    Raises:
        Mistake: It is something else.
    """
    result = ask(answer, *inputs, **named)
    # exact types again, so that the comparison is ours
    need(
        type(result) in (float, np.float64),
        f"it returns {type(result).__name__}; a plain number is asked for, a float.",
    )
    return float(result)


def expect(
    given: Tensor | float,
    wanted: Tensor | float,
    mistakes: Mapping[str, Tensor | float],
    otherwise: str,
    tolerance: float = 1e-5,
) -> None:
    """Go on when it is what was wanted; when not, say which mistake gives just this.

    Args:
        given: What the student's function returned.
        wanted: What it should return.
        mistakes: `{sentence: what that mistake would return}`; the first that fits is said.
        otherwise: The sentence for all other mistakes.
        tolerance: Largest difference, absolute and relative.
    """
    given, wanted = _double(given), _double(wanted)
    if same(given, wanted, tolerance):
        return
    for words, wrong in mistakes.items():
        need(not same(given, _double(wrong), tolerance), words)
    raise Mistake(otherwise)


def _double(x: Tensor | float) -> Tensor:
    return x.detach().double() if isinstance(x, Tensor) else torch.tensor(x, dtype=torch.float64)


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


def same(given: Tensor, wanted: Tensor, tolerance: float = 1e-5) -> bool:
    """Equal up to rounding: NaN equals NaN, and so does infinity of one sign."""
    if given.shape != wanted.shape:
        return False
    if not wanted.is_floating_point():
        return torch.equal(given, wanted)
    return torch.allclose(given.double(), wanted.double(), rtol=tolerance, atol=tolerance, equal_nan=True)


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

"""How a check answers: in words, at once, without the answer itself."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any

import torch
from torch import Tensor

from attnlib.course.asserts import same

#: How a verdict begins that has found nothing to judge.
UNWRITTEN = "Not written yet: "


@dataclass(frozen=True)
class Verdict:
    """What a check says. It counts as true when the answer is right, and prints as a sentence.

    Attributes:
        right: Is the answer right?
        words: What was tried and held, or which mistake this looks like.
        written: Is there an answer at all?
    """

    right: bool
    words: str
    written: bool = True

    def __bool__(self) -> bool:
        return self.right

    def __repr__(self) -> str:
        return f"{'Right: ' if self.right else 'Not yet: ' if self.written else UNWRITTEN}{self.words}"


class Mistake(Exception):
    """What is wrong with an answer, in words that name the usual cause."""


class Unwritten(Mistake):
    """The lines that are to be completed are as the book gave them."""


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
            return Verdict(False, str(mistake), written=not isinstance(mistake, Unwritten))

    checked.__annotations__ = {"answer": Callable, "return": Verdict}
    return checked


def need(holds: bool | Tensor, words: str) -> None:
    """Go on when it holds; say what is wrong when not."""
    if not holds:
        raise Mistake(words)


Answer = Tensor | float | list | tuple


def expect(
    given: Answer,
    wanted: Answer,
    mistakes: Mapping[str, Answer | set[float]],
    otherwise: str,
    tolerance: float = 1e-5,
) -> None:
    """Go on when it is what was wanted; when not, say which mistake gives just this.

    Args:
        given: What the student's function returned, a tensor, a number, or a list or tuple of words.
        wanted: What it should return.
        mistakes: `{sentence: what that mistake would return}`, a set if it may return one number or another; the first
            that fits is said.
        otherwise: The sentence for all other mistakes.
        tolerance: Largest difference of numbers, absolute and relative.
    """
    if _fits(given, wanted, tolerance):
        return
    for words, wrong in mistakes.items():
        each = wrong if isinstance(wrong, set) else [wrong]
        need(not any(_fits(given, one, tolerance) for one in each), words)
    raise Mistake(otherwise)


def _fits(given: Answer, wanted: Answer, tolerance: float) -> bool:
    if isinstance(wanted, list | tuple):
        # exact types: a class of one's own may call itself equal to everything
        return list(map(type, given)) == list(map(type, wanted)) and given == wanted
    return same(_double(given), _double(wanted), tolerance)


def _double(x: Tensor | float) -> Tensor:
    return x.detach().double() if isinstance(x, Tensor) else torch.tensor(float(x), dtype=torch.float64)

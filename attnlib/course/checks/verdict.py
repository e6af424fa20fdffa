"""How a check answers: in words, at once, without the answer itself."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

import torch
from torch import Tensor

from attnlib.course.asserts import limit

#: How a verdict begins that has found nothing to judge.
UNWRITTEN = "Not written yet: "
#: How long one check may take. The slowest of those that end take less than one second.
SECONDS = 10.0
ENDLESS = "it has not ended after {:g} seconds. Is there a loop that never ends?"


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
    """Make a check of a function that raises `Mistake`, or returns what it has found to be right.

    An answer that does not end within `SECONDS` is told so. On Windows and outside of the main thread there is no
    clock that could stop it (see `attnlib.course.asserts.limit`).
    """

    @wraps(body)
    def checked(answer: Any) -> Verdict:
        try:
            if not callable(answer):
                kind = "a Tensor" if isinstance(answer, Tensor) else f"{type(answer).__name__} {answer!r:.60}"
                raise Mistake(f"hand in the function itself, without calling it. This is {kind}.")
            with torch.random.fork_rng(devices=[]), limit(SECONDS):
                torch.manual_seed(0)
                return Verdict(True, body(answer))
        except Mistake as mistake:
            return Verdict(False, str(mistake), written=not isinstance(mistake, Unwritten))
        except TimeoutError:
            return Verdict(False, ENDLESS.format(SECONDS))

    checked.__annotations__ = {"answer": Callable, "return": Verdict}
    return checked


def need(holds: bool | Tensor, words: str) -> None:
    """Go on when it holds; say what is wrong when not."""
    if not holds:
        raise Mistake(words)

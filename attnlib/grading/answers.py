"""Answers that people really give, each with the points it must lose.

`assignments/answers` has them: `ANSWERS`, `{name: Answer}`.
"""

import inspect
import runpy
from dataclasses import dataclass, field, replace

from attnlib.course.book import ROOT
from attnlib.grading.assignment import choose, fill, values


@dataclass(frozen=True)
class Answer:
    """One hand-in: `cells` in place of the model's, and what each test cell must take off.

    Attributes:
        why: What is wrong with it, or what is different and yet right.
        cells: `{answer id: source}`; `@marks@` are filled in as in the assignment.
        lost: `{test id: points}`; empty for an answer that is right.
    """

    why: str
    cells: dict[str, str]
    lost: dict[str, int] = field(default_factory=dict)


class Agreeable:
    """An object that is equal to everything, and follows every instruction."""

    __hash__ = object.__hash__

    def __eq__(self, other):
        return True

    def __bool__(self):
        return True

    def __getattr__(self, name):
        return self

    def __call__(self, *inputs, **named):
        return self

    def __iter__(self):
        return iter([self, self])

    def __float__(self):
        return 0.0

    __lt__ = __le__ = __gt__ = __ge__ = __eq__
    __getitem__ = __abs__ = __neg__ = __add__ = __radd__ = __sub__ = __rsub__ = __call__
    __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __matmul__ = __rmatmul__ = __pow__ = __call__
    __len__ = __int__ = __index__ = lambda self: 2


#: The same, to stand in an answer.
AGREEABLE = inspect.getsource(Agreeable)


def wrong(why: str, cells: dict[str, str], **lost: int) -> Answer:
    """An answer that must lose exactly `lost`."""
    if not lost:
        raise ValueError(f"A wrong answer loses something: {why}")
    return Answer(why, cells, lost)


def right(why: str, cells: dict[str, str]) -> Answer:
    """An answer that looks different from ours and must lose nothing."""
    return Answer(why, cells)


def changed(text: str, *changes: tuple[str, str]) -> str:
    """A text in which each `old` is `new`; one that does not stand there once is a mistake of ours."""
    for old, new in changes:
        if text.count(old) != 1:
            raise ValueError(f"{old!r} stands {text.count(old)} times in the text.")
        text = text.replace(old, new)
    return text


def define(head: str, body: str, *changes: tuple[str, str]) -> str:
    """The source of a function with this body, changed so."""
    lines = changed(body, *changes).strip("\n").splitlines()
    return f"def {head}:\n" + "".join(f"    {line}\n" for line in lines)


def answers_to(assignment: str, seed: int = 0) -> dict[str, Answer]:
    """All hand-ins that are known for an assignment, with the values of this variant in place of its marks."""
    name = choose(assignment)
    known = runpy.run_path(str(ROOT / "assignments" / "answers" / f"{name}.py"))["ANSWERS"]
    marks = values(name, seed)

    def filled(answer: Answer) -> Answer:
        return replace(answer, cells={cell: fill(source, marks) for cell, source in answer.cells.items()})

    return {key: filled(answer) for key, answer in known.items()}

"""How a check finds out what is wrong: the answer is asked on many inputs, and compared with the usual mistakes.

A sentence that names a mistake is spoken only when that mistake gives the student's answer on two different inputs, and
on more than half of those on which the answer is wrong or the mistake would be one. Otherwise the smallest input on
which the answer is wrong is shown.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor

from attnlib.course.asserts import same
from attnlib.course.checks.asking import ask, described, shown
from attnlib.course.checks.dress import undressed
from attnlib.course.checks.verdict import Mistake, need

#: A right answer for some inputs, or which answer a mistake gives: a set, if it may be one or another; a torch.Size, if
#: the mistake shows in the shape.
Answer = Any
FEW = 8  # numbers that a sentence shows


def examine(
    answer: Callable,
    cases: Sequence[tuple],
    wanted: Callable[..., Answer] | Sequence[Answer],
    mistakes: Mapping[str, Callable[..., Answer]] = MappingProxyType({}),
    otherwise: str = "this is not what was asked for.",
    *,
    seen: Callable[..., str | None] = lambda *_: None,
    right: Callable[..., bool] | None = None,
    parts: Sequence[str] = (),
    tolerance: float = 1e-5,
) -> None:
    """Go on when an answer is right on all inputs; when not, say why.

    Args:
        answer: The student's function.
        cases: Inputs of each call, the usual ones first.
        wanted: The right answer for the inputs, or a list with one for each case. It says by its type and shape what is
            asked for: a tensor, a number, a word, a list of words, or a tuple of tensors.
        mistakes: `{sentence: function of the inputs}`, what the usual mistakes give.
        otherwise: The sentence for all other mistakes; the smallest input is shown behind it.
        seen: `seen(given, *inputs)`, a sentence about what can be seen in a wrong answer, such as NaN.
        right: `right(given, *inputs)`, for exercises with more than one right answer, in place of a comparison.
        parts: Names of the tensors, if several are asked for.
        tolerance: Largest difference of numbers, relative, and absolute in units of the largest number that is wanted,
            which counts as 1 at least.

    Raises:
        Mistake: The answer is wrong on one of the inputs, with the sentence that explains it.
    """

    def good(x: Answer, want: Answer, inputs: tuple) -> bool:
        if not _shaped_alike(x, want):
            return False
        return isinstance(x, torch.Size) or (right(x, *inputs) if right else agrees(want, x, tolerance))

    told = None
    asked: list[tuple[tuple, Answer, Answer, bool]] = []  # inputs, what came out, what was wanted, is it right
    for n, inputs in enumerate(cases):
        want = wanted(*inputs) if callable(wanted) else wanted[n]
        try:
            given = _asked(answer, inputs, want, parts)
        except Mistake:
            if not all(fine for *_, fine in asked):
                break  # what is wrong elsewhere says more
            raise
        fine = good(given, want, inputs)
        if not fine and all(fine for *_, fine in asked) and _shape(given) == _shape(want):
            told = seen(given, *inputs)
        asked.append((inputs, given, want, fine))
    wrong = [case for case in asked if not case[-1]]
    if not wrong:
        return
    fits = {words: _explained(mistake, asked, good, tolerance) for words, mistake in mistakes.items()}
    best = max(fits, key=lambda words: fits[words], default="")
    need(not fits.get(best), best)
    if told is not None:
        raise Mistake(told)
    inputs, given, want, _ = min(wrong, key=lambda case: _size(case[0]))
    raise Mistake(_example(otherwise, described(*inputs, of=answer), given, want, parts, bool(right)))


def _explained(mistake: Callable, asked: Sequence[tuple], good: Callable[..., bool], tolerance: float) -> int:
    """On how many inputs a mistake gives the student's answer and is one; 0 if that is not enough to speak of it."""
    fits = relevant = 0
    for inputs, given, want, fine in asked:
        would = mistake(*inputs)
        each = would if isinstance(would, set) else [would]
        wrong = not any(good(one, want, inputs) for one in each)
        relevant += wrong or not fine
        fits += not fine and any(_same(given, one, tolerance) for one in each)
    return fits if fits >= 2 and 2 * fits > relevant else 0


def _asked(answer: Callable, inputs: tuple, want: Answer, parts: Sequence[str]) -> Answer:
    """The student's answer, undressed."""
    result = ask(answer, *inputs)
    if not parts:
        return _typed(undressed(result, want), want, "it")
    need(
        type(result) in (tuple, list) and len(result) == len(parts),
        f"it returns {type(result).__name__}; {len(parts)} tensors are asked for, {', '.join(parts)}.",
    )
    return tuple(_typed(undressed(x, w, name), w, name) for x, w, name in zip(result, want, parts, strict=True))


def _typed(given: Answer, want: Answer, name: str) -> Answer:
    """Go on when a tensor holds what it should: truth values, integers, or other numbers."""
    if not isinstance(want, Tensor):
        return given
    kind, asked = str(given.dtype).removeprefix("torch."), "numbers"
    fine = given.dtype != torch.bool and not given.is_complex()
    if want.dtype == torch.bool:
        fine, asked = given.dtype == torch.bool, "True and False"
    elif not want.is_floating_point():
        fine, asked = fine and not given.is_floating_point(), "integers"
    need(fine, f"{name} holds {kind}; asked for are {asked}.")
    return given.detach()


def _shape(x: Answer) -> Any:
    """The shape of a tensor, the shapes of several, None of other things."""
    if isinstance(x, tuple) and x and isinstance(x[0], Tensor):
        return [part if part is None else tuple(part.shape) for part in x]
    if isinstance(x, torch.Size):
        return tuple(x)
    return tuple(x.shape) if isinstance(x, Tensor) else None


def _shaped_alike(x: Answer, y: Answer) -> bool:
    a, b = _shape(x), _shape(y)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(None in pair or pair[0] == pair[1] for pair in zip(a, b, strict=True))
    return a == b


def agrees(given: Answer, want: Answer, tolerance: float = 1e-5) -> bool:
    """Whether two answers of one kind are the same, numbers up to rounding. Of several tensors, None stands for any."""
    if isinstance(want, tuple | list):
        pairs = zip(given, want, strict=True) if len(given) == len(want) else [(0, "")]
        return all(w is None or (type(g) is type(w) and agrees(g, w, tolerance)) for g, w in pairs)
    if isinstance(given, str | int) or isinstance(want, str):  # a bool is an int
        return given == want
    if not any(isinstance(x, float) or x.is_floating_point() for x in (given, want)):
        return torch.equal(given.long(), want.long())
    given, want = (torch.as_tensor(x, dtype=torch.float64).detach() for x in (given, want))
    finite = want[want.isfinite()]
    unit = max(1.0, finite.abs().max().item()) if len(finite) else 1.0
    return same(given / unit, want / unit, tolerance) if given.shape == want.shape else False


def _same(given: Answer, would: Answer, tolerance: float) -> bool:
    """Whether an answer is what a mistake would give: its values, or its shape."""
    return _shaped_alike(given, would) and (isinstance(would, torch.Size) or agrees(given, would, tolerance))


def _size(inputs: tuple) -> int:
    return sum(x.numel() if isinstance(x, Tensor) else len(x) if hasattr(x, "__len__") else 1 for x in inputs)


def _example(otherwise: str, where: str, given: Answer, want: Answer, parts: Sequence[str], many: bool) -> str:
    """The sentence, with the input on which the answer is wrong, what came out, and what should have."""
    for name, x, w in zip(parts or ["it"], given if parts else [given], want if parts else [want], strict=True):
        if isinstance(w, Tensor) and x.shape != w.shape:
            has = "its shape is" if name == "it" else f"{name} has the shape"
            return f"{has} {tuple(x.shape)}; asked for is {tuple(w.shape)}, on {where}."
    if parts or (isinstance(want, Tensor) and want.numel() > FEW) or (isinstance(want, list) and len(want) > FEW):
        return f"{otherwise} It is wrong on {where}."
    asked = "" if many else f", and asked for is {shown(want)}"
    return f"{otherwise} On {where} yours is {shown(given)}{asked}."

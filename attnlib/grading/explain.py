"""Which call shows the mistake of a hand-in, and which known mistake it is.

Tests leave the calls that they made. The model's answer and the known wrong answers are asked the same, here and at
once: they are ours. What a known answer is wrong in is said only where it gives what the student's function gave, each
time and for at least two inputs, and something else than the model's answer.
"""

import contextlib
import inspect
import io
import math
import re
import time

import numpy as np
import torch
from torch import Tensor

from attnlib.course.asserts import limit, same
from attnlib.grading.answers import answers_to
from attnlib.grading.assignment import facts, is_answer, is_given, is_test, model, question, read, values
from attnlib.grading.encoding import Elsewhere, Remote
from attnlib.grading.examiner import Call, Outcome, compiled, is_setup, snapshot

#: So many numbers are shown; larger inputs by their shapes. Characters of a line.
NUMBERS, LONGEST = 24, 1500
#: Seconds of the processor that a known answer may take for a call, and all of them for a hand-in.
REPLAY, ALL = 0.3, 6


def shown(name: str, seed: int, source, outcomes: dict[str, Outcome]) -> dict[str, dict[str, str]]:
    """Explain what failed.

    Args:
        name: The assignment.
        seed: Which variant.
        source: Its source.
        outcomes: `{test id: what it gave}`.

    Returns:
        `{test id: {"call", "gave", "wanted", "likely"}}` of tests that failed and have asked something. `wanted` is
        empty for what was asked in a hidden part, `likely` where no known mistake fits.
    """
    failed = _failed(outcomes)
    if not failed:
        return {}
    end, ours = time.monotonic() + ALL, functions(source, {})
    known = {key: answer for key, answer in answers_to(name, seed).items() if answer.lost}
    found: dict[str, dict[str, str]] = {}
    for test, outcome in failed.items():
        asked = [call for t, o in outcomes.items() if question(t) == question(test) for call in o.calls]
        right = {id(call): replay(ours, call) for call in asked}
        likely = {}
        for key, answer in known.items():
            fits = test in answer.lost and time.monotonic() < end
            if fits and _fits(functions(source, answer.cells), asked, right):
                likely[key] = answer
        of_question = {t for t in failed if question(t) == question(test)}
        exact = [a.why for a in likely.values() if {t for t in a.lost if question(t) == question(test)} == of_question]
        why = [*exact, *(a.why for a in likely.values()), ""][0]
        found[test] = {**_described(outcome.calls, right, ours), "likely": why}
    return found


def whose(name: str, source, outcomes: dict[str, Outcome], others: dict[str, int]) -> dict[str, list[str]]:
    """Whose variant a hand-in answers in place of its own.

    Args:
        name: The assignment.
        source: Its source, of the variant that was given out.
        outcomes: `{test id: what it gave}`.
        others: `{student: seed}` of all: one's own variant is never found, because it is not what was given here.

    Returns:
        `{question: students}`: those whose model's answer gives what was given here, where ours does not.
    """
    failed = _failed(outcomes)
    if not failed or not others:
        return {}
    end, ours = time.monotonic() + ALL, functions(source, {})
    same_variant: dict[tuple, list[str]] = {}
    for student, seed in others.items():
        marks = values(name, seed)
        same_variant.setdefault(tuple(v for mark, v in marks.items() if mark != "@SEED@"), []).append(student)
    questions = {question(test) for test in failed}
    calls = {q: [call for test, o in outcomes.items() if question(test) == q for call in o.calls] for q in questions}
    right = {id(call): replay(ours, call) for of_question in calls.values() for call in of_question}
    found: dict[str, list[str]] = {}
    for students in same_variant.values():
        if time.monotonic() > end:
            break
        theirs_ = functions(read(name, others[students[0]]), {})
        for asked, of_question in calls.items():
            if _fits(theirs_, of_question, right):
                found.setdefault(asked, []).extend(students)
    return found


def _failed(outcomes: dict[str, Outcome]) -> dict[str, Outcome]:
    return {test: o for test, o in outcomes.items() if o.problem is not None and o.calls and not o.missing}


def functions(source, cells: dict[str, str]) -> dict:
    """The names of a notebook with the model's answers, but for some cells."""
    space: dict = {"__name__": "__main__"}
    ours = model(source)
    last = max(n for n, cell in enumerate(source.cells) if is_test(cell))
    for cell in source.cells[:last]:
        if (is_given(cell) and not is_setup(cell)) or is_answer(cell):
            name = facts(cell)["grade_id"]
            text = cells.get(name, ours[name]) if is_answer(cell) else cell.source
            with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()), limit(REPLAY * 10, True):
                exec(compiled(text, name), space)
    return space


def replay(space: dict, call: Call) -> tuple[str, object] | None:
    """What a function gives for the inputs of a call: `("gave", result)` or `("raised", name)`; None: not known."""
    if isinstance(call.error, TimeoutError) or any(hasattr(x, "__next__") for x in [*call.given, *call.named.values()]):
        return None
    try:
        with torch.random.fork_rng(devices=[]), contextlib.redirect_stdout(io.StringIO()), limit(REPLAY, True):
            torch.manual_seed(0)
            return "gave", snapshot(space[call.name](*snapshot(call.given), **snapshot(call.named)))
    except TimeoutError:
        return None
    except Exception as error:
        return "raised", type(error).__name__


def theirs(call: Call) -> tuple[str, object]:
    """The same of what the student's function gave."""
    if call.error is None:
        return "gave", call.result
    return "raised", str(call.error).split(":")[0] if isinstance(call.error, Elsewhere) else type(call.error).__name__


def _fits(space: dict, asked: list[Call], right: dict) -> bool:
    """Does a known answer give what the student's gave?"""
    inputs, differs = [], False
    for call in asked:
        if right[id(call)] is None:
            continue
        given = replay(space, call)
        if given is None or not alike(given, theirs(call)):
            return False
        differs = differs or not alike(given, right[id(call)])
        inputs += [call] if not any(alike((call.name, call.given), (c.name, c.given)) for c in inputs) else []
    return differs and len(inputs) >= 2


def alike(one, other) -> bool:
    """Equal up to rounding, and of one kind."""
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        return one.dtype == other.dtype and same(one.detach(), other.detach())
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.shape == other.shape and bool(np.allclose(one, other, equal_nan=True))
    if type(one) is not type(other):
        return False
    if isinstance(one, float):
        return one == other or math.isclose(one, other, rel_tol=1e-6) or (math.isnan(one) and math.isnan(other))
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, set | frozenset | str | int) or one is None:
        return one == other
    return one is other  # a function that was handed in


def _described(calls: list[Call], right: dict, ours: dict) -> dict[str, str]:
    """The smallest call that went wrong; the last one where none differs from the model's answer."""
    wrong = [call for call in calls if right[id(call)] and not alike(theirs(call), right[id(call)])]
    call = min(wrong, key=lambda call: numbers([call.given, call.named])) if wrong else calls[-1]
    few = numbers([call.given, call.named]) <= NUMBERS
    try:
        given = inspect.signature(ours[call.name]).bind(*call.given, **call.named).arguments
    except (KeyError, TypeError, ValueError):
        given = {str(n): x for n, x in enumerate(call.given, 1)} | call.named
    text = ", ".join(f"{key} = {printed(x, few)}" for key, x in given.items())
    wanted = right[id(call)]
    return {
        "call": f"{call.name}({text})"[:LONGEST],
        "gave": _outcome(call, few),
        "wanted": printed(wanted[1], few)[:LONGEST] if wanted and wanted[0] == "gave" and not call.hidden else "",
    }


def _outcome(call: Call, few: bool) -> str:
    if isinstance(call.error, TimeoutError):
        return "nothing in time"
    kind, what = theirs(call)
    return (f"an error, {what}" if kind == "raised" else printed(what, few))[:LONGEST]


def numbers(x) -> int:
    """How many numbers and words data holds."""
    if isinstance(x, Tensor):
        return x.numel()
    if isinstance(x, np.ndarray):
        return x.size
    if isinstance(x, dict):
        return numbers([*x.keys(), *x.values()])
    return sum(map(numbers, x)) if isinstance(x, list | tuple | set | frozenset) else 1


def printed(x, whole: bool = True) -> str:
    """Data in one line: all of it, or its shape."""
    if isinstance(x, Tensor | np.ndarray) and (not whole or numbers(x) > 4 * NUMBERS):
        return f"{str(x.dtype).removeprefix('torch.')} {tuple(x.shape)}"
    if isinstance(x, list | tuple) and not isinstance(x, str):
        if not whole and len(x) > 8:
            return f"a {type(x).__name__} of {len(x)}"
        inner = ", ".join(printed(item, whole) for item in x)
        return f"[{inner}]" if isinstance(x, list) else f"({inner}{',' * (len(x) == 1)})"
    if isinstance(x, Remote) or callable(x) or hasattr(x, "__next__"):
        return f"a {type(x).__name__}"
    return re.sub(r"\s+", " ", repr(x))[:LONGEST]

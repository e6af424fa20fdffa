"""Runs an assignment with some answers in place of the model's, here and at once, and says what each test cell gave.

The grader runs every notebook in a kernel of its own, boxed. That takes seconds; this takes a tenth, so all
known-wrong answers can be tried at every change. Answers are ours: nothing here protects against malice.
"""

import contextlib
import io
import os
import re
from collections.abc import Iterator
from unittest import mock

import matplotlib
import matplotlib.pyplot as plt
import nbformat

from attnlib.course import asserts
from attnlib.grading.assignment import SOLUTION, STUB, answers, facts, is_answer, is_test, tests
from attnlib.grading.examiner import compiled

#: Seconds of the processor that a cell may take, and a call that has a limit of its own: the slowest right one takes a
#: fifth of it.
CELL, CALL = 20, 0.25
LIMIT = asserts.limit


@contextlib.contextmanager
def limits() -> Iterator[None]:
    """Limits that leave nobody waiting, and the same inputs each time: in a proof an endless loop is to be noticed."""
    with (
        mock.patch.object(asserts, "word", os.environ.get("ATTNLIB_DRAWN", "proof")),
        mock.patch.object(asserts, "limit", lambda own: LIMIT(min(own, CALL), processor=True)),
        LIMIT(CELL, processor=True),
    ):
        yield


@plt.rc_context()  # the style of an assignment's figures is its own
def points(notebook, given: dict[str, str]) -> tuple[dict[str, int], dict[str, str]]:
    """Run all cells in a fresh namespace, `given` in place of the model's answers.

    Returns:
        `{test id: points}`, and `{test id: why it failed}`.
    """
    if unknown := set(given) - set(answers(notebook)):
        raise ValueError(f"{sorted(unknown)} is no answer cell; there are {sorted(answers(notebook))}.")
    matplotlib.use("agg")
    space, got, why = {"__name__": "__main__"}, {}, {}
    for cell in (c for c in notebook.cells if c.cell_type == "code"):
        name = facts(cell).get("grade_id", "free")
        source = given.get(name, cell.source) if is_answer(cell) else cell.source
        problem = None
        try:
            with limits(), contextlib.redirect_stdout(io.StringIO()):
                exec(compiled(source, name), space)
        except Exception as error:
            problem = f"{type(error).__name__}: {error}"
        if facts(cell).get("grade"):
            got[name] = 0 if problem else facts(cell)["points"]
        if problem and not is_answer(cell):
            why[name] = problem
    plt.close("all")
    return got, why


def lost(notebook, given: dict[str, str]) -> tuple[dict[str, int], dict[str, str]]:
    """`{test id: points}` that these answers lose, and why, as `points` says it; it stops after the last test."""
    last = max(n for n, cell in enumerate(notebook.cells) if is_test(cell))
    got, why = points(nbformat.NotebookNode(notebook, cells=notebook.cells[: last + 1]), given)
    return {test: most - got[test] for test, most in tests(notebook).items() if got[test] != most}, why


def untouched(notebook) -> dict[str, str]:
    """The answers of somebody who has written nothing."""

    def stub(match) -> str:
        indent = re.match(r"[ \t]*", match[0])[0]
        return "".join(f"{indent}{line}\n" for line in STUB.splitlines())

    return {name: SOLUTION.sub(stub, source) for name, source in answers(notebook).items()}

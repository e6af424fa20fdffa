"""Runs the test cells of an assignment outside the box, in the grader's own process, and asks the hand-in by calls.

The names that the answers of an assignment define are bound to functions that call the student's. Everything else that
a test sees is ours: the locked cells, from the source and never from the hand-in, and what the tests define.
"""

import ast
import functools
import sys
from dataclasses import dataclass, field
from types import CodeType

import numpy as np
from torch import Tensor

from attnlib.course.asserts import limit
from attnlib.course.book import setup_cell, without_magics
from attnlib.grading.assignment import HIDDEN, answers, facts
from attnlib.grading.crossing import Peer


@dataclass
class Call:
    """A call that a test made.

    Attributes:
        name: Which function.
        given: What it was given, as it was before.
        named: The same by name.
        hidden: Was it made in the part of a test that students do not see?
        result: What it returned.
        error: What it raised instead.
    """

    name: str
    given: tuple
    named: dict
    hidden: bool
    result: object = None
    error: Exception | None = None


@dataclass
class Outcome:
    """What a test cell gave.

    Attributes:
        problem: Why it failed; None where it passed.
        calls: What it asked, in order.
        missing: Names that the hand-in does not define.
        answered: Has the hand-in said of every name whether it defines it?
    """

    problem: BaseException | None = None
    calls: list[Call] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    answered: bool = False


class Examiner:
    """Our side of one hand-in.

    Args:
        source: The notebook with solutions and hidden tests.
        seconds: How long a test cell may run, with all its calls.
    """

    def __init__(self, source, seconds: int):
        self.seconds = seconds
        self.space: dict = {"__name__": "__main__"}
        self.names = {name: cell for cell, text in answers(source).items() for name in made(ast.parse(text).body)}

    def given(self, cell) -> None:
        """Run a locked cell."""
        if not is_setup(cell):
            exec(compiled(cell.source, facts(cell)["grade_id"]), self.space)

    def examine(self, cell, peer: Peer) -> Outcome:
        """Run a test cell, and ask through `peer`.

        A function that has changed its inputs must pass twice: where the test sees the change, as its own process would
        show it, and where it does not. Else it could change what it is compared with.
        """
        outcome = self._examine(cell, peer)
        if outcome.problem is None and peer.changed:
            peer.keep_changes = False
            outcome = self._examine(cell, peer)
        return outcome

    def _examine(self, cell, peer: Peer) -> Outcome:
        outcome, test = Outcome(), facts(cell)["grade_id"]
        try:
            with limit(self.seconds):
                for name in sorted(_read(cell.source) & set(self.names)):
                    self.space[name] = self._bound(peer, name, cell, outcome)
                outcome.answered = True
                exec(compiled(cell.source, test), self.space)
        except Exception as error:
            outcome.problem = error.with_traceback(None)
        return outcome

    def _bound(self, peer: Peer, name: str, cell, outcome: Outcome):
        """What a name of an answer means in this test."""
        try:
            theirs = peer.call(0, [name])
        except KeyError:
            outcome.missing.append(name)
            theirs = functools.partial(_undefined, name)
        if not callable(theirs):
            return theirs
        test, hidden = facts(cell)["grade_id"], _hidden_lines(cell.source)

        def asked(*given, **named):
            call = Call(name, snapshot(given), snapshot(named), _line(test) in hidden)
            outcome.calls.append(call)
            try:
                result = theirs(*given, **named)
            except Exception as error:
                call.error = error
                raise
            call.result = snapshot(result)
            return result

        return asked


def is_setup(cell) -> bool:
    """Is this the cell that installs the course where it is missing? Outside nobody needs it."""
    return cell.source == setup_cell()


def made(statements: list[ast.stmt]) -> set[str]:
    """Names that statements define: functions, classes, variables, modules."""
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    names = {node.name for node in statements if isinstance(node, kinds)}
    for node in statements:
        inner = [] if isinstance(node, kinds) else list(ast.walk(node))
        names |= {n.id for n in inner if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        names |= {(n.asname or n.name).split(".")[0] for n in inner if isinstance(n, ast.alias)}
    return names


@functools.cache
def helpers(source: str, answers: frozenset[str]) -> str:
    """What the visible part of a test defines without an answer: in a notebook, later cells may use it.

    Args:
        source: The test cell.
        answers: Names that answers define.
    """
    kept, unknown = [], set(answers)
    for node in ast.parse(HIDDEN.sub("", source)).body:
        used = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        if used & unknown or isinstance(node, ast.Assert | ast.With):
            unknown |= made([node])
        elif not isinstance(node, ast.Expr):
            kept.append(ast.unparse(node))
    return "\n".join(kept)


def _undefined(name: str, *given, **named):
    raise NameError(f"there is no {name}")


@functools.cache  # most cells are the same for all hand-ins
def compiled(source: str, name: str) -> CodeType:
    """A cell without its magics, which are not Python."""
    return compile(without_magics(source), name, "exec")


@functools.cache
def _read(source: str) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}


@functools.cache
def _hidden_lines(source: str) -> set[int]:
    """The numbers of the lines that students do not see."""
    regions = [match.span(1) for match in HIDDEN.finditer(source)]
    return {
        n for start, end in regions for n in range(source.count("\n", 0, start) + 1, source.count("\n", 0, end) + 1)
    }


def _line(test: str) -> int:
    """The line of a test cell that is being run."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename != test:
        frame = frame.f_back
    return frame.f_lineno if frame is not None else 0


def snapshot(x):
    """A copy of data, however deep; functions and iterators are what they are."""
    if isinstance(x, Tensor):
        return x.detach().clone()
    if isinstance(x, np.ndarray):
        return x.copy()
    if type(x) in (list, tuple, set, frozenset):
        return type(x)(map(snapshot, x))
    if type(x) is dict:
        return {key: snapshot(item) for key, item in x.items()}
    return x

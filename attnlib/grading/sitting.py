"""A hand-in from its first cell to its last test: cells in order, tests in their places, a new kernel if one dies."""

from collections.abc import Callable
from pathlib import Path

from nbformat.v4 import new_code_cell

from attnlib.course.asserts import drawn_random
from attnlib.grading import noticed
from attnlib.grading.assignment import facts, is_answer, is_given, is_test, question
from attnlib.grading.encoding import Elsewhere, Gone, Malformed
from attnlib.grading.examiner import Examiner, Outcome, helpers
from attnlib.grading.kernel import Kernel, Lost

#: The locked cells at the head import torch, which takes so many seconds on a busy machine.
SETUP_SECONDS = 60


class Spoilt(Exception):
    """The locked cells do not run, so no answer has a chance; in words."""


class Sitting:
    """One hand-in is run and examined.

    What stands below the last test changes no point, and is not run: a figure there takes a fifth of the time.

    Args:
        source: The assignment, with solutions and hidden tests.
        notebook: The hand-in, restored; outputs go into it.
        seconds: How long a cell may run.
        door: Where the grader listens.
        address: Where the kernel finds that folder.
        starts: Called with the name of each cell before it runs.

    Attributes:
        passed: Tests that have passed.
        outcomes: `{test id: what it gave}`, of all tests.
        words: `{cell id: what it said when it failed}`.
        flags, notes, person: As in `work.Result`.
    """

    def __init__(self, source, notebook, seconds: int, door: Path, address: str, starts: Callable[[str], object]):
        self.source, self.notebook, self.seconds, self.starts = source, notebook, seconds, starts
        self.tests = {facts(c)["grade_id"]: c for c in source.cells if is_test(c)}
        self.given = {facts(c)["grade_id"]: c for c in source.cells if is_given(c)}
        self.examiner = Examiner(source, seconds)
        self.kernel = Kernel(notebook, door, address, seconds)
        self.skipped: set[int] = set()
        self.lost: dict[str, str] = {}  # questions that are not asked any more, and why
        self.passed: set[str] = set()
        self.outcomes: dict[str, Outcome] = {}
        self.words: dict[str, str] = {}
        self.flags: list[str] = []
        self.notes: list[str] = []
        self.person: list[str] = []

    def run(self) -> None:
        """Run all.

        Raises:
            Spoilt: The locked cells do not run.
            NotStarted: There is no kernel.
        """
        cells = self.notebook.cells
        last = max((n for n, cell in enumerate(cells) if is_test(cell)), default=-1)
        for n in range(last + 1):
            if cells[n].cell_type != "code":
                continue
            self.starts(self.name(n))
            try:
                self._cell(n)
                if is_test(cells[n]):
                    self._test(n)
            except Lost as error:
                self._again(n, str(error))

    def close(self) -> None:
        """End the kernel."""
        self.kernel.close()

    def name(self, n: int) -> str:
        """What a cell is called: those of the student's own by their number, from 1."""
        return facts(self.notebook.cells[n]).get("grade_id") or f"number {n + 1}"

    def _cell(self, n: int, again: bool = False) -> None:
        """What one cell does in the kernel."""
        cell, name = self.notebook.cells[n], self.name(n)
        if n in self.skipped or not cell.source.strip():
            return
        if is_test(cell):
            if source := helpers(self.tests[name].source, frozenset(self.examiner.names)):
                self.kernel.run(new_code_cell(source), n)
            return
        in_time = self.kernel.run(cell, n, max(SETUP_SECONDS, self.seconds) if is_given(cell) else None)
        failed = [output for output in cell.get("outputs", []) if output.output_type == "error"]
        if is_given(cell):
            if failed or not in_time:
                what = f"{failed[0].ename}: {failed[0].evalue}" if in_time else "took too long"
                raise Spoilt(f"the setup cell {name} did not run: {what}"[:300])
            if not again:
                self.examiner.given(self.given[name])
        elif not in_time:
            self.words[name] = f"stopped after {self.seconds} seconds: an endless loop?"
            self._flag("timeout", n)
        elif failed:
            if is_answer(cell):
                self.words[name] = said(failed[0].ename, failed[0].evalue)
            if lacks := noticed.lacking(failed[0].ename, failed[0].evalue, name):
                self._look(lacks)

    def _test(self, n: int) -> None:
        """Ask."""
        name = self.name(n)
        if question(name) in self.lost:
            self.words[name] = f"not asked: {self.lost[question(name)]}"
            self.outcomes[name] = Outcome(Gone(self.words[name]))
            return
        outcome = Outcome(Gone("the notebook has made its kernel unable to answer"))
        self.outcomes[name] = outcome
        try:
            with self.kernel.answering(drawn_random(n).getrandbits(31)) as peer:
                outcome = self.outcomes[name] = self.examiner.examine(self.tests[name], peer)
        except Gone:
            pass
        if outcome.problem is None:
            self.passed.add(name)
            return
        self.words[name] = in_words(outcome.problem)
        for missing in outcome.missing:
            if self.examiner.names[missing] not in self.words:  # else its cell did not run, and says why
                self._flag("missing", n)
                self.words[name] = noticed.renamed(missing, self.source, self.notebook)
                self._look(self.words[name])
        if isinstance(outcome.problem, TimeoutError):
            self._flag("timeout", n)
            if not outcome.answered:  # nor will it for another test, and each would take as long
                why = f"in {name} it has not even said within {self.seconds} seconds what it defines"
                self.lost |= {question(test): why for test in self.tests}

    def _look(self, why: str) -> None:
        if why not in self.person:
            self.person.append(why)

    def _flag(self, what: str, n: int) -> None:
        name = facts(self.notebook.cells[n]).get("grade_id") or f"cell{n + 1}"
        if f"{what}:{name}" not in self.flags:
            self.flags.append(f"{what}:{name}")

    def _again(self, n: int, why: str) -> None:
        """Start a new kernel after cell `n`, and run the cells before it, without the one that cost the last kernel."""
        until = n
        while True:
            self._flag("died" if "died" in why else "timeout", n)
            self._skip(n, why)
            self.kernel.start()
            try:
                for m in [m for m in range(until + 1) if self.notebook.cells[m].cell_type == "code"]:
                    n = m
                    self._cell(m, again=True)
            except Lost as error:
                why = str(error)
            else:
                return

    def _skip(self, n: int, why: str) -> None:
        """Do without what has cost a kernel: a cell, or, where a call has, the answers to its question."""
        cell, name = self.notebook.cells[n], self.name(n)
        if is_given(cell):
            raise Spoilt(f"{why} in cell {name}")
        if is_test(cell):
            self.passed.discard(name)
            self.words[name] = f"{why} in a call"
            asked = question(name)
            self.lost[asked] = f"{why} in {name}"
            found = {m for m, c in enumerate(self.notebook.cells) if is_answer(c) and question(self.name(m)) == asked}
            self.skipped |= found
        else:
            self.skipped.add(n)
            self.words[name] = f"{why} in this cell"
        self.notes.append(f"{why} in cell {name}; what follows ran in a new one")


def said(kind: str, text: str) -> str:
    """What a failing cell or test said, by the name of its error and its text."""
    if kind == "NotImplementedError" and not text:  # torch raises it too, with a sentence
        return "nothing is written yet, or its line `raise NotImplementedError()` is still there"
    return f"{kind}: {text}" if text else kind


def in_words(error: BaseException) -> str:
    """What a failing test says."""
    if isinstance(error, AssertionError | Gone | Malformed | Elsewhere | TimeoutError) and str(error):
        return str(error)
    return said(type(error).__name__, str(error.args[0] if len(error.args) == 1 else error))

"""nbgrader as this course uses it: settings, and the plug-ins that it lacks.

A course is a folder with `source`, `release`, `submitted`, `autograded` and `gradebook.db`. Nothing here is shared
between two students: each hand-in is graded in a course folder of its own, which begins as a copy of the gradebook.
"""

import contextlib
import logging
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import nbformat
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbgrader.converters import Autograde, GenerateAssignment
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import (
    CheckCellMetadata,
    ClearHiddenTests,
    ClearOutput,
    ClearSolutions,
    ComputeChecksums,
    DeduplicateIds,
    Execute,
    LockCells,
    NbGraderPreprocessor,
    OverwriteCells,
    OverwriteKernelspec,
    SaveAutoGrades,
    SaveCells,
)
from traitlets.config import Config

from attnlib.grading.assignment import STUB, facts, is_given, is_test, read

#: Within its own course folder every student has this name: what people are called is no path and no pattern.
STUDENT = "student"
#: Characters of output that a cell may produce; what comes after is not kept.
ROOM = 1_000_000
#: The kernel may take so long to start, and the setup to run, even where cells are given less: on a busy machine
#: Python starts slowly and imports torch slowly.
STARTUP_SECONDS, SETUP_SECONDS = 120, 60
#: Runs after each test cell that has passed. It must fail, or somebody has taught the kernel not to.
CANARY = """
import torch as _torch
from attnlib.course.asserts import close as _close
def _canary():
    for wrong in (lambda: _close(_torch.zeros(2), _torch.ones(2), "canary"), lambda: exec("assert 0 == 1")):
        try:
            wrong()
        except AssertionError:
            continue
        return
    assert not "canary"
_canary()
"""


class PlainMetadata(NbGraderPreprocessor):
    """Keeps nbgrader's metadata of a cell and nothing else.

    A tag `skip-execution` would have a test cell skipped, and passed; and the empty metadata that DeduplicateIds
    leaves on a copied cell stops OverwriteCells with a KeyError.
    """

    def preprocess_cell(self, cell, resources, index):
        """Called by nbconvert."""
        cell.metadata = {"nbgrader": facts(cell)} if facts(cell) else {}
        return cell, resources


class OnlyErrorsCount(NbGraderPreprocessor):
    """Keeps the errors of a test cell.

    nbgrader takes points for a warning on stderr, and gives points for a number that is displayed, even by the
    student's function just before it fails.
    """

    def preprocess_cell(self, cell, resources, index):
        """Called by nbconvert."""
        if is_test(cell):
            cell.outputs = [output for output in cell.outputs if output.output_type == "error"]
        return cell, resources


class Run(Execute):
    """Executes a hand-in: test cells leave no history, output is bounded, and where it stands is written down.

    What stands below the last test changes no point, and is not run: a figure there takes a fifth of the time.
    """

    @staticmethod
    def starts(cell_id: str) -> None:
        """Called with the id of each cell before it runs; who wants to follow puts another function in its place."""

    def __init__(self, **options):
        super().__init__(**options)
        self.timeout_func = self.seconds
        self.tampered: list[str] = []

    def seconds(self, cell) -> int:
        """How long a cell may run."""
        return max(SETUP_SECONDS, self.timeout) if is_given(cell) else self.timeout

    def preprocess(self, nb, resources):
        """Called by nbconvert.

        Raises:
            NotRun: The kernel died, hung, or never started; in words.
        """
        self.here = ""
        self.last = max((n for n, cell in enumerate(nb.cells) if is_test(cell)), default=-1)
        try:
            nb, resources = super().preprocess(nb, resources)
        except DeadKernelError as error:
            raise NotRun(f"the kernel died in cell {self.here}") from error
        except CellTimeoutError as error:
            raise NotRun(f"the kernel hung in cell {self.here} and could not be interrupted") from error
        except RuntimeError as error:
            if self.here:
                raise
            raise NotRun(f"the kernel did not start: {error}") from error
        nb.metadata["tampered"] = self.tampered
        return nb, resources

    def preprocess_cell(self, cell, resources, index):
        """Called by nbconvert."""
        self._check_assign_resources(resources)
        if cell.cell_type == "code" and index <= self.last:
            self.here = facts(cell).get("grade_id") or f"number {index + 1}"
            self.starts(self.here)
            self.used = 0
            cell = self.execute_cell(cell, index, store_history=not is_test(cell))
            if is_test(cell) and not errors(cell):
                canary = nbformat.v4.new_code_cell(CANARY)
                canary = self.execute_cell(canary, index, store_history=False)
                self.nb.cells[index] = cell  # where nbclient has put the canary
                if "AssertionError" not in [e.ename for e in errors(canary)]:
                    self.tampered.append(self.here)
        return cell, resources

    def output(self, outs, msg, display_id, cell_index):
        """Called by nbclient with each message that a cell sends."""
        if msg["msg_type"] != "error":
            self.used += len(str(msg["content"]))
            if self.used > ROOM:
                return None
        return super().output(outs, msg, display_id, cell_index)


class NotRun(Exception):
    """Why a hand-in could not be run to its end, in words."""


def errors(cell) -> list:
    """The errors among a cell's outputs."""
    return [output for output in cell.get("outputs", []) if output.output_type == "error"]


def settings(seconds: int = 60) -> Config:
    """nbgrader's settings; `seconds` a cell may run."""
    c = Config()
    c.ClearSolutions.code_stub = {"python": STUB}
    c.OverwriteCells.add_missing_cells = True  # a deleted test cell comes back
    c.GenerateAssignment.preprocessors = [
        LockCells,
        ClearSolutions,
        ClearOutput,
        CheckCellMetadata,
        ComputeChecksums,
        SaveCells,
        ClearHiddenTests,
        ComputeChecksums,
        CheckCellMetadata,
    ]
    c.Autograde.sanitize_preprocessors = [
        ClearOutput,
        DeduplicateIds,
        PlainMetadata,
        OverwriteKernelspec,
        OverwriteCells,
        CheckCellMetadata,
    ]
    c.Autograde.autograde_preprocessors = [Run, OnlyErrorsCount, SaveAutoGrades]
    c.Run.timeout = seconds
    c.Run.iopub_timeout = 10
    c.Run.startup_timeout = STARTUP_SECONDS
    c.Run.extra_arguments = ["--HistoryManager.hist_file=:memory:"]
    return c


@contextlib.contextmanager
def logged(file: Path) -> Iterator[None]:
    """nbgrader's many words go into a file."""
    logger = logging.getLogger("traitlets")
    handler, level, propagate = logging.FileHandler(file, encoding="utf8"), logger.level, logger.propagate
    before, logger.handlers, logger.propagate = logger.handlers, [handler], False
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        handler.close()
        logger.handlers, logger.propagate = before, propagate
        logger.setLevel(level)


def prepare(name: str, seed: int, folder: Path, database: bool = True) -> nbformat.NotebookNode:
    """Make a course folder with one assignment; return its student version.

    Args:
        name: The assignment.
        seed: Which variant of it.
        folder: Where `source`, `release` and `gradebook.db` are written.
        database: Is a gradebook needed? To publish an assignment none is.
    """
    shutil.rmtree(folder, ignore_errors=True)
    source = folder / "source" / name / f"{name}.ipynb"
    source.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(read(name, seed), source)
    config = settings()
    if not database:
        config.GenerateAssignment.no_database = True
        config.GenerateAssignment.preprocessors = [
            p for p in config.GenerateAssignment.preprocessors if p is not SaveCells
        ]
    course = CourseDirectory(root=str(folder), assignment_id=name, config=config)
    # for a new gradebook nbgrader starts the program `alembic`, which lies beside Python and perhaps nowhere else
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    with logged(folder / "release.log"), mock.patch.dict(os.environ, PATH=path):
        GenerateAssignment(coursedir=course, config=config, force=True).start()
    return nbformat.read(folder / "release" / name / f"{name}.ipynb", as_version=4)


def autograde(name: str, folder: Path, config: Config) -> None:
    """Grade `submitted/student/NAME/NAME.ipynb` of a course folder into its gradebook."""
    course = CourseDirectory(root=str(folder), assignment_id=name, student_id=STUDENT, config=config)
    with logged(folder / "grade.log"):
        Autograde(coursedir=course, config=config, force=True).start()

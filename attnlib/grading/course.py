"""What nbgrader does for this course: it makes the student version of an assignment out of its source."""

import contextlib
import logging
import shutil
from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbgrader.converters import GenerateAssignment
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import (
    CheckCellMetadata,
    ClearHiddenTests,
    ClearOutput,
    ClearSolutions,
    ComputeChecksums,
    LockCells,
)
from traitlets.config import Config

from attnlib.grading.assignment import STUB, read


def settings() -> Config:
    """nbgrader's settings: no gradebook, since points come from the source and from nowhere else."""
    c = Config()
    c.ClearSolutions.code_stub = {"python": STUB}
    c.GenerateAssignment.no_database = True
    c.GenerateAssignment.preprocessors = [
        LockCells,
        ClearSolutions,
        ClearOutput,
        CheckCellMetadata,
        ComputeChecksums,
        ClearHiddenTests,
        ComputeChecksums,
        CheckCellMetadata,
    ]
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


def prepare(name: str, seed: int, folder: Path) -> nbformat.NotebookNode:
    """Make a folder with one assignment; return its student version.

    Args:
        name: The assignment.
        seed: Which variant of it.
        folder: Where `source` and `release` are written; what is there is removed.
    """
    shutil.rmtree(folder, ignore_errors=True)
    source = folder / "source" / name / f"{name}.ipynb"
    source.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(read(name, seed), source)
    config = settings()
    course = CourseDirectory(root=str(folder), assignment_id=name, config=config)
    with logged(folder / "release.log"):
        GenerateAssignment(coursedir=course, config=config, force=True).start()
    return nbformat.read(folder / "release" / name / f"{name}.ipynb", as_version=4)

"""One hand-in, graded in a process of its own: `work(job)` writes what came out into a file, whatever happens."""

import ctypes
import json
import os
import re
import shutil
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

import nbformat
import psutil
from nbgrader.api import Gradebook
from nbgrader.converters.base import NbGraderException

from attnlib.course.book import ROOT
from attnlib.grading import course, sandbox
from attnlib.grading.assignment import answers, facts, is_given, is_text
from attnlib.grading.flags import flags
from attnlib.grading.restore import restored

#: Larger files are no notebooks that a person wrote.
LARGEST = 100_000_000
#: Address space of a process that grades, and of the kernel it starts.
MEMORY = 12 << 30
#: A file that one of them writes.
FILE = 256 << 20
#: Where their words go.
SAID = "said.txt"
GRADED, BY_HAND, NOT_GRADED = "graded", "needs a person", "NOT GRADED"


@dataclass
class Job:
    """What the process needs to know.

    Attributes:
        assignment: Full name.
        prepared: A course folder with the release and its gradebook.
        folder: A course folder for this hand-in alone, not there yet.
        file: The notebook.
        seconds: How long a cell may run.
        boxed: Does the kernel run in the sandbox?
    """

    assignment: str
    prepared: str
    folder: str
    file: str
    seconds: int
    boxed: bool


@dataclass
class Result:
    """What came out.

    Attributes:
        status: `GRADED`, `BY_HAND` or `NOT_GRADED`.
        points: `{cell id: points}`, None where a person has to grade; empty when not graded.
        words: `{cell id: what it said when it failed}`.
        code: `{answer id: the student's code}`.
        texts: `{written id: the student's text}`.
        flags: What a person should look at.
        notes: What was mended.
        why: Why it is not graded, in words.
        seconds: How long it took.
    """

    status: str = NOT_GRADED
    points: dict[str, float | None] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)
    code: dict[str, str] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    flags: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    why: str = ""
    seconds: float = 0.0


class Unusable(Exception):
    """Why a file is not graded, in words."""


def load(file: Path) -> nbformat.NotebookNode:
    """Read a hand-in of any notebook format.

    Raises:
        Unusable: It is no notebook.
    """
    size = file.stat().st_size
    if size == 0:
        raise Unusable("the file is empty")
    if size > LARGEST:
        raise Unusable(f"the file has {size / 1e6:.0f} MB")
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Unusable("not a notebook: this is not text") from None
    try:
        raw = json.loads(text)
    except ValueError as error:
        raise Unusable(f"not a notebook, or only part of one: {error}") from None
    except RecursionError:
        raise Unusable("not a notebook: nested too deeply") from None
    if not isinstance(raw, dict) or not ({"cells", "worksheets"} & set(raw)):
        raise Unusable("not a notebook: it has no cells")
    try:
        notebook = nbformat.reads(text, as_version=4)
        for cell in notebook.cells:
            if not isinstance(cell.source, str) or cell.cell_type not in {"code", "markdown", "raw"}:
                raise Unusable("not a notebook: some cells are none")
            cell.setdefault("metadata", nbformat.NotebookNode())
    except Unusable:
        raise
    except Exception as error:
        raise Unusable(f"not a notebook that can be read: {type(error).__name__}: {error}"[:300]) from None
    return notebook


def work(job: Job, out: Path) -> None:
    """Grade one hand-in; the file `out` then holds a `Result`."""
    start = time.monotonic()
    result = Result()
    folder = Path(job.folder)
    runtime = folder / "runtime"
    runtime.mkdir(parents=True)
    try:
        _alone(runtime, folder / SAID)
        _grade(job, folder, runtime, result)
    except (Unusable, course.NotRun) as error:
        result.status, result.points, result.why = NOT_GRADED, {}, str(error)
    except Exception as error:
        result.status, result.points = NOT_GRADED, {}
        result.why = f"the grader failed: {type(error).__name__}: {error}"[:300]
    finally:
        _end_children()
        shutil.rmtree(runtime, ignore_errors=True)
    result.seconds = time.monotonic() - start
    partial = out.with_suffix(".partial")
    partial.write_text(json.dumps(asdict(result)), "utf8")
    partial.replace(out)


def _alone(runtime: Path, said: Path) -> None:
    """Give the process files, an environment and bounds of its own; what it and its kernel say goes to a file."""
    with said.open("wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    for name in ("tmp", "run", "ipython", "config", "site"):
        (runtime / name).mkdir()
    # the package alone, and not the repository that has solutions in it
    (runtime / "site" / "attnlib").symlink_to(ROOT / "attnlib", target_is_directory=True)
    os.environ |= {
        "TMPDIR": str(runtime / "tmp"),
        "JUPYTER_RUNTIME_DIR": str(runtime / "run"),
        "JUPYTER_CONFIG_DIR": str(runtime / "config"),
        "IPYTHONDIR": str(runtime / "ipython"),
        "PYTHONPATH": str(runtime / "site"),
        "OMP_NUM_THREADS": "1",
        "PYTHONHASHSEED": "0",
        "TQDM_DISABLE": "1",
    }
    tempfile.tempdir = None
    if sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_FSIZE, (FILE, FILE))
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER: orphans of the kernel become ours


def _end_children() -> None:
    """Nothing that a hand-in has started stays alive."""
    for _ in range(3):
        for child in psutil.Process().children(recursive=True):
            try:
                child.kill()
                child.wait(2)
            except psutil.Error:
                pass


def _grade(job: Job, folder: Path, runtime: Path, result: Result) -> None:
    """Fill in the result, or raise why not."""
    name = job.assignment
    prepared = Path(job.prepared)
    release = nbformat.read(prepared / "release" / name / f"{name}.ipynb", as_version=4)
    submission = load(Path(job.file))
    try:
        notebook, result.notes = restored(submission, release)
    except ValueError as error:
        raise Unusable(str(error)) from None
    result.flags = flags(notebook)
    result.code = answers(notebook)
    result.texts = {facts(c)["grade_id"]: c.source for c in notebook.cells if is_text(c)}
    file = folder / "submitted" / course.STUDENT / name / f"{name}.ipynb"
    file.parent.mkdir(parents=True)
    nbformat.write(notebook, file)
    shutil.copy(prepared / "gradebook.db", folder / "gradebook.db")

    config = course.settings(job.seconds)
    if job.boxed:
        os.environ |= sandbox.install(runtime / "box")
    progress = folder / "progress.txt"
    course.Run.starts = staticmethod(lambda cell_id: progress.write_text(cell_id, "utf8"))
    try:
        course.autograde(name, folder, config)
    except NbGraderException:
        raise Unusable(_reason(folder)) from None
    ran = nbformat.read(folder / "autograded" / course.STUDENT / name / f"{name}.ipynb", as_version=4)
    _setup_ran(ran)
    with Gradebook(f"sqlite:///{folder / 'gradebook.db'}") as gradebook:
        grades = gradebook.find_submission_notebook(name, name, course.STUDENT).grades
        result.points = {grade.name: grade.auto_score for grade in grades}
    for cell in ran.cells:
        if failed := course.errors(cell):
            where = facts(cell).get("grade_id", "")
            late = [e for e in failed if e.ename == "CellTimeoutError"]  # comes after the interrupt that it caused
            result.words.setdefault(where, in_words([*late, *failed][0], job.seconds))
            if late:
                result.flags.append(f"timeout:{where}" if where else "timeout")
    result.flags += [f"tampered:{where}" for where in ran.metadata.get("tampered", [])]
    result.status = BY_HAND if None in result.points.values() else GRADED


def in_words(error, seconds: int) -> str:
    """What a failing cell said."""
    if error.ename == "CellTimeoutError":
        return f"stopped after {seconds} seconds: an endless loop?"
    if error.ename == "AssertionError" and error.evalue:
        return str(error.evalue)
    if error.ename == "NotImplementedError" and not error.evalue:  # torch raises it too, with a sentence
        return "nothing is written yet, or its line `raise NotImplementedError()` is still there"
    return f"{error.ename}: {error.evalue}"


def _setup_ran(notebook) -> None:
    """The locked cells before the answers must have run, or no answer had a chance."""
    for cell in notebook.cells:
        if is_given(cell) and (failed := course.errors(cell)):
            what = (
                "took too long" if failed[0].ename == "CellTimeoutError" else f"{failed[0].ename}: {failed[0].evalue}"
            )
            raise Unusable(f"the setup cell {facts(cell)['grade_id']} did not run: {what}"[:300])


def _reason(folder: Path) -> str:
    """Why nbgrader gave up, from its log."""
    log = (folder / "grade.log").read_text("utf8", errors="replace")
    own = re.findall(rf"^{re.escape(course.__name__)}\.NotRun: (.+)$", log, re.M)
    if own:
        said = (folder / SAID).read_text("utf8", errors="replace")
        box = re.findall(r"^sandbox: the kernel was stopped: (.{1,200})$", said, re.M)
        return own[-1] + (f": {box[-1]}" if box else "")
    last = re.findall(r"^(\w[\w.]*(?:Error|Exception|Entry|Interrupt)\b.*)$", log, re.M)
    return f"nbgrader could not grade it: {last[-1] if last else 'see grade.log'}"[:300]

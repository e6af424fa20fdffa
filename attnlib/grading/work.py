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

from attnlib.course import asserts
from attnlib.grading import assignment, explain, noticed, sandbox
from attnlib.grading.assignment import answers, facts, is_text
from attnlib.grading.box import DOOR
from attnlib.grading.kernel import NotStarted
from attnlib.grading.restore import restored
from attnlib.grading.sitting import Sitting, Spoilt

#: Larger files are no notebooks that a person wrote.
LARGEST = 100_000_000
#: Address space of a process that grades, and of the kernel it starts.
MEMORY = 12 << 30
#: A file that one of them writes.
FILE = 256 << 20
#: Where their words go, and the notebook with its outputs.
SAID, EXECUTED = "said.txt", "executed.ipynb"
GRADED, BY_HAND, NOT_GRADED = "graded", "needs a person", "NOT GRADED"


@dataclass
class Job:
    """What the process needs to know.

    Attributes:
        assignment: Full name.
        prepared: A folder with the release, and the part of the package that it needs.
        folder: A folder for this hand-in alone, not there yet.
        file: The notebook.
        seconds: How long a cell may run.
        boxed: Does the kernel run in the sandbox?
        seed: Which variant.
        inputs: The word of which hidden inputs are drawn.
        others: `{student: seed}` of all, where each has a variant of their own.
    """

    assignment: str
    prepared: str
    folder: str
    file: str
    seconds: int
    boxed: bool
    seed: int = 0
    inputs: str = ""
    others: dict[str, int] = field(default_factory=dict)


@dataclass
class Result:
    """What came out.

    Attributes:
        status: `GRADED`, `BY_HAND` or `NOT_GRADED`.
        points: `{cell id: points}`, None where a person has to grade; empty when not graded.
        words: `{cell id: what it said when it failed}`.
        code: `{answer id: the student's code}`.
        texts: `{written id: the student's text}`.
        flags: Limits that were met, names that are missing, somebody else's variant: `timeout:q1`, `missing:q2`,
            `died:q3`, `variant:q1 as given to Jane Doe`.
        notes: What was mended.
        person: Why a person should look, beside texts that are to be graded.
        shown: `{test id: {"call", "gave", "wanted", "likely"}}`: a call that shows the mistake; empty where unknown.
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
    person: list[str] = field(default_factory=list)
    shown: dict[str, dict[str, str]] = field(default_factory=dict)
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
    except Unusable as error:
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
    for name in ("tmp", "run", "ipython", "config"):
        (runtime / name).mkdir()
    os.environ |= {
        "TMPDIR": str(runtime / "tmp"),
        "JUPYTER_RUNTIME_DIR": str(runtime / "run"),
        "JUPYTER_CONFIG_DIR": str(runtime / "config"),
        "IPYTHONDIR": str(runtime / "ipython"),
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
    source = assignment.read(name, job.seed)
    submission = load(Path(job.file))
    try:
        notebook, result.notes = restored(submission, release)
    except ValueError as error:
        raise Unusable(str(error)) from None
    result.code = answers(notebook)
    result.texts = {facts(c)["grade_id"]: c.source for c in notebook.cells if is_text(c)}

    asserts.word = job.inputs or asserts.word
    door = runtime / "door"
    door.mkdir()
    door.chmod(0o755)
    os.environ["PYTHONPATH"] = str(prepared / "package")
    if job.boxed:
        os.environ |= sandbox.install(runtime / "box", prepared / "package", door)
    progress = folder / "progress.txt"
    address = DOOR if job.boxed else str(door)
    sitting = Sitting(source, notebook, job.seconds, door, address, lambda cell: progress.write_text(cell, "utf8"))
    try:
        sitting.run()
    except (Spoilt, NotStarted) as error:
        raise Unusable(str(error) + _box_said(folder)) from None
    finally:
        sitting.close()
        nbformat.write(notebook, folder / EXECUTED)
    full = assignment.tests(source)
    result.points = {test: most * (test in sitting.passed) for test, most in full.items()}
    for text, places in noticed.stray(notebook, release).items():
        result.texts[text] = "\n\n".join(f"({where}) {words}" for where, words in places)
        result.person.append(f"the cell for the text {text} is empty, and a text stands in cell {places[0][0]}")
    given_out = {facts(c)["grade_id"]: c.source for c in release.cells if is_text(c)}
    for text, words in result.texts.items():
        result.points[text] = 0 if words.strip() in ("", given_out[text].strip()) else None
    result.words, result.flags = sitting.words, sitting.flags
    result.person = [*sitting.person, *result.person]
    result.notes += [note + _box_said(folder) * ("died" in note) for note in sitting.notes]
    result.shown = explain.shown(name, job.seed, source, sitting.outcomes)
    for asked, students in explain.whose(name, source, sitting.outcomes, job.others).items():
        result.flags.append(f"variant:{asked} as given to {' or '.join(students)}")
    result.status = BY_HAND if None in result.points.values() or result.person else GRADED


def _box_said(folder: Path) -> str:
    """Why the box stopped a kernel, if it did."""
    said = (folder / SAID).read_text("utf8", errors="replace")
    box = re.findall(r"^sandbox: the kernel was stopped: (.{1,200})$", said, re.M)
    return f": {box[-1]}" if box else ""

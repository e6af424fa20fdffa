"""Grades a class: every hand-in in a process of its own, several at once, and none can stop another."""

import contextlib
import hashlib
import json
import multiprocessing
import os
import secrets
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path

import psutil
from tqdm import tqdm

from attnlib.course.book import ROOT
from attnlib.grading import assignment, closure, course, sandbox
from attnlib.grading.collect import Handin, collect, tidy
from attnlib.grading.kernel import STARTUP
from attnlib.grading.sitting import SETUP_SECONDS
from attnlib.grading.work import BY_HAND, EXECUTED, GRADED, NOT_GRADED, Job, Result, work

#: A whole hand-in may take as long as so many cells, beside what start and setup may take.
CELLS = 5


@dataclass
class Options:
    """How to grade.

    Attributes:
        jobs: How many hand-ins at once.
        seed: Which variant of the assignment was given out, where all got the same.
        variants: `{student: seed}` where each got another, as `attnlib.grading.variants.read_manifest` reads it.
        inputs: The word of which the inputs of hidden tests are drawn; none: a new one, or that of the course folder.
        boxed: Run students' code in the sandbox where there is one.
        seconds: How long a cell may run.
        wall: How long a hand-in may take.
        folder: The course folder, kept; a temporary one otherwise.
        say: Called with what an instructor should know at once.
    """

    jobs: int = field(default_factory=lambda: os.cpu_count() or 1)
    seed: int = 0
    variants: dict[str, int] | None = None
    inputs: str = ""
    boxed: bool = True
    seconds: int = 60
    wall: int | None = None
    folder: Path | None = None
    say: Callable[[str], None] = print


@dataclass
class Class:
    """A graded class.

    Attributes:
        name: Full name of the assignment.
        source: The notebook with solutions and hidden tests.
        release: The student version.
        handins: Who handed in what.
        results: `{student: Result}`.
        lost: Files that belong to nobody.
        seconds: How long it took.
        inputs: The word of which the inputs of hidden tests were drawn: with it a grading is repeated.
    """

    name: str
    source: object
    release: object
    handins: list[Handin]
    results: dict[str, Result]
    lost: list[str]
    seconds: float
    inputs: str = ""


def grade(name: str, submissions: Path, options: Options | None = None, students: Callable | None = None) -> Class:
    """Grade all hand-ins of one assignment.

    Args:
        name: The assignment, `a04` or `a04_masked_softmax`.
        submissions: A folder, or a zip archive.
        options: How.
        students: Called with the hand-ins before anything runs; it may refuse them.

    Raises:
        ValueError: No such assignment, or nothing to grade; in words.
    """
    options = options or Options()
    start, name = time.monotonic(), assignment.choose(name)
    with contextlib.ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="grade-")))
        folder = scratch / "course"
        if options.folder:
            folder = options.folder.resolve()
        folder.mkdir(parents=True, exist_ok=True)
        (scratch / "unpacked").mkdir()
        handins, lost = collect(submissions, name, scratch / "unpacked")
        if students:
            students(handins)
        boxed = options.boxed
        if boxed and (why := sandbox.unavailable()):
            boxed = False
            options.say(f"Without a sandbox students' code can read and change whatever you can. {why}")
        seeds = _seeds(handins, options)
        releases = {seed: _prepare(name, seed, folder / name / "prepared") for seed in {options.seed, *seeds.values()}}
        inputs = _inputs(options.inputs, folder / name / "inputs.txt")
        runs = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="run-", dir=folder / name)))
        jobs = {}
        for n, h in enumerate(handins):
            if h.file and h.student in seeds:
                seed, prepared = seeds[h.student], folder / name / "prepared" / str(seeds[h.student])
                run = str(runs / f"{n:04d}")
                jobs[h.student] = Job(
                    name, str(prepared), run, str(h.file), options.seconds, boxed, seed, inputs, options.variants or {}
                )
        wall = options.wall or CELLS * options.seconds + STARTUP + SETUP_SECONDS
        kept = folder / name / "students"
        marks = {student: _mark(job) for student, job in jobs.items()}
        done = {student: old for student, mark in marks.items() if (old := _known(kept / student, mark))}
        fresh = {student: job for student, job in jobs.items() if student not in done}
        done |= _all(fresh, max(1, options.jobs), wall)
        if options.folder:
            _keep(kept, fresh, done, marks)
        unknown = "" if options.variants is None else "who this is does not stand in the manifest of variants"
        results = {h.student: done.get(h.student) or Result(why=h.problem or unknown) for h in handins}
        for h in handins:
            results[h.student].notes[:0] = h.notes
        source = assignment.read(name, options.seed)
        return Class(name, source, releases[options.seed], handins, results, lost, time.monotonic() - start, inputs)


def _seeds(handins: list[Handin], options: Options) -> dict[str, int]:
    """`{student: seed}` of all whose variant is known, by the name or the number that the course site has for them."""
    if options.variants is None:
        return {h.student: options.seed for h in handins}
    known = {tidy(student).lower(): seed for student, seed in options.variants.items()}
    found = {h.student: known.get(h.student.lower(), known.get(tidy(h.id).lower())) for h in handins}
    return {student: seed for student, seed in found.items() if seed is not None}


def _prepare(name: str, seed: int, folder: Path):
    """Write the student version of a variant, and what a hand-in may import; return the former."""
    release = course.prepare(name, seed, folder / str(seed))
    closure.write(assignment.read(name, seed), folder / str(seed) / "package")
    return release


def _inputs(given: str, kept: Path) -> str:
    """The word of which hidden inputs are drawn: the same for a class, also when it is graded in several runs."""
    if not given and kept.exists():
        given = kept.read_text("utf8").strip()
    given = given or secrets.token_hex(8)
    kept.write_text(given + "\n", "utf8")
    return given


def _all(jobs: dict[str, Job], at_once: int, wall: int) -> dict[str, Result]:
    """Run all jobs, so many at once; show how far it is."""
    context = multiprocessing.get_context("forkserver" if os.name == "posix" else "spawn")
    if os.name == "posix":  # PyTorch is imported once, and not by each process
        context.set_forkserver_preload(["attnlib.grading.work"])
    stop = threading.Event()
    results: dict[str, Result] = {}
    with ThreadPoolExecutor(at_once) as pool, tqdm(total=len(jobs), desc="grading", unit="hand-in") as bar:

        def one(student: str, job: Job) -> None:
            results[student] = _one(context, job, wall, stop)
            bar.update()

        futures = [pool.submit(one, student, job) for student, job in jobs.items()]
        try:
            for future in futures:
                future.result()
        except BaseException:
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise
    return results


def _one(context, job: Job, wall: int, stop: threading.Event) -> Result:
    """Run one job in a process of its own; end that process, and all it has started, when its time is over."""
    out = Path(f"{job.folder}.json")
    process = context.Process(target=work, args=(job, out))
    start = time.monotonic()
    process.start()
    while process.is_alive() and time.monotonic() < start + wall and not stop.is_set():
        process.join(0.2)
    late = process.is_alive()
    if late:
        _end(process.pid)
        process.join(10)
    if out.exists():
        return Result(**json.loads(out.read_text("utf8")))
    with contextlib.suppress(OSError):
        where = Path(job.folder, "progress.txt").read_text("utf8")
        return Result(why=_ended(late, wall, process.exitcode) + f", in cell {where}", seconds=time.monotonic() - start)
    return Result(why=_ended(late, wall, process.exitcode), seconds=time.monotonic() - start)


def _ended(late: bool, wall: int, code: int | None) -> str:
    return f"killed after {wall} seconds" if late else f"the process that graded it ended with code {code}"


def _end(pid: int) -> None:
    """End a process and all that come from it."""
    with contextlib.suppress(psutil.Error):
        process = psutil.Process(pid)
        family = [*process.children(recursive=True), process]
        for member in family:
            with contextlib.suppress(psutil.Error):
                member.kill()
        psutil.wait_procs(family, timeout=5)


def _mark(job: Job) -> str:
    """What a result depends on: the hand-in, the assignment, the grader, and the package that the hand-in imports."""
    name, prepared = job.assignment, Path(job.prepared)
    files = [Path(job.file), *(prepared / step / name / f"{name}.ipynb" for step in ("source", "release"))]
    files += sorted(Path(__file__).parent.glob("*.py")) + sorted((ROOT / "attnlib").rglob("*.py"))
    digest = hashlib.sha256(f"{job.seconds} {job.boxed} {job.seed} {job.inputs} {sorted(job.others.items())}".encode())
    for file in files:
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def _known(folder: Path, mark: str) -> Result | None:
    """The result of an earlier run of the same; what failed, or took too long, is tried again."""
    try:
        kept = json.loads((folder / "result.json").read_text("utf8"))
        result = Result(**kept["result"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    slow = result.status == NOT_GRADED or any(flag.startswith("timeout") for flag in result.flags)
    return None if slow or kept["mark"] != mark else result


def _keep(folder: Path, jobs: dict[str, Job], results: dict[str, Result], marks: dict[str, str]) -> None:
    """What was executed, with its outputs: for a person who asks why, and for the next run."""
    for student, job in jobs.items():
        to = folder / student
        to.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"mark": marks[student], "result": asdict(results[student])}, indent=1)
        (to / "result.json").write_text(text, "utf8")
        ran = Path(job.folder, EXECUTED)
        (to / EXECUTED).unlink(missing_ok=True)
        if ran.exists():
            (to / EXECUTED).write_bytes(ran.read_bytes())


__all__ = ["BY_HAND", "GRADED", "NOT_GRADED", "Class", "Options", "grade"]

"""A class in which nearly everybody attacks the grader: it ends, honest points are right, nothing leaks or breaks."""

import contextlib
import csv
import ctypes
import os
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import psutil
import pytest

from attnlib.grading import assignment, sandbox
from attnlib.grading.answers import answers_to
from attnlib.grading.release import bare, leaks, page_leaks, secret_lines, student_version
from tests.grading.honest import HONEST
from tests.grading.hostile import ALL, ASSIGNMENT, GRADED, HOSTILE, NONE, NOT_GRADED, answering
from tests.grading.liars import LIARS

pytestmark = [pytest.mark.sandbox, pytest.mark.thorough]  # a class of sixty takes two minutes of two cores

ROOT = Path(__file__).resolve().parents[2]
NAME = assignment.choose(ASSIGNMENT)
SOURCE = assignment.read(ASSIGNMENT)
TESTS = assignment.tests(SOURCE)
Q1 = [test for test in TESTS if test.startswith("q1_")]
#: Two honest students among them: everything of question 1, and a known mistake.
MISTAKE = answers_to(ASSIGNMENT)["q1_mask_after"]


def snapshot(*folders):
    """What every file is like; names of folders too. Of the repository what git knows: other tests run beside."""
    known = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    paths = [ROOT / name for name in known.split("\0") if name and (ROOT / name).exists()]
    found = {}
    for path in paths + [path for folder in folders for path in folder.rglob("*")]:
        facts = path.lstat()
        found[path] = (facts.st_size, facts.st_mtime_ns, facts.st_mode) if path.is_file() else facts.st_mode
    return found


def children():
    """All processes that come from this one and have not ended."""
    return {p for p in psutil.Process().children(recursive=True) if p.status() != psutil.STATUS_ZOMBIE}


class Batch:
    """The class, graded once by the real command."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.outside, self.handins, temporary = folder / "outside", folder / "handins", folder / "tmp"
        for path in (self.outside, self.handins, temporary):
            path.mkdir()
        (self.outside / "gradebook.db").write_text("of last year")
        release = nbformat.reads(student_version(NAME), as_version=4)
        makers = {name: (hostile.make, hostile.file) for name, hostile in HOSTILE.items()}
        makers |= {f"honest_{name}": (answering(None, *cells), "") for name, cells in HONEST.items()}
        makers["mistaken"] = answering(MISTAKE.cells["q1"]), ""
        for name, (make, file) in makers.items():
            data = make(release)
            for mark, path in {
                b"@REPOSITORY@": ROOT,
                b"@COURSE@": folder / "course",
                b"@HANDINS@": self.handins,
                b"@OUTSIDE@": self.outside,
            }.items():
                data = data.replace(mark, str(path).encode())
            (self.handins / name).mkdir()
            (self.handins / name / (file or f"{NAME}.ipynb")).write_bytes(data)
        before, others = snapshot(self.outside, self.handins), children()
        command = [sys.executable, "-m", "attnlib.grading", "grade", ASSIGNMENT, str(self.handins)]
        command += ["--out", str(folder / "grades.csv"), "--feedback", str(folder / "feedback")]
        command += ["--course", str(folder / "course"), "--seconds-per-cell", "20", "--jobs", "5"]
        start = time.monotonic()
        environment = {**os.environ, "TMPDIR": str(temporary), "TQDM_DISABLE": "1"}
        self.done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=3600)
        self.seconds = time.monotonic() - start
        self.changed = {p for p, facts in snapshot(self.outside, self.handins).items() if before.get(p) != facts}
        self.changed |= {p for p in before if not p.exists()}
        self.left = list(temporary.iterdir())
        # the server that has started the graders ends by itself a moment after the command
        _, alive = psutil.wait_procs(children() - others, timeout=60)
        self.orphans = [" ".join(p.cmdline()) for p in alive]
        with contextlib.suppress(FileNotFoundError), (folder / "grades.csv").open(encoding="utf8") as file:
            self.rows = {row["student"]: row for row in csv.DictReader(file)}

    def points(self, name):
        """`{test: points}`, None where the cell of the table is empty."""
        return {test: float(v) if (v := self.rows[name][f"{test}/{TESTS[test]}"]) else None for test in TESTS}

    def flags(self, name):
        """What is flagged, without the cells."""
        return {flag.split(":")[0] for flag in self.rows[name]["flags"].split()}


@pytest.fixture(scope="module")
def batch(tmp_path_factory):
    if why := sandbox.unavailable():
        pytest.fail(why)
    # whatever is left of the batch becomes a child of this process, and is found
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
    try:
        yield Batch(tmp_path_factory.mktemp("class"))
    finally:
        ctypes.CDLL(None).prctl(36, 0, 0, 0, 0)


def test_the_batch_ends_and_everybody_is_in_it(batch):
    assert batch.done.returncode == 1, batch.done.stderr[-2000:]
    assert set(batch.rows) == {*HOSTILE, *(f"honest_{name}" for name in HONEST), "mistaken"}
    print(f"{len(batch.rows)} hand-ins in {batch.seconds:.0f} s")


def test_who_makes_a_known_mistake_loses_what_it_costs(batch):
    points = {t: TESTS[t] - MISTAKE.lost.get(t, 0) if t.startswith(("q1", "q2")) else 0 for t in TESTS}
    assert batch.points("mistaken") == points and batch.rows["mistaken"]["flags"] == ""


@pytest.mark.parametrize("name", HONEST)
def test_who_is_honest_gets_all_points_and_is_not_noted(batch, name):
    row = batch.rows[f"honest_{name}"]
    assert batch.points(f"honest_{name}") == {t: TESTS[t] * t.startswith(("q1", "q2")) for t in TESTS}, row
    assert (row["status"], row["flags"], row["why"]) == (GRADED, "", "")


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_one_gets_its_status_and_what_its_honest_parts_earn(batch, name):
    hostile, row, got = HOSTILE[name], batch.rows[name], batch.points(name)
    assert row["status"] == hostile.status, row
    assert hostile.words in row["why"], row
    if row["status"] == NOT_GRADED:
        assert set(got.values()) == {None} and not row["total"], "who is not graded has no points, not even 0"
        assert row["why"]
        return
    assert all(got[test] == 0 for test in TESTS if test.startswith("q3"))
    for question, how_much in {"q1": hostile.points, "q2": hostile.others}.items():
        of_question = {test: points for test, points in got.items() if test.startswith(question)}
        full = {test: TESTS[test] for test in of_question}
        if how_much in (ALL, NONE):
            assert of_question == (full if how_much == ALL else dict.fromkeys(full, 0)), row
    assert set(hostile.flags.split()) <= batch.flags(name), row


def test_nothing_hidden_is_shown_to_students(batch):
    lines = secret_lines(SOURCE)
    table = (batch.folder / "grades.csv").read_text("utf8")
    assert not leaks(table, lines)
    pages = list((batch.folder / "feedback").rglob("*.html"))
    assert len(pages) == len(batch.rows)
    for path in pages:
        text = path.read_text("utf8")
        own = bare(
            "".join(f.read_bytes().decode("utf8", "replace") for f in (batch.handins / path.parent.name).iterdir())
        )
        own = own.replace('\\"', '"')
        assert not [line for line in page_leaks(text, lines) if bare(line) not in own], path
        assert "<script" not in text, path


@pytest.mark.parametrize("name,words", [("looks", "no /etc/shadow"), ("escapes", "no mount")])
def test_nothing_was_read_or_written_that_should_not(batch, name, words):
    executed = nbformat.read(batch.folder / f"course/{NAME}/students/{name}/executed.ipynb", as_version=4)
    said = "".join(o.get("text", "") for c in executed.cells for o in c.get("outputs", []))
    assert words in said, "the attack has not run"
    assert not [line for line in said.splitlines() if line.startswith(("READ", "WROTE", "ESCAPED"))]


@pytest.mark.parametrize("name", ["peeps", "whispers"])
def test_who_looks_for_tests_finds_none(batch, name):
    executed = (batch.folder / f"course/{NAME}/students/{name}/result.json").read_text("utf8")
    executed += (batch.folder / f"course/{NAME}/students/{name}/executed.ipynb").read_text("utf8")
    executed = executed.replace("\\n", "\n").replace('\\"', '"')
    hidden = secret_lines(SOURCE, answers=False)
    assert not leaks(executed, hidden) and not leaks(executed[::-1], hidden)


def test_nothing_outside_has_changed_and_nothing_is_left(batch):
    assert batch.changed == set()
    assert batch.left == []
    assert batch.orphans == []
    assert sorted(p.name for p in batch.folder.iterdir()) == [
        "course",
        "feedback",
        "grades.csv",
        "handins",
        "outside",
        "tmp",
    ]


def test_the_report_says_who_was_not_graded_and_why(batch):
    for name in HOSTILE:
        if batch.rows[name]["status"] == NOT_GRADED:
            assert name in batch.done.stdout


def test_there_are_enough_attacks():
    assert len(HOSTILE) + len(LIARS) >= 100 and len(HONEST) >= 6

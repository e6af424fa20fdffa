"""Every command on the page *Grade a class* is run, in a copy of the course, in the order of the page."""

import csv
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import nbformat
import pytest

from attnlib.grading import assignment, release

pytestmark = pytest.mark.thorough  # a class is graded twice, and answers are proved three times

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "book" / "grading.md").read_text("utf8")
COMMANDS = re.findall(r"^```sh\n(.*?)^```", PAGE, re.M | re.S)


def run(command: str, folder: Path) -> subprocess.CompletedProcess:
    """Run what the page says. The environment of the tests is not installed anew, only asked whether it could be."""
    command = command.replace(
        "pip install -e", "pip install --dry-run --quiet --no-index --no-deps --no-build-isolation -e"
    )
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(folder), "OMP_NUM_THREADS": "1", "TQDM_DISABLE": "1"}
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    """A clone of what is here, with a class that has handed in."""
    folder = tmp_path_factory.mktemp("page") / "course"
    files = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    for name in files:
        if ((ROOT / name).exists() and not name.startswith("book/")) or name.startswith("book/exercises/"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)
    git = ["git", "-c", "user.name=A teacher", "-c", "user.email=teacher@example.org"]
    for command in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "The course"]):
        subprocess.run([*git, *command], cwd=folder, check=True)
    name = assignment.choose("a04")
    source, handout = assignment.read(name), release.student_version(name)
    texts = dict.fromkeys(assignment.written(source), "Too negative is not negative enough.")
    model = assignment.filled(nbformat.reads(handout, as_version=4), assignment.model(source) | texts)
    with zipfile.ZipFile(folder / "submissions.zip", "w") as archive:
        archive.writestr(f"doe_jane_12345_678901_{name}-1.ipynb", nbformat.writes(model))
        archive.writestr(f"roe_rob_LATE_12346_678902_{name}.ipynb", handout)
    return folder


def test_every_command_of_the_page_runs(course):
    full, text = assignment.tests(assignment.read("a04")), assignment.written(assignment.read("a04"))
    assert len(COMMANDS) >= 7
    for command in COMMANDS:
        if "--written" in command:  # a person has read the texts
            filled = (course / "texts" / "written.csv").read_text("utf8").splitlines()
            head, rows = filled[0].split(","), list(csv.DictReader(filled))
            assert [row["student"] for row in rows] == ["doe_jane"]  # the other one has written nothing
            rows[0][next(iter(text))] = "2.5"
            with open(course / "texts" / "written.csv", "w", newline="", encoding="utf8") as file:
                writer = csv.DictWriter(file, head)
                writer.writeheader()
                writer.writerows(rows)
        result = run(command, course)
        assert result.returncode == 0, f"{command}\n{result.stdout[-2000:]}\n{result.stderr[-3000:]}"
    with open(course / "grades.csv", newline="", encoding="utf8") as file:
        grades = {row["student"]: row for row in csv.DictReader(file)}
    assert {row["status"] for row in grades.values()} == {"graded"}
    totals = sorted(float(row["total"]) for row in grades.values())
    assert totals == [0, sum(full.values()) + 2.5]
    pages = sorted((course / "feedback").rglob("*.html"))
    assert len(pages) == 2
    secret = release.secret_lines(assignment.read("a04"), answers=False)
    assert [release.page_leaks(p.read_text("utf8"), secret) for p in pages] == [[], []]


def test_the_columns_of_the_page_are_those_of_the_table(course):
    with open(course / "grades.csv", newline="", encoding="utf8") as file:
        head = next(csv.reader(file))
    for column in re.findall(r"^\| (`.*?) \| ", PAGE.split("| column | says |")[1].split("\n\n")[0], re.M):
        for name in re.findall(r"`([^`]+)`", column):
            assert name in head, (name, head)


def test_a_published_copy_holds_no_sources(course):
    names = {p.relative_to(course.parent / "student").as_posix() for p in (course.parent / "student").rglob("*")}
    assert "book/exercises/a04_masked_softmax.ipynb" in names
    assert not [n for n in names if re.match(r"assignments\b", n)]
    assert (course.parent / "assignments" / "source" / f"{assignment.choose('a04')}.md").exists()

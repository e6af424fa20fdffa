"""A class is graded once, through the command that an instructor types; all points, words and pages are compared."""

import csv
import html
import json
import os
import shutil
import zipfile
from types import SimpleNamespace

import nbformat
import psutil
import pytest

from attnlib.grading import __main__ as command
from attnlib.grading import assignment, feedback, grade, release, report, restore, work
from attnlib.grading.answers import answers_to
from attnlib.grading.desk import kept
from tests.grading.handins import NAME, TEXT, given_out, handin, run, source, zipped

ANSWERS = answers_to(NAME)
#: Known answers that end by themselves: wrong ones, and one that is right and looks different.
QUICK = [key for key, answer in ANSWERS.items() if "while" not in str(answer.cells)]
WRONG = ["q1_mask_after", next(key for key in QUICK if ANSWERS[key].lost and key.startswith("q2"))]
RIGHT = next(key for key in QUICK if not ANSWERS[key].lost)

WARNS = """
import warnings
def masked_softmax(scores, mask):
    warnings.warn("slow & <careful>")
    mask = mask.expand_as(scores)  # True = hidden
    blank = mask.all(-1, keepdim=True)
    scores = scores.masked_fill(mask & ~blank, -torch.inf).masked_fill(blank, 0)
    return scores.softmax(-1).masked_fill(mask, 0)
"""
RENAMED = "def maskedSoftmax(scores, mask):\n    return scores"
ELSEWHERE = "The fill leaks where the visible scores come near it, since only the difference counts."
#: What a cell may take: honest ones need a tenth of one, also where much else runs; one hand-in waits for all of them.
SECONDS = 15


def table(path):
    with path.open(encoding="utf8", newline="") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


@pytest.fixture(scope="session")
def graded(tmp_path_factory):
    """A zip from a course site, graded."""
    folder = tmp_path_factory.mktemp("grading")
    file = f"{NAME}.ipynb"
    archive = folder / "submissions.zip"
    files = {
        f"warns_11_110_{file}": handin({}, "older"),
        f"warns_11_111_{NAME}-1.ipynb": handin({"q1": WARNS}),
        f"untouched_12_120_{file}": release.student_version(NAME),
        f"renames_40_400_{file}": handin({"q1": RENAMED}),
        f"lacks_41_410_{file}": handin({"q1": "import einops_of_nobody\n" + RENAMED}),
        f"strays_42_420_{file}": handin({}, "YOUR ANSWER HERE", above=f"# {ELSEWHERE * 2}"),
        f"sleeps_19_190_{file}": handin({"q1": "import time\ntime.sleep(1000)"}),
        f"spoils_30_300_{file}": handin({}, above="import sys\nsys.modules['torch'] = None"),
        f"dies_15_150_{file}": handin({"q1": "import os\nos._exit(3)"}),
        f"half_16_160_{file}": handin({})[:3000],
        "essay_17_170_essay.pdf": b"%PDF-1.4",
        f"{RIGHT}_LATE_18_180_work.zip": zipped({f"my work/{file}": handin(ANSWERS[RIGHT].cells)}),
        **{f"{key}_2{n}_200_{file}": handin(ANSWERS[key].cells) for n, key in enumerate(WRONG)},
        "notes.txt": "whose is this?",
        "__MACOSX/._notes.txt": "nobody's",
    }
    archive.write_bytes(zipped(files))
    scratch = folder / "tmp"
    scratch.mkdir()
    options = ["--jobs", 2, "--seconds-per-cell", SECONDS, "--course", folder / "course", "--texts", folder / "texts"]
    options += ["--out", folder / "grades.csv", "--feedback", folder / "feedback"]
    done = run("grade", "a04", archive, *options, TMPDIR=str(scratch))
    assert (folder / "grades.csv").exists(), done.stderr
    pages = {path.parent.name: path.read_text("utf8") for path in (folder / "feedback").glob(f"*/{NAME}.html")}
    return SimpleNamespace(
        folder=folder, archive=archive, done=done, rows=table(folder / "grades.csv"), pages=pages, scratch=scratch
    )


FULL = assignment.tests(assignment.read(NAME))
OF_Q1 = [test for test in FULL if assignment.question(test) == "q1"]


def given(row):
    """`{test: points}` as the CSV file has them."""
    return {test: row[f"{test}/{most}"] for test, most in FULL.items()}


def expected(lost):
    return {test: f"{most - lost.get(test, 0):g}" for test, most in FULL.items()}


@pytest.mark.parametrize("key", [*WRONG, RIGHT])
def test_a_known_answer_gets_its_points_in_the_real_thing(graded, key):
    row = graded.rows[key]
    assert given(row) == expected(ANSWERS[key].lost), row
    assert row["status"] == "needs a person" and row["why"] == "" and row["flags"] == ""
    sum_ = sum(FULL.values()) - sum(ANSWERS[key].lost.values())
    assert float(row["total"]) == sum_
    assert float(row["out of"]) == sum(FULL.values()) + sum(assignment.written(source()).values())
    ran = nbformat.read(graded.folder / "course" / NAME / "students" / key / "executed.ipynb", as_version=4)
    last = max(n for n, cell in enumerate(ran.cells) if assignment.is_test(cell))
    assert any(assignment.is_given(cell) for cell in ran.cells[last:])
    assert not any(cell.get("outputs") for cell in ran.cells[last:]), "what is below the last test is not run"


def test_columns(graded):
    header = list(graded.rows["untouched"])
    q1 = sum(FULL[test] for test in OF_Q1)
    assert header[: 2 + len(OF_Q1)] == ["student", f"q1/{q1}", *[f"{test}/{FULL[test]}" for test in OF_Q1]]
    assert header[-6:] == ["total", "out of", "status", "flags", "why", "id"]
    assert {f"{name}/{most}" for name, most in assignment.written(source()).items()} <= set(header)
    assert len(set(header)) == len(header)


def test_who_writes_nothing_is_graded_and_gets_nothing(graded):
    row = graded.rows["untouched"]
    assert row["status"] == "graded" and row["total"] == "0"
    assert given(row) == expected(FULL)


def test_a_warning_costs_nothing_and_the_latest_file_counts(graded):
    row = graded.rows["warns"]
    assert given(row) == expected({}) and row["id"] == "11"
    assert row["why"] == f"several notebooks: graded is {NAME}-1.ipynb, not {NAME}.ipynb"


def test_a_function_renamed_and_a_package_that_is_missing_are_no_silent_zero(graded):
    row = graded.rows["renames"]
    assert given(row) == expected({test: FULL[test] for test in OF_Q1})
    assert row["status"] == "needs a person" and "missing:q1_axis" in row["flags"].split()
    words = "there is no `masked_softmax`; `maskedSoftmax` in cell q1 has its parameters: was it renamed?"
    assert words in row["why"] and words in graded.pages["renames"]
    assert f"needs a person renames: {words}" in graded.done.stdout
    words = "cell q1 imports einops_of_nobody, which the grader does not have"
    assert words in graded.rows["lacks"]["why"] and words in graded.pages["lacks"]


def test_a_text_in_another_cell_reaches_a_person(graded):
    row = graded.rows["strays"]
    [(question, most)] = assignment.written(source()).items()
    assert row["status"] == "needs a person" and row[f"{question}/{most}"] == ""
    assert f"the cell for the text {question} is empty, and a text stands in cell number 1" in row["why"]
    assert ELSEWHERE in (graded.folder / "texts" / "texts.html").read_text("utf8")


def test_a_page_shows_the_call_and_the_mistake(graded):
    answer = ANSWERS["q1_mask_after"]
    page = html.unescape(graded.pages["q1_mask_after"])
    assert "masked_softmax(scores = tensor(" in page and "your function gives: tensor(" in page
    assert f"Most likely:</strong> {answer.why}" in page
    assert "Most likely" not in graded.pages["renames"] + graded.pages["untouched"]


def test_a_cell_that_takes_too_long_costs_its_own_question(graded):
    row = graded.rows["sleeps"]
    assert given(row) == expected({test: FULL[test] for test in OF_Q1})
    assert row["flags"] == "timeout:q1" and row["status"] == "needs a person"
    assert f"Your cell <code>q1</code> did not run: stopped after {SECONDS} seconds" in graded.pages["sleeps"]


def test_who_kills_the_kernel_keeps_what_others_answers_earn(graded):
    row = graded.rows["dies"]
    assert given(row) == expected({test: FULL[test] for test in OF_Q1})
    assert row["flags"] == "died:q1" and "the kernel died in cell q1; what follows ran in a new one" in row["why"]


@pytest.mark.parametrize(
    "student,words",
    [
        ("spoils", "the setup cell cell_02 did not run: ModuleNotFoundError"),
        ("half", "not a notebook, or only part of one"),
        ("essay", "no notebook (.ipynb) among: essay.pdf"),
    ],
)
def test_what_cannot_be_graded_gets_no_points_and_a_reason(graded, student, words):
    row = graded.rows[student]
    assert row["status"] == "NOT GRADED" and row["why"].startswith(words)
    assert {value for column, value in row.items() if "/" in column or column == "total"} == {""}
    assert f"NOT GRADED {student}: {words}" in graded.done.stdout
    assert "could not be graded" in graded.pages[student] and "points.</strong>" not in graded.pages[student]


def test_what_is_said_at_the_end(graded):
    assert graded.done.returncode == 1
    first, *others = graded.done.stdout.strip().splitlines()
    n = len(graded.rows)
    assert first.startswith(f"{n} hand-ins in ") and first.endswith(
        f"1 graded, {n - 4} that need a person, 3 NOT GRADED."
    )
    assert "belongs to nobody: notes.txt: whose is it? Put it into a folder with the student's name." in others
    assert "look at sleeps: timeout:q1" in others
    word = (graded.folder / "course" / NAME / "inputs.txt").read_text("utf8").strip()
    assert f"Inputs of hidden tests were drawn anew; --inputs {word} repeats this grading." in others


def test_every_student_has_a_page_that_says_what_was_lost(graded):
    assert set(graded.pages) == set(graded.rows)
    page = html.unescape(graded.pages[WRONG[0]])
    for test in ANSWERS[WRONG[0]].lost:
        assert f"<td>{test}</td><td>0 of {FULL[test]}</td><td>" in page
        assert f"<td>{test}</td><td>0 of {FULL[test]}</td><td></td>" not in page
    code = ANSWERS[WRONG[0]].cells
    assert all(source in page for source in code.values())
    assert html.escape(TEXT) in graded.pages[WRONG[0]] and TEXT not in graded.pages[WRONG[0]]
    assert "nothing is written yet" in graded.pages["untouched"]


def test_pages_show_no_hidden_test(graded):
    hidden = release.secret_lines(source(), answers=False)
    assert len(hidden) > 5
    for student, page in graded.pages.items():
        assert release.page_leaks(page, hidden) == [], student
        assert "BEGIN HIDDEN" not in page and "<script" not in page
    for path in (graded.folder / "course" / NAME / "students").rglob("*"):
        if path.is_file():
            text = path.read_text("utf8").replace("\\n", "\n").replace('\\"', '"')
            assert not release.leaks(text, hidden), path


def test_nothing_else_is_written(graded):
    assert list(graded.scratch.iterdir()) == []
    assert {path.name for path in graded.folder.iterdir()} == {
        *("submissions.zip", "grades.csv", "feedback", "course", "texts", "tmp")
    }
    assert {path.name for path in (graded.folder / "course" / NAME).iterdir()} == {
        *("prepared", "students", "class.json", "inputs.txt")
    }


def test_the_class_is_kept_for_the_desk(graded, tmp_path):
    kept_ = kept.load(NAME, graded.folder / "course")
    assert {student: result.status for student, result in kept_.results.items()} == {
        student: row["status"] for student, row in graded.rows.items()
    }
    assert {handin.student: handin.id for handin in kept_.handins} == {s: row["id"] for s, row in graded.rows.items()}
    report.write_csv(kept_, tmp_path / "again.csv")
    assert table(tmp_path / "again.csv") == graded.rows


def test_points_for_texts_are_added_and_the_rest_stays(graded, tmp_path):
    [(question, most)] = assignment.written(source()).items()
    sheet = graded.folder / "texts" / "written.csv"
    lines = sheet.read_text("utf8").splitlines()
    waiting = [student for student, row in graded.rows.items() if row["status"] == "needs a person"]
    assert lines == [f"student,{question},comment", *[f"{student},," for student in waiting]]
    texts = (graded.folder / "texts" / "texts.html").read_text("utf8")
    assert texts.count(html.escape(TEXT)) == len(waiting) - 1  # one wrote something else, and elsewhere
    written = tmp_path / "written.csv"
    key = WRONG[0]
    written.write_text(f"\ufeffstudent;{question}/{most};comment\n{key};1,5;Say <why>.\n11;{most};\n", "utf8")
    some = tmp_path / "some.zip"  # three of them, whose results are known: nothing is run again
    with zipfile.ZipFile(graded.archive) as archive:
        names = [name for name in archive.namelist() if name.startswith(("warns_", "untouched_", f"{key}_"))]
        some.write_bytes(zipped({name: archive.read(name) for name in names}))
    course = tmp_path / "course"  # what is kept of the class becomes that of the three
    shutil.copytree(graded.folder / "course", course)
    options = ["--seconds-per-cell", SECONDS, "--course", course, "--feedback", tmp_path / "feedback"]
    options += ["--written", written]
    kept = course / NAME / "students" / key / "result.json"
    before = kept.stat().st_mtime_ns
    assert command.main(["grade", NAME, *map(str, [some, "--out", tmp_path / "grades.csv", *options])]) == 0
    rows = table(tmp_path / "grades.csv")
    assert set(rows) == {"warns", "untouched", key}
    assert kept.stat().st_mtime_ns == before
    changed = {f"{question}/{most}", "total", "status"}
    for student, row in rows.items():
        before = graded.rows[student]
        differs = {column for column in row if row[column] != before[column]}
        assert differs == (changed if student in (key, "warns") else set()), student
    assert rows[key]["status"] == "graded" and rows[key][f"{question}/{most}"] == "1.5"
    assert float(rows[key]["total"]) == float(graded.rows[key]["total"]) + 1.5
    assert "Say &lt;why&gt;." in (tmp_path / "feedback" / key / f"{NAME}.html").read_text("utf8")


def test_a_hand_in_that_never_ends_is_killed_with_all_it_has_started(tmp_path):
    long = f"4321.{os.getpid()}"  # seconds that no other run sleeps
    endless = f"import subprocess, time\nsubprocess.Popen(['sleep', '{long}'])\ntime.sleep({long})"
    folder = tmp_path / "in" / "endless"
    folder.mkdir(parents=True)
    nbformat.write(assignment.filled(given_out(), {}, above=endless), folder / "a.ipynb")
    for wall in (4, 8, 16, 32, 64, 128):  # a busy machine takes long to reach the first cell
        options = grade.Options(jobs=1, wall=wall, boxed=False, say=lambda words: None)  # a box ends what is in it
        result = grade.grade("a04", tmp_path / "in", options).results["endless"]
        assert (result.status, result.points) == ("NOT GRADED", {})
        if "in cell" in result.why:
            break
    assert result.why == f"killed after {wall} seconds, in cell number 1"
    assert not [p for p in psutil.process_iter(["cmdline"]) if long in (p.info["cmdline"] or [])]


# --- files that are no notebooks ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "content,words",
    [
        (b"", "empty"),
        (b"\x89PNG\r\n\x1a\n\xff", "this is not text"),
        (b'{"cells": [', "only part of one"),
        (b"[1, 2]", "it has no cells"),
        (b'{"cells": [{"cell_type": "code", "source": 3}], "nbformat": 4, "nbformat_minor": 5}', "not a notebook"),
        (b"[" * 100_000, "not a notebook"),
    ],
)
def test_what_is_no_notebook_is_called_so(tmp_path, content, words):
    (tmp_path / "x.ipynb").write_bytes(content)
    with pytest.raises(work.Unusable, match=words):
        work.load(tmp_path / "x.ipynb")


def test_old_formats_and_byte_order_marks_are_read(tmp_path):
    old = {"nbformat": 3, "nbformat_minor": 0, "metadata": {}}
    old["worksheets"] = [{"cells": [{"cell_type": "code", "input": "1 + 1", "language": "python", "outputs": []}]}]
    (tmp_path / "x.ipynb").write_text("\ufeff" + json.dumps(old), "utf8")
    assert [cell.source for cell in work.load(tmp_path / "x.ipynb").cells] == ["1 + 1"]


# --- messages ----------------------------------------------------------------------------------------


def test_words_stand_in_one_line_that_has_an_end():
    assert feedback.line("one\ntwo \x1b[31m") == "one two [31m"
    assert len(feedback.line("long " * 1000)) == feedback.LONGEST


# --- points that a person gives ----------------------------------------------------------------------

[(Q, MOST)] = assignment.written(assignment.read(NAME)).items()


@pytest.mark.parametrize(
    "text,words",
    [
        (f"student,{Q}\nzoe,1\n", "nobody called 'zoe' has handed in"),
        (f"student,{Q}\nann,{MOST + 1}\n", f"there are 0 to {MOST}"),
        (f"student,{Q}\nann,-1\n", f"there are 0 to {MOST}"),
        (f"student,{Q}\nann,nan\n", f"there are 0 to {MOST}"),
        (f"student,{Q}\nann,good\n", "'good' is no number"),
        (f"student,{Q}\nann,1\n7,1\n", "has points already"),
        ("student,q99\nann,1\n", "q99"),
        ("student\nann\n", "there is no column"),
        ("", "there is no column"),
    ],
)
def test_points_that_cannot_be_are_refused(tmp_path, text, words):
    (tmp_path / "written.csv").write_text(text, "utf8")
    with pytest.raises(ValueError, match=words):
        report.read_written(tmp_path / "written.csv", source(), {"ann": "7"})


def test_a_class_that_got_another_variant_is_noticed():
    other = nbformat.reads(release.student_version(NAME, 1), as_version=4)
    notes = restore.restored(given_out(), other)[1]
    everybody = {"a": work.Result(notes=notes), "b": work.Result(notes=notes), "c": work.Result()}
    graded = SimpleNamespace(name=NAME, results=everybody, seconds=1, lost=[], inputs="")
    assert f"2 of 3 hand-ins came with test cells that are not those of {NAME}" in report.spoken(graded)
    graded.results["b"] = work.Result()
    assert "came with test cells" not in report.spoken(graded)


def test_names_are_no_formulas():
    assert report.plain('=HYPERLINK("x")\n') == '\'=HYPERLINK("x")'
    assert report.plain("doe\x1b[2J jane") == "doe [2J jane"


# --- the command -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments,words",
    [
        (["grade", "a99", "x", "--out", "y.csv"], "There is no assignment 'a99'"),
        (["grade", "a04", "nowhere", "--out", "y.csv"], "There is no nowhere"),
        (["release", "a04", "--seed", "3"], "add --to FOLDER"),
    ],
)
def test_wrong_use_is_answered_in_words(capsys, arguments, words):
    assert command.main(arguments) == 2
    assert words in capsys.readouterr().err


def test_release_and_prove(capsys, tmp_path, monkeypatch):
    assert command.main(["release", "a04", "--seed", "2", "--to", str(tmp_path)]) == 0
    assert (tmp_path / f"{NAME}.ipynb").exists()
    known = {WRONG[0]: ANSWERS[WRONG[0]], RIGHT: ANSWERS[RIGHT]}
    monkeypatch.setattr("attnlib.grading.answers.answers_to", lambda name, seed: known)
    assert command.main(["prove", "a04"]) == 0
    assert "4 of 4 answers" in capsys.readouterr().out
    known[RIGHT] = ANSWERS[WRONG[0]].__class__("said to be right", ANSWERS[WRONG[0]].cells)
    assert command.main(["prove", "a04"]) == 1
    assert f"{RIGHT}: loses" in capsys.readouterr().out

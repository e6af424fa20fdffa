"""A class is graded once, through the command that an instructor types; all points, words and pages are compared."""

import csv
import html
import json
import os
import zipfile
from types import SimpleNamespace

import nbformat
import psutil
import pytest

from attnlib.grading import __main__ as command
from attnlib.grading import assignment, course, feedback, grade, release, report, restore, work
from attnlib.grading.answers import answers_to
from attnlib.grading.desk import kept
from tests.grading.handins import NAME, TEXT, given_out, handin, run, source, zipped

ANSWERS = answers_to(NAME)
#: Known answers that end by themselves: wrong ones, and one that is right and looks different.
QUICK = [key for key, answer in ANSWERS.items() if "while" not in str(answer.cells)]
WRONG = [key for key in QUICK if ANSWERS[key].lost][:2]
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
#: Displays a number, which nbgrader takes for points; prints and quotes the test cell that has called it.
CHEATS = """
import linecache, sys
def masked_softmax(scores, mask):
    cell = "".join(linecache.getlines(sys._getframe(1).f_code.co_filename))
    print(cell)
    sys.displayhook(1)
    raise RuntimeError("HISTORY:" + In[-1].strip()[:20] + ":" + cell)
"""
#: Drops all asserts of later cells.
TAMPERS = """
import ast
class Drop(ast.NodeTransformer):
    def visit_Assert(self, node):
        return ast.copy_location(ast.Pass(), node)
get_ipython().ast_transformers.append(Drop())
def masked_softmax(scores, mask):
    return torch.zeros_like(scores)
"""
#: What a cell may take: honest ones need a tenth of one, and one hand-in waits for all of them.
SECONDS = 6


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
        f"cheats_13_130_Copy of {NAME} (1).ipynb": handin({"q1": CHEATS}),
        f"tampers_14_140_{file}": handin({"q1": TAMPERS}),
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


def test_a_displayed_number_is_no_point(graded):
    row = graded.rows["cheats"]
    assert given(row) == expected({test: FULL[test] for test in OF_Q1})
    assert "frames:q1" in row["flags"].split() and "history:q1" in row["flags"].split()


def test_a_cell_that_takes_too_long_costs_its_own_question(graded):
    row = graded.rows["sleeps"]
    assert given(row) == expected({test: FULL[test] for test in OF_Q1})
    assert row["flags"] == "timeout:q1" and row["status"] == "needs a person"
    assert f"Your cell <code>q1</code> did not run: stopped after {SECONDS} seconds" in graded.pages["sleeps"]


def test_a_kernel_that_was_taught_not_to_fail_is_noticed(graded):
    flags = graded.rows["tampers"]["flags"].split()
    assert any(flag.startswith("tampered:q1") for flag in flags), flags
    assert not any("tampered" in row["flags"] for student, row in graded.rows.items() if student != "tampers")


@pytest.mark.parametrize(
    "student,words",
    [
        ("dies", "the kernel died in cell q1"),
        ("spoils", "the setup cell cell_01 did not run: ImportError"),
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
        f"1 graded, {n - 5} with a text that needs a person, 4 NOT GRADED."
    )
    assert "belongs to nobody: notes.txt: whose is it? Put it into a folder with the student's name." in others
    assert any(line.startswith("look at tampers: ") for line in others)


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
        assert "BEGIN HIDDEN" not in page and "<script" not in page and "http" not in page
    assert "looks at more than its inputs" in graded.pages["cheats"]
    ran = (graded.folder / "course" / NAME / "students" / "cheats" / "executed.ipynb").read_text("utf8")
    ran = ran.replace("\\n", "\n").replace('\\"', '"')
    assert release.leaks(ran, hidden), "the attack did not reach them"
    assert "HISTORY:import linecache" in ran  # what a student may call back is the student's own


def test_nothing_else_is_written(graded):
    assert list(graded.scratch.iterdir()) == []
    assert {path.name for path in graded.folder.iterdir()} == {
        *("submissions.zip", "grades.csv", "feedback", "course", "texts", "tmp")
    }
    assert {path.name for path in (graded.folder / "course" / NAME).iterdir()} == {"prepared", "students", "class.json"}


def test_the_class_is_kept_for_the_desk_as_the_tests_left_it(graded, tmp_path):
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
    assert texts.count(html.escape(TEXT)) == len(waiting)
    written = tmp_path / "written.csv"
    key = WRONG[0]
    written.write_text(f"\ufeffstudent;{question}/{most};comment\n{key};1,5;Say <why>.\n11;{most};\n", "utf8")
    some = tmp_path / "some.zip"  # three of them, whose results are known: nothing is run again
    with zipfile.ZipFile(graded.archive) as archive:
        names = [name for name in archive.namelist() if name.startswith(("warns_", "untouched_", f"{key}_"))]
        some.write_bytes(zipped({name: archive.read(name) for name in names}))
    options = [
        "--seconds-per-cell",
        SECONDS,
        "--course",
        graded.folder / "course",
        "--feedback",
        tmp_path / "feedback",
        "--written",
        written,
    ]
    kept = graded.folder / "course" / NAME / "students" / key / "result.json"
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


# --- plug-ins ----------------------------------------------------------------------------------------


def test_a_tag_does_not_keep_a_test_cell_from_running():
    cell = nbformat.v4.new_code_cell("1", metadata={"tags": ["skip-execution"], "nbgrader": {"grade": True}})
    cell, _ = course.PlainMetadata().preprocess_cell(cell, {}, 0)
    assert cell.metadata == {"nbgrader": {"grade": True}}
    cell.metadata["nbgrader"] = {}
    assert course.PlainMetadata().preprocess_cell(cell, {}, 0)[0].metadata == {}


# --- messages ----------------------------------------------------------------------------------------


def test_words_of_hidden_tests_are_shown_and_their_code_is_not():
    given = source()
    code = feedback.hidden_code(given)
    assert len(code) > 200
    for cell in given.cells:
        for region in assignment.HIDDEN.findall(cell.source):
            for line in region.splitlines():
                if len(release.bare(line)) >= 30 and release.bare(line) in code.replace("\n", ""):
                    assert "not shown" in feedback.harmless(f"it said: {line}", given), line
    for words in ("a row in which nothing is visible is all 0: values differ", "not finished after 10 seconds", ""):
        assert feedback.harmless(words, given) == words
    assert feedback.harmless("one\ntwo \x1b[31m", given) == "one two [31m"
    assert len(feedback.harmless("long " * 1000, given)) == feedback.LONGEST


def test_who_peeks_reads_only_what_the_tests_say():
    graded = SimpleNamespace(source=source())
    secret = release.secret_lines(graded.source, answers=False)[0]
    disguised = f"RuntimeError: {secret[::-1]}"
    ours = "nobody sees padding: values differ"
    assert ours.split(":")[0] in feedback.test_words(graded.source)
    for flag in ("frames:q1", "history:q1", "get_ipython"):
        peeking = work.Result(flags=[flag])
        assert "not shown" in feedback.said(disguised, graded, peeking)
        assert feedback.said(ours, graded, peeking) == ours
        assert feedback.said("", graded, peeking) == ""
    honest = work.Result(flags=["timeout:q1"])
    assert feedback.said("ValueError: too many values", graded, honest) == "ValueError: too many values"


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
    graded = SimpleNamespace(name=NAME, results=everybody, seconds=1, lost=[])
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

"""A class is graded once, through the command that an instructor types; all points, words and pages are compared."""

import csv
import html
import io
import json
import os
import stat
import subprocess
import sys
import zipfile
from types import SimpleNamespace

import nbformat
import psutil
import pytest

from attnlib.grading import __main__ as command
from attnlib.grading import assignment, collect, course, feedback, grade, release, report, restore, work
from attnlib.grading.answers import answers_to
from scripts.notebooks import ROOT

NAME = "a04_masked_softmax"
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
TEXT = "It leaks when scores are low, <b>as & when</b>."


def source_():
    return assignment.read(NAME)


def given_out():
    """The student version."""
    return nbformat.reads(release.student_version(NAME), as_version=4)


def handin(cells, text=TEXT, above=None):
    """A hand-in as text: the model's answers but for some cells, a text, and perhaps a cell above all others."""
    texts = dict.fromkeys(assignment.written(source_()), text)
    return nbformat.writes(assignment.filled(given_out(), assignment.model(source_()) | texts | cells, above))


def zipped(files):
    """A zip archive: `{name: text or bytes}`."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def run(*arguments, **environment):
    """Type the command."""
    return subprocess.run(
        [sys.executable, "-m", "attnlib.grading", *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TQDM_DISABLE": "1", **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )


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
    assert float(row["out of"]) == sum(FULL.values()) + sum(assignment.written(source_()).values())
    ran = nbformat.read(graded.folder / "course" / NAME / "students" / key / "executed.ipynb", as_version=4)
    last = max(n for n, cell in enumerate(ran.cells) if assignment.is_test(cell))
    assert any(assignment.is_given(cell) for cell in ran.cells[last:])
    assert not any(cell.get("outputs") for cell in ran.cells[last:]), "what is below the last test is not run"


def test_columns(graded):
    header = list(graded.rows["untouched"])
    q1 = sum(FULL[test] for test in OF_Q1)
    assert header[: 2 + len(OF_Q1)] == ["student", f"q1/{q1}", *[f"{test}/{FULL[test]}" for test in OF_Q1]]
    assert header[-6:] == ["total", "out of", "status", "flags", "why", "id"]
    assert {f"{name}/{most}" for name, most in assignment.written(source_()).items()} <= set(header)
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
    hidden = release.secret_lines(source_(), answers=False)
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
    assert {path.name for path in (graded.folder / "course" / NAME).iterdir()} == {"prepared", "students"}


def test_points_for_texts_are_added_and_the_rest_stays(graded, tmp_path):
    [(question, most)] = assignment.written(source_()).items()
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
    options = grade.Options(jobs=1, wall=20, say=lambda words: None)
    result = grade.grade("a04", tmp_path / "in", options).results["endless"]
    assert (result.status, result.points) == ("NOT GRADED", {})
    assert result.why == "killed after 20 seconds, in cell number 1"
    assert not [p for p in psutil.process_iter(["cmdline"]) if long in (p.info["cmdline"] or [])]


# --- who handed in what -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name,student,number,own",
    [
        (f"doe_jane_LATE_12345_678_{NAME}-1.ipynb", "doe_jane", "12345", f"{NAME}-1.ipynb"),
        (f"doejane_12345_678_Copy of {NAME} (1).ipynb", "doejane", "12345", f"Copy of {NAME} (1).ipynb"),
        (f"doejane_12345_678_my_2_3_{NAME}.ipynb", "doejane", "12345", f"my_2_3_{NAME}.ipynb"),
        ("o'neil_späth_1_2_x.ipynb", "o_neil_späth", "1", "x.ipynb"),
        (f"Jane Doe - {NAME}.ipynb", "Jane Doe", "", f"{NAME}.ipynb"),
        ("Jane Doe_4711_assignsubmission_file_", "Jane Doe", "4711", ""),
        (f".._.._1_2_{NAME}.ipynb", "_", "1", f"{NAME}.ipynb"),
        (f"{NAME}.ipynb", "", "", f"{NAME}.ipynb"),
        (f"Copy of {NAME} (1).ipynb", "", "", f"Copy of {NAME} (1).ipynb"),
        ("jane.ipynb", "", "", "jane.ipynb"),
    ],
)
def test_names_of_course_sites(name, student, number, own):
    assert collect.who(name, NAME) == (student, number, own)
    assert collect.tidy(student or "x") == (student or "x")


@pytest.mark.parametrize(
    "name,number",
    [
        (f"{NAME}.ipynb", 0),
        (f"{NAME}-3.ipynb", 3),
        (f"{NAME} (2).ipynb", 2),
        (f"{NAME}(2).ipynb", 2),
        (f"Copy of Copy of {NAME}-1 (12).ipynb", 12),
        (f"Copy_of_{NAME}.ipynb", 0),
        (f"{NAME} copy 4.ipynb", 4),
    ],
)
def test_versions_of_a_file(name, number):
    assert collect.version(name) == (NAME, number)


def collected(folder, scratch):
    scratch.mkdir()
    return collect.collect(folder, NAME, scratch)


def test_folders_of_students(tmp_path):
    top = tmp_path / "in"
    files = [
        f"ann/{NAME}.ipynb",
        "bob/renamed.ipynb",
        f"cy/{NAME}.ipynb",
        "cy/a05_other-9.ipynb",
        f"dee/{NAME}-2.ipynb",
        f"dee/{NAME}-10.ipynb",
        f"Eve X_77_assignsubmission_file_/{NAME}.ipynb",
        f"fay/deep/er/{NAME}.ipynb",
        "gus/essay.pdf",
        "hal:o/x.ipynb",
        "hal_o/x.ipynb",
        "loose.ipynb",
        ".hidden",
    ]
    for file in files:
        (top / file).parent.mkdir(parents=True, exist_ok=True)
        (top / file).write_text(file)
    (top / "ivy").mkdir()
    (top / "ivy" / f"{NAME}.ipynb").symlink_to(top / "ann" / f"{NAME}.ipynb")
    handins, lost = collected(top, tmp_path / "scratch")
    found = {h.student: h.file and h.file.read_text() for h in handins}
    assert found == {
        "ann": f"ann/{NAME}.ipynb",
        "bob": "bob/renamed.ipynb",
        "cy": f"cy/{NAME}.ipynb",
        "dee": f"dee/{NAME}-10.ipynb",
        "Eve X": f"Eve X_77_assignsubmission_file_/{NAME}.ipynb",
        "fay": f"fay/deep/er/{NAME}.ipynb",
        "gus": None,
        "hal_o": "hal:o/x.ipynb",
        "hal_o_2": "hal_o/x.ipynb",
        "ivy": None,
    }
    by_name = {h.student: h for h in handins}
    assert by_name["Eve X"].id == "77"
    assert by_name["cy"].notes == [f"several notebooks: graded is {NAME}.ipynb, not a05_other-9.ipynb"]
    assert by_name["gus"].problem == "no notebook (.ipynb) among: essay.pdf"
    assert "is a link" in by_name["ivy"].problem
    assert lost == ["loose.ipynb: whose is it? Put it into a folder with the student's name."]


def test_two_people_of_one_name_are_told_apart(tmp_path):
    (tmp_path / "in").mkdir()
    for number in (3, 4):
        (tmp_path / "in" / f"lee_{number}_9_{NAME}.ipynb").write_text("x")
    handins, _ = collected(tmp_path / "in", tmp_path / "scratch")
    assert [h.student for h in handins] == ["lee_3", "lee_4"]


@pytest.mark.parametrize("outer", ["", "class/", "class/again/"])
def test_archives_of_folders(tmp_path, outer):
    (tmp_path / "in.zip").write_bytes(zipped({f"{outer}ann/x.ipynb": "1", f"{outer}bob/x.ipynb": "2"}))
    handins, lost = collected(tmp_path / "in.zip", tmp_path / "scratch")
    assert [(h.student, h.file.read_text()) for h in handins] == [("ann", "1"), ("bob", "2")] and lost == []


@pytest.mark.parametrize(
    "name", ["../evil.ipynb", "/evil.ipynb", "a/../../evil.ipynb", "..\\evil.ipynb", "C:\\evil.ipynb"]
)
def test_an_archive_that_writes_elsewhere_is_refused(tmp_path, name):
    (tmp_path / "in.zip").write_bytes(zipped({name: "x"}))
    with pytest.raises(collect.Refused, match="written elsewhere"):
        collected(tmp_path / "in.zip", tmp_path / "scratch")
    assert not [path for path in tmp_path.rglob("*") if "evil" in path.name]


def test_an_archive_that_fills_the_disk_is_refused(tmp_path):
    (tmp_path / "in.zip").write_bytes(zipped({"ann/x.ipynb": bytes(30_000_000)}))
    with pytest.raises(collect.Refused, match="30 MB together"):
        collected(tmp_path / "in.zip", tmp_path / "scratch")
    assert list((tmp_path / "scratch").rglob("*.ipynb")) == []


def test_an_archive_with_a_link_or_that_is_broken_is_refused(tmp_path):
    link = zipfile.ZipInfo("ann/x.ipynb")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "in.zip", "w") as archive:
        archive.writestr(link, "/etc/passwd")
    with pytest.raises(collect.Refused, match="a link"):
        collected(tmp_path / "in.zip", tmp_path / "scratch")
    (tmp_path / "half.zip").write_bytes(zipped({"ann/x.ipynb": "x"})[:-30])
    with pytest.raises(collect.Refused, match="neither a folder nor a zip"):
        collected(tmp_path / "half.zip", tmp_path / "scratch2")


def test_one_students_bomb_costs_the_others_nothing(tmp_path):
    bomb = zipped({"x.ipynb": bytes(30_000_000)})
    (tmp_path / "in.zip").write_bytes(zipped({"ann_1_2_x.zip": bomb, "bob_3_4_x.ipynb": "x"}))
    handins, _ = collected(tmp_path / "in.zip", tmp_path / "scratch")
    assert [(h.student, bool(h.file)) for h in handins] == [("ann", False), ("bob", True)]
    assert "30 MB together" in handins[0].problem


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
    source = source_()
    code = feedback.hidden_code(source)
    assert len(code) > 200
    for cell in source.cells:
        for region in assignment.HIDDEN.findall(cell.source):
            for line in region.splitlines():
                if len(release.bare(line)) >= 30 and release.bare(line) in code.replace("\n", ""):
                    assert "not shown" in feedback.harmless(f"it said: {line}", source), line
    for words in ("a row in which nothing is visible is all 0: values differ", "not finished after 10 seconds", ""):
        assert feedback.harmless(words, source) == words
    assert feedback.harmless("one\ntwo \x1b[31m", source) == "one two [31m"
    assert len(feedback.harmless("long " * 1000, source)) == feedback.LONGEST


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
        report.read_written(tmp_path / "written.csv", source_(), {"ann": "7"})


def test_names_are_no_formulas():
    assert report._text('=HYPERLINK("x")\n') == '\'=HYPERLINK("x")'
    assert report._text("doe\x1b[2J jane") == "doe [2J jane"


# --- student versions --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", assignment.names())
def test_student_versions_are_current_and_hold_no_secret(name):
    assert release.problems(name) == []


@pytest.mark.parametrize("name", assignment.names())
def test_student_versions_ask_and_warn(name):
    notebook = nbformat.reads(release.student_version(name), as_version=4)
    assert "visible" in notebook.cells[0].source
    texts = [c.source for c in notebook.cells if assignment.facts(c).get("solution")]
    assert texts and all(("YOUR CODE HERE" in t and "delete this line" in t) or t == "YOUR ANSWER HERE" for t in texts)
    assert release.student_version(name) == release.student_version(name)


def test_a_class_that_got_another_variant_is_noticed():
    other = nbformat.reads(release.student_version(NAME, 1), as_version=4)
    notes = restore.restored(given_out(), other)[1]
    everybody = {"a": work.Result(notes=notes), "b": work.Result(notes=notes), "c": work.Result()}
    graded = SimpleNamespace(name=NAME, results=everybody, seconds=1, lost=[])
    assert f"2 of 3 hand-ins came with test cells that are not those of {NAME}" in report.spoken(graded)
    graded.results["b"] = work.Result()
    assert "came with test cells" not in report.spoken(graded)


def test_who_peeks_reads_only_what_the_tests_say():
    graded = SimpleNamespace(source=source_())
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


def test_the_page_of_assignments_follows_their_sources(tmp_path, monkeypatch):
    monkeypatch.setattr(release, "STUDENT", tmp_path)
    assert "index.md is not what the sources give" in release.index_problems()[0]
    release.write_index()
    assert release.index_problems() == []
    text = (tmp_path / "index.md").read_text("utf8")
    points = f"{sum(FULL.values())} + {sum(assignment.written(source_()).values())}"
    row = next(line for line in text.splitlines() if f"({NAME}.ipynb)" in line)
    assert row.endswith(f"| {points} |") and text.count(".ipynb)") == len(assignment.names())
    (tmp_path / "index.md").write_text(text.replace(points, "99 + 9"), "utf8")
    assert release.index_problems()


def test_a_source_for_other_systems_has_everything_in_nbgraders_marks(tmp_path):
    done = run("source", "a04", "--to", tmp_path / "here", "--seed", 3)
    assert done.returncode == 0, done.stderr
    written = nbformat.read(tmp_path / "here" / NAME / f"{NAME}.ipynb", as_version=4)
    assert written == assignment.read(NAME, 3)


def test_a_stale_or_leaking_student_version_is_found(tmp_path):
    path = release.write(NAME, 0, tmp_path)
    assert release.problems(NAME, tmp_path) == []
    line = release.secret_lines(source_())[-1]
    path.write_text(path.read_text("utf8").replace("YOUR ANSWER HERE", json.dumps(line)[1:-1]), "utf8")
    stale, leak = release.problems(NAME, tmp_path)
    assert "not what its source gives" in stale and line in leak
    assert "there is no" in release.problems(NAME, tmp_path / "elsewhere")[0]


def test_a_page_with_a_hidden_line_is_found(tmp_path):
    lines = release.secret_lines(source_(), answers=False)
    line = max(lines, key=len)  # no other one stands in it
    coloured = "".join(f'<span class="n">{html.escape(c)}</span>' for c in line)
    (tmp_path / "page.html").write_text(f"<p>fine</p><pre>{coloured}</pre>", "utf8")
    (tmp_path / "source.ipynb").write_text(json.dumps({"source": line}), "utf8")
    (tmp_path / "other.html").write_text("<p>fine</p>", "utf8")
    assert release.book_leaks(tmp_path) == {"page.html": [line], "source.ipynb": [line]}


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

"""Points and feedback in the files that course sites take: read back as their importers read them."""

import csv
import io
import re
import zipfile

import nbformat
import pytest

from attnlib.grading import __main__ as command
from attnlib.grading import assignment, feedback, give_back, report
from attnlib.grading.collect import Handin
from attnlib.grading.grade import BY_HAND, GRADED, NOT_GRADED, Class
from attnlib.grading.work import Result
from tests.grading.handins import NAME, given_out, source

FILE = f"{NAME}.ipynb"
SOURCE, RELEASE = source(), given_out()
MOST = report.maxima(SOURCE)
FULL = f"{sum(MOST.values()):g}"
[TEXT] = assignment.written(SOURCE)
WORKSHEET = (
    "\ufeffIdentifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,Last modified (grade),"
    "Feedback comments\n"
    'Participant 11,"Ash, Ann",ann@example.org,Submitted,-,{0:.2f},Yes,"Monday, 2 November 2026",old words\n'
    "Participant 12,Bob Bay,bob@example.org,Submitted,3.00,{0:.2f},Yes,-,\n"
    "Participant 13,Cy,cy@example.org,Submitted,-,{0:.2f},Yes,-,\n"
    "Participant 99,Not Here,no@example.org,No submission,1.00,{0:.2f},Yes,-,\n"
)
GRADEBOOK = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Homework 3 (71),A04: Masked softmax (72),Homeworks Final Score\n"
    ",,,,,Manual Posting,Manual Posting,(read only)\n"
    "    Points Possible,,,,,10,{0},(read only)\n"
    '"Ash, Ann",11,s11,ann,"One, Two",7,,80\n'
    '"Bay, Bob",12,s12,bob,One,8,1.5,81\n'
    '"Cy",13,s13,cy,One,8,,81\n'
    '"Student, Test",99,,x,One,9,2,\n'
)
WRITTEN = {"ann": report.Written(comment="Say <why>, please.")}


def a_class(system, *origins):
    """Ann has all points but one and a half, Bob's text is not read, Cy's file is none, Dee has no notebook."""
    points = {cell: float(most) for cell, most in MOST.items()}
    handins = [
        Handin(name, number, system=system, origin=origin)
        for name, number, origin in zip(("ann", "bob", "cy", "dee"), ("11", "12", "13", "14"), origins, strict=False)
    ]
    results = {
        "ann": Result(GRADED, points | {TEXT: points[TEXT] - 1.5}),
        "bob": Result(BY_HAND, points | {TEXT: None}),
        "cy": Result(NOT_GRADED, why="not a notebook"),
        "dee": Result(NOT_GRADED, why="no notebook"),
    }
    return Class(NAME, SOURCE, RELEASE, handins, {h.student: results[h.student] for h in handins}, [], 1.0)


CANVAS = ("ash_LATE_11_900_a04.ipynb", "bay_12_901_work.zip", "cy_13_902_a04-1.ipynb", "dee_14_text.html")
MOODLE = [f"{who}_assignsubmission_file" for who in ("Ann O'Ash_11", "Bob Bay_12", "Cy_13")]
ANN = f"{sum(MOST.values()) - 1.5:g}"


def given(graded, tmp_path, text=None, column=""):
    """`(words, {file: its lines, or names and contents})`."""
    table = None
    if text:
        table = tmp_path / "table.csv"
        table.write_text(text.format(sum(MOST.values())), "utf8")
    sheet = give_back.sheet(graded.handins, NAME, "Masked softmax", sum(MOST.values()), table, column)
    words = give_back.write(graded, sheet, tmp_path / "back", WRITTEN)
    found = {}
    for path in (tmp_path / "back").iterdir():
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                found[path.name] = {name: archive.read(name) for name in archive.namelist()}
        else:
            found[path.name] = list(csv.reader(io.StringIO(path.read_text("utf8"))))
    return words, found


def test_the_worksheet_of_moodle_is_filled_in_and_the_rest_stays(tmp_path):
    words, found = given(a_class("moodle", *MOODLE), tmp_path, WORKSHEET)
    before = list(csv.reader(io.StringIO(WORKSHEET[1:].format(sum(MOST.values())))))
    after = found["grading_worksheet.csv"]
    assert [row[0] for row in after] == [row[0] for row in before]
    changed = {(n, m) for n, row in enumerate(after) for m, cell in enumerate(row) if cell != before[n][m]}
    assert changed == {(1, 4), (1, 8)}
    assert after[1][4] == ANN and after[1][8] == "Say &lt;why&gt;, please."
    assert words[1:2] == ["without points yet: bob, cy"] and not [w for w in words if "maximum" in w]


def test_a_worksheet_of_our_own_is_one_that_moodle_reads(tmp_path):
    _, found = given(a_class("moodle", *MOODLE), tmp_path)
    head, *rows = found["grading_worksheet.csv"]
    column = {name: n for n, name in enumerate(head)}
    assert {"Identifier", "Grade", "Last modified (grade)"} <= set(column)
    assert [row[column["Identifier"]].removeprefix("Participant ") for row in rows] == ["11", "12", "13"]
    assert [row[column["Grade"]] for row in rows] == [ANN, "", ""]
    assert {len(row) for row in rows} == {len(head)}


def test_moodle_finds_the_student_of_each_page(tmp_path):
    words, found = given(a_class("moodle", *MOODLE), tmp_path)
    read = {}
    for name, page in found["feedback.zip"].items():  # as `is_valid_filename_for_import` does, before 4.1 and since
        folder, file = name.split("/")
        who, number, kind, plugin, rest = folder.split("_", 4)
        assert (kind, plugin, rest, file) == ("assignsubmission", "file", "", f"{NAME}.html")
        read[number] = (who, b"could not be graded" in page)
    assert read == {"11": ("Ann O'Ash", False), "12": ("Bob Bay", False), "13": ("Cy", True)}
    assert words[-1].endswith("feedback.zip")


def test_the_gradebook_of_canvas_changes_in_one_column(tmp_path):
    words, found = given(a_class("canvas", *CANVAS), tmp_path, GRADEBOOK)
    assert found["gradebook.csv"] == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "A04: Masked softmax (72)"],
        ["", "", "", "", "", "Manual Posting"],
        ["    Points Possible", "", "", "", "", FULL],
        ["Ash, Ann", "11", "s11", "ann", "One, Two", ANN],
        ["Bay, Bob", "12", "s12", "bob", "One", "1.5"],
        ["Cy", "13", "s13", "cy", "One", ""],
        ["Student, Test", "99", "", "x", "One", "2"],
    ]
    assert words[1:3] == ["without points yet: bob, cy", "not in the table: dee"]
    assert words[-1] == "without a page in it: dee"


def test_a_gradebook_of_our_own_is_one_that_canvas_reads(tmp_path):
    _, found = given(a_class("canvas", *CANVAS), tmp_path, column="Homework 4 (72)")
    head, possible, *rows = found["gradebook.csv"]
    assert head == ["Student", "ID", "SIS Login ID", "Section", "Homework 4 (72)"]
    assert "Points Possible" in possible[0] and possible[4] == FULL
    assert [(row[1], row[4]) for row in rows] == [("11", ANN), ("12", ""), ("13", ""), ("14", "")]


def test_canvas_finds_the_student_and_the_file_of_each_page(tmp_path):
    _, found = given(a_class("canvas", *CANVAS), tmp_path)
    assert list(found["feedback.zip"]) == list(CANVAS[:3])
    for name in found["feedback.zip"]:  # as `infer_comment_context_from_filename` does
        numbers = [part for part in name.split("_") if part != "LATE" and re.fullmatch(r"\d+", part)]
        assert numbers[:2] == [["11", "900"], ["12", "901"], ["13", "902"]][list(CANVAS).index(name)]
    [cell] = nbformat.reads(found["feedback.zip"][CANVAS[0]].decode(), as_version=4).cells
    assert f"{ANN} of {FULL} points" in cell.source and "Say &lt;why&gt;" in cell.source and "<style" not in cell.source
    with zipfile.ZipFile(io.BytesIO(found["feedback.zip"][CANVAS[1]])) as archive:
        assert archive.namelist() == [f"{NAME}.html"]


def test_names_that_canvas_hides_have_no_gradebook(tmp_path):
    graded = a_class("canvas", "anon_AbC12_900_a04.ipynb", "LATE_anon_Xy9Zz_901_a04.ipynb")
    words, found = given(graded, tmp_path)
    assert list(found) == ["feedback.zip"] and words[0].startswith("no gradebook.csv: Canvas hides the names")
    assert list(found["feedback.zip"]) == ["anon_AbC12_900_a04.ipynb", "LATE_anon_Xy9Zz_901_a04.ipynb"]


def test_gradescope_gets_a_table(tmp_path):
    graded = a_class("gradescope", "submission_1", "submission_2")
    graded.handins[1].id = "bob@example.org"
    _, found = given(graded, tmp_path)
    assert found == {
        "gradescope.csv": [
            ["Name", "SID", "Email", "Total Score", "Max Points"],
            ["ann", "11", "", ANN, FULL],
            ["bob", "", "bob@example.org", "", FULL],
        ]
    }


def test_a_maximum_that_is_another_one_is_said(tmp_path):
    for system, origins, text in (("moodle", MOODLE, WORKSHEET), ("canvas", CANVAS, GRADEBOOK)):
        text = text.replace("{0:.2f}", '"100,00"').replace("{0}", "100")
        words, _ = given(a_class(system, *origins), tmp_path, text)
        assert f"look at the maximum: the table says 100 points, the assignment has {FULL}" in words


@pytest.mark.parametrize(
    "system,text,column,message",
    [
        ("moodle", GRADEBOOK, "", "no grading worksheet of Moodle: there is no column Identifier, Grade, Last"),
        ("canvas", WORKSHEET, "", "no gradebook of Canvas"),
        (
            "canvas",
            GRADEBOOK.replace("A04: Masked softmax", "Homework 4"),
            "",
            r"Add --column NAME; there are: 'Homework 3",
        ),
        ("canvas", GRADEBOOK.replace("Homework 3", "a04 again"), "", "Which column of table.csv is a04_masked_softmax"),
        ("canvas", GRADEBOOK, "Homework 5", "Which column"),
        ("canvas", "\n", "", "table.csv is empty"),
        ("gradescope", GRADEBOOK, "", "no table of Gradescope"),
        ("teams", None, "", "these hand-ins come from none of them"),
    ],
)
def test_a_table_that_does_not_fit_is_refused(system, text, column, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        given(a_class(system, *CANVAS), tmp_path, text, column)
    assert not (tmp_path / "back").exists()


@pytest.mark.parametrize("column", ["Homework 4", "Homework 4 (72)"])
def test_the_column_may_be_named(column, tmp_path):
    text = GRADEBOOK.replace("A04: Masked softmax", "Homework 4").replace(",", ";").replace("Ash;", "Ash,")
    _, found = given(a_class("canvas", *CANVAS), tmp_path, text, column)
    assert found["gradebook.csv"][0][-1] == "Homework 4 (72)" and found["gradebook.csv"][3][-1] == ANN


def test_the_command_refuses_before_anything_runs(tmp_path, capsys, monkeypatch):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / f"ash_11_900_{FILE}").write_text("{}")
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    options = [
        "grade",
        "a04",
        str(tmp_path / "in"),
        "--out",
        str(tmp_path / "grades.csv"),
        "--table",
        str(tmp_path / "t.csv"),
    ]
    assert command.main(options) == command.WRONG_USE
    assert "belong to --give-back" in capsys.readouterr().err
    assert command.main([*options, "--give-back", str(tmp_path / "back")]) == command.WRONG_USE
    assert "t.csv is no gradebook of Canvas" in capsys.readouterr().err
    assert not (tmp_path / "grades.csv").exists() and not (tmp_path / "back").exists()


def test_the_heading_is_the_one_of_the_page():
    assert feedback.title(SOURCE) == feedback.title(RELEASE)

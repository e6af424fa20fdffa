"""Exports, laid out as the course sites make them: who has handed in what, and nobody twice."""

import os

import pytest

from attnlib.grading import collect, exports
from tests.grading.handins import NAME, zipped

FILE = f"{NAME}.ipynb"
METADATA = """submission_11:
  :submitters:
  - :name: Ann Ash
    :sid: '100'
    :email: ann@example.org
  :created_at: 2026-11-01 23:30:00.5 Z
  :score: !ruby/object:BigDecimal 18:0.0
submission_12:
  :submitters:
  - :name: Ann Ash
    :sid: '100'
    :email: ann@example.org
  - :name: Bob "B." O'Neil
    :email: bob@example.org
  :created_at: 2026-11-02 00:15:00 +00:00
submission_13:
  :submitters:
  - :name: Ann Ash
    :sid: '300'
  :created_at: 2026-11-02 01:15:00 +01:00
submission_14:
  :submitters: []
submission_15:
  :submitters:
  - :name: Cy
    :sid: 400
"""
TEXT = "Name: {0} ({1})\nAssignment: Homework 4\nDate Submitted: Monday\nCurrent Grade: \n\nSubmission Field:\n"
ON = "attempt_2026-11-0"

#: `{layout: (files, who has what in the newest hand-in, how many notes, what is nobody's)}`.
LAYOUTS = {
    "canvas": (
        {
            f"ashann_11_900_{NAME}-1.ipynb": "old",
            f"ashann_LATE_11_1000_{FILE}": "ann",
            f"baybob_12_901_my_2_3_{FILE}": "bob",
            f"clayliu_13_902_5_{FILE}": "cy",
            "dee_14_text.html": "words",
            "notes.txt": "nobody's",
        },
        {"ashann 11": "ann", "baybob 12": "bob", "clayliu 13": "cy", "dee 14": None},
        1,
        ["notes.txt"],
    ),
    "canvas, anonymous": (
        {
            f"anon_AbC12_900_{FILE}": "old",
            f"anon_AbC12_1001_{NAME}-1.ipynb": "ann",
            f"LATE_anon_Xy9Zz_901_{FILE}": "bob",
            f"anon_12345_77_902_{FILE}": "cy",
        },
        {"anon_12345 12345": "cy", "anon_AbC12 AbC12": "ann", "anon_Xy9Zz Xy9Zz": "bob"},
        1,
        [],
    ),
    "moodle": (
        {
            f"Ann Ash_11_assignsubmission_file_/{FILE}": "ann",
            "Ann Ash_11_assignsubmission_onlinetext_/onlinetext.html": "words",
            "Bob_B. Bay_12_assignsubmission_onlinetext_/onlinetext.html": "words",
            f"Ann Ash_13_assignsubmission_file_/work/{FILE}": "the other Ann",
        },
        {"Ann Ash_11 11": "ann", "Ann Ash_13 13": "the other Ann", "Bob_B. Bay 12": None},
        0,
        [],
    ),
    "moodle 4.1, beside each other": (
        {
            f"Participant_11_assignsubmission_file/{FILE}": "ann",
            "Participant_11_assignsubmission_onlinetext/onlinetext.html": "words",
            f"Participant_12_assignsubmission_file/{FILE}": "bob",
        },
        {"Participant_11 11": "ann", "Participant_12 12": "bob"},
        0,
        [],
    ),
    "moodle, without folders": (
        {
            f"Ann Ash_11_assignsubmission_file_{FILE}": "ann",
            "Ann Ash_11_assignsubmission_onlinetext_onlinetext.html": "words",
            f"Bob Bay_12_assignsubmission_file_{NAME} (1).ipynb": "bob",
        },
        {"Ann Ash 11": "ann", "Bob Bay 12": "bob"},
        0,
        [],
    ),
    "gradescope": (
        {
            "assignment_1_export/submission_metadata.yml": METADATA,
            f"assignment_1_export/submission_11/{FILE}": "ann, late in the evening",
            f"assignment_1_export/submission_12/{FILE}": "ann and bob, after midnight",
            f"assignment_1_export/submission_13/src/{FILE}": "the other Ann",
            f"assignment_1_export/submission_14/{FILE}": "who?",
        },
        {
            "Ann Ash_100 100": "ann and bob, after midnight",
            "Ann Ash_300 300": "the other Ann",
            "Bob _B._ O_Neil bob@example.org": "ann and bob, after midnight",
            "Cy 400": None,
        },
        1,
        ["submission_14"],
    ),
    "blackboard": (
        {
            f"Homework 4_ann_{ON}1-23-10-11.txt": TEXT.format("Ann Ash", "ann"),
            f"Homework 4_ann_{ON}1-23-10-11_{FILE}": "old",
            f"Homework 4_ann_{ON}2-10-43-11.txt": TEXT.format("Ann Ash", "ann"),
            f"Homework 4_ann_{ON}2-10-43-11_final.ipynb": "ann",
            f"Homework 4_b_bay_{ON}2-10-43-11.txt": TEXT.format("Bob Bay", "b_bay"),
            f"Homework 4_b_bay_{ON}2-10-43-11_{FILE}": "bob",
            f"Homework_1_2_cy7_{ON}2-10-43-11_{FILE}": "cy",
            f"Homework 4_dee_{ON}2-10-43-11.txt": TEXT.format("Dee", "dee"),
        },
        {"ann ann": "ann", "b_bay b_bay": "bob", "cy7 cy7": "cy", "dee dee": None},
        1,
        [],
    ),
    "brightspace": (
        {
            "index.html": "a list",
            f"11-700 - Ann Ash - Nov 2, 2026 943 AM - {FILE}": "old",
            f"11-700 - Ann Ash - Nov 2, 2026 1143 AM - {NAME} (1).ipynb": "older than noon",
            "11-700 - Ann Ash - Nov 2, 2026 111 PM - final - new.ipynb": "ann",
            f"12-700 - Bob Bay-Smith - Oct 31, 2026 1043 PM - {FILE}": "bob",
            f"13-700 - Ann Ash - Nov 1, 2026 1043 PM - {FILE}": "the other Ann",
        },
        {"Ann Ash_11 11": "ann", "Ann Ash_13 13": "the other Ann", "Bob Bay-Smith 12": "bob"},
        1,
        [],
    ),
    "brightspace, folders": (
        {
            "Homework 4/index.html": "a list",
            f"Homework 4/39786-640693 - Ann Ash - Oct 10, 2026 1022 AM/{FILE}": "old",
            "Homework 4/39790-640700 - Ann Ash - Nov 1, 2026 1022 AM/final.ipynb": "ann",
            f"Homework 4/39787-640694 - Bob Bay - 3 november, 2026 1022/{FILE}": "bob",
        },
        {"Ann Ash ": "ann", "Bob Bay ": "bob"},
        1,
        [],
    ),
    "teams": (
        {
            f"9b - Student Work/Submitted files/Ash, Ann/Homework 4/Version 2/{FILE}": "old",
            "9b - Student Work/Submitted files/Ash, Ann/Homework 4/Version 10/final.ipynb": "ann",
            f"9b - Student Work/Submitted files/Bay, Bob/Homework 4/Version 1/{FILE}": "bob",
            "9b - Student Work/Submitted files/Bay, Bob/Homework 3/Version 7/homework.ipynb": "another one",
            f"9b - Student Work/Working files/Bay, Bob/Homework 4/{FILE}": "a draft",
            f"9b - Student Work/Working files/Cy/Homework 4/{FILE}": "a draft",
        },
        {"Ash_ Ann ": "ann", "Bay_ Bob ": "bob"},
        1,
        ["Working files/Cy"],
    ),
    "teams, one student": (
        {
            f"Submitted files/Ash, Ann/Homework 4/Version 1/{FILE}": "old",
            f"Submitted files/Ash, Ann/Homework 4/Version 2/{FILE}": "ann",
        },
        {"Ash_ Ann ": "ann"},
        1,
        [],
    ),
    "teams, without versions": (
        {f"Submitted files/Ash, Ann/Homework 4/{FILE}": "ann", "Submitted files/x.ipynb": "nobody's"},
        {"Ash_ Ann ": "ann"},
        0,
        ["x.ipynb"],
    ),
    "folders": (
        {f"hw4/ann/{FILE}": "ann", f"hw4/bob/repo/{FILE}": "bob", "hw4/bob/.git/x.ipynb": "hidden"},
        {"ann ": "ann", "bob ": "bob"},
        0,
        [],
    ),
}


@pytest.mark.parametrize("outer", ["", "download/"])
@pytest.mark.parametrize("packed", [True, False], ids=["zip", "folder"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_student_counts_once_with_the_newest_hand_in(layout, packed, outer, tmp_path):
    files, want, notes, nobodys = LAYOUTS[layout]
    given = tmp_path / "in.zip" if packed else tmp_path / "in"
    if packed:
        given.write_bytes(zipped({outer + name: text for name, text in files.items()}))
    for name, text in {} if packed else files.items():
        (given / outer / name).parent.mkdir(parents=True, exist_ok=True)
        (given / outer / name).write_text(text, "utf8")
    (tmp_path / "scratch").mkdir()
    handins, lost = collect.collect(given, NAME, tmp_path / "scratch")
    assert {f"{h.student} {h.id}": h.file and h.file.read_text("utf8") for h in handins} == want
    assert len(handins) == len(want)
    assert sum(bool(h.notes) for h in handins) == notes
    assert [words.split(":")[0] for words in lost] == nobodys
    assert {h.system for h in handins} <= {layout.split(",")[0].split(" ")[0], ""}


def taken(tmp_path, files):
    (tmp_path / "in.zip").write_bytes(zipped(files))
    (tmp_path / "scratch").mkdir()
    return collect.collect(tmp_path / "in.zip", NAME, tmp_path / "scratch")[0]


def test_a_hand_in_says_how_the_export_calls_it(tmp_path):
    names = [f"ash_LATE_11_900_{FILE}", "bay_12_900_work.zip"]
    handins = taken(tmp_path, {names[0]: "x", names[1]: zipped({"x.ipynb": "x"})})
    assert [h.origin for h in handins] == names
    (tmp_path / "other").mkdir()
    [handin] = taken(tmp_path / "other", {f"O'Neil_11_assignsubmission_file_/{FILE}": "x"})
    assert (handin.student, handin.origin) == ("O_Neil", "O'Neil_11_assignsubmission_file_")


def test_the_newest_hand_in_without_a_notebook_does_not_hide_the_one_before(tmp_path):
    of = "Homework 4_ann_attempt_2026-11-0"
    [handin] = taken(tmp_path, {f"{of}1-10-43-11_{FILE}": "old", f"{of}2-10-43-11_essay.pdf": "new"})
    assert handin.file.read_text() == "old"
    assert handin.notes == ["handed in 2 times: graded is the newest with a notebook"]


@pytest.mark.parametrize(
    "words,time",
    [
        ("Nov 2, 2026 1043 AM", "2026-11-02T10:43"),
        ("Nov 2, 2026 111 PM", "2026-11-02T13:11"),
        ("November 12, 2026  1205 AM", "2026-11-12T00:05"),
        ("3 November, 2026 905", "2026-11-03T09:05"),
        ("3 november 2026", "?"),
    ],
)
def test_times_of_brightspace(words, time):
    assert exports.moment(words).startswith(time)


def test_a_time_in_another_language_is_no_guess(tmp_path):
    times = ["3 März, 2026 1022", "28 Februar, 2026 1022"]
    [handin] = taken(tmp_path, {f"11-700 - Ann - {time} - {FILE}": time for time in times})
    assert handin.file is None
    assert "handed in 2 times" in handin.problem and "März" in handin.problem
    (tmp_path / "alone").mkdir()
    [handin] = taken(tmp_path / "alone", {f"11-700 - Ann - {times[0]} - {FILE}": "x"})
    assert handin.file  # one is the newest whatever its time


def test_which_of_several_assignments_is_no_guess(tmp_path):
    files = {f"Submitted files/Ann/Homework {n}/Version 1/x.ipynb": "x" for n in (3, 4)}
    with pytest.raises(ValueError, match=r"several assignments: Homework 3, Homework 4\. Which one is a04"):
        taken(tmp_path, files)


@pytest.mark.parametrize(
    "text", ["- a list", "submission_1: words", "submission_1: {':submitters': [7]}", "a: [", "\xff"]
)
def test_a_list_of_gradescope_that_cannot_be_read_is_named(text, tmp_path):
    files = {f"e/submission_1/{FILE}": "x", "e/submission_metadata.yml": text.encode("latin1")}
    with pytest.raises(ValueError, match=r"submission_metadata\.yml of Gradescope cannot be read"):
        taken(tmp_path, files)


def test_links_in_a_folder_are_not_followed(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "secret.txt").write_text(TEXT.format("Ann", "secret_ann"))
    os.symlink(tmp_path / "secret.txt", tmp_path / "in" / f"hw_ann_{ON}1-23-10-11.txt")
    assert exports.read(tmp_path / "in", NAME)[0] == []

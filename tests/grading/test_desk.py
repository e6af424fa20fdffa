"""What is decided at the desk becomes points, pages and tables; what was decided is never lost."""

import csv
import json
import os

import pytest

from attnlib.grading import feedback, give_back, report
from attnlib.grading.desk import kept, late, summary
from attnlib.grading.desk.export import export
from attnlib.grading.desk.groups import digest, grouped, row, tree_of, words_of
from attnlib.grading.desk.marks import Marks
from attnlib.grading.desk.store import Change, Store
from attnlib.grading.grade import BY_HAND, GRADED, NOT_GRADED, Class
from attnlib.grading.work import Result
from tests.grading.desk_class import HOSTILE, MOST, RELEASE, SOURCE, STUDENTS, TEXT, a_class

FULL = sum(MOST.values())
NOTHING = {"items": [], "none": False, "points": None, "comment": "", "corrected": {}}


@pytest.fixture
def marks(tmp_path):
    graded = a_class()
    store = Store(tmp_path / "desk.json")
    yield Marks(graded, store)
    store.close()


def write(marks, key, value):
    entry = marks.store.entries.get(key)
    _, conflicts = marks.store.change([Change(key, entry.revision if entry else 0, value)], marks.check)
    assert conflicts == []


def item(marks, name, words, points, place=1, gone=False):
    write(marks, f"item/{TEXT}/{name}", {"words": words, "points": points, "place": place, "gone": gone})


def decide(marks, student, unit=TEXT, **value):
    write(marks, f"cell/{student}/{unit}", NOTHING | value)


def test_a_class_is_kept_as_it_is(tmp_path):
    graded = a_class()
    path = kept.keep(graded, tmp_path)
    assert path == tmp_path / graded.name / "class.json"
    assert kept.load(graded.name, tmp_path) == graded
    assert [p.name for p in path.parent.iterdir()] == ["class.json"]
    path.write_text("{}")
    with pytest.raises(ValueError, match=r"class\.json cannot be read .*: grade the class again"):
        kept.load(graded.name, tmp_path)
    with pytest.raises(ValueError, match="grade the class first, with `grade a04 SUBMISSIONS --course"):
        kept.load(graded.name, tmp_path / "other")


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    store = Store(tmp_path / "desk.json")
    store.change([Change("a", 0, {"n": 1})], lambda key, value: value)
    before = (tmp_path / "desk.json").read_bytes()

    def full(descriptor):
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space left"):
        store.change([Change("a", 1, {"n": 2})], lambda key, value: value)
    assert (tmp_path / "desk.json").read_bytes() == before
    assert store.get("a") == {"n": 1} and store.sequence == 1  # and nobody is told anything else
    store.close()


def test_changes_of_different_entries_merge_and_of_one_entry_conflict(tmp_path):
    store = Store(tmp_path / "desk.json")

    def change(key, seen, n):
        entries, conflicts = store.change([Change(key, seen, {"n": n})], lambda key, value: value)
        return entries[key].revision, entries[key].value["n"], conflicts

    assert change("a", 0, 1) == (1, 1, [])
    assert change("b", 0, 2) == (1, 2, [])  # another entry
    assert change("a", 0, 3) == (1, 1, ["a"])  # somebody who has not seen the first change
    assert change("a", 0, 1) == (1, 1, [])  # both have decided the same
    assert change("a", 1, 3) == (2, 3, [])
    entries, conflicts = store.change([Change("a", 0, {"n": 9}), Change("c", 0, {"n": 4})], lambda key, value: value)
    assert conflicts == ["a"] and entries["c"].value == {"n": 4}  # what does not conflict is saved
    assert store.since(2).keys() == {"a", "c"}
    store.close()
    again = Store(tmp_path / "desk.json")
    assert again.entries == store.entries and again.sequence == 4
    again.close()


def test_a_value_that_is_refused_changes_nothing(tmp_path):
    store = Store(tmp_path / "desk.json")

    def refuse(key, value):
        if key == "bad":
            raise ValueError("no")
        return value

    with pytest.raises(ValueError, match="no"):
        store.change([Change("good", 0, {}), Change("bad", 0, {})], refuse)
    assert store.entries == {} and not store.path.exists()
    store.close()


def test_one_desk_at_a_time_and_no_file_is_overwritten_that_cannot_be_read(tmp_path):
    path = tmp_path / "desk.json"
    first = Store(path)
    with pytest.raises(ValueError, match="Another desk is open on"):
        Store(path)
    first.close()
    for text in (
        "{",
        '{"format": 2, "sequence": 0, "entries": {}}',
        '{"format": 1, "sequence": 1, "entries": {"a": {}}}',
        "[]",
    ):
        path.write_text(text)
        with pytest.raises(ValueError, match="cannot be read, and is left as it is"):
            Store(path)
        assert path.read_text() == text


def test_equal_texts_are_one_group_and_similar_ones_are_neighbours():
    texts = {
        "a": "The weight leaks to hidden keys.",
        "b": "Half precision has no such number.",
        "c": "the  weight leaks\nto HIDDEN keys. ",
        "d": "The weight leaks to the hidden keys!",
        "e": " \n",
        "f": "Half precision has no number like this.",
        "g": "YOUR answer",
    }
    groups = grouped(texts, {s: words_of(t) for s, t in texts.items()}, words_of("Your answer"))
    assert sorted(group.members for group in groups) == [["a", "c"], ["b"], ["d"], ["e", "g"], ["f"]]
    assert groups[-1].empty and groups[-1].members == ["e", "g"] and not any(group.empty for group in groups[:-1])
    order = [group.members[0] for group in groups]
    assert abs(order.index("a") - order.index("d")) == abs(order.index("b") - order.index("f")) == 1
    near = {group.members[0]: group.near for group in groups}
    assert max(near["a"], near["d"]) > 0.5 > min(near["a"], near["d"]) and groups[0].near == 0
    assert [group.id for group in groups[:-1]] == [digest(words_of(texts[group.members[0]])) for group in groups[:-1]]


@pytest.mark.parametrize("texts", [[], ["one"], ["", ""], ["…", "—"], ["same", "same"], ["\x00", "a" * 10_000]])
def test_texts_that_have_no_words_have_an_order_too(texts):
    order, near = row(texts)
    assert sorted(order) == list(range(len(texts))) and len(near) == len(texts)


def test_code_is_compared_without_comments_and_layout():
    code = "def f(x):\n    return x + 1\n"
    assert tree_of(code) == tree_of("# mine\ndef f( x ):  # one\n\n    return (x+1)") != tree_of(code.replace("1", "2"))
    assert tree_of("def f(:\n  1") == tree_of("def f(:   \n\n  1") != tree_of("def f(:\n    1")
    deep = "(" * 5000 + ")" * 5000
    for hostile in (deep, "-" * 100_000 + "1", "x = '\0'", "a." * 50_000 + "b", "x = 1\n" * 100_000):
        assert tree_of(hostile)


def test_units_are_texts_and_questions_with_equal_answers_together(marks):
    assert [(unit.id, unit.kind) for unit in marks.units.values()] == [
        *(("q1", "code"), ("q2", "code"), ("q3", "code"), (TEXT, "text"))
    ]
    members = [group.members for group in marks.units[TEXT].groups]
    assert ["ann", "ben"] in members and ["dee", "eva"] in members and members[-1] == ["hal", "ida"]
    assert not any("lea" in group for group in members)
    code = [group.members for group in marks.units["q1"].groups]
    assert ["ann", "ben", "fox", "gus", "ida", "kim"] in code and ["cem", "dee"] in code and code[-1] == ["hal"]
    assert ["eva", "fox"] in [group.members for group in marks.units["q3"].groups]  # the same code, another verdict


def test_a_rubric_gives_points_and_its_items_change_for_all(marks):
    item(marks, "a", "Names the leak", 1)
    item(marks, "b", "Names  the\nrow", 1.5, place=2)
    for student in ("ann", "ben"):
        decide(marks, student, items=["b", "a"], comment="Good.")
    decide(marks, "cem", items=["a"])
    decide(marks, "dee", none=True)
    decide(marks, "eva", items=["a", "b"], points=0.5)
    assert [marks.by_hand(s, TEXT) for s in ("ann", "ben", "cem", "dee", "eva", "fox")] == [2.5, 2.5, 1, 0, 0.5, None]
    assert marks.comment("ann", TEXT) == "Names the leak (+1) Names the row (+1.5) Good."
    item(marks, "a", "Names the leak", 3)  # more than all points together
    assert [marks.by_hand(s, TEXT) for s in ("ann", "cem", "eva")] == [3, 3, 0.5]
    item(marks, "a", "Names the leak", 3, gone=True)
    assert [marks.by_hand(s, TEXT) for s in ("ann", "cem")] == [1.5, None]
    item(marks, "a", "Is wrong", -1)
    write(marks, f"rubric/{TEXT}", {"full": True})
    assert [marks.by_hand(s, TEXT) for s in ("ann", "cem", "dee", "fox")] == [3, 2, 3, None]
    item(marks, "a", "Is wrong", -3)
    assert marks.by_hand("cem", TEXT) == 0 and marks.comment("cem", TEXT) == "Is wrong (−3)"
    write(marks, f"rubric/{TEXT}", {"full": False})
    assert marks.by_hand("cem", TEXT) == 0  # and not less than nothing


def test_states_and_points_are_those_of_the_class_as_it_is_now(marks):
    states = marks.states()
    assert states[TEXT] == dict.fromkeys([s for s in STUDENTS if s != "lea"], "open") | {"hal": "done"}
    assert set(states["q1"].values()) == {"done"}
    decide(marks, "ann", points=2)
    decide(marks, "hal", points=1)
    assert marks.states()[TEXT]["ann"] == "done"
    assert marks.points()["ann"][TEXT] == 2 and marks.points()["hal"][TEXT] == 1 and marks.points()["ben"][TEXT] is None
    assert marks.graded == a_class()  # what the tests gave is not touched


def test_what_was_decided_about_another_hand_in_does_not_count(marks):
    decide(marks, "cem", points=2)
    decide(marks, "ann", "q1", corrected={"q1_axis": {"points": 0.5, "reason": "half"}})
    graded = a_class()
    graded.results["cem"].texts[TEXT] = "Something else."
    graded.results["ann"].code["q1"] += "\n# only a comment"
    after = Marks(graded, marks.store)
    assert after.by_hand("cem", TEXT) is None and after.states()[TEXT]["cem"] == "stale"
    assert after.points()["ann"]["q1_axis"] == 0.5
    assert "to be looked at again: cem (q4)" in " ".join(export(after, marks.store.path.parent / "out"))
    decide(after, "cem", points=2)  # looked at again
    assert after.by_hand("cem", TEXT) == 2 and after.states()[TEXT]["cem"] == "done"


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("cell/ann/q4", NOTHING | {"points": 3.5}, "q4 of ann: 3.5 points, but there are 0 to 3"),
        ("cell/ann/q4", NOTHING | {"points": float("nan")}, "is no number"),
        ("cell/ann/q4", NOTHING | {"points": True}, "True is no number"),
        ("cell/ann/q4", NOTHING | {"items": ["x"]}, r"The rubric of q4 has no item \['x'\]"),
        ("cell/ann/q4", NOTHING | {"corrected": {"q4": {"points": 1, "reason": "x"}}}, "q4 has no test q4"),
        ("cell/ann/q4", {"items": []}, "is missing"),
        ("cell/ann/q4", NOTHING | {"extra": 1}, r"nothing called \['extra'\]"),
        ("cell/ann/q4", NOTHING | {"comment": "x" * 20_001}, "20001 characters, but there may be 20000"),
        ("cell/ann/q4", NOTHING | {"comment": 1}, "1 is no text"),
        ("cell/ann/q1", NOTHING | {"points": 1}, "q1 is no text: correct the points of its tests"),
        ("cell/ann/q1", NOTHING | {"corrected": {"q1_axis": {"points": 1, "reason": " "}}}, "needs a reason"),
        (
            "cell/ann/q1",
            NOTHING | {"corrected": {"q1_axis": {"points": 2, "reason": "x"}}},
            "2 points, but there are 0",
        ),
        ("cell/ann/q1", NOTHING | {"corrected": {"q2_past": {"points": 1, "reason": "x"}}}, "q1 has no test q2_past"),
        ("cell/lea/q4", NOTHING, "nothing called 'cell/lea/q4' to write to"),
        ("cell/nobody/q4", NOTHING, "nothing called"),
        ("item/q4/a", {"words": " ", "points": 1, "place": 1, "gone": False}, "needs words"),
        ("item/q4/a", {"words": "x", "points": -4, "place": 1, "gone": False}, "-4 points, but there are -3 to 3"),
        ("item/q1/a", {"words": "x", "points": 1, "place": 1, "gone": False}, "nothing called"),
        ("item/q4/../x", {"words": "x", "points": 1, "place": 1, "gone": False}, "nothing called"),
        ("handed/ann", {"at": "soon"}, "'soon' is no time"),
        ("late/nobody", {"days": 1}, "nothing called"),
        ("late", {"due": "x"}, "'x' is no time"),
        ("late", {"dew": ""}, r"nothing called \['dew'\]"),
        ("cell/ann/q4", [], r"\[\] is no object"),
    ],
)
def test_what_cannot_be_is_refused_in_words(marks, key, value, message):
    with pytest.raises(ValueError, match=message):
        marks.check(key, value)


def table(path):
    with path.open(encoding="utf8", newline="") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


def test_the_desk_gives_what_the_option_written_gives(marks, tmp_path):
    item(marks, "a", "Names the leak", 1)
    for student in ("ann", "ben", "cem"):
        decide(marks, student, items=["a"], comment=f"Say, “{student}”, why; <b>please</b>.")
    decide(marks, "jim", points=0.5, comment="=1+1")
    decide(marks, "kim", "q2", comment="A fine mask.")
    said = export(marks, tmp_path / "out")
    graded = a_class()
    known = {handin.student: handin.id for handin in graded.handins}
    written = report.read_written(tmp_path / "out" / "written.csv", RELEASE, known)
    report.add_written(graded, written)
    report.write_csv(graded, tmp_path / "grades.csv")
    feedback.write(graded, tmp_path / "feedback", written)
    sheet = give_back.sheet(graded.handins, graded.name, feedback.title(RELEASE), FULL, None)
    give_back.write(graded, sheet, tmp_path / "back", written)
    ours, theirs = table(tmp_path / "out" / "grades.csv"), table(tmp_path / "grades.csv")
    assert [{name: row[name] for name in theirs["ann"]} for row in ours.values()] == list(theirs.values())
    pages = sorted(path.relative_to(tmp_path) for path in (tmp_path / "feedback").rglob("*.html"))
    assert len(pages) == len(STUDENTS)
    for page in pages:
        assert (tmp_path / "out" / page).read_bytes() == (tmp_path / page).read_bytes()
    back = "back/gradebook.csv"
    assert (tmp_path / "out" / back).read_bytes() == (tmp_path / back).read_bytes()
    assert (
        str(tmp_path / "out" / "grades.csv") in said and "without all points yet: dee, eva, fox, gus, ida, kim" in said
    )
    assert "&lt;b&gt;please" in (tmp_path / "out" / "feedback" / "ann" / f"{graded.name}.html").read_text("utf8")
    assert ours["kim"]["q2 comment"] == "A fine mask." and ours["jim"]["q4 comment"] == "'=1+1"


def test_corrections_and_late_deductions_stand_beside_what_the_tests_gave(marks, tmp_path):
    reason = {"points": 1, "reason": "the row was meant to be uniform"}
    decide(marks, "cem", "q1", corrected={"q1_blank": reason})
    decide(marks, "cem", points=3)
    decide(marks, "ann", points=2)
    decide(marks, "fox", points=1)
    write(marks, "late", {"due": "2026-11-02T23:59", "grace": 0, "amount": 0.5, "unit": late.POINTS, "cap": 2})
    write(marks, "handed/cem", {"at": "2026-11-04 12:00"})
    write(marks, "handed/ann", {"at": "2026-11-02 12:00"})
    write(marks, "late/fox", {"days": 9, "reason": "said so"})
    said = export(marks, tmp_path)
    rows, page = (
        table(tmp_path / "grades.csv"),
        (tmp_path / "feedback" / "cem" / f"{marks.graded.name}.html").read_text(),
    )
    row = rows["cem"]
    assert (row["q1_blank/1"], row["q1/4"], row["total"]) == ("1", "4", f"{FULL - 1:g}")
    assert row["corrected"] == "q1_blank: 1 by hand, 0 by the tests (the row was meant to be uniform)"
    assert (row["days late"], row["taken off"]) == ("2", "1") and "handed in 2026-11-04 12:00" in row["late"]
    assert (
        f"<strong>{FULL - 1:g} of {FULL:g} points.</strong>" in page
        and row["late"] in page
        and row["corrected"] in page
    )
    assert (rows["ann"]["total"], rows["ann"]["days late"], rows["ann"]["late"]) == (f"{FULL - 1:g}", "0", "")
    assert (rows["fox"]["taken off"], rows["fox"]["total"]) == ("2", f"{FULL - 1 - 2 - 2:g}")
    assert rows["gus"]["days late"] == "" and "nobody knows" in rows["gus"]["late"] and rows["gus"]["why"] == ""
    assert "nobody knows when they handed in: ben, dee, eva, gus, hal, ida, jim, kim" in said
    assert rows["lea"]["total"] == "" and rows["lea"]["status"] == NOT_GRADED
    back = (tmp_path / "back" / "gradebook.csv").read_text("utf8")
    assert f"cem,13,,,{FULL - 1:g}\n" in back
    kept_ = json.loads(marks.store.path.read_text("utf8"))["entries"]
    assert kept_["cell/cem/q1"]["value"]["corrected"] == {"q1_blank": reason}  # and the machine's stay in class.json


def test_without_a_course_site_the_rest_is_written(marks, tmp_path):
    for handin in marks.graded.handins:
        handin.system = ""
    said = export(marks, tmp_path / "out")
    assert any(words.startswith("nothing to upload in bulk: ") for words in said)
    assert (tmp_path / "out" / "grades.csv").exists() and not (tmp_path / "out" / "back").exists()


def test_the_table_of_the_course_site_is_filled_in(marks, tmp_path):
    decide(marks, "ann", points=2)
    head = "Student,ID,SIS Login ID,Section,Homework 4 (7)\n    Points Possible,,,,13\n"
    (tmp_path / "gradebook.csv").write_text(head + '"Ash, Ann",11,a,One,\n', "utf8")
    export(marks, tmp_path / "out", tmp_path / "gradebook.csv", "Homework 4")
    assert '"Ash, Ann",11,a,One,12\n' in (tmp_path / "out" / "back" / "gradebook.csv").read_text("utf8")


def test_hostile_names_of_columns_are_no_formulas(marks, tmp_path):
    decide(marks, "jim", points=0, comment=HOSTILE)
    export(marks, tmp_path)
    page = (tmp_path / "feedback" / "jim" / f"{marks.graded.name}.html").read_text("utf8")
    assert "<script" not in page and "<img" not in page
    assert "\u202e" not in table(tmp_path / "grades.csv")["jim"]["q4 comment"]


def a_small_class(*totals):
    """Students with so many points of question 1, each with one test less that passes; all else is won."""
    cells = [cell for cell in MOST if cell.startswith("q1_")]
    results = {}
    for n, lost in enumerate(totals):
        points = {cell: 0.0 if cell in cells[:lost] else float(most) for cell, most in MOST.items()}
        words = {cell: f"not {lost}" for cell in cells[:lost]}
        results[f"s{n}"] = Result(GRADED, points, words)
    results["waits"] = Result(BY_HAND, dict.fromkeys(MOST, 0.0) | {TEXT: None})
    results["bad"] = Result(NOT_GRADED)
    return Class("a", SOURCE, RELEASE, [], results, [], 0.0), cells


def test_the_numbers_of_the_class_are_those_counted_by_hand():
    graded, cells = a_small_class(0, 1, 1, 3)
    said = summary.summary(graded, graded)
    assert said["students"] == {"graded": 4, "waiting": 1, "not graded": 1} and said["most"] == FULL == 13
    assert (said["mean"], said["median"]) == (11.75, 12)
    counts = {bar["low"]: bar["count"] for bar in said["totals"]}
    assert counts == dict.fromkeys(range(14), 0) | {13: 1, 12: 2, 10: 1}
    shares = {one["name"]: (one["share"], one["count"]) for one in said["questions"]}
    assert shares == {"q1": (0.55, 5), "q2": (0.8, 5), "q3": (0.8, 5), "q4": (1, 4)}
    assert said["questions"][0]["name"] == "q1" and said["questions"][-1]["name"] == "q4"
    first, second, third = said["failing"]
    assert (first["cell"], first["count"], first["of"]) == (cells[0], 3, 5)
    assert first["words"] == [{"words": "not 1", "count": 2}, {"words": "not 3", "count": 1}]
    assert (second["cell"], second["count"], third["count"]) == (cells[1], 1, 1)


def test_numbers_of_a_class_without_any_points():
    graded, _ = a_small_class()
    said = summary.summary(graded, graded)
    assert (said["mean"], said["median"], said["failing"]) == (None, None, [])
    assert said["questions"][-1] == {**said["questions"][-1], "share": None, "mean": None, "count": 0}
    assert {bar["count"] for bar in said["totals"]} == {0}
    bars = summary.bars([0, 39.5, 40], 40)
    assert len(bars) <= summary.MOST_BARS and sum(bar["count"] for bar in bars) == 3 and bars[-1]["high"] > 40

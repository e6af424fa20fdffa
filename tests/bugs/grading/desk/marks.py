"""Bugs of one line in attnlib/grading/desk/marks.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "grading/desk/marks.py", "grading/test_desk.py::test_a_rubric_gives_points_and_its_items_change_for_all",
    ("more than all points", "return min(max(start + sum(chosen), 0), most)", "return max(start + sum(chosen), 0)"),
    ("less than no points", "min(max(start + sum(chosen), 0), most)", "min(start + sum(chosen), most)"),
    ("rubric counts more than points by hand",
     'if decided["points"] is not None:\n            return decided["points"]',
     'if decided["points"] is not None and not decided["items"]:\n            return decided["points"]'),
    ("items that are gone count", 'if not i[1]["gone"]', "if True"),
    ("nothing chosen is a grade", 'if not chosen and not decided["none"]:', "if False:"),
    ("items are added to all points", 'most if self.store.get(f"rubric/{unit}").get("full") else 0', "0"),
) + of(
    "grading/desk/marks.py", "grading/test_desk.py::test_what_was_decided_about_another_hand_in_does_not_count",
    ("old decision about a new text", 'value["of"] == self.units[unit].of.get(student)', "True"),
    ("comment in code is another answer", "unit.of = {s: digest(tree) for s, tree in trees.items()}",
     'unit.of = {s: digest(repr(a)) for s, a in unit.answers.items()}'),
) + of(
    "grading/desk/marks.py",
    "grading/test_desk.py::test_states_and_points_are_those_of_the_class_as_it_is_now",
    ("what the tests gave is overwritten", "results = copy.deepcopy(self.graded.results)",
     "results = self.graded.results"),
) + of(
    "grading/desk/marks.py",
    "grading/test_desk.py::test_units_are_texts_and_questions_with_equal_answers_together",
    ("verdicts of tests are mixed in a group", 'f"{trees[s]}\\n{said[s]}"', "trees[s]"),
    ("who is not graded is in a group", "if r.status != NOT_GRADED}\n        units = []", "}\n        units = []"),
) + of(
    "grading/desk/marks.py", "grading/test_desk.py::test_what_cannot_be_is_refused_in_words",
    ("more points than there are", "if not low <= value <= high:", "if not low <= value:"),
    ("no number is points", "or not math.isfinite(value)", ""),
    ("correction without a reason", "if not reason:", "if reason is None:"),
    ("correction of another question", "if unit.kind != CODE or cell not in unit.cells:", "if unit.kind != CODE:"),
    ("items of nobody", "if item not in known]", "if False]"),
    ("points of a test as if it were a text", "if unit.kind != TEXT:\n", "if False:\n"),
) + of(
    "grading/desk/marks.py",
    "grading/test_desk.py::test_corrections_and_late_deductions_stand_beside_what_the_tests_gave",
    ("lateness costs nothing", "result.points[LATE] = -verdict.points", "pass"),
    ("lateness gives points", "result.points[LATE] = -verdict.points", "result.points[LATE] = verdict.points"),
    ("student does not read why", "result.notes += out.corrected[student]", "pass"),
    ("student reads what nobody knows", "if verdict.words and verdict.days is not None:", "if verdict.words:"),
)

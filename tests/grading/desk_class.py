"""A class of twelve that was graded, without running anything: what the desk starts from."""

from attnlib.grading import assignment, report
from attnlib.grading.collect import Handin
from attnlib.grading.grade import BY_HAND, GRADED, NOT_GRADED, Class
from attnlib.grading.work import Result
from tests.grading.handins import NAME, given_out, source

SOURCE, RELEASE = source(), given_out()
MOST = report.maxima(SOURCE)
[TEXT] = assignment.written(SOURCE)
TESTS = assignment.tests(SOURCE)
MODEL = assignment.model(SOURCE)
UNTOUCHED = next(c.source for c in RELEASE.cells if assignment.facts(c).get("grade_id") == TEXT)

LEAKS = "With −100 weight leaks to hidden keys when the visible scores are low. −inf never leaks."
BLANK = "A row in which all is hidden becomes uniform instead of zero, because the fill is the same everywhere."
HALF = "In half precision −1e9 is −inf, so a blank row is NaN."
#: Ends of lines that students have tried to leave elsewhere.
HOSTILE = "<script>document.title = 'owned'</script><img src=x onerror=\"document.title='owned'\"> \u202egnihton\u202c"
LONG = "All work and no play. " * 47_663  # a million characters

#: `{student: (text, tests that fail, code of question 1)}`
STUDENTS = {
    "ann": (LEAKS, (), MODEL["q1"]),
    "ben": (LEAKS.upper().replace(" ", "\n "), (), "# mine\n" + MODEL["q1"]),
    "cem": (LEAKS.replace("visible", "unhidden"), ("q1_blank",), "def masked_softmax(scores, mask):\n    return 1"),
    "dee": (BLANK, ("q1_blank",), "def masked_softmax(scores, mask):  # one\n    return   1"),
    "eva": (BLANK, ("q1_blank", "q3_large"), "def masked_softmax(scores, mask):\n    return 2"),
    "fox": (HALF, ("q3_large",), MODEL["q1"]),
    "gus": (HALF + " " + LEAKS, (), MODEL["q1"]),
    "hal": (UNTOUCHED, tuple(TESTS), next(c.source for c in RELEASE.cells if assignment.is_answer(c))),
    "ida": ("  \n", ("q2_past",), MODEL["q1"]),
    "jim": (HOSTILE, ("q2_past",), MODEL["q1"] + "\n" + HOSTILE),
    "kim": (LONG, (), MODEL["q1"]),
    "lea": ("", (), ""),
}


def a_class() -> Class:
    """Ann to Kim are graded but for their texts; Hal has written nothing; Lea's file is no notebook."""
    results = {}
    for student, (text, failed, code) in STUDENTS.items():
        points = {cell: 0.0 if cell in failed else float(most) for cell, most in MOST.items()} | {TEXT: None}
        words = {cell: f"the sum of row {len(cell)} is 0.5, not 1" for cell in failed}
        answers = {**{c: s for c, s in MODEL.items() if c != TEXT}, "q1": code}
        results[student] = Result(BY_HAND, points, words, answers, {TEXT: text})
    results["hal"].points[TEXT], results["hal"].status = 0.0, GRADED
    results["jim"].flags, results["jim"].notes = ["eval:q1"], ["several notebooks: graded is \u202ea04.ipynb"]
    results["lea"] = Result(NOT_GRADED, why="not a notebook: this is not text")
    handins = [
        Handin(name, f"{n}", system="canvas", origin=f"{name}_{'LATE_' * (name == 'ben')}{n}_9{n}_{NAME}.ipynb")
        for n, name in enumerate(STUDENTS, start=11)
    ]
    return Class(NAME, SOURCE, RELEASE, handins, results, [], 1.0)

"""Bugs of one line in attnlib/course/figures/fading_trace.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/figures/fading_trace.py", "course/figures/test_fading_trace.py",
    ("trace: share of the first difference", "distances / distances.max()", "distances / distances[0]"),
    ("trace: gone one character early", "left = 1 + int(", "left = int("),
    ("trace: gone from the first large bar on", ".max(initial=-1)", ".min(initial=9)"),
    ("trace: no difference is not a number", ".nan_to_num()", ""),
    ("trace: bars begin too early", "tokens, end - 1, self", "tokens, start, self"),
) + of(
    "course/figures/fading_trace.py", "figures/test_figure.py::test_bad_assignment_is_refused_and_changes_nothing",
    ("trace: a word that no text can have", "0, LONGEST - 1)", "0, LONGEST)"),
)

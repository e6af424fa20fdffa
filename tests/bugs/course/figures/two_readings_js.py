"""Bugs of one line in attnlib/course/figures/static/two_readings.js."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/figures/static/two_readings.js", "course/figures/test_fading_trace.py",
    ("page's trace: share of the first difference", "Math.max(...distances)", "distances[0]"),
    ("page's trace: gone too early", "findLastIndex((share) => share >=", "findIndex((share) => share >="),
    ("page's trace: both guesses from the same reading", "[mine, others].map((all)", "[mine, mine].map((all)"),
    ("page's trace: probability moved counted twice", "Math.abs(p - after[n]), 0) / 2", "Math.abs(p - after[n]), 0)"),
    ("page's trace: the other word read from nothing", "model.read(other, begun)", "model.read(other)"),
) + of(
    "course/figures/static/two_readings.js", "course/figures/test_language_model.py",
    ("page's words: a new line is no end of a word", r'" \t\n".includes', '" ".includes'),
)

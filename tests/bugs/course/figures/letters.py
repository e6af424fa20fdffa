"""Bugs of one line in attnlib/course/figures/letters.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/figures/letters.py", "course/figures/test_fading_trace.py",
    ("picture of letters: bars from the first letter on", "range(first, first + len(heights))", "range(len(heights))"),
    ("picture of letters: all but the marked are bold", 'weight="bold" if n in bold', 'weight="bold" if n not in bold'),
)

"""Bugs of one line in attnlib/grading/feedback.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "grading/feedback.py", "grading/test_grading.py::test_words_stand_in_one_line_that_has_an_end",
    ("characters that steer a terminal are kept", 'c if c.isprintable() else " " for c in words', "c for c in words"),
)

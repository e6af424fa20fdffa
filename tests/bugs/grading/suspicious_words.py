"""Bugs of one line in attnlib/grading/suspicious_words.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "grading/suspicious_words.py", "grading/test_flags.py::test_what_tampers_is_flagged",
    ("loop that catches an interrupt unseen",
     'ENDLESS = {"BaseException", "KeyboardInterrupt", "SystemExit"}',
     'ENDLESS = {"BaseException", "SystemExit"}'),
)

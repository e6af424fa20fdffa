"""Bugs of one line in attnlib/grading/feedback.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "grading/feedback.py", "grading/test_grading.py::test_words_of_hidden_tests_are_shown_and_their_code_is_not",
    ("hidden test behind blanks", "found, code = bare(line), hidden_code", "found, code = line, hidden_code"),
) + of(
    "grading/feedback.py", "grading/test_grading.py::test_who_peeks_reads_only_what_the_tests_say",
    ("who peeks in one cell reads all", 'flag.split(":")[0] for flag', "flag for flag"),
)

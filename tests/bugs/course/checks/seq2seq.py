"""Bugs of one line in attnlib/course/checks/seq2seq.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/checks/seq2seq.py", "course/test_checks.py",
    ("a past with the present in it", "memory[: len(earlier) + t]", "memory[: len(earlier) + t + 1]",
     "test_right_answers_are_right_however_written"),
    ("one window for all", "0 < P + t - j <= window", "0 < P + t - j <= 2",
     "test_right_answers_are_right_however_written"),
    ("columns moved for rows", "(0, k) if columns else (k, 0)", "(k, 0) if columns else (0, k)",
     "test_a_wrong_answer_is_told_its_mistake[row_shift-sign]"),
    ("the last sentence points the same way", "for k in (elsewhere, last))", "for k in (elsewhere, true))",
     "test_a_wrong_answer_is_told_its_mistake[row_shift-last sentence]"),
    ("a gradient that is lost in a blank row", "need(agrees(slope, true, 1e-4),", "need(True,",
     "test_an_answer_that_is_right_on_some_inputs_only_is_refused"),
)

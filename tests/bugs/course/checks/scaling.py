"""Bugs of one line in attnlib/course/checks/scaling.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/checks/scaling.py", "course/test_checks.py",
    ("a merge from the left only", "_all(word[::-1],", "_all(word,",
     "test_a_wrong_answer_is_told_its_mistake[apply_merges-from the right]"),
    ("the plain average", "g.double().repeat_interleave(t, dim=0).mean(0)", "g.double().nan_to_num(0).mean(0)",
     "test_right_answers_are_right_however_written"),
    ("no batch without a token", "for counts in ([3, 0, 5], [0, 2], [4, 1, 0, 0]):", "for counts in ([3, 1, 5],):",
     "test_a_wrong_answer_is_told_its_mistake[whole_gradient-NaN]"),
)

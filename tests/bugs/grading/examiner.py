"""Bugs of one line in attnlib/grading/examiner.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "grading/examiner.py", "grading/test_examiner.py",
    ("who changes its inputs passes", "if outcome.problem is None and peer.changed:", "if False:",
     "test_who_changes_what_it_is_compared_with_gains_nothing"),
    ("limits of calls hold one by one", "with limit(self.seconds):", "if True:", "test_limits_of_calls_hold_together"),
    ("inputs are shown as they are later", "call = Call(name, snapshot(given), ", "call = Call(name, given, ",
     "test_calls_are_remembered_as_they_were"),
    ("who is slow is taken for one who says nothing", "outcome.answered = True", "pass",
     "test_limits_of_calls_hold_together"),
)

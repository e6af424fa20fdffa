"""Bugs of one line in attnlib/grading/kernel.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "grading/kernel.py", "grading/test_grading.py::test_a_cell_that_takes_too_long_costs_its_own_question",
    (
        "a limit that was met is not noticed",
        'self.late = execute_reply["content"].get("ename") == "CellTimeoutError"',
        "self.late = False",
    ),
) + of(
    "grading/kernel.py", "grading/test_crossing.py",
    ("a kernel that is slow to end is interrupted", "patience = self.client.timeout", "pass"),
    ("a call that hangs is waited for as long again", "if not peer.unanswered:", "if True:"),
)

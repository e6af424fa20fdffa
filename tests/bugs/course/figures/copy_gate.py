"""Bugs of one line in attnlib/course/figures/copy_gate.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/figures/copy_gate.py", "course/figures/test_copy_gate.py",
    ("gate held at every word, asked for one", " if self.everywhere or i == self.step else None", "",
     "test_results_follow_every_trait"),
) + of(
    "course/figures/copy_gate.py",
    "figures/test_figure.py::test_bad_assignment_is_refused_and_changes_nothing",
    ("step one beyond the longest answer", "0, self.max_length - 1)", "0, self.max_length)"),
)

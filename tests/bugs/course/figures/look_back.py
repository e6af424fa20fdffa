"""Bugs of one line in attnlib/course/figures/look_back.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/figures/look_back.py", "course/figures/test_look_back.py",
    ("look back: what comes next at the end, wherever one stands", "output.logits[0, at]", "output.logits[0, -1]"),
    ("look back: weights of the place before", "output.weights[0, at, :at]", "output.weights[0, at - 1, :at]"),
    ("look back: a place counted in what was typed", "len(self.tokens) - 1)", "len(self.text) - 1)"),
    ("look back: the least likely token is named", "key=lambda pair: -pair[0]", "key=lambda pair: pair[0]"),
) + of(
    "course/figures/look_back.py", "figures/test_figure.py::test_bad_assignment_is_refused_and_changes_nothing",
    ("look back: a place that no text can have", "0, LONGEST - 1)", "0, LONGEST)"),
)

"""Bugs of one line in attnlib/course/figures/bahdanau.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/figures/bahdanau.py", "course/figures/test_attention_surgery.py",
    ("surgery: edit of the step after", "edits.get(len(steps))", "edits.get(len(steps) - 1)"),
    ("surgery: context as if nothing were painted", "context=weights @ given[2]", "context=own.context"),
    ("surgery: shows the weights that were painted over", "weights=weights)  #", "weights=own.weights)  #"),
)

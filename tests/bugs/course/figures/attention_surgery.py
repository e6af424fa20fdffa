"""Bugs of one line in attnlib/course/figures/attention_surgery.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/figures/attention_surgery.py", "course/figures/test_attention_surgery.py",
    ("surgery: shares not divided by their sum", "return (row / row.sum()).tolist()", "return row.tolist()",
     "test_the_figure_shows_what_attnlib_writes"),
    ("surgery: original with the edits", "self._read, self._own = self.text, self._written({})",
     "self._read, self._own = self.text, self._written(self.edits)", "test_the_browsers_text_may_be_anything"),
    ("surgery: original of the text before", "if self._read != self.text:", "if self._read is None:",
     "test_results_follow_text_and_edits"),
)

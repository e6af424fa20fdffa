"""Bugs of one line in attnlib/course/figures/head_grid.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/figures/head_grid.py", "course/figures/test_head_grid.py",
    ("answers count where nothing is asked", "self._targets.where(counts != 0, -1)", "self._targets",
     "test_results_follow_every_trait"),
    ("share of all places, not of those asked", "(right / (self._targets >= 0).sum((0, 1)))",
     "(right / self._targets[..., 0].numel())", "test_results_follow_every_trait"),
    ("tasks mixed up", "unflatten(-1, (len(self.tasks), -1)).argmax(-1)",
     "unflatten(-1, (-1, len(self.tasks))).argmax(-2)", "test_results_follow_every_trait"),
    ("before with the heads off", 'self.set_trait("before", self.measure())',
     'self.set_trait("before", self.measure(self.off))', "test_results_follow_every_trait"),
)

"""Bugs of one line in attnlib/course/figures/score_explorer.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/figures/score_explorer.py", "course/figures/test_score_explorer.py",
    ("temperature multiplies", "scores / self.temperature", "scores * self.temperature",
     "test_results_follow_every_trait"),
    ("context of keys that have values", "weights @ value", "weights @ key", "test_results_follow_every_trait"),
    ("whole sentence visible", "torch.tensor([self.valid_length])", "torch.tensor([len(self.words)])",
     "test_results_follow_every_trait"),
)

"""Bugs of one line in attnlib/figures/cost_curve.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "figures/cost_curve.py", "figures/test_cost_curve.py",
    ("T of its own where S is both", 'self.S if self.axis == "S=T" else self.T', "self.T",
     "test_results_follow_every_trait"),
    ("only the first part", 'return [term for part in cost["parts"] for term in part["terms"]]',
     'return list(cost["parts"][0]["terms"])', "test_crossings_of_the_chapter"),
)

"""Bugs of one line in attnlib/figures/alignment_view.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "figures/alignment_view.py", "figures/test_alignment_view.py",
    ("the first layer", "self._of[0].weights.shape[0] - 1 if layer is None", "0 if layer is None"),
    ("as many steps as the shortest model", "max(len(one.target) for one in self._of) - 1)",
     "min(len(one.target) for one in self._of) - 1)"),
    ("the first head is sent, whichever is chosen", "maps = [pack(weights) for weights in shown.values()]",
     "maps = [pack(one.weights[0, 0]) for one in self._of]"),
    ("without a kernel one head alone", '"panels": [one.packed() for one in self._of], "sent": {}}', '}'),
    ("heads for layers", '"layer", proposal["value"], 0, self._of[0].weights.shape[0] - 1)',
     '"layer", proposal["value"], 0, self._of[0].weights.shape[1] - 1)'),
)

"""Bugs of one line in attnlib/graph.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "graph.py", "test_graph.py",
    ("shortest for longest", "1 + max((longest", "1 + min((longest"),
    ("itself not counted", "longest[node] = 1 + max(", "longest[node] = max("),
    ("closed before what it was computed from", "stack += [node, *before]", "stack += [*before, node]"),
    ("only the first input", "for parent in before), default=0)", "for parent in before[:1]), default=0)"),
    ("no past is no depth", "    if result.grad_fn is None:\n", "    if False:\n"),
)

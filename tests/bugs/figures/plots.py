"""Bugs of one line in attnlib/figures/plots.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "figures/plots.py", "figures/test_plots.py",
    ("heat map transposed", "Rectangle((j - 0.5, i - 0.5)", "Rectangle((i - 0.5, j - 0.5)"),
    ("every cell full", '"alpha": min(weight, 1.0)', '"alpha": 1.0'),
    ("number that cannot be read", "if weight > 0.83", "if weight > 0.5"),
    ("labels off by one", "ax.set_yticks(range(T), rows", "ax.set_yticks(range(1, T + 1), rows"),
    ("numbers in the wrong cells", "ax.text(j, i,", "ax.text(i, j,"),
    ("names on each other", "if not apart or", "if"),
    ("name at the beginning of its curve", "line.get_xydata()[-1]", "line.get_xydata()[0]"),
    ("role that nobody can check", '"gid": role', '"gid": "of a role"'),
    ("curves in the colours of roles", "[colour.light for colour in CURVES]", "[c.light for c in ROLES.values()]"),
    ("dots in one line", "[n] * len(reached)", "[0] * len(reached)"),
    ("smoothed curve begins at 1", "return range(n, values.shape[-1] + 1), means",
     "return range(1, values.shape[-1] - n + 2), means"),
    ("smoothed over the runs", "values, n, axis=-1)", "values, n, axis=0)"),
)

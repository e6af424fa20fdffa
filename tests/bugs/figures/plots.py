"""Bugs of one line in attnlib/figures/plots.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "figures/plots.py", "figures/test_plots.py",
    ("heat map transposed", "ax.imshow(weights,", "ax.imshow(weights.T,"),
    ("labels off by one", "ax.set_yticks(range(T), rows)", "ax.set_yticks(range(1, T + 1), rows)"),
    ("numbers in the wrong cells", "ax.text(j, i,", "ax.text(i, j,"),
    ("every heat map its own colours", "vmin=0, vmax=1, ", ""),
    ("smoothed curve begins at 1", "return range(n, values.shape[-1] + 1), means",
     "return range(1, values.shape[-1] - n + 2), means"),
    ("smoothed over the runs", "values, n, axis=-1)", "values, n, axis=0)"),
)

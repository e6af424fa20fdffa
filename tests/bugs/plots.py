"""Bugs of one line in attnlib/plots.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "plots.py", "test_plots.py",
    ("heat map transposed", "ax.imshow(weights,", "ax.imshow(weights.T,"),
    ("rows labelled with the keys", "ax.set_yticks(range(T), rows)", "ax.set_yticks(range(T), columns[:T])"),
    ("labels off by one", "ax.set_yticks(range(T), rows)", "ax.set_yticks(range(1, T + 1), rows)"),
    ("axes swapped in words", "ax.set(xlabel=column_label, ylabel=row_label)",
     "ax.set(xlabel=row_label, ylabel=column_label)"),
    ("numbers in the wrong cells", "ax.text(j, i,", "ax.text(i, j,"),
    ("every heat map its own colours", "vmin=0, vmax=1, ", ""),
    ("white on white", "if weight > 0.86 else", "if weight > 0.6 else"),
    ("transparent paper", "\"savefig.facecolor\": \"white\"", "\"savefig.facecolor\": \"none\""),
    ("curve from 0", "range(1, runs.shape[-1] + 1)", "range(runs.shape[-1])"),
    ("band left out", "if len(runs) > 1:", "if False:"),
    ("first run for the mean", "runs.mean(0)", "runs[0]"),
    ("smoothed curve begins at 1", "return range(n, values.shape[-1] + 1), means",
     "return range(1, values.shape[-1] - n + 2), means"),
    ("smoothed over the runs", "values, n, axis=-1)", "values, n, axis=0)"),
    ("median of neighbours", "axis=-1).mean(-1)", "axis=-1).max(-1)"),
    ("one step too few", "if not 1 <= n <= values.shape[-1]:", "if not 1 <= n < values.shape[-1]:"),
    ("smoothed over nothing", "if not 1 <= n <= values.shape[-1]:", "if False:"),
    ("looks least", "columns[row.argmax()]", "columns[row.argmin()]"),
)

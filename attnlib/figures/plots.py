"""Figures: heat maps of attention and curves, as SVG whose colours a page can exchange for its own.

Every function draws arrays and words on axes and leaves the words for a reader who cannot see it to
`describe_weights` or to the caption.
"""

import itertools
from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from cycler import cycler
from IPython import get_ipython
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_rgba
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib_inline.backend_inline import set_matplotlib_formats

from attnlib.figures.palette import CURVES, ROLES
from attnlib.figures.parameters import as_array

#: Everything that has neither a role nor a curve's colour: text and axes, what stands back, lines behind the curves.
INK, MUTED, GRID = "#222222", "#666666", "#e4e4e4"
PAPER = "#ffffff"
#: Inches of a picture that is as wide as a phone: its letters need not shrink there.
WIDEST = 4.6
#: Numbers in the cells of a heat map: on a pale cell, and on a full one, which is as dark on every page.
ON_PALE, ON_FULL = "#010101", "#fefefe"


def shades(role: str) -> LinearSegmentedColormap:
    """From nothing at all to the colour of a role: whatever paper lies under it shows through.

    Example:
        >>> shades("weight")(0.0)[3], shades("weight")(1.0)[3]
        (np.float64(0.0), np.float64(1.0))
    """
    full = to_rgba(ROLES[role].light)
    return LinearSegmentedColormap.from_list(role, [(*full[:3], 0.0), full])


WEIGHTS = shades("weight")


def of(role: str) -> dict[str, str]:
    """Colour and mark of what belongs to a role, for any artist of matplotlib.

    The mark is written into the SVG, where a test looks for it: a role's colour stands on nothing else.

    Args:
        role: A key of `attnlib.figures.palette.ROLES`.

    Example:
        >>> of("query")
        {'color': '#0b5fa5', 'gid': 'query'}
    """
    return {"color": ROLES[role].light, "gid": role}


def use_style() -> None:
    """Set matplotlib up for the book: SVG on white paper, letters that survive a phone, colours that are no role's."""
    if get_ipython() is not None:
        set_matplotlib_formats("svg", metadata={"Date": None})  # the same picture is the same file
    plt.rcParams.update(
        {
            "svg.fonttype": "none",  # text is text: it can be read, searched and shown in the page's colour
            "svg.hashsalt": "attnlib",
            "font.sans-serif": ["DejaVu Sans"],
            "figure.figsize": (WIDEST, 3.0),
            "figure.dpi": 110,
            "savefig.dpi": 110,
            "figure.facecolor": "white",
            "savefig.facecolor": "white",  # transparent paper is unreadable in a dark notebook
            "figure.constrained_layout.use": True,
            "font.size": 11,
            "text.color": INK,
            "axes.edgecolor": INK,
            "axes.labelcolor": INK,
            "xtick.color": INK,
            "ytick.color": INK,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "grid.color": GRID,
            "axes.axisbelow": True,
            "axes.titlesize": 11,
            "axes.prop_cycle": cycler(color=[colour.light for colour in CURVES]),
            "lines.linewidth": 1.8,
            "legend.frameon": False,
        }
    )


def heatmap(
    weights,
    rows: Sequence[str],
    columns: Sequence[str],
    ax: Axes | None = None,
    *,
    row_label: str = "query",
    column_label: str = "key",
    numbers: bool | None = None,
) -> Axes:
    """Attention weights as a grid: a row per query, a column per key, numbers in the cells while they fit.

    Args:
        weights: (T, S), each in 0..1.
        rows: T words, one per query: what is being written or asked.
        columns: S words, one per key: what is being looked at.
        ax: where to draw; a new figure by default.
        row_label: what the rows are.
        column_label: what the columns are.
        numbers: write each weight into its cell; by default for at most 64 cells in 12 columns.

    Raises:
        ValueError: shapes and words do not fit, or a weight is outside 0..1.
    """
    weights = _weights(weights, rows, columns)
    T, S = weights.shape
    width = min(0.5, (WIDEST - 1.3) / S)  # inches of a cell
    if ax is None:
        _, ax = plt.subplots(figsize=(1.3 + width * S, 1.3 + 0.42 * T))
    for (i, j), weight in np.ndenumerate(weights):
        if weight >= 0.004:  # fainter, and nobody sees it
            cell = {**of("weight"), "gid": "weight-cell", "alpha": min(weight, 1.0), "linewidth": 0}
            ax.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, **cell))
    ax.set(xlim=(-0.5, S - 0.5), ylim=(T - 0.5, -0.5))
    slanted = 0.12 * max(map(len, columns), default=0) > width
    slant = {"rotation": 45, "ha": "left"} if slanted else {"rotation": 0, "ha": "center"}
    ax.set_xticks(range(S), columns, parse_math=False, **slant)  # a word may be "$x$"
    ax.set_yticks(range(T), rows, parse_math=False)
    ax.xaxis.set_ticks_position("top")
    ax.xaxis.set_label_position("top")
    ax.set(xlabel=column_label, ylabel=row_label)
    ax.grid(False)
    ax.tick_params(length=0)
    for side in ("left", "bottom", "top", "right"):
        ax.spines[side].set_visible(False)
    if T * S <= 64 and S <= 12 if numbers is None else numbers:
        for (i, j), weight in np.ndenumerate(weights):
            ink = ON_FULL if weight > 0.83 else ON_PALE  # where the two are equally easy to read
            written = f"{weight:.2f}"
            written = written if width == 0.5 else written.removeprefix("0")
            ax.text(j, i, written, ha="center", va="center", color=ink)
    return ax


def describe_weights(weights, rows: Sequence[str], columns: Sequence[str]) -> str:
    """A heat map in words: where each row looks most.

    Raises:
        ValueError: as in `heatmap`.

    Example:
        >>> describe_weights([[0.1, 0.9]], ["le"], ["a", "the"])
        '"le" looks most at "the" (0.90)'
    """
    weights = _weights(weights, rows, columns)
    sentences = []
    for word, row in zip(rows, weights, strict=True):
        if row.max() == 0:
            sentences.append(f'"{word}" looks at nothing')
        else:
            sentences.append(f'"{word}" looks most at "{columns[row.argmax()]}" ({row.max():.2f})')
    return "; ".join(sentences)


def _weights(weights, rows: Sequence[str], columns: Sequence[str]) -> np.ndarray:
    """The weights as an array, checked against their words."""
    weights = as_array(weights)
    if weights.shape != (len(rows), len(columns)):
        raise ValueError(f"weights {weights.shape} do not fit {len(rows)} rows and {len(columns)} columns of words")
    if weights.size and not (weights.min() >= 0 and weights.max() <= 1 + 1e-6):
        raise ValueError(f"weights must lie in 0..1, got {weights.min()}..{weights.max()}")
    return weights


Values = Sequence[float] | Sequence[Sequence[float]] | np.ndarray


def curves(
    lines: dict[str, Values | tuple[Sequence[float], Values]],
    ax: Axes | None = None,
    *,
    xlabel: str,
    ylabel: str,
    levels: dict[str, float] | None = None,
    log: bool = False,
) -> Axes:
    """Labelled curves, named in a legend where there are several, and named horizontal levels to compare them with.

    Args:
        lines: name → y, or name → (x, y). A y of shape (runs, n) is drawn as its mean, in a band from its
            smallest to its largest run.
        ax: where to draw; a new figure by default.
        xlabel: quantity and unit.
        ylabel: quantity and unit.
        levels: name → y of a horizontal line, a baseline for instance.
        log: logarithmic y axis.

    Raises:
        ValueError: a curve's x and y differ in length, or it is empty.
    """
    if ax is None:
        _, ax = plt.subplots()
    styles = ["-", "--", "-.", ":"]  # a second way to tell curves apart
    named = []
    for n, (name, line) in enumerate(lines.items()):
        x, y = line if isinstance(line, tuple) else (None, line)
        runs = np.atleast_2d(np.asarray(y, dtype=float))
        x = range(1, runs.shape[-1] + 1) if x is None else x
        if len(x) != runs.shape[-1] or not runs.size:
            raise ValueError(f"curve {name!r} has {len(x)} x and {runs.shape[-1]} y values")
        (drawn,) = ax.plot(x, runs.mean(0), styles[n % 4], label=name)
        named.append(drawn)
        if len(runs) > 1:
            ax.fill_between(x, runs.min(0), runs.max(0), color=drawn.get_color(), alpha=0.2, linewidth=0)
    for name, level in (levels or {}).items():
        ax.axhline(level, color=MUTED, linewidth=1.2, linestyle=(0, (1, 2)))
        ax.annotate(name, (1, level), xycoords=("axes fraction", "data"), xytext=(0, 3), textcoords="offset points",
                    ha="right", va="bottom", color=MUTED)  # fmt: skip
    if log:
        ax.set_yscale("log")
    ax.set(xlabel=xlabel, ylabel=ylabel)
    if len(lines) > 1:
        name_the_curves(ax, named)
    return ax


def name_the_curves(ax: Axes, named: Sequence[Line2D]) -> None:
    """Name each curve where it ends, if there is room: all end at one x, names are short and no two touch.

    Elsewhere a legend names them.

    Args:
        ax: where they are drawn.
        named: the curves, with their labels.
    """
    ends = {str(line.get_label()): line.get_xydata()[-1] for line in named}
    heights = sorted(ax.transData.transform(end)[1] for end in ends.values())
    line_height = plt.rcParams["font.size"] * 1.2 * ax.figure.dpi / 72  # pixels
    apart = all(b - a >= line_height for a, b in itertools.pairwise(heights))
    if not apart or len({x for x, _ in ends.values()}) > 1 or max(map(len, ends)) > 14:
        ax.legend()
        return
    for line, (name, end) in zip(named, ends.items(), strict=True):
        beside = {"xytext": (5, 0), "textcoords": "offset points", "va": "center"}
        ax.annotate(name, tuple(end), color=line.get_color(), **beside)


def dots(values: dict[str, Values], ax: Axes | None = None, *, xlabel: str) -> Axes:
    """A line for each name, a dot for each of its values: what seeds of several arms have reached.

    Args:
        values: name → (seeds,).
        ax: where to draw; a new figure by default.
        xlabel: quantity and unit.
    """
    if ax is None:
        _, ax = plt.subplots(figsize=(WIDEST, 0.6 + 0.4 * len(values)))
    for n, reached in enumerate(values.values()):
        ax.plot(reached, [n] * len(reached), "o", color="C0", alpha=0.7)
    ax.set_yticks(range(len(values)), list(values))
    ax.set(xlabel=xlabel, ylim=(len(values) - 0.5, -0.5))
    return ax


def smooth(runs: Values, n: int = 20) -> tuple[range, np.ndarray]:
    """Mean of each n neighbouring steps, and the number of the last of them: what `curves` takes.

    Args:
        runs: one value per step, (steps,) or (runs, steps).
        n: steps to a mean.

    Raises:
        ValueError: n < 1, or there are fewer than n steps.

    Example:
        >>> smooth([1.0, 2.0, 6.0], n=2)
        (range(2, 4), array([1.5, 4. ]))
    """
    values = np.asarray(runs, dtype=float)
    if not 1 <= n <= values.shape[-1]:
        raise ValueError(f"cannot take means of {n} out of {values.shape[-1]} steps")
    means = np.lib.stride_tricks.sliding_window_view(values, n, axis=-1).mean(-1)
    return range(n, values.shape[-1] + 1), means

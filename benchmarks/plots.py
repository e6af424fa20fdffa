"""What was measured in two pictures: every ratio beside its bound, and how cost grows."""

from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.figure import FigureBase
from matplotlib.ticker import LogFormatter

from attnlib import plots
from benchmarks.rows import Row

MET, MISSED, FREE = "#00735c", "#b8400e", "#666666"
MARKERS = {True: ("o", MET, "kept"), False: ("X", MISSED, "not kept"), None: ("D", FREE, "an aim, or nothing asked")}


def ratios(record: dict) -> list[Row]:
    """The rows that are a comparison."""
    return [row for row in (Row(**fields) for fields in record["rows"]) if row.ratio is not None]


def draw_ratios(fig: FigureBase, record: dict) -> None:
    """Every ratio as a dot on a logarithmic axis, its bound as a stroke, its aim as a faint one."""
    ax, rows = fig.subplots(), ratios(record)
    for y, row in enumerate(rows):
        bound = row.at_least if row.at_least is not None else row.at_most
        if row.judged == "ratio":
            for level, ink in ((bound, plots.INK), (row.aim, "#aaaaaa")):
                if level is not None:
                    ax.plot([level, level], [y - 0.38, y + 0.38], color=ink, linewidth=2.2)
        marker, colour, _ = MARKERS[row.met]
        ax.plot(row.ratio, y, marker, color=colour, markersize=6)
    for marker, colour, name in MARKERS.values():
        ax.plot([], [], marker, color=colour, label=name)
    ax.plot([], [], color=plots.INK, label="bound")
    ax.plot([], [], color="#aaaaaa", label="aim")
    ax.set_yticks(range(len(rows)), [f"{row.name}, {row.size}, {row.means}" for row in rows], fontsize=7.5)
    ax.invert_yaxis()
    ax.set(xscale="log", xlabel="ratio")
    ax.xaxis.set_major_formatter("{x:g}")
    ax.xaxis.set_minor_formatter(LogFormatter(minor_thresholds=(2, 0.6)))
    ax.tick_params(axis="x", which="both", labelsize=8)
    ax.legend(loc="upper center", bbox_to_anchor=(0.2, -0.08), ncols=5, fontsize=7)


def draw_growth(fig: FigureBase, record: dict) -> None:
    """Time above, memory below, against each of B, S, T and d; in the legend the slopes."""
    units, axes = {"time": "ms", "memory": "MB"}, fig.subplots(2, 4, sharey="row")
    slopes = {row["name"]: row for row in record["rows"] if row["section"] == "growth"}
    for line, (quantity, curves) in zip(axes, record["growth"].items(), strict=True):
        for (name, by_letter), marker in zip(curves.items(), ("o-", "s--"), strict=True):
            for ax, (letter, points) in zip(line, by_letter.items(), strict=True):
                row = slopes[f"{quantity}, {name}: in {letter}"]
                said = f"{name}: {row['ours']:.2f} ({row['other']:.2f})"
                ax.plot(*zip(*points, strict=True), marker, label=said, markersize=4)
                ax.set(xscale="log", yscale="log", xlabel=letter)
                ax.set_xticks([size for size, _ in points], [str(size) for size, _ in points], fontsize=8)
                ax.minorticks_off()
                ax.legend(fontsize=7, title="slope (counted)", title_fontsize=7, loc="upper left", handlelength=1.4)
        line[0].set_ylim(top=8 * line[0].get_ylim()[1])  # room for the legends
        line[0].set_ylabel(f"{quantity}, {units[quantity]}")


def height(record: dict) -> float:
    """Inches that the ratios need."""
    return 1.2 + 0.27 * len(ratios(record))


def write(record: dict, file: Path, parts: str = "ratios growth") -> None:
    """Both pictures, one above the other, or one of them, as SVG or PNG; the same numbers give the same bytes."""
    inches = {"ratios": height(record), "growth": 5.2}
    wanted = {name: inches[name] for name in parts.split()}
    plots.use_style()
    with plt.rc_context({"svg.hashsalt": "speed"}):
        fig = plt.figure(figsize=(8.8, sum(wanted.values())))
        pieces = fig.subfigures(len(wanted), 1, height_ratios=list(wanted.values()), squeeze=False)[:, 0]
        for piece, name in zip(pieces, wanted, strict=True):
            {"ratios": draw_ratios, "growth": draw_growth}[name](piece, record)
        fig.savefig(file, metadata={"Date": None} if file.suffix == ".svg" else {"Software": None})
        plt.close(fig)

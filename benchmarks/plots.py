"""What was measured in two pictures: every ratio beside its bound, and how cost grows."""

from itertools import groupby
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
    """Every ratio as a dot on a logarithmic axis under its name, its bound as a stroke, its aim as a faint one."""
    ax, y, size = fig.subplots(), 0.0, None
    text = {"transform": ax.get_yaxis_transform(), "fontsize": 7.5, "va": "center"}
    for row in ratios(record):
        if row.size != size:  # a head for what has one size
            size = row.size
            ax.text(0.02, y + 0.4, size, weight="bold", **text)
            ax.axhline(y, color="#bbbbbb", linewidth=0.7)
            y += 0.7
        bound = row.at_least if row.at_least is not None else row.at_most
        if row.judged == "ratio":
            for level, ink in ((bound, plots.INK), (row.aim, "#aaaaaa")):
                if level is not None:
                    ax.plot([level, level], [y + 0.4, y + 0.9], color=ink, linewidth=2.2)
        marker, colour, _ = MARKERS[row.met]
        ax.plot(row.ratio, y + 0.65, marker, color=colour, markersize=6)
        ax.text(0.02, y + 0.2, f"{row.name}, {row.means}", **text)
        y += 1
    for marker, colour, name in MARKERS.values():
        ax.plot([], [], marker, color=colour, label=name)
    ax.plot([], [], color=plots.INK, label="bound")
    ax.plot([], [], color="#aaaaaa", label="aim")
    ax.set(xscale="log", xlabel="ratio", yticks=[], ylim=(y, 0))
    ax.xaxis.set_major_formatter("{x:g}")
    ax.xaxis.set_minor_formatter(LogFormatter(minor_thresholds=(2, 0.6)))
    ax.tick_params(axis="x", which="both", labelsize=8)
    ax.xaxis.label.set_size(9)
    fig.legend(loc="outside lower center", ncols=3, fontsize=7)


def draw_growth(fig: FigureBase, record: dict) -> None:
    """Time at the left, memory at the right, against each of B, S, T and d; in the legend the slopes."""
    units, axes = {"time": "ms", "memory": "MB"}, fig.subplots(4, 2, sharey="col")
    slopes = {row["name"]: row for row in record["rows"] if row["section"] == "growth"}
    for column, (quantity, curves) in zip(axes.T, record["growth"].items(), strict=True):
        for (name, by_letter), marker in zip(curves.items(), ("o-", "s--"), strict=True):
            for ax, (letter, points) in zip(column, by_letter.items(), strict=True):
                row = slopes[f"{quantity}, {name}: in {letter}"]
                said = f"{name}: {row['ours']:.2f} ({row['other']:.2f})"
                ax.plot(*zip(*points, strict=True), marker, label=said, markersize=4)
                ax.set(xscale="log", yscale="log", xlabel=letter, ylabel=f"{quantity}, {units[quantity]}")
                ax.set_xticks([size for size, _ in points], [str(size) for size, _ in points])
                ax.minorticks_off()
                ax.tick_params(labelsize=7)
                ax.legend(fontsize=6.5, title="slope (counted)", title_fontsize=6.5, loc="upper left", handlelength=1.4)
                for label in (ax.xaxis.label, ax.yaxis.label):
                    label.set_size(8)
        column[0].set_ylim(top=8 * column[0].get_ylim()[1])  # room for the legends


def height(record: dict) -> float:
    """Inches that the ratios need."""
    rows = ratios(record)
    heads = sum(1 for _ in groupby(rows, key=lambda row: row.size))
    return 1.1 + 0.3 * (len(rows) + 0.7 * heads)


def write(record: dict, file: Path, parts: str = "ratios growth") -> None:
    """Both pictures, one above the other, or one of them, as SVG or PNG; the same numbers give the same bytes."""
    inches = {"ratios": height(record), "growth": 7.6}
    wanted = {name: inches[name] for name in parts.split()}
    plots.use_style()
    with plt.rc_context({"svg.hashsalt": "speed"}):
        fig = plt.figure(figsize=(4.4, sum(wanted.values())))
        pieces = fig.subfigures(len(wanted), 1, height_ratios=list(wanted.values()), squeeze=False)[:, 0]
        for piece, name in zip(pieces, wanted, strict=True):
            {"ratios": draw_ratios, "growth": draw_growth}[name](piece, record)
        fig.savefig(file, dpi=150, metadata={"Date": None} if file.suffix == ".svg" else {"Software": None})
        plt.close(fig)

"""What was measured in pictures: every ratio beside its bound, what a step is made of, and how cost grows."""

from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import matplotlib.pyplot as plt
from matplotlib.figure import FigureBase
from matplotlib.ticker import LogFormatter

from attnlib.figures import plots
from attnlib.figures.palette import ROLES
from benchmarks.rows import Row, short

MET, MISSED, FREE = "#00735c", "#b8400e", "#666666"
SAME, PRODUCTS, HIDDEN = "#bdbdbd", "#7f7f7f", ROLES["weight"].light
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


class Step(NamedTuple):
    """A training step of Bahdanau's decoder in milliseconds: each time has the one before in it."""

    size: str
    floor: float  # without attention
    products: float  # with all products of matrices, but no hidden layers
    ours: float
    textbook: float
    at_least: float  # times faster than the textbook
    aim: float


def steps(record: dict) -> list[Step]:
    """What the steps are made of, one for each size."""
    rows = {(row.name, row.size): row for row in (Row(**fields) for fields in record["rows"])}
    return [
        Step(
            size=size,
            floor=rows["Bahdanau: without attention", size].other,
            products=row.other / row.with_dot,
            ours=row.ours,
            textbook=row.other,
            at_least=row.at_least,
            aim=row.aim,
        )
        for (name, size), row in rows.items()
        if name == "Bahdanau: the textbook design"
    ]


def draw_steps(fig: FigureBase, record: dict) -> None:
    """A bar for each size, the textbook's step 100 %; a stroke where our step must end, a faint one where it should."""
    ax, measured = fig.subplots(), steps(record)
    for y, step in enumerate(measured):
        ends = {"without attention": step.floor, "+ context, products": step.products, "+ hidden layers": step.ours}
        start = 0.0
        for (name, end), colour in zip(ends.items(), (SAME, PRODUCTS, HIDDEN), strict=True):
            share = 100 * end / step.textbook
            ax.barh(y, share - start, left=start, color=colour, height=0.36, label=None if y else name)
            start = share
        ax.barh(y, 100, fill=False, edgecolor=plots.INK, height=0.36, linewidth=0.8)
        for times, ink in ((step.at_least, plots.INK), (step.aim, "#999999")):
            ax.plot([100 / times] * 2, [y - 0.24, y + 0.3], color="white", linewidth=4.4, solid_capstyle="butt")
            ax.plot([100 / times] * 2, [y - 0.24, y + 0.3], color=ink, linewidth=2.4, solid_capstyle="butt")
        said = f"{step.size}: {short(step.ours)} of {short(step.textbook)} ms"
        ax.text(0, y - 0.3, said, fontsize=7.5, va="bottom")
    ax.plot([], [], color=plots.INK, label="bound")
    ax.plot([], [], color="#999999", label="aim")
    ax.set(xlim=(0, 100), ylim=(len(measured) - 0.5, -0.75), yticks=[], xlabel="share of the textbook's step, %")
    ax.tick_params(axis="x", labelsize=8)
    ax.xaxis.label.set_size(9)
    ax.grid(visible=False)
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


def write(record: dict, file: Path, parts: str = "ratios steps growth") -> None:
    """The pictures, one above the other, or some of them, as SVG or PNG; the same numbers give the same bytes."""
    inches = {"ratios": height(record), "steps": 1.2 + 0.65 * len(steps(record)), "growth": 7.6}
    wanted = {name: inches[name] for name in parts.split()}
    plots.use_style()
    with plt.rc_context({"svg.hashsalt": "speed"}):
        fig = plt.figure(figsize=(4.4, sum(wanted.values())))
        pieces = fig.subfigures(len(wanted), 1, height_ratios=list(wanted.values()), squeeze=False)[:, 0]
        for piece, name in zip(pieces, wanted, strict=True):
            {"ratios": draw_ratios, "steps": draw_steps, "growth": draw_growth}[name](piece, record)
        fig.savefig(file, dpi=150, metadata={"Date": None} if file.suffix == ".svg" else {"Software": None})
        plt.close(fig)

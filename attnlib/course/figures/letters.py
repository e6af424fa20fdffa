"""A text letter by letter in a picture, a bar over each, as `static/letters.js` draws it in the page."""

from collections.abc import Collection, Sequence

from matplotlib.axes import Axes

from attnlib.figures.plots import INK


def letter_bars(
    ax: Axes, tokens: Sequence[str], first: int, heights: Sequence[float], color: str, bold: Collection[int] = ()
) -> None:
    """Bars over some letters in a row of a text.

    Args:
        ax: where to draw.
        tokens: T characters.
        first: the place of the letter under the first bar.
        heights: of the bars.
        color: of the bars.
        bold: places of letters that stand out.
    """
    ax.bar(range(first, first + len(heights)), heights, color=color, width=0.8)
    ax.set_xticks(range(len(tokens)), [plain(token) for token in tokens], family="monospace", fontsize=9, color=INK)
    ax.tick_params(axis="x", length=0, pad=12)
    for n, label in enumerate(ax.get_xticklabels()):
        label.set(va="baseline", weight="bold" if n in bold else "normal")
    ax.set(xlim=(-0.6, len(tokens) - 0.4))


def plain(text: str) -> str:
    """Text as Matplotlib takes it: blanks that are seen, and no formula."""
    return text.replace("\n", "⏎").replace("\t", "⇥").replace("$", r"\$")

"""Images on their way into a page, boxes and grids on them, and captions compared word by word."""

import base64
import io
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure as Picture
from matplotlib.patches import Rectangle
from PIL import Image

from attnlib.figures.palette import ROLES

Box = Sequence[float]  # left, top, right, bottom, in pixels; right and bottom are outside
STRONGEST = 0.7  # opacity of the tint where a word looks most


def pixels(name: str, given) -> np.ndarray:
    """An image (height, width, 3) as whole numbers in 0..255.

    Args:
        name: how to speak of it.
        given: whole numbers in 0..255, or fractions in 0..1: lists, an array or a tensor.

    Raises:
        ValueError: another shape, or a number out of range.
    """
    if hasattr(given, "detach"):  # a tensor, which may be on a device, in a graph or in 16 bits
        given = given.detach().cpu()
        given = (given.double() if given.is_floating_point() else given).numpy()
    try:
        array = np.asarray(given)
    except ValueError as error:
        raise ValueError(f"{name} must be rectangular, (height, width, 3)") from error
    if array.ndim != 3 or array.shape[2] != 3 or array.size == 0:
        raise ValueError(f"{name} must have shape (height, width, 3), channels last, got {array.shape}")
    whole = array.dtype.kind in "iu"
    if not whole and array.dtype.kind != "f":
        raise ValueError(f"{name} must be whole numbers in 0..255 or fractions in 0..1, got {array.dtype}")
    largest = 255 if whole else 1
    if not (array.min() >= 0 and array.max() <= largest):  # NaN fails, too
        kind = "whole numbers" if whole else "fractions"
        raise ValueError(f"{name} must be {kind} in 0..{largest}, got {array.min()}..{array.max()}")
    return (array if whole else np.rint(255 * array)).astype(np.uint8)


def address(array: np.ndarray) -> str:
    """An image as an address that holds all of it: a data URL with a PNG, which loses nothing."""
    file = io.BytesIO()
    Image.fromarray(array).save(file, "PNG", optimize=True)
    return f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"


def wrong_words(said: Sequence[str], true: Sequence[str]) -> list[bool]:
    """For each word said, whether it is no part of the longest sequence of words that both captions have in order.

    Example:
        >>> wrong_words(["a", "cat", "left", "of", "a", "hat"], ["a", "dog", "above", "a", "hat"])
        [False, True, True, True, False, False]
    """
    n, m = len(said), len(true)
    longest = np.zeros((n + 1, m + 1), dtype=int)  # of said[i:] and true[j:]
    for i in reversed(range(n)):
        for j in reversed(range(m)):
            same = said[i] == true[j]
            longest[i, j] = longest[i + 1, j + 1] + 1 if same else max(longest[i + 1, j], longest[i, j + 1])
    wrong, i, j = [True] * n, 0, 0
    while i < n and j < m:
        if said[i] == true[j]:
            wrong[i] = False
            i, j = i + 1, j + 1
        elif longest[i, j + 1] >= longest[i + 1, j]:
            j += 1
        else:
            i += 1
    return wrong


def in_box(region: Sequence[int], box: Box, grid: Sequence[int], size: Sequence[int]) -> bool:
    """Whether the centre of a region is inside a box.

    Args:
        region: row and column.
        box: left, top, right, bottom, in pixels.
        grid: rows and columns.
        size: height and width of the image, in pixels.
    """
    y, x = ((2 * region[n] + 1) * size[n] / (2 * grid[n]) for n in (0, 1))
    left, top, right, bottom = box
    return left <= x < right and top <= y < bottom


def draw_looks(figure, image: np.ndarray) -> Picture:
    """The chosen image of a `WhereItLooks` once per word, tinted where the word looks; the chosen word is framed.

    Args:
        figure: the widget.
        image: (height, width, 3), whole numbers in 0..255.
    """
    words = figure.captions[figure.scene]
    wrong = figure.wrong[figure.scene] if figure.wrong else [False] * len(words)
    columns = 4 if len(words) <= 11 else 8
    rows = -(-(len(words) + 1) // columns)
    height, width = image.shape[:2]
    picture = Picture(
        figsize=(6.4, min(12, (6.4 / columns * height / width + 0.35) * rows + 0.5)), layout="constrained"
    )
    axes = picture.subplots(rows, columns, squeeze=False).flat
    for ax in axes:
        ax.set_axis_off()
    size = 15 if columns == 4 else 9
    axes[0].imshow(image, extent=(0, width, height, 0))
    axes[0].set_title("image", fontsize=size, style="italic")
    # "$" would begin a formula
    plain = [clipped(word).replace("$", r"\$") for word in words]
    for i, (ax, word) in enumerate(zip(axes[1:], plain, strict=False)):
        tinted(ax, image, np.reshape(figure.weights[figure.scene][i], figure.grid), figure.smooth)
        box = figure.boxes[figure.scene][i] if figure.boxes and figure.show_boxes else None
        if box is not None:
            corner, edges = box[:2], (box[2] - box[0], box[3] - box[1])
            ax.add_patch(Rectangle(corner, *edges, fill=False, ec="black", lw=1.4, ls="--"))
        chosen = i == figure.step
        ax.set_title(f"✗ {word}" if wrong[i] else word, fontsize=size, weight="bold" if chosen else "normal")
        if chosen:
            ax.add_patch(Rectangle((0, 0), width, height, fill=False, ec="black", lw=3))
    if figure.static:
        said = " ".join(figure.static[figure.scene]).replace("$", r"\$")
        picture.supxlabel(clipped(f"the model that does not look: {said}", 70), fontsize=11)
    return picture


def tinted(ax: Axes, image: np.ndarray, alpha: np.ndarray, smooth: bool) -> None:
    """The image, paler than it is, and over it the weights (rows, columns); the strongest region is framed."""
    height, width = image.shape[:2]
    ax.imshow(0.25 + 0.75 * image / 255, extent=(0, width, height, 0))
    if not alpha.any():
        return
    share = alpha / alpha.max()
    if smooth:
        share = stretched(stretched(share, height).T, width).T
    tint = np.empty((*share.shape, 4))
    tint[..., :3] = to_rgb(ROLES["weight"].light)
    tint[..., 3] = STRONGEST * share
    ax.imshow(tint, extent=(0, width, height, 0), interpolation="nearest")
    rows, columns = alpha.shape
    y, x = divmod(int(alpha.argmax()), columns)
    edges = (width / columns, height / rows)
    corner = (x * edges[0], y * edges[1])
    ax.add_patch(Rectangle(corner, *edges, fill=False, ec=ROLES["weight"].light, gid="weight", lw=2))


def stretched(rows: np.ndarray, n: int) -> np.ndarray:
    """n rows in place of those given, linear between their centres and constant outside."""
    places = (np.arange(n) + 0.5) * len(rows) / n - 0.5
    return np.stack([np.interp(places, np.arange(len(rows)), column) for column in rows.T], axis=1)


def clipped(text: str, n: int = 14) -> str:
    """The first n letters of what is longer."""
    return text if len(text) <= n else f"{text[: n - 1]}…"

"""Step through a caption and see, on the image, where each word was looked for."""

from collections.abc import Mapping, Sequence

import numpy as np
import traitlets
from matplotlib.figure import Figure as Picture
from traitlets import Bool, Int, List, Unicode

from attnlib.figures.assets import module, stylesheet
from attnlib.figures.figure import Figure, fixed
from attnlib.figures.palette import ROLES
from attnlib.figures.parameters import numbers, whole
from attnlib.figures.pictures import address, draw_looks, in_box, pixels, wrong_words

Words = Sequence[str]


class WhereItLooks(Figure):
    """Images, the words written for each, and the weights `α_im` of word i over the regions m of a grid.

    In the browser one chooses an image and a word of its caption, or plays the caption word by word: the image is
    tinted where the word looks, the strongest region is framed. `scene`, `step`, `smooth` and `show_boxes` are traits
    that follow the figure and move it when set; `alpha`, `looks_at` and `hit` say what it shows, and are read-only.

    Anything that attends over a grid fits. Cross-attention to the patches of a vision transformer, of weights
    (H, T, 1 + rows · columns) with the class token in front: `weights=[w.mean(0)[:, 1:]]`, `grid=(14, 14)`; the rows
    then add up to less than 1.

    Args:
        images: N images (height, width, 3): whole numbers in 0..255, or fractions in 0..1.
        captions: N lists of words, T of them in an image's.
        weights: for each image (T, rows · columns), regions row by row; a row adds up to at most 1.
        grid: rows and columns.
        truth: the N true captions; words that are not in them are marked wrong.
        static: the N captions of another model, which does not look, to be read beside.
        boxes: for each image and each of its T words the box (left, top, right, bottom) in pixels of the thing that
            it names, right and bottom outside; None for a word that names none.
        scene: the image to begin with, counted from 0.
        step: the word to begin with, counted from 0.
        smooth: tint by bilinear interpolation between the centres of the regions, as if the image had been looked at
            in every pixel; otherwise each region has one tint, which is what the model knows.
        questions: what the figure asks its reader, one after the other: see `Figure`.

    Raises:
        ValueError: no image, a number of captions, words, weights or boxes that does not fit, pixels or weights out
            of range, an empty caption or grid, or a scene or step that is not there.

    Example:
        >>> image = [[[255, 255, 255]] * 2] * 2
        >>> WhereItLooks([image], [["a", "star"]], [[[1, 0, 0, 0], [0.1, 0.2, 0.6, 0.1]]], grid=(2, 2), step=1)
        WhereItLooks('star', word 2 of 2 of image 1: 0.60 on row 2, column 1)

    Source: xu2015show, figures 2 and 3 (there the weights are upsampled with a Gaussian).
    """

    _esm = module("where_it_looks.js")
    _css = stylesheet("where_it_looks.css")

    # What moves, in both directions.
    scene = Int().tag(sync=True)
    step = Int().tag(sync=True)
    smooth = Bool(False).tag(sync=True)
    show_boxes = Bool(False).tag(sync=True)

    # What the figure is made of, once and for all.
    images = List(Unicode()).tag(sync=True)  # addresses of pictures, each with its picture inside
    sizes = List().tag(sync=True)  # height and width of each
    grid = List(Int()).tag(sync=True)
    captions = List().tag(sync=True)
    weights = List().tag(sync=True)  # to six digits
    truth = List().tag(sync=True)
    static = List().tag(sync=True)
    boxes = List().tag(sync=True)
    wrong = List().tag(sync=True)  # for each word of the captions, whether the true caption has it
    static_wrong = List().tag(sync=True)
    tint = Unicode(ROLES["weight"].light).tag(sync=True)  # images are light on the dark page, too

    # What the figure shows: on this side only, so that nothing can be written that it does not show.
    alpha = List(read_only=True)  # rows × columns
    looks_at = List(read_only=True)  # row and column of the strongest region, from 0; empty if all weights are 0
    hit = traitlets.Any(read_only=True)  # whether its centre is in the box; None without a box

    def __init__(
        self,
        images,
        captions: Sequence[Words],
        weights,
        grid=(6, 6),
        truth: Sequence[Words] | None = None,
        static: Sequence[Words] | None = None,
        boxes=None,
        scene: int = 0,
        step: int = 0,
        smooth: bool = False,
        questions: Sequence[Mapping] = (),
    ):
        arrays = [pixels(f"images[{n}]", image) for n, image in enumerate(images)]
        if not arrays:
            raise ValueError("there must be at least one image, got none")
        grid = whole_grid(grid)
        captions = sentences("captions", captions, len(arrays))
        truth, static = (
            [] if given is None else sentences(name, given, len(arrays), empty=True)
            for name, given in (("truth", truth), ("static", static))
        )
        self._arrays = arrays
        super().__init__(
            images=[address(array) for array in arrays],
            sizes=[list(array.shape[:2]) for array in arrays],
            grid=grid,
            captions=captions,
            weights=shares(weights, captions, grid),
            truth=truth,
            static=static,
            boxes=[] if boxes is None else outlines(boxes, captions),
            wrong=[wrong_words(*pair) for pair in zip(captions, truth, strict=True)] if truth else [],
            static_wrong=[wrong_words(*pair) for pair in zip(static, truth, strict=True)] if truth and static else [],
            scene=scene,
            step=step,
            smooth=smooth,
            questions=list(questions),
        )
        self._look()

    @traitlets.observe("scene", "step")
    def _look(self, change=None):
        """What the figure shows follows from what is chosen."""
        if not self._made:
            return
        self.step = min(self.step, len(self.captions[self.scene]) - 1)  # another image may have fewer words
        rows, columns = self.grid
        alpha = np.array(self.weights[self.scene][self.step]).reshape(rows, columns)
        y, x = divmod(int(alpha.argmax()), columns)
        self.set_trait("alpha", alpha.tolist())
        self.set_trait("looks_at", [y, x] if alpha.any() else [])
        box = self.boxes[self.scene][self.step] if self.boxes else None
        known = box is not None and alpha.any()
        self.set_trait("hit", in_box([y, x], box, self.grid, self.sizes[self.scene]) if known else None)

    @traitlets.validate("scene")
    def _check_scene(self, proposal):
        return whole("scene", proposal["value"], 0, len(self.images) - 1)

    @traitlets.validate("step")
    def _check_step(self, proposal):
        scene = whole("scene", self.scene, 0, len(self.images) - 1)  # may not have been checked yet
        return whole("step", proposal["value"], 0, len(self.captions[scene]) - 1)

    _check_fixed = fixed(
        "images", "sizes", "grid", "captions", "weights", "truth", "static", "boxes", "wrong", "static_wrong"
    )

    def picture(self) -> Picture:
        return draw_looks(self, self._arrays[self.scene])

    def __repr__(self) -> str:
        # GitHub shows this instead of the figure, and nbval compares it: no memory address, few digits
        words = self.captions[self.scene]
        where = "nothing looked at"
        if self.looks_at:
            y, x = self.looks_at
            where = f"{self.alpha[y][x]:.2f} on row {y + 1}, column {x + 1}"
        at = f"word {self.step + 1} of {len(words)} of image {self.scene + 1}"
        return f"WhereItLooks({words[self.step]!r}, {at}: {where})"


def sentences(name: str, given: Sequence[Words], n: int, empty: bool = False) -> list[list[str]]:
    """One list of words per image."""
    if len(given) != n:
        raise ValueError(f"{name} must be one list of words for each of {n} images, got {len(given)}")
    for i, words in enumerate(given):
        if isinstance(words, str) or not (empty or len(words)):
            raise ValueError(f"{name}[{i}] must be a list of {'' if empty else 'one or more '}words, got {words!r}")
    return [[str(word) for word in words] for words in given]


def whole_grid(grid) -> list[int]:
    """Rows and columns, both at least 1."""
    grid = list(grid)
    if len(grid) != 2 or any(int(n) != n or n < 1 for n in grid):
        raise ValueError(f"grid must be two whole numbers (rows, columns) of at least 1, got {tuple(grid)}")
    return [int(n) for n in grid]


def shares(weights, captions: list[list[str]], grid: list[int]) -> list[list[list[float]]]:
    """The weights of each image, (T, rows · columns), to six digits."""
    if len(weights) != len(captions):
        raise ValueError(f"weights must be one array for each of {len(captions)} images, got {len(weights)}")
    rows, columns = grid
    found = []
    for n, (given, words) in enumerate(zip(weights, captions, strict=True)):
        alpha = numbers(f"weights[{n}]", given)
        if alpha.shape != (wanted := (len(words), rows * columns)):
            raise ValueError(
                f"weights[{n}] must have shape {wanted} for {len(words)} words and a grid of {rows} × {columns} "
                f"regions, got {tuple(alpha.shape)}"
            )
        if alpha.min() < 0:
            raise ValueError(f"weights[{n}] must not be negative, got {alpha.min().item():.4g}")
        if (total := alpha.sum(-1).max().item()) > 1.01:  # 16 bits may round up
            raise ValueError(f"weights[{n}] of a word must add up to at most 1, got {total:.4g}")
        found.append([[round(share, 6) for share in row] for row in alpha.tolist()])
    return found


def outlines(boxes, captions: list[list[str]]) -> list[list[list[float] | None]]:
    """The boxes of each image, one or None for each word."""
    lengths = [len(words) for words in captions]
    if [len(of_image) for of_image in boxes] != lengths:
        raise ValueError(f"boxes must be one for each word, {lengths}, got {[len(of_image) for of_image in boxes]}")
    found = []
    for n, of_image in enumerate(boxes):
        edges = [None if box is None else numbers(f"boxes[{n}]", list(box)).tolist() for box in of_image]
        for box in edges:
            if box is not None and (len(box) != 4 or box[0] >= box[2] or box[1] >= box[3]):
                raise ValueError(
                    f"boxes[{n}] must be (left, top, right, bottom) with left < right, top < bottom, got {box}"
                )
        found.append(edges)
    return found

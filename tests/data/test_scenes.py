"""Captions are true of the images, boxes hold what they should, and no pair is in two parts."""

import inspect
import itertools
from collections import Counter

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from attnlib.data.scenes import CARDS, EMOJI, Box, Scenes, draw_emoji, load_emoji_scenes, pair_part, region_targets

SMALL = (400, 100, 100)


@pytest.fixture(scope="module")
def loaded():
    return load_emoji_scenes(*SMALL)


def every(parts):
    for part in parts:
        yield from zip(part.images, part.captions, part.boxes, strict=True)


# --- what a scene is --------------------------------------------------------------------------------


def test_scenes_have_the_form_they_should(loaded):
    for part, count in zip(loaded, SMALL, strict=True):
        assert part.images.shape == (count, 3, 48, 48) and part.images.dtype == torch.float32
        assert part.images.min() >= 0 and part.images.max() <= 1
        assert len(part.captions) == len(part.boxes) == count
        for caption, boxes in zip(part.captions, part.boxes, strict=True):
            first, second = caption[1], caption[-1]
            assert {first, second} <= set(EMOJI) and first != second
            articles = ["an" if w in {"apple", "elephant", "umbrella"} else "a" for w in (first, second)]
            relation = ("above",) if "above" in caption else ("left", "of")
            assert caption == (articles[0], first, *relation, articles[1], second)
            assert [k for k, box in enumerate(boxes) if box is not None] == [1, len(caption) - 1]
            assert len(boxes) == len(caption) and isinstance(boxes[1], Box)


def test_caption_says_the_bigger_offset_by_a_margin(loaded):
    seen = Counter()
    for _, caption, boxes in every(loaded):
        first, second = boxes[1], boxes[-1]
        across = (second.left + second.right) / 2 - (first.left + first.right) / 2
        down = (second.top + second.bottom) / 2 - (first.top + first.bottom) / 2
        assert abs(abs(across) - abs(down)) >= 4
        if "above" in caption:
            assert down > abs(across) and first.bottom <= second.top
        else:
            assert across > abs(down) and first.right <= second.left
        seen["above" in caption, down > 0, across > 0] += 1
    assert len(seen) == 4 and min(seen.values()) > 60  # both words, and the smaller offset to both sides


def test_things_are_of_every_size_and_everywhere(loaded):
    boxes = [box for _, _, found in every(loaded) for box in found if box is not None]
    assert {max(b.right - b.left, b.bottom - b.top) for b in boxes} == set(range(14, 21))
    assert min(min(b.right - b.left, b.bottom - b.top) for b in boxes) >= 10
    assert all(0 <= b.left < b.right <= 48 and 0 <= b.top < b.bottom <= 48 for b in boxes)
    assert min(b.left for b in boxes) == min(b.top for b in boxes) == 0
    assert max(b.right for b in boxes) == max(b.bottom for b in boxes) == 48


def test_there_is_nothing_but_paper_outside_the_boxes():
    for image, _, boxes in every(load_emoji_scenes(*SMALL, noise=0.0)):
        left = image.clone()
        for box in boxes:
            if box is not None:
                inside = left[:, box.top : box.bottom, box.left : box.right]
                assert (inside - 1).abs().max() > 0.5  # a thing is there
                inked = (inside < 1).any(0)  # and reaches all four sides
                assert all(edge.any() for edge in (inked[0], inked[-1], inked[:, 0], inked[:, -1]))
                inside.fill_(1)
        assert (left == 1).all()


def test_noise_is_what_was_asked_for(loaded):
    plain = load_emoji_scenes(*SMALL, noise=0.0)
    assert plain.test.captions == loaded.test.captions and plain.test.boxes == loaded.test.boxes
    grain = loaded.test.images - plain.test.images
    middle = (plain.test.images > 0.4) & (plain.test.images < 0.6)  # far from the bounds that cut it off
    assert abs(grain[middle].std().item() - 0.1) < 0.01 and abs(grain[middle].mean().item()) < 0.01
    on_paper = grain[plain.test.images == 1]
    assert abs((on_paper == 0).float().mean().item() - 0.5) < 0.02  # half of it is cut off there
    both = (plain.test.images[0] == 1) & (plain.test.images[1] == 1) & (grain[0] != 0) & (grain[1] != 0)
    assert both.sum() > 100 and (grain[0] - grain[1])[both].abs().max() > 0.1  # every image has its own


# --- the emoji --------------------------------------------------------------------------------------


def test_emoji_are_drawn_in_their_colours():
    drawn = dict(zip(EMOJI, draw_emoji(), strict=True))
    _, tall, narrow = drawn["cactus"][-1].shape
    _, low, wide = drawn["butterfly"][-1].shape
    assert tall > 1.15 * narrow and wide > 1.15 * low  # nothing is stretched
    for pictures in drawn.values():
        assert [max(picture.shape[1:]) for picture in pictures] == list(range(14, 21))
        assert all(p.dtype == np.float32 and 0 <= p.min() < 0.3 and p.max() <= 1 for p in pictures)
    for word, colour in {"heart": 0, "apple": 0, "cactus": 1, "butterfly": 2}.items():
        _, height, width = drawn[word][-1].shape
        middle = drawn[word][-1][:, height // 3 : 2 * height // 3, width // 3 : 2 * width // 3].mean((1, 2))
        assert middle[colour] > max(np.delete(middle, colour)) + 0.04, (word, middle)


def test_emoji_are_all_different():
    """None is an empty frame, as a font draws what it does not have."""
    large = [torch.from_numpy(pictures[-1]) for pictures in draw_emoji()]
    square = [torch.nn.functional.interpolate(p[None], size=(12, 12), mode="area")[0] for p in large]
    for a, b in itertools.combinations(square, 2):
        assert (a - b).abs().mean() > 0.05
    assert min(picture.std() for picture in square) > 0.1


# --- parts ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [10, 16])
def test_every_thing_has_one_pair_for_testing_and_one_for_stopping(n):
    part = {(a, b): pair_part(a, b, n) for a in range(n) for b in range(n) if a != b}
    assert all(part[a, b] == part[b, a] for a, b in part)
    for a in range(n):
        counts = Counter(part[a, b] for b in range(n) if b != a)
        assert counts == {0: n - 3, 1: 1, 2: 1}


def test_no_pair_is_in_two_parts(loaded):
    train, dev, test = ({frozenset((caption[1], caption[-1])) for caption in part.captions} for part in loaded)
    assert train & dev == train & test == dev & test == set()
    n = len(EMOJI)
    assert len(dev) == len(test) == n // 2 and len(train) > 0.9 * (n * (n - 1) // 2 - n)
    for pairs in (train, dev, test):
        assert set().union(*pairs) == set(EMOJI)  # every thing is known, in other company
    orders = {(caption[1], caption[-1]) for caption in loaded.test.captions}
    assert {order[::-1] for order in orders} & orders  # either may come first


def test_parts_are_drawn_from_streams_of_their_own():
    def sizes(part: Scenes) -> list[list[int]]:
        return [sorted(max(b.right - b.left, b.bottom - b.top) for b in found if b) for found in part.boxes]

    for one, other in itertools.combinations(map(sizes, load_emoji_scenes(100, 100, 100)), 2):
        assert sum(a == b for a, b in zip(one, other, strict=True)) < 20  # 4 by chance, 100 from one stream


def test_same_seed_same_scenes_whatever_the_size_of_the_other_parts(loaded):
    other = load_emoji_scenes(30, *SMALL[1:])
    assert len(other.train.captions) == 30
    for part, again in zip(loaded[1:], other[1:], strict=True):
        assert_close(again.images, part.images, rtol=0, atol=0)
        assert again.captions == part.captions and again.boxes == part.boxes
    assert load_emoji_scenes(*SMALL, seed=1).train.captions != loaded.train.captions


def test_card_is_true():
    card, n = CARDS["emoji_scenes"], len(EMOJI)
    default = inspect.signature(load_emoji_scenes).parameters
    train, dev, test = (default[part].default for part in ("train", "dev", "test"))
    assert f"{train:,} + {dev:,} + {test:,} images" in card.size
    assert f"{n} emoji, {n * (n - 1) // 2} pairs" in card.size


# --- regions ----------------------------------------------------------------------------------------


def is_inside(box: Box | None, x: float, y: float, slack: float) -> bool:
    if box is None:
        return False
    left, top, right, bottom = box
    return left - slack <= x < right + slack and top - slack <= y < bottom + slack


@pytest.mark.parametrize(("grid", "slack"), [(6, 0.0), (6, 4.0), (7, 0.0), (3, 2.5)])
def test_targets_equal_the_loops(loaded, grid, slack):
    centres = [(n + 0.5) * 48 / grid for n in range(grid)]
    for boxes in loaded.test.boxes[:30]:
        expected = [[is_inside(box, x, y, slack) for y in centres for x in centres] for box in boxes]
        assert_close(region_targets(boxes, grid, slack=slack), torch.tensor(expected))


def test_every_thing_has_a_region(loaded):
    for _, _, boxes in every(loaded):
        assert region_targets(boxes, 6).any(-1).tolist() == [box is not None for box in boxes]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: load_emoji_scenes(0, 5, 5), r"\(0, 5, 5\)"),
        (lambda: load_emoji_scenes(5, 5, -1), r"\(5, 5, -1\)"),
        (lambda: load_emoji_scenes(5, 5, 5, noise=-0.1), "noise ≥ 0.* -0.1"),
        (lambda: region_targets([None], 0, 48, 0.0), "got grid 0, size 48, slack 0.0"),
        (lambda: region_targets([None], 6, 0, 0.0), "got grid 6, size 0, slack 0.0"),
        (lambda: region_targets([None], 6, 48, -1.0), "got grid 6, size 48, slack -1.0"),
    ],
)
def test_nothing_to_draw_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()

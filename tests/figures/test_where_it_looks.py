"""WhereItLooks: its JavaScript upsamples, orders and compares as torch does; its Python side refuses what cannot be."""

import base64
import io

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from PIL import Image

from attnlib.data.scenes import Box, region_targets
from attnlib.figures import WhereItLooks
from attnlib.figures.palette import ROLES
from attnlib.figures.pictures import in_box, pixels, wrong_words
from tests.node import run_in_node

ESM = str(WhereItLooks._esm)
GRIDS = ((1, 1), (1, 4), (3, 1), (2, 2), (6, 6), (4, 8), (14, 14))
KINDS = ("random", "one region", "all equal", "nothing")


def share(kind: str, M: int, generator: torch.Generator) -> torch.Tensor:
    """Weights (M,) of a word."""
    if kind == "one region":
        return F.one_hot(torch.randint(M, (), generator=generator), M).double()
    if kind == "all equal":
        return torch.full((M,), 1 / M, dtype=torch.float64)
    if kind == "nothing":
        return torch.zeros(M, dtype=torch.float64)
    return (2 * torch.randn(M, generator=generator, dtype=torch.float64)).softmax(-1)


def test_weights_are_upsampled_as_torch_does():
    generator = torch.Generator().manual_seed(0)
    cases = [
        {"weights": share(kind, grid[0] * grid[1], generator).tolist(), "grid": grid, "size": size}
        for grid in GRIDS
        for kind in KINDS
        for size in ((1, 1), (5, 7), (24, 24), (48, 48), (3, 40), (64, 32), grid, (2 * grid[0], 3 * grid[1]))
    ]
    call = "argument.map((a) => [m.bilinear, m.tiled].map((f) => Array.from(f(a.weights, a.grid, a.size))))"
    for case, answers in zip(cases, run_in_node(ESM, call, cases), strict=True):
        weights = torch.tensor(case["weights"], dtype=torch.float64).view(1, 1, *case["grid"])
        for mode, answer in zip(("bilinear", "nearest"), answers, strict=True):
            wanted = F.interpolate(weights, size=case["size"], mode=mode).flatten()
            torch.testing.assert_close(
                torch.tensor(answer, dtype=torch.float64), wanted, atol=1e-12, rtol=0, msg=f"{mode} of {case}"
            )


def test_the_strongest_regions_come_first_and_of_equal_ones_the_first():
    generator = torch.Generator().manual_seed(1)
    cases = [
        {"weights": (share(kind, M, generator) * 20).round().div(20).tolist(), "count": count, "least": least}
        for kind in KINDS
        for M in (1, 6, 36)
        for count in (1, 3, 40)
        for least in (0.0, 0.1)
        for _ in range(3)
    ]
    answers = run_in_node(ESM, "argument.map((a) => m.strongest(a.weights, a.count, a.least))", cases)
    for case, answer in zip(cases, answers, strict=True):
        weights = np.array(case["weights"])
        order = [int(m) for m in np.argsort(-weights, kind="stable") if weights[m] > 0][: case["count"]]
        assert answer == order[:1] + [m for m in order[1:] if weights[m] >= case["least"]], case


def test_regions_are_in_a_box_as_attnlib_says():
    generator = torch.Generator().manual_seed(2)
    corner, size = (torch.randint(*span, (100, 2), generator=generator) for span in ((0, 40), (1, 21)))
    cases = torch.cat([corner, corner + size], dim=1).tolist()
    cases += [(4, 4, 5, 5), (3, 3, 4, 4), (0, 0, 48, 48), (11, 12, 13, 13)]  # centres lie at 4, 12, 20, …
    answers = run_in_node(ESM, "argument.map((box) => m.inBox(box, [6, 6], [48, 48]))", cases)
    for box, answer in zip(cases, answers, strict=True):
        assert answer == region_targets([Box(*box)], 6)[0].flatten().tolist(), box
        assert answer == [in_box(divmod(m, 6), box, (6, 6), (48, 48)) for m in range(36)], box


def test_a_box_on_a_grid_and_an_image_that_are_not_square():
    box, grid, size = (32, 0, 64, 8), (4, 8), (32, 64)  # the upper row, right half
    expected = [m in (4, 5, 6, 7) for m in range(32)]
    assert run_in_node(ESM, "m.inBox(...argument)", [box, grid, size]) == expected
    assert [in_box(divmod(m, 8), box, grid, size) for m in range(32)] == expected
    assert run_in_node(ESM, "[0, 7, 8, 31].map((n) => m.regionName(n, 8))", None) == [
        "row 1, column 1", "row 1, column 8", "row 2, column 1", "row 4, column 8",
    ]  # fmt: skip


def test_wrong_words_are_those_outside_of_the_longest_common_sequence():
    said, true = ["a", "key", "left", "of", "a", "star"], ["a", "key", "above", "a", "star"]
    assert wrong_words(said, true) == [False, False, True, True, False, False]
    assert wrong_words(["a", "star", "a", "star"], ["a", "star"]) == [False, False, True, True]
    assert (wrong_words([], ["a"]), wrong_words(["a"], [])) == ([], [True])


def test_the_common_sequence_is_the_longest_there_is():
    generator = torch.Generator().manual_seed(3)

    def longest(a, b) -> int:
        if not a or not b:
            return 0
        if a[0] == b[0]:
            return 1 + longest(a[1:], b[1:])
        return max(longest(a[1:], b), longest(a, b[1:]))

    for _ in range(200):
        n, m = torch.randint(0, 6, (2,), generator=generator).tolist()
        said, true = ([*map(str, torch.randint(3, (k,), generator=generator).tolist())] for k in (n, m))
        right = [word for word, wrong in zip(said, wrong_words(said, true), strict=True) if not wrong]
        rest = iter(true)
        assert all(word in rest for word in right), (said, true)  # in this order
        assert len(right) == longest(said, true), (said, true)


# --- the Python side

IMAGES = np.arange(2 * 4 * 6 * 3, dtype=np.uint8).reshape(2, 4, 6, 3)
CAPTIONS = [["a", "star", "above"], ["an", "apple"]]
WEIGHTS = [[[0.1, 0.2, 0.3, 0.4, 0, 0], [0, 0, 0.05, 0, 0.9, 0], [0, 0, 0, 0, 0, 0]], [[1 / 6] * 6, [0, 0, 0, 0, 0, 1]]]
BOXES = [[None, (0, 2, 3, 4), None], [None, (4, 2, 6, 4)]]


def looks(**changes) -> WhereItLooks:
    given = {"images": IMAGES, "captions": CAPTIONS, "weights": WEIGHTS, "grid": (2, 3)}
    return WhereItLooks(**(given | changes))


def test_what_it_shows_follows_scene_and_step():
    figure = looks(boxes=BOXES)
    assert (figure.looks_at, figure.hit) == ([1, 0], None)
    assert figure.alpha == [[0.1, 0.2, 0.3], [0.4, 0, 0]]
    figure.step = 1
    assert (figure.looks_at, figure.hit) == ([1, 1], False)  # the box holds column 0 and half of 1, not its centre
    figure.step = 2
    assert (figure.looks_at, figure.hit) == ([], None)
    figure.scene = 1  # which has two words
    assert (figure.step, figure.looks_at, figure.hit) == (1, [1, 2], True)
    figure.step = 0
    assert (figure.looks_at, figure.hit) == ([0, 0], None)  # all equal: the first


def test_images_travel_without_loss():
    figure = looks()
    for given, address in zip(IMAGES, figure.images, strict=True):
        head, data = address.split(",")
        assert head == "data:image/png;base64"
        np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(base64.b64decode(data)))), given)
    assert figure.sizes == [[4, 6], [4, 6]]


@pytest.mark.parametrize(
    ("images", "weights"),
    [
        (torch.tensor(IMAGES), [torch.tensor(w, requires_grad=True) for w in WEIGHTS]),
        (IMAGES.tolist(), [np.array(w) for w in WEIGHTS]),
        ([image.astype(np.int64) for image in IMAGES], WEIGHTS),
        ((torch.tensor(IMAGES) / 255).requires_grad_(), WEIGHTS),
        ((IMAGES / 255).tolist(), WEIGHTS),
    ],
)
def test_arrays_and_tensors_are_welcome(images, weights):
    given, expected = looks(images=images, weights=weights, captions=[*map(tuple, CAPTIONS)]), looks()
    assert (given.images, given.captions) == (expected.images, expected.captions)
    for one, other in zip(given.weights, expected.weights, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)
    grey = torch.full((1, 1, 3), 0.5, dtype=torch.bfloat16)
    assert pixels("x", grey).tolist() == [[[128, 128, 128]]]


def test_wrong_words_are_told_of_both_models():
    figure = looks(truth=[["a", "key", "above"], ["an", "apple"]], static=[["a", "key"], ["star"]])
    assert figure.wrong == [[False, True, False], [False, False]]
    assert figure.static_wrong == [[False, False], [True]]
    assert looks().wrong == looks().static_wrong == looks(static=[["a"], ["b"]]).static_wrong == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"images": []}, "at least one image"),
        ({"images": np.zeros((2, 3, 4, 6))}, r"images\[0\] .*\(height, width, 3\), channels last, got \(3, 4, 6\)"),
        ({"images": [IMAGES[0], IMAGES[0][:, :, 0]]}, r"images\[1\] .*got \(4, 6\)"),
        ({"images": [[[[1, 2, 3]], []]] * 2}, r"images\[0\] must be rectangular"),
        ({"images": IMAGES / 100}, r"fractions in 0\.\.1"),
        ({"images": IMAGES.astype(int) * 2}, r"whole numbers in 0\.\.255, got 144\.\.286"),
        ({"images": IMAGES.astype(int) - 1}, r"whole numbers in 0\.\.255, got -1"),
        ({"images": np.full((2, 1, 1, 3), np.nan)}, "nan"),
        ({"images": IMAGES > 5}, "bool"),
        ({"grid": (2, 2)}, r"weights\[0\] must have shape \(3, 4\) for 3 words .* 2 × 2 .*got \(3, 6\)"),
        ({"grid": (0, 6)}, r"\(0, 6\)"),
        ({"grid": (6,)}, r"grid must be two whole numbers .*\(6,\)"),
        ({"grid": (1.5, 4)}, r"grid .*1\.5"),
        ({"captions": CAPTIONS[:1]}, "captions must be one list of words for each of 2 images, got 1"),
        ({"captions": ["a star above", "an apple"]}, r"captions\[0\] must be a list of one or more words, got 'a star"),
        ({"captions": [CAPTIONS[0], []]}, r"captions\[1\] .*one or more words, got \[\]"),
        ({"truth": CAPTIONS[:1]}, "truth .*2 images, got 1"),
        ({"static": ["no", "list"]}, r"static\[0\] must be a list of words, got 'no'"),
        ({"weights": WEIGHTS[:1]}, "weights must be one array for each of 2 images, got 1"),
        ({"weights": [WEIGHTS[0], WEIGHTS[1][:1]]}, r"weights\[1\] must have shape \(2, 6\).*got \(1, 6\)"),
        ({"weights": [WEIGHTS[0], [[0.25] * 6] * 2]}, r"weights\[1\] .*at most 1, got 1.5"),
        ({"weights": [WEIGHTS[0], [[0, 0, 0, 0, -0.1, 0]] * 2]}, r"weights\[1\] must not be negative, got -0\.1"),
        ({"weights": [WEIGHTS[0], [[float("inf")] * 6] * 2]}, "finite"),
        ({"boxes": [[None] * 3, [None]]}, r"boxes .*\[3, 2\], got \[3, 1\]"),
        ({"boxes": [[None] * 3, [None, (4, 2, 4, 4)]]}, r"boxes\[1\] .*left < right.*\[4\.0, 2\.0, 4\.0, 4\.0\]"),
        ({"boxes": [[None] * 3, [None, (4, 2, 5)]]}, r"boxes\[1\] .*\[4\.0, 2\.0, 5\.0\]"),
        ({"scene": 1, "step": 2}, r"step must be a whole number in 0\.\.1, got 2"),
    ],
)
def test_bad_input_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        looks(**changes)


def test_rows_may_add_up_to_a_little_more_or_to_less_than_1():
    over = [[[1 / 6 + 0.001] * 6] * 3, WEIGHTS[1]]  # what 16 bits do to a softmax
    assert looks(weights=over).weights[0][0][0] == pytest.approx(1 / 6 + 0.001, abs=1e-6)
    assert looks(weights=[[[0.01] * 6] * 3, WEIGHTS[1]]).alpha == [[0.01] * 3] * 2


def test_repr_says_what_the_figure_shows():
    assert repr(looks()) == "WhereItLooks('a', word 1 of 3 of image 1: 0.40 on row 2, column 1)"
    assert repr(looks(step=2)) == "WhereItLooks('above', word 3 of 3 of image 1: nothing looked at)"


def test_picture_has_the_image_and_one_tinted_for_each_word():
    figure = looks(step=1, truth=[["a", "key", "above"], ["an", "apple"]], static=[["$x$"], ["y"]], boxes=BOXES)
    figure.show_boxes = True
    scene, *words = figure.picture().axes[:4]
    assert [ax.get_title() for ax in (scene, *words)] == ["image", "a", "✗ star", "above"]
    np.testing.assert_array_equal(scene.images[0].get_array(), IMAGES[0])
    tint = np.asarray(words[0].images[1].get_array())
    np.testing.assert_allclose(tint[..., 3], 0.7 * np.array([[0.25, 0.5, 0.75], [1, 0, 0]]), atol=1e-6)
    assert tuple(round(255 * c) for c in tint[0, 0, :3]) == tuple(bytes.fromhex(ROLES["weight"].light[1:]))
    assert len(words[2].images) == 1  # looks at nothing
    frame, box, chosen = words[1].patches
    assert (frame.get_bbox().bounds, box.get_bbox().bounds) == ((2, 2, 2, 2), (0, 2, 3, 2))
    assert chosen.get_bbox().bounds == (0, 0, 6, 4)
    assert [ax.title.get_weight() for ax in words] == ["normal", "bold", "normal"]
    assert figure.picture().get_supxlabel() == "the model that does not look: \\$x\\$"


def test_picture_is_as_smooth_as_the_figure():
    figure = looks(smooth=True)
    tint = np.asarray(figure.picture().axes[1].images[1].get_array())[..., 3]
    weights = torch.tensor(figure.alpha, dtype=torch.float64)[None, None]
    wanted = 0.7 * F.interpolate(weights, size=(4, 6), mode="bilinear")[0, 0] / 0.4
    np.testing.assert_allclose(tint, wanted.numpy(), atol=1e-6)

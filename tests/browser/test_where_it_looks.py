"""WhereItLooks in a browser: the tint, the frame and the words are the weights'."""

import base64
import io
import re

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from PIL import Image
from playwright.sync_api import expect

from attnlib.figures import WhereItLooks
from attnlib.figures.palette import ROLES
from tests.browser import conftest

SIZE = 48
CAPTIONS = [["a", "key", "above", "a", "star"], ["a", "hat", "left", "of", "an", "apple"], ["bell"]]
TRUTH = [["a", "key", "above", "a", "star"], ["a", "hat", "left", "of", "a", "bell"], ["a", "bell"]]
STATIC = [["a", "key", "above", "a", "key"], ["a", "hat", "left", "of", "a", "bell"], []]
BOXES = [[None, (0, 0, 20, 20), None, None, (24, 24, 48, 48)], [None] * 6, [(0, 0, 48, 48)]]

# All that is seen of the chosen word, in one go.
SHOWN = """root => {
    const find = (selector) => root.querySelector(selector);
    const tint = (canvas) => canvas.toDataURL();
    return {
        word: find(".wl-words .wl-chosen .wl-word").textContent,
        image: find(".wl-stage img").src,
        large: tint(find(".wl-stage canvas")),
        small: [...root.querySelectorAll(".wl-small canvas")].map(tint),
        frame: ["x", "y", "width", "height"].map((name) => Number(find(".wl-frame").getAttribute(name))),
        told: [...root.querySelectorAll(".wl-marks text")].map((text) => text.textContent),
    };
}"""


def example(**changes) -> WhereItLooks:
    generator = torch.Generator().manual_seed(0)
    images = torch.rand(3, SIZE, SIZE, 3, generator=generator)
    weights = [(3 * torch.randn(len(words), 36, generator=generator)).softmax(-1) for words in CAPTIONS]
    given = {"truth": TRUTH, "static": STATIC, "boxes": BOXES}
    return WhereItLooks(images, CAPTIONS, weights, **(given | changes))


class Shown(conftest.Seen):
    def __init__(self, visited, twin: WhereItLooks):
        super().__init__(visited, twin)
        self.words, self.scenes = (self.root.locator(f".{kind}[role=slider]") for kind in ("wl-words", "wl-scenes"))

    def tint(self) -> np.ndarray:
        """The tint of the large image, (height, width, 4), in 0..255."""
        return decoded(self.root.locator(".wl-stage canvas").evaluate("canvas => canvas.toDataURL()"))

    def chosen(self) -> tuple[int, int]:
        """Image and word, counted from 0."""
        return tuple(int(one.get_attribute("aria-valuenow")) - 1 for one in (self.scenes, self.words))

    def assert_shows(self, scene: int, step: int, smooth: bool = False):
        assert self.chosen() == (scene, step)
        figure = self.twin
        figure.scene, figure.step = scene, step
        alpha, word = np.array(figure.alpha), figure.captions[scene][step]
        y, x = figure.looks_at
        expect(self.sentence).to_contain_text(f"“{word}” looks most at row {y + 1}, column {x + 1}: {alpha[y, x]:.2f}.")
        shown = self.root.evaluate(SHOWN)
        assert shown["word"] == word
        assert shown["image"] == figure.images[scene]
        assert_tint(decoded(shown["large"]), alpha, 240 if smooth else 6)
        for tint, weights in zip(shown["small"], figure.weights[scene], strict=True):
            assert_tint(decoded(tint), np.reshape(weights, figure.grid), 60 if smooth else 6)
        assert shown["frame"] == [8 * x, 8 * y, 8, 8]
        most = sorted(alpha.flatten(), reverse=True)
        assert shown["told"] == [f"{weight:.2f}" for n, weight in enumerate(most[:5]) if n == 0 or weight >= 0.1]


def decoded(address: str) -> np.ndarray:
    """What a canvas held, (height, width, 4), in 0..255."""
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(address.split(",")[1]))).convert("RGBA")).astype(int)


def assert_tint(pixels: np.ndarray, alpha: np.ndarray, side: int):
    """The opacity is in proportion to the weight, the colour that of weights."""
    wanted = torch.tensor(alpha / alpha.max())[None, None]
    assert pixels.shape[:2] == (side, side)
    if side > 6:
        wanted = F.interpolate(wanted, size=pixels.shape[:2], mode="bilinear")
    np.testing.assert_allclose(pixels[..., 3], 255 * 0.7 * wanted[0, 0].numpy(), atol=0.51)
    strong = pixels[pixels[..., 3] > 100]  # where rounding does not hide the colour
    colour = bytes.fromhex(ROLES["weight"].light[1:])
    assert len(strong) and abs(strong[:, :3] - np.array([*colour])).max() <= 2


@pytest.fixture
def open_figure(mounted):
    def open_one(figure=None, **how) -> Shown:
        figure = figure or example()
        return Shown(mounted(figure, **how), figure)

    return open_one


def test_every_word_of_every_image_shows_its_weights(open_figure):
    shown = open_figure()
    shown.assert_shows(0, 0)
    for scene, words in enumerate(CAPTIONS):
        shown.root.locator(".wl-scenes .wl-choice").nth(scene).click()
        for step in range(len(words)):
            shown.root.locator(".wl-words .wl-choice").nth(step).click()
            shown.assert_shows(scene, step)


def test_smooth_lies_between_the_centres_as_torch_has_it(open_figure):
    shown = open_figure(theme="dark")  # on which the image is as light, and so is the tint
    shown.root.get_by_label("smooth").click()
    shown.assert_shows(0, 0, smooth=True)
    shown.words.press("ArrowRight")
    shown.assert_shows(0, 1, smooth=True)
    shown.root.get_by_label("smooth").press("Space")
    shown.assert_shows(0, 1)


def test_the_arrow_keys_choose_words_and_images(open_figure):
    shown = open_figure()
    shown.scenes.focus()
    shown.page.keyboard.press("ArrowRight")
    shown.page.keyboard.press("Tab")
    assert shown.words.evaluate("words => words === document.activeElement")
    scrolled = shown.page.evaluate("scrollY")
    for key, step in (("End", 5), ("ArrowRight", 5), ("ArrowLeft", 4), ("Home", 0), ("ArrowUp", 0), ("ArrowDown", 1)):
        shown.page.keyboard.press(key)
        shown.assert_shows(1, step)
    assert shown.page.evaluate("scrollY") == scrolled
    shown.page.keyboard.press("End")
    assert re.match(r"6 of 6: “apple”, a wrong word, looks most at row", shown.words.get_attribute("aria-valuetext"))
    assert shown.scenes.get_attribute("aria-valuetext") == "image 2: a hat left of a bell"
    shown.scenes.press("End")  # one word only
    shown.assert_shows(2, 0)


def test_play_goes_through_the_caption_and_stops(open_figure):
    shown = open_figure(example(step=1), alone=True)
    conftest.stop_clock(shown.page)
    play = shown.button("Play")
    play.click()
    expect(shown.button("Pause")).to_be_visible()
    seen = []
    for _ in range(5):
        shown.page.clock.run_for(900)
        seen.append(shown.chosen()[1])
    assert seen == [2, 3, 4, 4, 4]
    expect(play).to_be_visible()
    play.click()  # from the beginning
    assert shown.chosen() == (0, 0)
    shown.page.clock.run_for(900)
    shown.button("Pause").click()
    shown.page.clock.run_for(3000)
    assert shown.chosen() == (0, 1)
    play.click()
    shown.scenes.press("ArrowRight")  # whoever takes the wheel stops the player
    shown.page.clock.run_for(3000)
    assert shown.chosen() == (1, 1)


def test_single_steps_go_round(open_figure):
    shown = open_figure()
    for name, step in (("word before", 4), ("next word", 0), ("next word", 1), ("word before", 0)):
        shown.button(name).click()
        assert shown.chosen() == (0, step)


def test_the_box_tells_whether_the_look_hits(open_figure):
    shown = open_figure(example(step=1))
    assert shown.root.locator(".wl-box").count() == 0
    shown.root.get_by_label("box of the thing").click()
    for step in (1, 4):
        shown.words.press("Home")
        for _ in range(step):
            shown.words.press("ArrowRight")
        shown.twin.step = step
        left, top, right, bottom = BOXES[0][step]
        outline = shown.root.locator(".wl-box")
        edges = [float(outline.get_attribute(name)) for name in ("x", "y", "width", "height")]
        assert edges == [left, top, right - left, bottom - top]
        centre = 8 * np.arange(6) + 4
        inside = ((top <= centre) & (centre < bottom))[:, None] & (left <= centre) & (centre < right)
        expect(shown.sentence).to_contain_text(
            f"The centre of that region is {'inside' if shown.twin.hit else 'outside'} the box; "
            f"the regions inside it get {np.array(shown.twin.alpha)[inside].sum():.2f}."
        )
    shown.words.press("Home")
    expect(shown.sentence).to_contain_text("It names no thing that has a box.")
    assert shown.root.locator(".wl-box").count() == 0


def test_wrong_words_are_marked_by_a_sign(open_figure):
    shown = open_figure()
    expect(shown.root.locator(".wl-verdict")).to_have_text("with attention: ✓ every word right")
    lines = shown.root.locator(".wl-line")
    expect(lines.nth(0)).to_have_text("one vector, no looking: a key above a ✗key (wrong) (1 of 5 words wrong)")
    expect(lines.nth(1)).to_have_text("true caption: a key above a star")
    shown.scenes.press("ArrowRight")
    expect(shown.root.locator(".wl-verdict")).to_have_text("with attention: 2 of 6 words wrong")
    assert shown.root.locator(".wl-words .wl-wrong").all_inner_texts() == ["an", "apple"]
    assert shown.root.locator(".wl-words .wl-sign").count() == 2
    shown.scenes.press("ArrowRight")
    expect(shown.root.locator(".wl-verdict")).to_have_text("with attention: 1 word missing")
    expect(lines.nth(0)).to_have_text("one vector, no looking: (2 words missing)")


def test_without_truth_boxes_and_another_model_there_is_no_place_for_them(open_figure):
    figure = WhereItLooks([torch.rand(3, 7, 3)], [["all", "nothing"]], [[[1, 0], [0, 0]]], grid=(1, 2))
    shown = open_figure(figure)
    for absent in (".wl-scenes", ".wl-line", ".wl-box", ".wl-sign"):
        assert shown.root.locator(absent).count() == 0
    assert shown.root.get_by_label("box of the thing").count() == 0
    expect(shown.root.locator(".wl-verdict")).to_be_hidden()
    assert shown.root.get_by_role("img", name="image 1", exact=True).is_visible()
    shown.words.press("ArrowRight")
    expect(shown.sentence).to_have_text("“nothing” looks at nothing.")
    assert shown.root.locator(".wl-frame").count() == 0
    assert shown.tint()[..., 3].max() == 0


def test_the_table_has_every_weight(open_figure):
    shown = open_figure()
    shown.words.press("End")
    shown.twin.step = 4
    found = [[float(text) for text in row[1:]] for row in shown.numbers()]
    np.testing.assert_allclose(found, shown.twin.alpha, atol=0.00051)
    assert "“star”" in shown.root.locator(".attn-numbers caption").inner_text()


def test_long_words_and_words_from_right_to_left_keep_their_place(open_figure):
    words = ["تفاحة", "فوق", "Donaudampfschifffahrtsgesellschaftskapitän" * 3, "", "نجمة"]
    shown = open_figure(WhereItLooks([torch.rand(4, 4, 3)], [words], [torch.eye(5, 36)], static=[words]), width=320)
    assert shown.page.evaluate("document.scrollingElement.scrollWidth") <= 320
    choices = shown.root.locator(".wl-words .wl-choice")
    first, second = (choices.nth(n).bounding_box() for n in (0, 1))
    assert second["x"] < first["x"], "the first word stands on the right"
    shown.words.press("ArrowLeft")  # where the text goes on
    assert shown.words.get_attribute("aria-valuenow") == "2"
    shown.words.press("ArrowDown")
    shown.words.press("ArrowRight")
    assert shown.words.get_attribute("aria-valuenow") == "2"


def test_what_the_theme_does_to_images_leaves_these_alone(open_figure):
    shown = open_figure(theme="dark")
    shown.page.add_style_tag(
        content="html[data-theme=dark] main div img:not(.x, .y) { padding: 8px; filter: brightness(.8); margin: 9px }"
        "html[data-theme=dark] main div img { background-color: #fff !important }"
    )
    image = shown.root.locator(".wl-stage img")
    style = image.evaluate("image => { const s = getComputedStyle(image); return [s.padding, s.margin, s.filter]; }")
    assert style == ["0px", "0px", "none"]
    assert image.bounding_box() == shown.root.locator(".wl-stage canvas").bounding_box()

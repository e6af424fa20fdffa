"""The ScoreExplorer of chapter 03 in the static page: no kernel, no network, file://."""

import json
import re

import pytest
import torch
from playwright.sync_api import expect

from attnlib.attention import length_mask, masked_softmax
from attnlib.course.figures.scores import build_score
from attnlib.scores import SCORES
from tests.browser.conftest import Seen, centre, stop_clock, swipe

CHAPTER = "book/03_attention_step_by_step.html"


class Figure(Seen):
    def __init__(self, visited):
        super().__init__(visited)
        self.root.scroll_into_view_if_needed()
        self.query = self.root.locator(".se-query[role=slider]")
        self.keys = self.root.locator(".se-key[role=slider]")
        self.menu = self.root.get_by_label("score")
        self.temperature = self.root.get_by_label("temperature")
        self.valid_length = self.root.get_by_label("valid length")

    def texts(self, selector: str) -> list[str]:
        return [text.replace("−", "-").replace("\xa0", " ") for text in self.root.locator(selector).all_inner_texts()]

    def column(self, kind: str) -> list[float]:
        return [float(text) for text in self.texts(f"tbody .se-{kind} .se-number")]

    def points(self, selector: str) -> list[list[float]]:
        return [[float(x) for x in re.findall(r"-?\d+\.\d+", text)] for text in self.texts(selector)]

    def shown(self) -> dict:
        """Everything the figure says."""
        (query,), (context,) = self.points(".se-place"), self.points(".se-sum")
        return {
            "query": query,
            "keys": self.points("tbody .se-at"),
            "scores": self.column("score"),
            "weights": self.column("weight"),
            "context": context,
        }

    def state(self) -> dict:
        """What was saved with the page."""
        text = self.page.locator('script[type="application/vnd.jupyter.widget-state+json"]').first.text_content()
        return next(
            record["state"] for record in json.loads(text)["state"].values() if "valid_length" in record["state"]
        )

    def assert_computed_by_attnlib(self):
        """Scores, weights and context follow from the query and keys beside them."""
        shown = self.shown()
        name = self.menu.input_value()
        query, keys = (torch.tensor(shown[what], dtype=torch.float64) for what in ("query", "keys"))
        temperature = float(self.texts(".attn-readout")[0])
        mask = length_mask(torch.tensor([int(self.valid_length.input_value())]), len(keys))[0]
        scores = build_score(name, self.state()["parameters"][name])(query[None], keys)
        weights = masked_softmax(scores / temperature, mask)
        # two digits are shown, of the coordinates too
        for what, expected in {"scores": scores[0], "weights": weights[0], "context": (weights @ keys)[0]}.items():
            assert shown[what] == pytest.approx(expected.tolist(), abs=0.03), f"{what} of {name}: {shown}"

    def drag(self, handle, dx: float, dy: float):
        x, y = centre(handle.locator(".se-dot"))
        self.page.mouse.move(x, y)
        self.page.mouse.down()
        self.page.mouse.move(x + dx, y + dy, steps=5)
        self.page.mouse.up()


@pytest.fixture
def figure(visit) -> Figure:
    return Figure(visit(CHAPTER))


def test_it_begins_with_what_python_saved(figure):
    state, shown = figure.state(), figure.shown()
    assert shown["query"] == pytest.approx(state["query"], abs=0.0051)
    assert shown["keys"] == [pytest.approx(key, abs=0.0051) for key in state["key"]]
    assert figure.texts("tbody .se-word") == state["words"]
    assert figure.menu.locator("option").count() == len(state["scores"])
    figure.assert_computed_by_attnlib()


def test_the_query_follows_the_mouse(figure):
    before = figure.shown()
    figure.drag(figure.query, -70, 40)
    after = figure.shown()
    assert [name for name in before if after[name] == before[name]] == ["keys"]
    figure.assert_computed_by_attnlib()


def test_a_key_follows_the_mouse_and_stops_at_the_rim(figure):
    before = figure.shown()
    figure.drag(figure.keys.nth(1), 2000, -2000)
    after = figure.shown()
    rim = float(figure.keys.nth(1).get_attribute("aria-valuemax"))
    assert after["keys"][1] == [rim, rim]
    assert after["keys"][2:] == before["keys"][2:]
    figure.assert_computed_by_attnlib()
    box = figure.keys.nth(1).bounding_box()
    for step in (0, 5, 10):  # the button is up: the pointer passes over the key and takes nothing along
        figure.page.mouse.move(box["x"] + box["width"] / 2 - step, box["y"] + box["height"] / 2 + step)
    assert figure.shown() == after


def test_the_arrow_keys_move_what_has_the_focus(figure):
    key = figure.keys.nth(0)
    key.focus()
    (x, y), scrolled = figure.shown()["keys"][0], figure.page.evaluate("scrollY")
    strokes = {"ArrowLeft": (-0.1, 0), "ArrowDown": (0, -0.1), "Shift+ArrowRight": (0.5, 0), "ArrowUp": (0, 0.1)}
    for stroke, (dx, dy) in strokes.items():
        figure.page.keyboard.press(stroke)
        x, y = x + dx, y + dy
        assert figure.shown()["keys"][0] == pytest.approx([x, y], abs=0.011), stroke
    assert figure.page.evaluate("scrollY") == scrolled
    assert key.get_attribute("aria-valuetext").replace("−", "-") == f"x {x:.2f}, y {y:.2f}"
    figure.assert_computed_by_attnlib()


def test_a_finger_moves_the_query_and_not_the_page(visit):
    figure = Figure(visit(CHAPTER, width=375, touch=True))
    x, y = centre(figure.query.locator(".se-dot"))
    before, scrolled = figure.shown(), figure.page.evaluate("scrollY")
    swipe(figure.page, x, y, 0, 80)
    after = figure.shown()
    assert after["query"][1] < before["query"][1] - 0.5
    assert figure.page.evaluate("scrollY") == scrolled
    figure.assert_computed_by_attnlib()


def test_every_score_of_the_menu(figure):
    names = [option.get_attribute("value") for option in figure.menu.locator("option").all()]
    assert set(names) == set(SCORES)
    seen = []
    for name in names:
        figure.menu.select_option(name)
        figure.assert_computed_by_attnlib()
        seen.append((figure.shown()["scores"], *figure.texts(".se-formula, .se-note")))
    for what in zip(*map(list, seen), strict=True):
        assert len({str(one) for one in what}) == len(names), what  # scores, formula and note: no two alike


def test_the_sliders(figure):
    before = figure.shown()
    figure.temperature.focus()
    for stroke in ("Home", "End", "ArrowLeft"):
        figure.page.keyboard.press(stroke)
        assert figure.shown()["weights"] != before["weights"], stroke
        assert figure.shown()["scores"] == before["scores"]
        figure.assert_computed_by_attnlib()
        before = figure.shown()
    figure.valid_length.focus()
    for length in reversed(range(len(before["keys"]))):
        figure.page.keyboard.press("ArrowLeft")
        shown = figure.shown()
        assert shown["weights"][length:] == [0.0] * (len(before["keys"]) - length)
        assert figure.root.locator("tbody tr.se-hidden").count() == len(before["keys"]) - length
        figure.assert_computed_by_attnlib()
    assert figure.shown()["context"] == [0.0, 0.0]
    expect(figure.sentence).to_have_text(re.compile("^Nothing visible"))


def test_the_sentence_is_spoken_once_the_hand_is_still(visit):
    figure = Figure(visit(CHAPTER, alone=True))
    stop_clock(figure.page)
    spoken = figure.root.locator(".attn-spoken")
    expect(spoken).not_to_be_empty()
    first = spoken.inner_text()
    figure.drag(figure.query, -80, -60)
    figure.page.clock.run_for(300)
    assert spoken.inner_text() == first, "a screen reader would be flooded during a drag"
    figure.page.clock.run_for(100)
    expect(spoken).not_to_have_text(first)


def test_reset_restores_the_start(figure):
    start, menu = figure.shown(), figure.menu.input_value()
    figure.drag(figure.query, 30, 60)
    figure.drag(figure.keys.nth(2), 30, -30)
    figure.menu.select_option("additive")
    figure.temperature.press("End")
    figure.valid_length.press("ArrowLeft")
    assert figure.shown() != start
    figure.button("Reset").click()
    assert figure.shown() == start
    assert figure.menu.input_value() == menu
    assert figure.texts(".attn-readout") == ["1.00", f"{len(start['keys'])} of {len(start['keys'])}"]

"""HeadGrid in a page: no kernel, and the model runs there, with the heads that are left."""

import io
import re

import numpy as np
import pytest
import torch
from PIL import Image
from playwright.sync_api import expect

from attnlib.course.figures import HeadGrid
from tests.browser import conftest
from tests.course.figures.test_head_grid import TASKS, WORDS, grid, models


class Seen(conftest.Seen):
    def __init__(self, visited, twin: HeadGrid):
        super().__init__(visited, twin)
        self.menu = self.root.get_by_label("model", exact=True)
        self.slider = self.root.get_by_role("slider", name="example")
        self.mistake, self.all_on = self.button("Next mistake"), self.button("All on")

    def head(self, h: int):
        return self.root.get_by_role("switch", name=f"head {h}", exact=True)

    def texts(self, selector: str) -> list[str]:
        return [text.replace("\xa0", " ") for text in self.root.locator(selector).all_inner_texts()]

    def shown(self) -> dict:
        """Everything the figure says, in one question to the browser."""
        return self.root.evaluate(SHOWN)

    def off(self) -> list[int]:
        return [h for h, head in enumerate(self.shown()["heads"]) if head["state"] == "off"]

    def assert_computed_by_attnlib(self, label: str | None = None):
        """Accuracy, maps and the answers of the example follow from the model and from what is off."""
        shown, off, twin = self.shown(), self.off(), self.twin
        label, n = label or shown["label"], shown["example"]
        assert [head["checked"] == "false" for head in shown["heads"]] == [h in off for h in range(len(shown["heads"]))]
        now, before = twin.measure(off, label), twin.measure([], label)
        assert [float(share) for share in shown["now"]] == pytest.approx(now, abs=0.00501)
        was = [float(text.removeprefix("was ") or share) for text, share in zip(shown["before"], now, strict=True)]
        assert was == pytest.approx(before, abs=0.00501)
        assert shown["bars"] == pytest.approx([100 * share for share in now], abs=1e-3)
        assert shown["lines"] == pytest.approx([100 * share for share in before], abs=1e-3)
        tokens, targets, words = twin.tokens[n], twin.targets[n], twin.words
        logits, maps = twin._models[label](torch.tensor([tokens]), off)
        drawn = torch.stack([as_map(head["paths"], len(tokens)) for head in shown["heads"]])
        assert drawn.shape == maps[0].shape
        assert (drawn - maps[0]).abs().max() <= 0.0251, (label, off)  # half a step
        said = logits[0].unflatten(-1, (len(twin.tasks), -1)).argmax(-1)  # (T, n_tasks)
        assert shown["tokens"] == [words[token] for token in tokens]
        right, model = [], []
        for r in range(len(twin.tasks)):
            for target, guess in zip([place[r] for place in targets], said[:, r].tolist(), strict=True):
                right.append("·" if target < 0 else words[target])
                model.append("·" if target < 0 else ("" if guess == target else "✗ ") + words[guess])
        assert (shown["right"], shown["said"]) == (right, model), (label, off, n)


SHOWN = """root => {
    const text = (e) => e.innerText.replace("\xa0", " ");
    const all = (selector, read = text, within = root) => [...within.querySelectorAll(selector)].map(read);
    return {
        label: root.querySelector("select").value, example: Number(root.querySelector("input[type=range]").value),
        heads: all(".hg-head:not([hidden])", (e) => ({
            checked: e.ariaChecked, state: e.querySelector(".hg-state").textContent,
            paths: all("path", (p) => [p.getAttribute("d"), Number(p.getAttribute("fill-opacity"))], e),
        })),
        now: all(".hg-now"), bars: all(".hg-filling", (e) => parseFloat(e.style.width)),
        before: all(".hg-before"), lines: all(".hg-line", (e) => parseFloat(e.style.left)),
        tokens: all(".hg-tokens td"), right: all(".hg-right td"), said: all(".hg-said td"),
    };
}"""


def as_map(paths: list, T: int) -> torch.Tensor:
    """The weights that the paths of a map draw, exact to half a step."""
    drawn = torch.zeros(T, T)
    for path, opacity in paths:
        for start, i, width in re.findall(r"M(\d+) (\d+)h(\d+)v1H\1z", path):
            drawn[int(i), int(start) : int(start) + int(width)] += opacity
    return drawn


@pytest.fixture
def seen(mounted):
    return lambda figure, **how: Seen(mounted(figure, **how), figure)


def same(tokens=((0, 1, 2), (1, 1, 1), (0, 1, 1), (2, 2, 2)), **changes) -> HeadGrid:
    """One head that copies: right everywhere while it is on, and where all words are the same without it."""
    eye = torch.eye(3)
    weights = {f"attention.W_{name}.weight": eye for name in "qkvo"}
    weights |= {"embedding.weight": 8 * eye, "read.weight": eye}
    targets = [[[token] for token in row] for row in tokens]
    return HeadGrid({"one": (1, weights)}, tokens, targets, words=["a", "b", "c"], tasks=["same"], **changes)


def test_the_mouse_switches_heads_and_the_model_answers_again(seen):
    figure = seen(grid(model="4 heads"))
    assert figure.off() == []
    figure.assert_computed_by_attnlib()
    for press, off in [(2, [2]), (0, [0, 2]), (3, [0, 2, 3]), (1, [0, 1, 2, 3]), (2, [0, 1, 3])]:
        figure.head(press).click()
        assert figure.off() == off
        figure.assert_computed_by_attnlib()
    figure.all_on.click()
    assert figure.off() == []
    figure.assert_computed_by_attnlib()
    expect(figure.all_on).to_be_hidden()
    assert figure.head(0).evaluate("e => e === document.activeElement"), "the focus is lost"


def test_every_kind_of_model(seen):
    figure = seen(grid(off=[0]))
    for label, (H, _) in list(models().items())[1:]:
        figure.menu.select_option(label)
        assert figure.off() == [], "another model begins with all of its heads"
        figure.assert_computed_by_attnlib()
        figure.head(H - 1).click()
        assert figure.off() == [H - 1]
        figure.assert_computed_by_attnlib()


def test_it_begins_as_python_left_it(seen):
    figure = seen(grid(model="8 heads", off=[1, 6], example=7))
    assert figure.off() == [1, 6]
    assert figure.slider.input_value() == "7"
    figure.assert_computed_by_attnlib()
    now, before = figure.twin.accuracy, figure.twin.before
    said = figure.sentence.inner_text()
    assert said.startswith("Without heads 1, 6: ")
    shares = [
        (float(was or still), float(still or became))
        for still, was, became in re.findall(r"(?:stays at ([\d.]+)|goes from ([\d.]+) to ([\d.]+))[,.]", said)
    ]
    assert shares == [pytest.approx(pair, abs=0.00501) for pair in zip(before, now, strict=True)]
    figure.all_on.click()
    expect(figure.sentence).to_contain_text("All heads on: previous ")
    said = re.findall(r"\d\.\d\d", figure.sentence.inner_text())
    assert [float(x) for x in said] == pytest.approx(before, abs=0.00501)


def test_keys_switch_heads_and_choose_examples(seen):
    figure = seen(grid(model="2 heads"))
    figure.menu.focus()
    scrolled = figure.page.evaluate("scrollY")
    figure.page.keyboard.press("Tab")
    for stroke, off in [("Space", [0]), ("Enter", []), ("Enter", [0])]:
        figure.page.keyboard.press(stroke)
        assert figure.off() == off
        assert figure.head(0).evaluate("e => e === document.activeElement")
    figure.page.keyboard.press("Tab")
    figure.page.keyboard.press("Space")
    assert figure.off() == [0, 1]
    assert figure.head(1).evaluate("e => getComputedStyle(e).outlineStyle") != "none", "the focus is not visible"
    figure.assert_computed_by_attnlib()
    assert figure.page.evaluate("scrollY") == scrolled
    figure.slider.focus()
    for stroke, n in [("ArrowRight", 1), ("ArrowRight", 2), ("End", 59), ("ArrowLeft", 58), ("Home", 0)]:
        figure.page.keyboard.press(stroke)
        assert figure.slider.input_value() == str(n)
        assert figure.slider.get_attribute("aria-valuetext") == f"{n + 1} of 60"
        figure.assert_computed_by_attnlib()


def test_next_mistake_finds_them_all_and_no_other(seen):
    figure = seen(same())
    expect(figure.mistake).to_be_hidden()
    assert figure.texts(".hg-now") == ["1.00"]
    figure.head(0).click()
    for n in (2, 0, 2):
        figure.mistake.click()
        assert figure.slider.input_value() == str(n)
        assert figure.root.locator(".hg-wrong").count() > 0
        figure.assert_computed_by_attnlib("one")
    figure.slider.fill("1")
    assert figure.root.locator(".hg-wrong").count() == 0
    figure.head(0).click()
    expect(figure.mistake).to_be_hidden()
    expect(figure.menu).to_be_hidden()  # one model: nothing to choose from


def test_pointing_at_an_answer_shows_where_it_asked(seen):
    figure = seen(grid(model="2 heads"))
    outlines = figure.root.locator(".hg-head:visible .hg-asks")
    asking = "all => all.map(e => getComputedStyle(e).visibility === 'visible' && e.getAttribute('y'))"
    assert outlines.evaluate_all(asking) == [False, False]
    figure.root.locator(".hg-said").nth(1).locator("td").nth(3).hover()
    assert outlines.evaluate_all(asking) == ["3", "3"]
    figure.page.mouse.move(1, 1)
    assert outlines.evaluate_all(asking) == [False, False]


def test_the_numbers_list_every_head_alone(seen):
    figure = seen(grid(model="4 heads", off=[0, 2]))
    expected = [("none", [])] + [(str(h), [h]) for h in range(4)] + [("0, 2", [0, 2])]
    assert figure.numbers() == [[name, *(f"{x:.3f}" for x in figure.twin.measure(off))] for name, off in expected]
    figure.head(2).click()
    assert [row[0][0] for row in figure.numbers()] == ["n", *"0123"]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_line_of_a_row_goes_on_under_its_name(seen, theme):
    """The names are sticky, layers of their own: where a row begins between two pixels, they once hid lines."""
    figure = seen(same([8 * [0, 1, 2]]), width=375, theme=theme)  # it scrolls, and no answer is marked as wrong
    table = figure.root.locator(".hg-answers")
    figure.page.add_style_tag(content=".hg-answers * { -webkit-text-fill-color: transparent }")  # lines, and no letters
    for size in (15, 16, 17):
        for offset in (0, 0.25, 0.5, 0.75):
            figure.page.evaluate(
                "([size, offset]) => { document.documentElement.style.fontSize = `${size}px`;"
                " document.querySelector('main').style.paddingTop = `${offset}px`; }",
                [size, offset],
            )
            pixels = np.asarray(Image.open(io.BytesIO(table.locator("xpath=..").screenshot())).convert("RGB"))
            under, beside = pixels[:, 8], pixels[:, -30]  # beside the shade that says that there is more
            lines = (beside != beside[0]).any(-1)
            assert lines.sum() == table.locator("tr").count(), (size, offset)
            assert (under == beside).all(), (size, offset)


def test_one_token_one_example_one_head(seen):
    weights = {"a": (1, models()["1 heads"][1])}
    figure = seen(HeadGrid(weights, [[3]], [[[2, 3]]], WORDS, TASKS))
    assert figure.root.get_by_role("slider").count() == 0  # nothing to choose from
    figure.head(0).click()
    assert figure.off() == [0]
    figure.assert_computed_by_attnlib("a")

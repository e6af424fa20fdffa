"""AlignmentView in a page: what it shows is what Python computed, whatever moves it."""

import re

import pytest
import torch
from playwright.sync_api import expect

from attnlib.figures import AlignmentView
from tests.browser.conftest import Seen, centre

SOURCE = [*"14 mars 2024"]
TARGET = [*"2024-03-14"]
GOLD = [(i, 8 + i) for i in range(4)] + [(5 + i, 3 + j) for i in range(2) for j in range(4)] + [(8, 0), (9, 1)]


def figure(**how) -> AlignmentView:
    """Two models with two layers of three heads."""
    generator = torch.Generator().manual_seed(0)
    weights = {
        name: [torch.randn(1, 3, 10, 12, generator=generator).mul(3).softmax(-1) for _ in range(2)]
        for name in ("one", "two")
    }
    return AlignmentView(weights, SOURCE, TARGET, GOLD, **how)


class View(Seen):
    def __init__(self, visited, twin: AlignmentView):
        super().__init__(visited, twin)
        self.step = self.root.get_by_label("step", exact=True)
        self.grids = self.root.locator(".attn-heat")
        self.lines = self.root.locator("[role=slider][aria-label$=lines]")

    def rows(self) -> list[str | None]:
        """What the grids say is chosen."""
        return [grid.get_attribute("aria-valuenow") for grid in self.grids.all()]

    def opacities(self, n: int) -> list[float]:
        cells = self.grids.nth(n).locator(".attn-heat-cell")
        return [float(x) for x in cells.evaluate_all("cells => cells.map((cell) => cell.getAttribute('fill-opacity'))")]

    def cell(self, n: int, i: int, j: int) -> tuple[float, float]:
        """Centre of a cell of grid n, in the window."""
        return centre(self.grids.nth(n).locator(".attn-heat-cell").nth(i * len(SOURCE) + j))

    def assert_computed_by_attnlib(self, **traits):
        """Cells, shares of gold, sentence and table follow from Python's weights."""
        self.set(traits)
        step, table = self.twin.step, self.numbers()
        assert len(table) == len(SOURCE)
        for n, (name, weights) in enumerate(self.twin.weights.items()):
            assert self.opacities(n) == pytest.approx(torch.tensor(weights).flatten().tolist(), abs=0.0006)
            share, hits, of = re.findall(r"\d+\.\d+|\d+", self.root.locator(".av-note").nth(n).inner_text())
            assert float(share) == pytest.approx(self.twin.gold_share[name], abs=0.0051)
            assert (int(hits), int(of)) == (self.twin.gold_hits[name], 8)
            said = re.search(
                rf"{name} looks most at “(.)”(?: \(place (\d+)\))?, (\d\.\d\d)", self.sentence.inner_text()
            )
            j = max(range(len(SOURCE)), key=weights[step].__getitem__)
            assert said[1] == SOURCE[j] and said[2] in (None, str(j + 1))
            assert float(said[3]) == pytest.approx(weights[step][j], abs=0.0051)
            cells = [row[1 + n] for row in table]
            assert [float(cell.split()[0]) for cell in cells] == pytest.approx(weights[step], abs=0.00051)
            assert [("gold" in cell) for cell in cells] == [(step, j) in GOLD for j in range(len(SOURCE))]


@pytest.fixture
def open_view(mounted):
    return lambda figure, **how: View(mounted(figure, **how), figure)


def test_keyboard_and_menus_show_what_python_computes(open_view):
    view = open_view(figure())
    view.assert_computed_by_attnlib()
    view.step.press("ArrowRight")
    view.assert_computed_by_attnlib(step=1)
    assert view.step.get_attribute("aria-valuetext") == "2 of 10: “0”"
    view.root.get_by_label("layer").select_option("0")
    view.root.get_by_label("head").select_option("2")
    view.assert_computed_by_attnlib(layer=0, head=2)
    view.grids.nth(1).press("End")
    assert view.rows() == ["10", "10"]  # one step for all
    view.root.get_by_label("head").select_option("mean")
    view.assert_computed_by_attnlib(step=9, head="mean")


def test_the_mouse_points_and_takes_it_back_and_a_click_stays(open_view):
    view = open_view(figure())
    hint = view.root.locator(".av-cell").inner_text()
    view.page.mouse.move(*view.cell(0, 5, 3))
    assert view.rows() == ["6", "6"]
    assert view.root.locator(".av-cell").inner_text() == f"“0” looks at “m”: {view.twin.weights['one'][5][3]:.3f}"
    assert view.step.input_value() == "1"
    view.page.mouse.move(2, 2)
    assert view.rows() == ["1", "1"]
    assert view.root.locator(".av-cell").inner_text() == hint
    view.page.mouse.click(*view.cell(1, 5, 3))
    view.page.mouse.move(2, 2)
    assert view.rows() == ["6", "6"] and view.step.input_value() == "6"


def test_a_finger_chooses_a_row_and_a_word(open_view):
    view = open_view(figure(view="both"), width=375, touch=True)
    view.page.touchscreen.tap(*view.cell(0, 7, 2))
    assert view.rows() == ["8", "8"]
    view.root.locator(".av-name[data-side=target] text").nth(2).tap()
    assert view.rows() == ["3", "3"]


def test_lines_end_at_their_words_and_are_as_wide_as_the_weight(open_view):
    view = open_view(figure(view="lines", step=6))
    expect(view.grids.first).to_be_hidden()
    for n, weights in enumerate(view.twin.weights.values()):
        drawn = view.lines.nth(n).evaluate(
            """element => {
                const middle = (name) => {
                    const box = name.querySelector("rect");
                    return Number(box.getAttribute("y")) + Number(box.getAttribute("height")) / 2;
                };
                const named = (side) => [...element.querySelectorAll(`[data-side=${side}]`)].map(middle);
                const strong = [...element.querySelectorAll(".av-strong")].map((path) => [
                    (path.getAttribute("d") ?? "").match(/[\\d.]+/g)?.map(Number),
                    Number(path.getAttribute("stroke-width")),
                ]);
                return { source: named("source"), target: named("target"), strong };
            }"""
        )
        for j, weight in enumerate(weights[6]):
            (_, from_y, _, to_y), width = drawn["strong"][j]
            assert from_y == pytest.approx(drawn["source"][j], abs=0.06)
            assert to_y == pytest.approx(drawn["target"][6], abs=0.06)
            assert width == pytest.approx(0.5 + 7 * weight, abs=0.0051)
    view.lines.first.press("ArrowUp")
    assert view.step.input_value() == "6"
    assert view.lines.nth(1).get_attribute("aria-valuetext") == "6: “0”"


def test_pointing_at_a_source_word_shows_who_looks_at_it(open_view):
    view = open_view(figure(view="lines"))
    view.root.locator(".av-name[data-side=source] rect").nth(3).hover()
    column = [row[3] for row in view.twin.weights["one"]]
    expect(view.root.locator(".av-cell")).to_have_text(f"“m” is looked at {sum(column):.2f} in all")
    widths = view.lines.first.locator(".av-strong").evaluate_all(
        "all => all.map((p) => p.getAttribute('stroke-width'))"
    )
    assert [float(w) for w in widths[:10]] == pytest.approx([0.5 + 7 * weight for weight in column], abs=0.0051)


def test_gold_model_and_view_menus(open_view):
    view = open_view(figure())
    boxes = view.grids.first.locator(".attn-gold")
    assert boxes.count() == len(GOLD)
    view.root.get_by_label("gold links").uncheck()
    assert boxes.count() == 0
    expect(view.root.locator(".av-note").first).to_be_hidden()
    view.root.get_by_label("model").select_option("two")
    expect(view.grids.first).to_be_hidden()
    expect(view.grids.nth(1)).to_be_visible()
    assert "one" not in view.sentence.inner_text()
    view.root.get_by_label("show").select_option("both")
    expect(view.lines.nth(1)).to_be_visible()


def test_what_cannot_be_chosen_is_not_offered(open_view):
    view = open_view(AlignmentView([[0.2, 0.8]], ["a", "b"], ["x"]))
    for label in ("model", "layer", "head", "gold links", "step"):
        expect(view.root.get_by_label(label, exact=True)).to_have_count(0)
    expect(view.button("Play")).to_have_count(0)
    expect(view.sentence).to_have_text("Step 1: “x” looks most at “b”, 0.80.")


def test_rows_of_zeros_uneven_rows_and_models_that_are_done(open_view):
    view = open_view(
        AlignmentView({"long": [[0, 0], [0.3, 0.3]], "short": [[0.5, 0.5]]}, ["a", "b"], {"long": "xy", "short": "z"})
    )
    expect(view.sentence).to_have_text("Step 1: long: “x” looks at nothing; short: “z” looks most at “a”, 0.50.")
    view.step.press("ArrowRight")
    expect(view.sentence).to_have_text("Step 2, “y”: long looks most at “a”, 0.30 (its row adds up to 0.60).")
    assert view.grids.nth(1).get_attribute("aria-valuetext") == "none"


def test_grids_shrink_until_they_fit_and_stand_side_by_side_where_they_can(open_view):
    view = open_view(figure())
    for width, beside in ((375, False), (620, True), (1000, True)):
        view.page.set_viewport_size({"width": width, "height": 900})
        view.page.wait_for_function(
            """([width, beside]) => {
                const [one, two] = [...document.querySelectorAll(".av .attn-heat")];
                return (one.getBoundingClientRect().y === two.getBoundingClientRect().y) === beside
                    && one.scrollWidth <= one.clientWidth && document.scrollingElement.scrollWidth <= width;
            }""",
            arg=[width, beside],
        )


@pytest.fixture
def piecewise(monkeypatch):
    """A figure of two layers and two heads that is too large to be sent at once."""
    monkeypatch.setattr("attnlib.figures.alignment_view.LIMIT", 10)
    weights = torch.tensor([[[0.6, 0.4], [0.7, 0.3]], [[0.2, 0.8], [0.1, 0.9]]])
    return AlignmentView([layer[None, :, None] for layer in weights], ["a", "b"], ["x"], head=0)


def test_what_was_not_sent_is_named_and_what_was_sent_stays(piecewise, open_view):
    view = open_view(piecewise)
    missing = view.root.locator(".av-missing")
    assert view.opacities(0) == pytest.approx([0.2, 0.8], abs=0.0006)
    expect(missing).to_be_hidden()
    view.root.get_by_label("head").select_option("1")
    expect(missing).to_contain_text("layer 1, head 1 are not in this page, only a running kernel has them. Still shown")
    assert view.opacities(0) == pytest.approx([0.2, 0.8], abs=0.0006)
    view.root.get_by_label("head").select_option("0")
    expect(missing).to_be_hidden()


def test_a_saved_page_has_all_of_them(piecewise, visit, tmp_path):
    view = View(visit(piecewise.save(tmp_path / "look.html")), piecewise)
    for layer, head, expected in ((1, "0", [0.2, 0.8]), (0, "1", [0.7, 0.3]), (0, "mean", [0.65, 0.35])):
        view.root.get_by_label("layer").select_option(str(layer))
        view.root.get_by_label("head").select_option(head)
        expect(view.sentence).to_contain_text(f"{max(expected):.2f}")
        assert view.opacities(0) == pytest.approx(expected, abs=0.0006)
    for scheme, colour in {"dark": "rgb(20, 24, 30)", "light": "rgb(255, 255, 255)"}.items():
        view.page.emulate_media(color_scheme=scheme)  # the page follows its reader
        expect(view.page.locator("html")).to_have_css("background-color", colour)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_gold_links_lie_on_a_rim_of_the_page(theme, mounted):
    """On the darkest cell and the widest line, too."""
    page = mounted(figure(view="both", step=1), theme=theme).page
    paper, ink = page.evaluate(
        "[document.documentElement].map((e) => getComputedStyle(e)).flatMap((s) => [s.backgroundColor, s.color])"
    )
    kinds = {".attn-heat .attn-gold": "x", ".av-lines .av-gold": "d"}
    for gold, place in kinds.items():
        halo = gold.split()[0] + " .attn-halo"
        style = """all => all.map((e) => [getComputedStyle(e).stroke, parseFloat(getComputedStyle(e).strokeWidth)])"""
        dashes, rims = (page.locator(kind).evaluate_all(style) for kind in (gold, halo))
        assert len(dashes) == len(rims) > 0
        for (colour, width), (behind, wider) in zip(dashes, rims, strict=True):
            assert (colour, behind) == (ink, paper)
            assert wider >= width + 1.2
        where = "(all, name) => all.map((e) => e.getAttribute(name))"
        assert page.locator(gold).evaluate_all(where, place) == page.locator(halo).evaluate_all(where, place)
        order = "([one, other]) => document.querySelector(one).compareDocumentPosition(document.querySelector(other))"
        assert page.evaluate(order, [halo, gold]) & 4, "the rim lies below"

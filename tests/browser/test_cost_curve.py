"""CostCurve in a browser: what it says is what Python counts, whoever moves it."""

import itertools
import math
import re

import pytest
from playwright.sync_api import expect

from benchmarks.examples import cost_curve
from tests.browser.conftest import DRAWN, Seen, swipe


class Shown(Seen):
    def __init__(self, mounted, word: str = "concat", **how):
        super().__init__(mounted(cost_curve(word), **how), cost_curve(word))
        self.plot = self.root.locator(".cc-plot")

    def slider(self, name: str):
        return self.root.get_by_label(name, exact=True)

    def readout(self, name: str) -> int:
        return int(self.slider(name).get_attribute("aria-valuetext").replace(",", ""))

    def assert_as_in_python(self, **traits):
        """With these traits Python counts what the page's table, rows and sentence say."""
        self.set(traits)
        counts, (S, T, d) = self.twin.counts, self.twin.sizes.values()
        sums = {name: sum(parts.values()) for name, parts in counts.items()}
        where = f"S = T = {S:,}, d = {d:,}" if self.twin.axis == "S=T" else f"S = {S:,}, T = {T:,}, d = {d:,}"
        wanted = []
        for name, parts in counts.items():
            wanted += [[name, f"{sums[name]:,}"], *([f"… {part}", f"{n:,}"] for part, n in parts.items())]
        assert [row[:2] for row in self.numbers()] == wanted
        assert self.root.locator("details caption").inner_text() == f"{self.twin.quantity} at {where}"
        base, *others = sums.values()
        more = [name for name in sums if sums[name] > base]
        sentence = self.sentence.inner_text()
        assert sentence.startswith(f"At {where}")
        assert [name for name in sums if f"{name} (" in sentence] == sorted(more, key=sums.get)[-1:]
        words = {0: "nothing costs", 1: "only", len(others): f"all {len(others)} others"}
        assert f", {words.get(len(more), f'{len(more)} of {len(others)}')} " in sentence
        said = self.root.locator(".cc-meets").all_inner_texts()[1:]
        for (name, places), text in zip(self.twin.crossovers.items(), said, strict=True):
            assert all(f"{math.ceil(place):,}" in text for place in places), (name, text)
            assert ("always" in text) == (not places), (name, text)


@pytest.fixture
def show(mounted):
    return lambda *word, **how: Shown(mounted, *word, **how)


def test_it_says_what_python_counts_on_every_axis(show):
    shown = show()
    shown.assert_as_in_python()
    for axis in ("S", "T", "d", "S=T"):
        shown.root.get_by_label("along").select_option(axis)
        shown.assert_as_in_python(axis=axis)
        assert shown.slider("target words T").is_visible() == (axis != "S=T")
    shown.root.get_by_label("count", exact=True).select_option("numbers kept")
    shown.assert_as_in_python(quantity="numbers kept")
    assert "0 · 0 ×" in shown.root.locator(".cc-rows li").last.inner_text()


def test_the_keyboard_moves_every_slider(show):
    shown = show()
    shown.root.get_by_label("along").select_option("S")
    for name, trait in (("source words S", "S"), ("target words T", "T"), ("width d", "d")):
        for stroke in ("ArrowRight", "ArrowLeft", "ArrowLeft", "Home", "End"):
            before = shown.readout(name)
            shown.slider(name).press(stroke)
            assert shown.readout(name) != before, (name, stroke)
        assert shown.readout(name) == shown.twin.largest[trait]
        shown.slider(name).press("Home")
        for _ in range(4):
            shown.slider(name).press("ArrowRight")
        assert shown.readout(name) == 5
        shown.assert_as_in_python(axis="S", **{trait: 5})


def test_the_width_moves_the_ring_at_a_crossing(show):
    shown = show()
    ring = shown.root.locator(".cc-rings circle").last
    before = float(ring.get_attribute("cx"))
    for _ in range(4):  # an octave down
        shown.slider("width d").press("ArrowLeft")
    shown.assert_as_in_python(d=256)
    assert float(ring.get_attribute("cx")) < before
    assert "1,536" in shown.root.locator(".cc-rings text").all_text_contents()


def test_the_mouse_takes_the_line_along(show):
    shown = show()
    for log in (True, False):
        if not log:
            shown.root.get_by_label("logarithmic axes").uncheck()
        box = shown.plot.bounding_box()
        y = box["y"] + box["height"] / 2
        shown.page.mouse.move(box["x"] + 60, y)
        shown.page.mouse.down()
        seen = []
        for x in (80, 120, 200, 150):
            shown.page.mouse.move(box["x"] + x, y)
            seen.append(shown.readout("words S = T"))
            line = shown.root.locator(".cc-point > path").bounding_box()
            assert abs(line["x"] - box["x"] - x) < 12  # a whole number of words is near
        assert seen[0] < seen[1] < seen[2] > seen[3] > seen[0]
        shown.page.mouse.move(box["x"] - 50, y)
        assert shown.readout("words S = T") == 1
        shown.page.mouse.move(box["x"] + 130, y)
        shown.page.mouse.up()
        at = shown.readout("words S = T")
        shown.page.mouse.move(box["x"] + 200, y)
        assert shown.readout("words S = T") == at
        shown.assert_as_in_python(S=at)


def test_a_finger_moves_the_line_sideways_and_the_page_up_and_down(show):
    shown = show(width=375, touch=True)
    shown.plot.scroll_into_view_if_needed()
    box, scrolled = shown.plot.bounding_box(), shown.page.evaluate("scrollY")
    swipe(shown.page, box["x"] + 60, box["y"] + 130, 100, 0)
    moved = shown.readout("words S = T")
    assert moved > 100
    assert shown.page.evaluate("scrollY") == scrolled
    swipe(shown.page, box["x"] + 60, box["y"] + 130, 0, -120)
    shown.page.wait_for_function("before => scrollY > before", arg=scrolled)
    assert shown.readout("words S = T") == moved
    shown.assert_as_in_python(S=moved)


def test_a_curve_has_the_colour_of_its_largest_part(show):
    shown = show()
    curves = shown.root.locator(".cc-curves .cc-curve[d]")
    general = curves.evaluate_all(
        "paths => paths.filter((p) => p.getAttribute('stroke-dasharray') === '2 3')"
        ".map((p) => [p.getAttribute('class'), p.getBBox().x, p.getBBox().x + p.getBBox().width])"
    )
    # general: S d² for the keys against S² d for the scores, equal at S = d = 512
    plot = shown.root.locator(".cc-curves .cc-first[d]").evaluate("p => [p.getBBox().x, p.getBBox().width]")
    bend = plot[0] + plot[1] * math.log(512) / math.log(32768)
    (scores, keys) = sorted(general, key=lambda found: "key" in found[0])
    assert "cc-weight" in scores[0]
    assert "cc-key" in keys[0]
    assert keys[2] == pytest.approx(bend, abs=plot[1] / 90)
    assert scores[1] == pytest.approx(bend, abs=plot[1] / 90)
    parts = shown.root.locator(".cc-rows li").nth(1).locator(".cc-part")
    widths = [part.bounding_box()["width"] for part in parts.all()]
    assert widths[0] == pytest.approx(widths[1], abs=1)  # dot: half scores, half averages


def test_names_at_the_curves_do_not_cover_each_other(show):
    shown = show(width=1000)
    shown.page.evaluate(DRAWN)
    boxes = [name.bounding_box() for name in shown.root.locator(".cc-names text").all()]
    assert len(boxes) == 6
    tops = sorted(box["y"] for box in boxes)
    assert all(below - above >= 15 for above, below in itertools.pairwise(tops))
    drawing = shown.root.locator(".cc-drawing").bounding_box()
    assert all(box["x"] + box["width"] <= drawing["x"] + drawing["width"] for box in boxes)


@pytest.mark.parametrize("width", [320, 1000])
def test_names_that_leave_no_room_for_curves_stand_in_the_rows_only(show, width):
    shown = show("donaudampfschiff" * 8, width=width)
    expect(shown.root.locator(".cc-name")).to_have_count(6)
    expect(shown.root.locator(".cc-names text")).to_have_count(0)


def test_it_follows_the_width_of_its_place(show):
    shown = show(width=1000)
    wide = shown.root.locator(".cc-drawing").bounding_box()["width"]
    shown.page.set_viewport_size({"width": 360, "height": 800})
    shown.page.wait_for_function("wide => document.querySelector('.cc-drawing').clientWidth < wide - 80", arg=wide)
    shown.page.evaluate(DRAWN)
    place = shown.plot.bounding_box()
    assert shown.root.locator(".cc-drawing").bounding_box()["width"] == pytest.approx(place["width"], abs=2)
    assert re.findall(r"\d+", shown.root.locator(".cc-point text").text_content()) == ["32"]


def test_the_largest_counts_do_not_run_into_what_stands_beside_them(show):
    shown = show(width=1000)
    for name in ("words S = T", "width d"):
        shown.slider(name).press("End")
    rows = shown.root.locator(".cc-rows li").evaluate_all(
        """rows => rows.map((row) => [...row.querySelectorAll(".cc-amount, .cc-meets")].map((text) => {
            const range = document.createRange();
            range.selectNodeContents(text);
            return [range.getBoundingClientRect().left, range.getBoundingClientRect().right];
        }))"""
    )
    assert all(end + 5 < begin for (_, end), (begin, _) in rows), rows
    assert len({begin for _, (begin, _) in rows}) == 1  # columns, one below the other

"""The AttentionSurgery: a trained network that runs in the page, operated by mouse, keyboard, finger and link."""

import re

import pytest
from playwright.sync_api import expect

from attnlib.course.figures import AttentionSurgery
from attnlib.course.figures.weights import export
from tests.browser.conftest import Seen, stop_clock, swipe
from tests.course.figures.test_attention_surgery import SOURCE, TARGET, seq2seq


def surgery(**changes) -> AttentionSurgery:
    """A small network that has learned nothing, but writes different things when it looks elsewhere."""
    given = {"text": "abba d", "examples": ["dead", "face"], "max_length": 8} | changes
    return AttentionSurgery(export(seq2seq(seed=2)), SOURCE, TARGET, **given)


class Surgery(Seen):
    def __init__(self, visited, twin: AttentionSurgery):
        super().__init__(visited, twin)
        self.text = self.root.get_by_label("read", exact=True)
        self.bars = self.root.locator(".as-bar")
        self.grid = self.root.locator(".attn-heat")
        self.complaint = self.root.locator(".attn-complaint").first

    def lines(self) -> list[list[str]]:
        return [line.locator(".as-char").all_inner_texts() for line in self.root.locator(".as-written").all()]

    def row(self) -> list[float]:
        return [float(bar.get_attribute("aria-valuetext")) for bar in self.bars.all()]

    def assert_is(self, **traits):
        """The page shows what the twin computes in Python, once it is given the same."""
        self.set(traits)
        assert [[float(cell) for cell in row[4:]] for row in self.numbers()] == [
            pytest.approx(row, abs=0.00051) for row in self.twin.weights
        ]
        own, now = ("".join(token for token in line if token not in ("·", "<eos>")) for line in self.lines())
        assert (own, now) == (self.twin.original, self.twin.output)
        assert (self.root.locator(".as-changed").count() > 0) == (own != now)

    def paint_with_the_mouse(self, j: int, height: float, to: int | None = None):
        for place, act in ((j, self.page.mouse.down), (j if to is None else to, self.page.mouse.up)):
            self.bars.nth(place).scroll_into_view_if_needed()
            box = self.bars.nth(place).locator(".as-track").bounding_box()
            self.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] * (1 - height), steps=3)
            act()


@pytest.fixture
def open_surgery(mounted):
    return lambda how=None, **changes: Surgery(mounted(surgery(**changes), **(how or {})), surgery(**changes))


def test_mouse_keyboard_and_reset(open_surgery):
    figure = open_surgery()
    figure.assert_is()
    S, before = len(figure.twin.tokens), figure.twin.weights[0]
    assert figure.row() == pytest.approx(before, abs=0.0051)
    expect(figure.sentence).to_contain_text("nothing is painted")
    expect(figure.button("Reset all")).to_be_hidden()
    # the mouse paints one bar …
    figure.paint_with_the_mouse(2, 0.7)
    row = figure.row()
    assert row[2] == pytest.approx(0.7, abs=0.02)
    rest = 0.3 / (1 - before[2])  # the others share what is left, as before
    assert [row[j] for j in range(S) if j != 2] == pytest.approx(
        [before[j] * rest for j in range(S) if j != 2], abs=0.02
    )
    # … and across several
    figure.paint_with_the_mouse(1, 0.5, to=4)
    assert figure.row()[4] == pytest.approx(0.5, abs=0.02)
    # the arrow keys go along and paint
    figure.bars.nth(4).press("ArrowRight")
    expect(figure.bars.nth(5)).to_be_focused()
    scrolled = figure.page.evaluate("scrollY")
    figure.bars.nth(5).press("End")
    assert figure.row() == [0.0] * 5 + [1.0]
    figure.assert_is(edits={0: [0, 0, 0, 0, 0, 1]})
    figure.bars.nth(5).press("ArrowDown")
    assert figure.row()[5] == 0.95
    assert figure.row()[0] == pytest.approx(0.01, abs=0.001)
    figure.bars.nth(5).press("PageDown")
    assert figure.row()[5] == 0.75
    figure.assert_is(edits={0: [0.05] * 5 + [0.75]})
    assert figure.page.evaluate("scrollY") == scrolled
    figure.bars.nth(5).press("ArrowRight")  # round the end
    expect(figure.bars.nth(0)).to_be_focused()
    # another step, by the button
    figure.grid.press("ArrowDown")
    figure.button(re.compile("^All on")).click()
    figure.assert_is(edits={0: [0.05] * 5 + [0.75], 1: [1] + [0] * (S - 1)})
    expect(figure.sentence).to_contain_text("painted: steps 1, 2")
    figure.button("Reset this step").click()
    figure.assert_is(edits={0: [0.05] * 5 + [0.75]})
    figure.button("Reset all").click()
    figure.assert_is(edits={})
    expect(figure.button("Reset all")).to_be_hidden()


def test_a_finger_paints_upwards_and_scrolls_sideways(open_surgery):
    figure = open_surgery({"touch": True, "width": 375})
    figure.bars.nth(1).scroll_into_view_if_needed()
    box = figure.bars.nth(1).locator(".as-track").bounding_box()
    x, bottom, scrolled = box["x"] + box["width"] / 2, box["y"] + box["height"], figure.page.evaluate("scrollY")
    swipe(figure.page, x, bottom - 4, 0, 4 - 0.9 * box["height"])
    assert figure.row()[1] == pytest.approx(0.9, abs=0.03)
    assert figure.page.evaluate("scrollY") == scrolled
    figure.page.touchscreen.tap(x, bottom - box["height"] * 0.3)
    assert figure.row()[1] == pytest.approx(0.3, abs=0.03)
    assert figure.root.locator(".as-bars").evaluate("e => getComputedStyle(e).touchAction") == "pan-x"


def test_typing_is_answered_in_words(open_surgery):
    figure = open_surgery()
    figure.paint_with_the_mouse(0, 1.0)
    figure.text.fill("dad")
    figure.assert_is(text="dad", edits={})  # a new text begins without surgery
    assert figure.complaint.inner_text() == ""
    figure.text.press_sequentially("?é")
    figure.assert_is(text="dad?é")
    expect(figure.complaint).to_contain_text("“?”, “é” did not occur in training and are left out")
    expect(figure.complaint).to_contain_text("a b c d e f")
    expect(figure.text).to_have_attribute("aria-invalid", "true")
    figure.text.fill("")
    expect(figure.complaint).to_contain_text("choose an example")
    assert not figure.bars.first.is_visible()
    figure.text.fill("a" * 40)
    figure.assert_is(text="a" * 40)
    expect(figure.complaint).to_have_text("Only the first 32 characters are read: 8 too many.")
    figure.root.get_by_label("or", exact=True).select_option("face")
    figure.assert_is(text="face")
    expect(figure.text).to_have_value("face")
    figure.text.fill("a")  # one character: nowhere else to look
    figure.assert_is(text="a")


def test_it_writes_step_by_step(open_surgery):
    figure = open_surgery({"alone": True})
    stop_clock(figure.page)
    written = figure.lines()[0]
    figure.button("first step").click()
    assert figure.lines()[0] == [written[0]] + ["·"] * (len(written) - 1)
    figure.button("next step").click()
    assert figure.lines()[0][:3] == [*written[:2], "·"]
    assert figure.grid.get_attribute("aria-valuenow") == "2"
    figure.button("Play").click()
    figure.page.clock.run_for(900)
    expect(figure.root.locator(".as-written").first.locator(".as-char").nth(2)).to_have_text(written[2])
    figure.button("Pause").click()
    figure.grid.press("End")  # a row that is not written yet is written when it is chosen
    assert figure.lines()[0] == written


def test_the_link_restores_the_state(open_surgery):
    figure = open_surgery({"alone": True})
    figure.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    figure.grid.press("ArrowDown")
    figure.paint_with_the_mouse(3, 0.6)
    edits, lines = figure.row(), figure.lines()
    figure.button("Copy link").click()
    notice = figure.root.locator(".as-notice")
    expect(notice).to_have_text(re.compile("^Link copied"))
    link = figure.page.evaluate("navigator.clipboard.readText()")
    assert "#surgery&text=abba" in link
    page = figure.page
    page.evaluate("link => { location.hash = new URL(link).hash }", link.replace("abba", "face"))
    expect(figure.text).to_have_value("face d")
    page.evaluate("link => { location.hash = new URL(link).hash }", link)
    page.reload()
    page.wait_for_function("document.querySelectorAll('[data-live=true]').length === 1")
    assert figure.lines() == lines
    assert figure.row() == pytest.approx(edits, abs=0.001)
    assert figure.grid.get_attribute("aria-valuenow") == "2"
    expect(notice).to_contain_text("state of the link")
    for wrong, said in [("#surgery&text=ab&edit=0:9-1", "“9” is not in 0 to 1"), ("#surgery&step=1", "has no text")]:
        page.evaluate("hash => { location.hash = hash }", wrong)
        expect(notice).to_contain_text(said)
        assert figure.lines() == lines
    page.evaluate("location.hash = '#a-heading'")
    assert figure.lines() == lines


def test_a_clipboard_that_is_denied_leaves_the_link_to_be_copied(open_surgery):
    figure = open_surgery()
    figure.page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('denied')) }")
    figure.button("Copy link").click()
    expect(figure.root.get_by_label("link", exact=True)).to_have_value(re.compile("#surgery&text=abba"))
    expect(figure.root.locator(".as-notice")).to_contain_text("copy by hand")
    assert figure.page.evaluate("getSelection().toString() || document.activeElement.value").count("#surgery") == 1


def test_where_not_all_bars_have_room_the_chosen_one_is_brought_into_view(open_surgery):
    text = "abba dead face bead abba dead"
    page = open_surgery({"width": 375}, text=text, place=27).page
    inside = """() => {
        const box = (name) => document.querySelector(name).getBoundingClientRect();
        const [frame, bar] = [box(".as-scroll"), box(".as-chosen")];
        return frame.left - 1 <= bar.left && bar.right <= frame.right + 1;
    }"""
    page.wait_for_function(inside)
    assert page.evaluate("scrollY") == 0, "it is the bars that scroll, not the page"
    assert page.locator(".as-scroll").evaluate("frame => frame.scrollLeft") > 100
    page.evaluate("document.querySelector('.as-scroll').scrollLeft = 0")
    page.locator(".as-chosen").press("ArrowRight")
    page.wait_for_function(inside)
    assert page.locator(".as-chosen").get_attribute("aria-label").endswith("character 29 of 29")
    page.locator(".as-chosen").press("ArrowRight")  # round to the first
    page.wait_for_function(inside)

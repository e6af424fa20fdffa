"""The figures as the chapters show them: in one view, with nothing cut, and with questions whose answers are true."""

import re
import shutil

import pytest
from playwright.sync_api import Locator, Page, expect

from attnlib.course.figures.translator_file import MODELS
from attnlib.figures.page import page, view
from benchmarks.examples import stored_figures
from tests.browser.conftest import DRAWN

# How wide a figure is in the book's column, at each width of the window; `make test` has two of them.
COLUMNS = {320: 288, 375: 343, 768: 736, 1280: 704, 1920: 832}
QUICK = (320, 1280)
HIGH, ANSWERED = 640, 700  # px, of 800, before the bet and after it
LEARNS = 120_000  # ms that a model may take to learn in a thread of its own, on a busy machine

#: Every figure that asks in a chapter, and what it shows after "Show me": a place in it, and words that stand there.
SHOWN = {
    ("01", "FadingTrace"): [
        (".attn-sentence", "made different is left 3 characters (1 word) later"),
        (".attn-sentence", "made different is left 3 characters (1 word) later"),
        (".attn-sentence", "31 % of what “queen” made different is left, and the guess at the end has moved by 13.7 %"),
    ],
    ("02", "LearnToAlign"): [
        (".attn-sentence", "After 200 steps, no attention writes "),
        (".attn-sentence", "After 300 steps, no attention writes "),
        (".attn-sentence", "After 300 steps, no attention writes 1"),
    ],
    ("03", "ScoreExplorer"): [
        (".attn-sentence", "attends 0.77 to “money”"),
        (".se-table tbody tr:nth-child(3) .se-weight", "0.61"),  # 2.2 times 0.27
        (".attn-sentence", "0.17 to each of 6 visible words; the context is (0.52, 0.03)"),
    ],
    ("04", "MaskedSoftmaxLab"): [
        (".attn-sentence", "Row 3: Every score is −∞, and −∞ − (−∞) is NaN."),
        (".ms-row:nth-child(2) .ms-badge", "leaks 0.21"),
        (".attn-sentence", "Stored in bfloat16, different scores became equal."),
    ],
    ("06", "LookBack"): [
        (".attn-sentence", "looks most at “0” (place 22), 0.79; the likeliest next is “0”"),
        (".attn-sentence", "looks most at “6” (place 32), 0.82; the likeliest next is “6”"),
        (".attn-sentence", "After “A” (place 36) it looks most at “6” (place 32)"),
    ],
    ("07", "AlignmentView"): [
        (".attn-sentence", "Step 7, “3”: Bahdanau looks most at “a”"),
        (".attn-sentence", "Step 5, “-”"),
        (".av-panel:nth-child(1) .av-note", "gold links"),
    ],
    ("07", "AttentionSurgery"): [
        (".as-line:nth-child(2)", "2024-03-12"),
        (".as-line:nth-child(2)", "2024-03-14"),
        (".as-line:nth-child(2)", re.compile("2024-1[012]-14")),
    ],
    ("07", "LearnToAlign"): [
        (".attn-sentence", "After 200 steps, additive (Bahdanau) writes "),
        (".attn-sentence", "After 200 steps, additive (Bahdanau) writes "),
        (".attn-sentence", "After 200 steps, dot (Luong) writes 7"),
    ],
    ("08", "AlignmentView"): [(".attn-sentence", "Step 2"), (".attn-sentence", "Step 3"), (".attn-sentence", "Step 2")],
    ("09", "CostCurve"): [
        (".attn-sentence", "2 of 5 cost more than recurrence"),
        (".cc-rows li:nth-child(2) .cc-meets", "dearer beyond 1,536"),
        (".cc-rows li:nth-child(2) .cc-meets", "always cheaper"),
    ],
    ("10", "CopyGate"): [
        (".attn-sentence", "and loses “Ottilie”, “Bartek”"),
        (".attn-sentence", "and does not end"),
        (".attn-sentence", "it writes “so Ottilie gets the umbrella , Bartek gets a copy”"),
    ],
    ("11", "AlignmentView"): [
        (".attn-sentence", "Step 2: “lamp” looks most at “fell”, 0.37"),
        (".attn-sentence", "Step 1: “the” looks most at “fell”, 0.19"),
        (".attn-sentence", "Step 5: “it” looks most at “lamp”, 0.90"),
    ],
    ("11", "LearnToAlign"): [
        (".attn-sentence", "After 200 steps, self-attention writes 9"),
        (".attn-sentence", "self-attention, no positions 0 %"),
        (".attn-sentence", "After 200 steps, self-attention writes 7"),
    ],
    ("12", "HeadGrid"): [
        (".attn-sentence", "previous goes from 1.00"),
        (".attn-sentence", "first stays at"),
        (".attn-sentence", "Without heads 0, 1"),
    ],
    ("13", "WhereItLooks"): [
        (".attn-sentence", re.compile("“(left|above)” looks most at row")),
        (".attn-sentence", "The centre of that region is outside the box"),
        (".wl-others", re.compile("left of|above")),
    ],
    ("14", "OtherWeights"): [
        (".attn-sentence", "says praise, p of praise 0.92, was 1.00"),
        (".ow-says", "neither"),
        (".attn-sentence", "p of praise 0.95, was 1.00. The answer stays."),
    ],
    ("15", "Translate"): [
        (".tl-pieces", "table"),
        (".attn-sentence", "Step 2, "),
        (".tl-details summary", "The 5 beams"),
    ],
}  # fmt: skip

asking = pytest.mark.parametrize(("chapter", "name"), SHOWN)
answering = pytest.mark.parametrize(
    ("chapter", "name"),  # what trains takes its time
    [pytest.param(*key, marks=pytest.mark.thorough if "LearnToAlign" in key else ()) for key in SHOWN],
)

# What is cut: text that is wider or higher than its box, a mark outside of its drawing, anything outside of the frame.
# What lies in a part that scrolls, and says so by a shade, is not cut.
CUT = """(root) => {
    const frame = root.querySelector(".attn-frame").getBoundingClientRect(), found = [];
    const shown = (e) => e.checkVisibility({ visibilityProperty: true });
    const named = (e) => `<${e.tagName} ${e.getAttribute("class")}> ${e.textContent.slice(0, 40)}`;
    const note = (e, why) => found.push(`${why}: ${named(e)}`);
    const unseen = ".attn-spoken, .ms-steps caption, .se-table caption, .wl-heard, option, details";
    const label = (e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    for (const e of root.querySelectorAll(".attn-frame *")) {
        if (!shown(e) || e.closest(unseen)) continue;
        const box = e.getBoundingClientRect();
        if (box.width === 0 || box.height === 0) continue;
        const scrolls = e.closest(".attn-scroll, .ms-frame, .ms-rows");
        if (!scrolls && (box.left < frame.left - 1 || box.right > frame.right + 1)) note(e, "outside of the frame");
        const drawing = e.closest("svg");
        if (e.tagName === "text" && drawing) {
            const paper = drawing.getBoundingClientRect();
            if (box.left < paper.left - 2 || box.right > paper.right + 2) note(e, "outside of its drawing");
        } else if (label(e) && !drawing && !e.matches("textarea, input, select")) {
            const range = document.createRange();
            range.selectNodeContents(e);
            const text = range.getBoundingClientRect();
            for (let up = e; up !== root && up !== scrolls; up = up.parentElement) {
                const edge = up.getBoundingClientRect(), hides = getComputedStyle(up).overflowX !== "visible";
                if (hides && (text.right > edge.right + 1 || text.left < edge.left - 1)) {
                    note(e, "cut by its box");
                    break;
                }
            }
            const cell = e.closest("td, th");
            if (cell && !scrolls && text.right > cell.getBoundingClientRect().right + 1) note(e, "wider than its cell");
        }
    }
    return found;
}"""

# Moves a control to an end of its range.
MOVE = """([control, end]) => {
    if (control.matches("input[type=range]")) {
        control.value = end ? control.max : control.min;
        control.dispatchEvent(new Event("input", { bubbles: true }));
    } else {
        const press = (key) => control.dispatchEvent(new KeyboardEvent("keydown",
            { key, shiftKey: true, bubbles: true, cancelable: true }));
        for (let n = 0; n < 14; n++) (end ? ["ArrowRight", "ArrowUp"] : ["ArrowLeft", "ArrowDown"]).forEach(press);
    }
}"""


def stored(chapter: str, name: str) -> dict:
    """The figure that asks."""
    (state,) = [state for state in stored_figures(chapter, name) if state["questions"]]
    return state


def narrow(page: Page, width: int):
    """Give a page another width, and its column what the book has there."""
    page.set_viewport_size({"width": width, "height": 800})
    page.evaluate("width => { document.querySelector('#column').style.width = `${width}px`; }", COLUMNS[width])
    page.evaluate(DRAWN)


@pytest.fixture
def chapter_figure(visit, tmp_path):
    """A figure of a chapter, in a column as wide as the book's."""

    def show(chapter: str, name: str, width: int = 1280) -> Locator:
        file = tmp_path / "figure.html"
        for model in MODELS.glob("*.js"):  # a figure may load it, as in the book
            shutil.copy(model, tmp_path)
        record = {"state": {"it": {"model_module": "anywidget", "state": stored(chapter, name)}}}
        style = "<style>body { padding: 0 8px; margin: 0 }</style>"
        file.write_text(page(record, f'{style}<div id="column">{view("it")}</div>', theme="light"))
        opened = visit(file).page
        narrow(opened, width)
        opened.wait_for_selector("[data-live] .attn-sentence")
        opened.evaluate(DRAWN)
        return opened.locator("[data-live]")

    return show


@asking
def test_it_is_seen_at_once_with_its_question_and_with_the_answer(chapter, name, chapter_figure):
    figure = chapter_figure(chapter, name)
    for question in stored(chapter, name)["questions"]:
        assert figure.bounding_box()["height"] <= HIGH, question["ask"]
        figure.locator(".attn-question").get_by_role("button", name=question["answers"][0]).first.click()
        expect(figure.locator(".attn-verdict")).not_to_be_empty()
        assert figure.bounding_box()["height"] <= ANSWERED, question["ask"]
        figure.get_by_role("button", name="Next question").or_(figure.get_by_role("button", name="Start over")).click()


@asking
def test_nothing_is_cut_at_the_ends_of_any_control(chapter, name, chapter_figure, thorough):
    figure = chapter_figure(chapter, name)
    page = figure.page
    widths = COLUMNS if thorough else QUICK
    for width in widths:
        narrow(page, width)
        assert figure.evaluate(CUT) == [], width
    controls = figure.locator("input[type=range], .se-handle, [role=slider]:not(.as-bar)")
    for width in widths:
        narrow(page, width)
        for control in controls.element_handles():
            if not control.is_visible():
                continue
            for end in (False, True):
                page.evaluate(MOVE, [control, end])
                page.evaluate(DRAWN)
                assert figure.evaluate(CUT) == [], (width, control.evaluate("e => e.outerHTML.slice(0, 160)"), end)
        assert page.evaluate("document.scrollingElement.scrollWidth") <= width


@asking
def test_on_a_phone_what_is_said_is_on_the_screen_of_every_control(chapter, name, chapter_figure):
    figure = chapter_figure(chapter, name, 375)
    said = figure.locator(".attn-sentence")
    for control in figure.locator("input, select, textarea, [role=slider], .attn-row button").all():
        if not control.is_visible():
            continue
        control.evaluate("e => e.scrollIntoView({ block: 'start' })")
        figure.page.evaluate(DRAWN)
        top = said.bounding_box()
        assert 0 <= top["y"] and top["y"] + top["height"] <= 800, control.evaluate("e => e.outerHTML.slice(0, 160)")


def test_the_names_of_the_rows_stay_where_a_map_scrolls(chapter_figure):
    figure = chapter_figure("07", "AttentionSurgery", 320)
    map_ = figure.locator(".as-scroll")
    name = figure.locator(".attn-heat-names text").last
    map_.evaluate("e => { e.scrollLeft = 0; }")
    before = name.bounding_box()["x"]
    map_.evaluate("e => { e.scrollLeft = 120; }")
    assert map_.evaluate("e => e.scrollLeft") == 120
    assert name.bounding_box()["x"] == pytest.approx(before, abs=1)


@answering
def test_the_figure_shows_what_the_answer_says(chapter, name, chapter_figure):
    figure = chapter_figure(chapter, name)
    card = figure.locator(".attn-question")
    questions = stored(chapter, name)["questions"]
    assert len(questions) == 3
    for question, (place, words) in zip(questions, SHOWN[chapter, name], strict=True):
        expect(card.locator(".attn-ask")).to_contain_text(question["ask"])
        card.locator(".attn-answers").first.get_by_role("button").nth(question["right"]).click()
        expect(card.locator(".attn-verdict")).to_contain_text(f"Right. {question['because']}")
        card.get_by_role("button", name="Show me").click()
        expect(figure.locator(place)).to_contain_text(words, timeout=LEARNS if name == "LearnToAlign" else None)
        card.get_by_role("button", name="Next question").or_(card.get_by_role("button", name="Start over")).click()
    expect(card.locator(".attn-ask")).to_contain_text(questions[0]["ask"])

"""The decks in a browser, copied out of the book and opened from the disk: they need nothing but their folder."""

import shutil
from pathlib import Path

import pytest
from playwright.sync_api import expect

from benchmarks.examples import alignment_view, cost_curve
from scripts.notebooks import with_outputs
from tests.browser.conftest import BUILT, SHOWN, quick
from tests.browser.test_pages import RAW_FORMULAS
from website.slide_room import joined
from website.slides import slides_of, with_decks

DECKS = sorted(path.stem for path in (BUILT / "slides").glob("[0-9]*.html"))

# Every slide with all that a click would bring, and what is wrong with it.
FAULTS = """async () => {
    const found = [];
    const settled = async (slide) => {
        while (!("settled" in slide.dataset)) await new Promise((done) => setTimeout(done, 5));
    };
    for (const [number, slide] of Reveal.getSlides().entries()) {
        Reveal.slide(number, 0, 99);
        await settled(slide);
        const title = slide.querySelector("h1, h2")?.textContent;
        const fault = (what) => found.push(`slide ${number + 1} (${title}): ${what}`);
        if (slide.clientHeight !== 720 || slide.clientWidth !== 1280) fault("is no slide of 1280 × 720");
        if (slide.scrollHeight > 720) fault(`is too full by ${slide.scrollHeight - 720} px`);
        if (slide.scrollWidth > 1280) fault(`is too wide by ${slide.scrollWidth - 1280} px`);
        for (const code of slide.querySelectorAll("pre:not(.figure *)")) {
            if (code.scrollWidth > code.clientWidth) fault(`a line is too long: ${code.textContent.slice(0, 40)}`);
        }
        for (const image of slide.querySelectorAll("img:not(.figure *)")) {
            if (image.clientHeight < 300) fault(`a picture is ${image.clientHeight} px high`);
            if (!image.alt) fault("a picture has no alternative text");
        }
        for (const picture of slide.querySelectorAll("svg.picture")) {
            const { width, height } = picture.viewBox.baseVal;
            const scale = Math.min(picture.clientWidth / width, picture.clientHeight / height);
            const letters = [...picture.querySelectorAll("text")];
            const smallest = scale * Math.min(...letters.map((text) => parseFloat(getComputedStyle(text).fontSize)));
            if (smallest < 13.5) fault(`a picture has letters of ${smallest.toFixed(1)} px`);
            if (!picture.ariaLabel) fault("a picture has no alternative text");
        }
        for (const box of slide.querySelectorAll(".figure")) {
            box.querySelector(".attn-question:not([hidden]) .attn-answers button")?.click(); // a verdict needs room
            await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(drawn))));
            if (!(box.dataset.scale >= 0.9)) fault(`a figure is ${box.dataset.scale} of its size`);
            if (box.scrollWidth > box.clientWidth + 1) fault("a figure is too wide");
            const plane = box.querySelector(".se-plane")?.getBoundingClientRect().width;
            if (plane < 300) fault(`the plane of a figure is ${plane} px wide`);
            const words = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
            for (let text = words.nextNode(); text; text = words.nextNode()) {
                const element = text.parentElement, range = document.createRange();
                range.selectNodeContents(text);
                const { width } = range.getBoundingClientRect();
                const seen = text.data.trim() && width > 2 && element.checkVisibility();
                if (!seen || element.closest("script, option")) continue;
                const drawn = element.ownerSVGElement && element.getScreenCTM();
                const scale = drawn ? Math.hypot(drawn.c, drawn.d) : box.dataset.scale;
                const size = scale * parseFloat(getComputedStyle(element).fontSize);
                if (size < 18) fault(`a figure has letters of ${size.toFixed(1)} px: ${text.data.slice(0, 40)}`);
            }
        }
        const beside = slide.querySelector(":is(img, svg.picture):not(.figure *)");
        if (slide.matches(".beside")) {
            const { left } = beside.getBoundingClientRect();
            for (const box of slide.querySelectorAll("p, pre, table, div.math > *")) {
                if (box.getBoundingClientRect().right > left) fault("text runs into a picture");
            }
        }
        const ends = number === 0 || number === Reveal.getTotalSlides() - 1;
        const contents = [...slide.querySelectorAll("p, pre, table, li, div.math > *, .figure, img, svg.picture")];
        const lowest = Math.max(...contents.map((box) => box.getBoundingClientRect().bottom));
        if (!ends && lowest < 0.5 * 720) fault(`is mostly empty: it ends at ${lowest.toFixed()} px`);
        const texts = document.createTreeWalker(slide, NodeFilter.SHOW_TEXT);
        for (let text = texts.nextNode(); text; text = texts.nextNode()) {
            const element = text.parentElement;
            if (!text.data.trim() || !element.checkVisibility()) continue;
            if (element.closest(".figure, svg.picture, mjx-container")) continue;
            const least = element.closest("pre, table") ? 18 : 24;
            const size = parseFloat(getComputedStyle(element).fontSize);
            if (size < least) fault(`text of ${size} px: ${text.data.slice(0, 40)}`);
        }
    }
    return found;
}"""


@pytest.fixture(scope="module")
def folder(built, tmp_path_factory) -> Path:
    """The decks without the book."""
    return Path(shutil.copytree(built / "slides", tmp_path_factory.mktemp("lecture") / "slides"))


@pytest.fixture
def deck(folder, visit):
    """Open a deck: `deck("03_attention_step_by_step", theme="dark")`."""

    def open_deck(name: str, **how):
        visited = visit(folder / f"{name}.html", **how)
        visited.page.wait_for_function("window.Reveal?.isReady?.() && 'settled' in Reveal.getCurrentSlide().dataset")
        return visited

    return open_deck


def figure_slide(page, nth: int = 0) -> int:
    """Go to a slide with a live figure, and wait for it."""
    number = page.evaluate(
        """n => Reveal.getSlides().flatMap((slide, i) => slide.querySelector(".figure") ? [i] : [])[n]""", nth
    )
    page.evaluate("i => Reveal.slide(i)", number)
    page.wait_for_function("'settled' in Reveal.getCurrentSlide().dataset")
    return number


def place(page) -> int:
    return page.evaluate("Reveal.getIndices().h")


def test_every_chapter_has_a_deck_and_the_list_leads_to_it(built, visit, folder):
    assert [source.stem for source in with_decks()] == DECKS
    leads = (
        visit(folder / "index.html")
        .page.locator("main li a")
        .evaluate_all("links => links.map((link) => link.getAttribute('href'))")
    )
    assert leads == [f"{name}.html" for name in DECKS]


def assert_figures_live_and_keep_their_keys(page):
    for nth in range(page.evaluate("Reveal.getSlides().filter((slide) => slide.querySelector('.figure')).length")):
        number = figure_slide(page, nth)
        figure = page.locator("section.present .figure [data-live]").first
        control = figure.locator("input[type=range], [role=slider]").first
        control.focus()
        before = figure.evaluate(SHOWN)
        for key in ("ArrowRight", "ArrowLeft", "ArrowLeft", "ArrowDown", "Home", "End"):
            page.keyboard.press(key)
            if figure.evaluate(SHOWN) != before:
                break
        else:
            pytest.fail("the figure did not answer")
        for key in ("ArrowRight", "ArrowDown", "Space", "n", "PageDown"):
            page.keyboard.press(key)
        assert place(page) == number, "a key for the figure turned the slide"
        control.focus()
        page.keyboard.press("Escape")
        page.keyboard.press("ArrowRight")
        assert place(page) == number + 1, "Escape does not lead out of the figure"
        assert page.evaluate("!Reveal.isOverview()")


@pytest.mark.parametrize("name", quick(DECKS, ["03_attention_step_by_step", "07_alignment"]))
def test_a_deck(name, deck):
    """One visit: all that can be said of any deck."""
    if name is None:
        pytest.fail(f"there are no decks at {BUILT / 'slides'}: run `make slides` first")
    page = deck(name).page
    (source,) = (source for source in with_decks() if source.stem == name)
    asked = joined(slides_of(with_outputs(source)))
    assert page.evaluate("Reveal.getTotalSlides()") == len(asked) + 2, "and the first and the last"
    assert 10 <= len(asked) <= 30
    assert page.evaluate(FAULTS) == []
    assert page.locator("mjx-merror, merror").count() == 0
    assert page.locator(".math:not(aside *)").count() == page.locator(".math:not(aside *) > mjx-container").count()
    assert page.locator("aside .math").count() == page.locator("aside .math > math").count()
    assert page.evaluate(RAW_FORMULAS) == []
    assert page.locator("aside.notes").count() == sum(bool(slide["notes"]) for slide in asked)
    assert_figures_live_and_keep_their_keys(page)


def test_the_speakers_window_has_the_prose_and_follows(deck):
    page = deck("03_attention_step_by_step").page
    number = page.evaluate("Reveal.getSlides().findIndex((slide) => slide.querySelector('aside math'))")
    with page.expect_popup() as popup:
        page.keyboard.press("s")
    notes = popup.value.locator(".speaker-controls-notes .value")
    page.evaluate("i => Reveal.slide(i)", number)
    prose = page.locator("section.present aside.notes")
    expect(notes.locator("math").first).to_be_visible()
    assert notes.inner_html().strip() == prose.inner_html().strip()
    frame = popup.value.frame_locator(".current-slide iframe, #current-slide iframe").first
    expect(frame.locator("section.present h2").first).to_have_text(
        page.locator("section.present h2").first.inner_text()
    )


def test_dark_by_the_system_and_by_a_key(deck):
    page = deck("03_attention_step_by_step", theme="dark").page
    colour = "getComputedStyle(document.body).backgroundColor"
    shown = page.evaluate(colour)
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    query = page.locator("[style*='#0b5fa5'], [style*='rgb(11, 95, 165)']").first
    assert query.evaluate("e => getComputedStyle(e).color") == "rgb(108, 182, 255)", "the role's shade for dark pages"
    page.keyboard.press("d")
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    assert page.evaluate(colour) != shown
    assert query.evaluate("e => getComputedStyle(e).color") == "rgb(11, 95, 165)"


def test_a_click_comes_before_the_next_slide(deck):
    page = deck("03_attention_step_by_step").page
    for _ in ("its figure", "the problem"):
        page.keyboard.press("ArrowRight")
    number = place(page)
    fragment = page.locator("section.present .fragment").first
    inner = fragment.locator("p").first
    expect(inner).to_be_hidden()
    page.keyboard.press("ArrowRight")
    assert place(page) == number
    expect(inner).to_be_visible()


def test_the_mouse_meets_the_grids_of_a_slide(deck):
    """Some drawings are larger than the figure around them (deck.css)."""
    page = deck("10_copy_attention").page
    for nth in range(2):
        figure_slide(page, nth)
        grid = page.locator("section.present .attn-heat").first
        cells = grid.locator(".attn-heat-cell").all()
        rows = int(grid.get_attribute("aria-valuemax"))
        for row in (rows - 1, 0, rows // 2):
            box = cells[row * len(cells) // rows].bounding_box()
            page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
            assert grid.get_attribute("aria-valuenow") == str(row + 1)


@pytest.mark.parametrize("scale", [0.7, 1.5])
def test_the_mouse_meets_a_figure_that_is_scaled(scale, mounted):
    """As on a projector: it is where the pointer is, and not where that would be at the figure's natural size."""
    rescale = """s => Object.assign(document.querySelector('[data-live]').style,
                                    { transform: `scale(${s})`, transformOrigin: '0 0' })"""
    page = mounted(alignment_view()).page
    page.evaluate(rescale, scale)
    names = [word.bounding_box() for word in page.locator(".attn-heat text").all() if word.text_content() == "w10"]
    row, column = min(names, key=lambda box: box["x"]), max(names, key=lambda box: box["x"])
    page.mouse.click(column["x"] + column["width"] / 2, row["y"] + row["height"] / 2)
    assert page.locator(".attn-heat").first.get_attribute("aria-valuenow") == "11", "rows count from 1"

    page = mounted(cost_curve()).page
    page.evaluate(rescale, scale)
    plot = page.locator(".cc-plot").bounding_box()
    x = plot["x"] + 0.6 * plot["width"]
    page.mouse.click(x, plot["y"] + plot["height"] / 2)
    line = page.locator(".cc-point > path").bounding_box()
    assert line["x"] + line["width"] / 2 == pytest.approx(x, abs=8 * scale)

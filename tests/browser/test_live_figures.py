"""What every live figure owes to everybody: each alone on a page, with the book's host and without its theme."""

import json

import pytest
from playwright.sync_api import expect

from attnlib.figures.assets import module, stylesheet
from benchmarks.examples import EXAMPLES, score_explorer
from tests.browser.conftest import DRAWN, SHOWN
from tests.browser.test_pages import AXE, MARK_EACH_LOOK, RUN_AXE, TOO_WIDE

HOSTILE = '<!--<script></script><img src=x onerror="window.ran = true">'
CONTROLS = "input, select, button, summary, a[href], [tabindex='0']"
OPEN = "document.querySelectorAll('details').forEach((details) => { details.open = true; })"

DANGLING = """['for', 'aria-describedby', 'aria-labelledby', 'aria-controls'].flatMap((name) =>
    [...document.querySelectorAll(`[${name}]`)].flatMap((e) => e.getAttribute(name).split(" ")))
    .filter((id) => !document.getElementById(id))"""

every_figure = pytest.mark.parametrize("name", EXAMPLES)


def figure(name: str, word: str = "word"):
    return EXAMPLES[name].make(word)


def operate(page, control, steps: int = 1):
    """Move a slider with the keyboard, away from the end it may stand at."""
    figure = control.locator("xpath=ancestor::*[@data-live]")
    control.focus()
    for key in ["ArrowRight", "ArrowLeft"]:
        before = control.evaluate("e => e.value"), figure.evaluate(SHOWN)
        for _ in range(steps):
            page.keyboard.press(key)
        if (control.evaluate("e => e.value"), figure.evaluate(SHOWN)) != before:
            return
    pytest.fail("the arrow keys do not move it")


@pytest.mark.thorough  # `make test` asks axe about the pages that show them
@every_figure
def test_nothing_for_axe_to_find(name, mounted):
    """Both shades, both extremes of width, with every folded part open; and a finger meets what it aims at."""
    page = mounted(figure(name), width=320).page
    page.evaluate(AXE)
    page.evaluate(OPEN)
    for width in (320, 1400):
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate(DRAWN)
        for theme in ("light", "dark"):
            page.evaluate(MARK_EACH_LOOK, [theme])
            assert page.evaluate(RUN_AXE, {}) == [], f"{theme}, {width} px"


@every_figure
def test_fits_every_width(name, mounted):
    page = mounted(figure(name, "a-very-long-word-that-nobody-expected-here"), width=320).page
    page.evaluate(OPEN)
    for width in (320, 375, 600, 768, 1024, 1400):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(TOO_WIDE) == "", f"{width} px"


@every_figure
def test_saved_it_is_alive_from_the_disk_and_text_is_text(name, visit, tmp_path):
    """A token of a user's own data may look like HTML."""
    made = figure(name, HOSTILE)
    state = {key: value for key, value in made.get_state().items() if key not in ("_esm", "_css")}
    visited = visit(made.save(tmp_path / "figure.html", title=HOSTILE))
    page = visited.page
    expect(page.locator("[data-live]")).to_have_count(1)
    assert page.title() == page.locator("h1").text_content() == HOSTILE
    page.evaluate(OPEN)
    operate(page, page.locator(f"[data-live] {EXAMPLES[name].control}").first)
    assert visited.errors == []
    # an image that is not there is missed after those that were asked for before
    page.evaluate("() => new Promise((missed) => { Object.assign(new Image(), { onerror: missed, src: 'y' }); })")
    visited.errors.clear()
    assert page.evaluate("window.ran") is None
    assert not any(address.endswith("/x") for address in visited.failed)
    if HOSTILE in json.dumps(state).replace('\\"', '"'):  # a figure without words has nothing to show
        assert HOSTILE in page.locator("[data-live]").text_content().replace("␣", " ")


@every_figure
def test_two_views_of_one_figure_move_together_and_do_not_disturb_another(name, mounted):
    made = figure(name)
    page = mounted(made, made, figure(name)).page
    one, same, other = page.locator("[data-live]").all()
    before = [view.evaluate(SHOWN) for view in (one, same, other)]
    operate(page, one.locator(EXAMPLES[name].control).first)
    after = [view.evaluate(SHOWN) for view in (one, same, other)]
    assert [old == new for old, new in zip(before, after, strict=True)] == [False, False, True]
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((e) => e.id)")
    assert len(set(ids)) == len(ids)
    assert page.evaluate(DANGLING) == []


@every_figure
def test_tab_reaches_every_control_and_shows_where_it_is(name, mounted):
    page = mounted(figure(name)).page
    root = page.locator("[data-live]")
    wanted = root.evaluate(
        f"""root => [...root.querySelectorAll({CONTROLS!r})]
            .filter((e) => e.checkVisibility({{ visibilityProperty: true }}) && e.tabIndex >= 0)
            .filter((e) => !e.disabled).length"""
    )
    reached = []
    page.evaluate("document.activeElement.blur()")
    for _ in range(wanted + 3):
        page.keyboard.press("Tab")
        mark = page.evaluate(
            """(controls) => {
                const e = document.activeElement;
                if (!e.closest("[data-live]")) return null;
                e.dataset.reached ??= String(document.querySelectorAll("[data-reached]").length);
                const ring = (part) => part && getComputedStyle(part);
                const outlined = ring(e).outlineStyle !== "none" && parseFloat(ring(e).outlineWidth) >= 2;
                const inner = [...e.querySelectorAll("circle, rect, path")].some((p) => ring(p).stroke !== "none"
                    && parseFloat(ring(p).strokeWidth) >= 2);
                return [e.dataset.reached, outlined || inner, e.outerHTML.slice(0, 120), e.matches(controls)];
            }""",
            CONTROLS,
        )
        if mark:
            reached += [mark[0]] if mark[3] else []  # what only scrolls is reached as well
            assert mark[1], f"nothing shows that it has the focus: {mark[2]}"
    assert len(set(reached)) == wanted


@every_figure
def test_a_finger_moves_it(name, mounted):
    page = mounted(figure(name), width=375, touch=True).page
    root, control = page.locator("[data-live]"), page.locator(f"[data-live] {EXAMPLES[name].control}").first
    control.scroll_into_view_if_needed()
    before, box = root.evaluate(SHOWN), control.bounding_box()
    for share in (0.2, 0.8):  # it may stand at one of them
        page.touchscreen.tap(box["x"] + share * box["width"], box["y"] + box["height"] / 2)
        if root.evaluate(SHOWN) != before:
            return
    pytest.fail("a tap changes nothing")


@every_figure
def test_its_numbers_are_in_a_table(name, mounted):
    page = mounted(figure(name)).page
    page.evaluate(OPEN)
    expect(page.locator("[data-live] table:visible").first).to_be_visible()
    for table in page.locator("[data-live] table:visible").all():
        assert table.evaluate("table => (table.caption?.innerText || table.ariaLabel || '').trim()"), "without a name"
        assert all(text.strip() for text in table.locator("th").all_inner_texts())
        assert table.locator("tbody tr").count() >= 1
        assert any(character.isdigit() for character in table.locator("tbody").inner_text())
    table = page.locator("[data-live] table:visible").last
    before = table.evaluate(SHOWN)
    control = page.locator(f"[data-live] {EXAMPLES[name].control}").first
    if name in ("AttentionSurgery", "Translate"):  # the slider moves along weights of a step, all of them in the table
        control.press("ArrowUp")
    elif name == "HeadGrid":  # its table is about all examples, and about the heads that are off
        for head in (0, 1):
            page.get_by_role("switch").nth(head).click()
    else:
        operate(page, control, steps=3)
    assert table.evaluate(SHOWN) != before, "the table does not follow"


@every_figure
def test_it_says_what_it_shows_once_the_hand_is_still_and_stands_still_where_that_is_asked_for(name, mounted):
    page = mounted(figure(name)).page  # `visit` asks for reduced motion
    spoken, sentence = page.locator(".attn-spoken[role=status]"), page.locator(".attn-sentence")
    expect(spoken).not_to_be_empty()
    assert spoken.inner_text() == sentence.inner_text()
    operate(page, page.locator(f"[data-live] {EXAMPLES[name].control}").first)
    assert page.evaluate("document.getAnimations().length") == 0
    expect(spoken).to_have_text(sentence.inner_text())


@every_figure
def test_on_paper_it_is_a_picture(name, mounted):
    page = mounted(figure(name)).page
    page.emulate_media(media="print")
    # (a picture that is a switch as well stays)
    visible = page.locator("[data-live] :is(input, select, button:not(:has(svg, canvas)), summary)").evaluate_all(
        "all => all.filter((e) => e.checkVisibility({ visibilityProperty: true })).map((e) => e.outerHTML.slice(0, 90))"
    )
    assert visible == [], "controls on paper"
    area = "e => { const { width, height } = e.getBoundingClientRect(); return width * height; }"
    drawn = [e.evaluate(area) for e in page.locator("[data-live] :is(svg, canvas, table, img):visible").all()]
    assert max(drawn, default=0) > 10_000, "nothing is left"
    assert page.pdf()[:4] == b"%PDF"


def test_a_figure_that_fails_says_so_in_its_place_and_the_page_lives_on(static_page):
    failing = """
        function render({ model, el }) {
            const press = button("break", () => change(model, { n: model.get("n") + 1 }));
            const line = html("p", { class: "shown" });
            const draw = () => {
                if (model.get("n") > 1) throw new Error("the weights are not a matrix");
                line.textContent = `n = ${model.get("n")}`;
                return "a sentence";
            };
            const parts = [press, line];
            return liveFigure({ model, root: el, kind: "xx", title: "a figure", watch: ["n"], parts, draw });
        }
        export default { render };
    """
    shared = module("figure.js")  # the buttons of its questions are those of controls.js
    records = {
        name: {"model_module": "anywidget", "state": {"_esm": shared + failing, "_css": stylesheet(), "n": n}}
        for name, n in (("a", 1), ("b", 0), ("c", 5))
    }
    visited = static_page(records, ["a", "b", "c"])
    page = visited.page
    expect(page.locator(".attn-stopped")).to_have_count(1)  # the third could not even begin
    page.get_by_role("button", name="break").first.click()
    expect(page.get_by_role("alert").first).to_have_text(
        "This figure stopped: the weights are not a matrix. Load the page again to restart it."
    )
    page.get_by_role("button", name="break").click()  # the one that is left
    expect(page.locator(".xx").nth(1).locator(".shown")).to_have_text("n = 1")
    assert len(visited.errors) == 2
    visited.errors.clear()


def test_dark_pages_of_other_places_are_known(visit, tmp_path):
    """VS Code, Colab and JupyterLab say in ways of their own that they are dark."""
    css = stylesheet()
    for attribute in ('class="vscode-dark"', 'data-jp-theme-light="false"', ""):
        file = tmp_path / "page.html"
        file.write_text(
            f'<!doctype html><html><body {attribute}><style>{css}</style><i class="attn">a</i></body></html>'
        )
        page = visit(file).page
        scheme = page.evaluate("getComputedStyle(document.querySelector('.attn')).colorScheme")
        assert scheme == ("dark" if attribute else "light"), attribute
    assert score_explorer()._css.startswith("/*# palette */")

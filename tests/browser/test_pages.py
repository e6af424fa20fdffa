"""Every page of the built book: offline, without errors, readable on a phone, in light and dark, accessible."""

import os
import re
from pathlib import Path

import axe_playwright_python
import pytest

from tests.browser.conftest import DRAWN, pages, quick

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()

# What axe finds in the theme and its extensions, by rule and by CSS selector. Ours is not on this list, and
# must not get there: whatever matches no selector here fails.
KNOWN = {
    # Buttons whose visible text is not in their aria-label: search, light/dark switch.
    "label-content-name-mismatch": [".search-button-field", ".theme-switch-button"],
    # The logo of the sidebar lies outside of the landmarks.
    "region": [".sidebar-primary-items__start > .sidebar-primary-item"],
    # docutils marks bibliographies with the roles of DPUB-ARIA as they were before version 1.1.
    "aria-required-children": ["[role=doc-bibliography]", ".citation-list"],
    "aria-deprecated-role": ["[role=doc-biblioentry]"],
    "aria-allowed-role": ["[role=doc-biblioentry]"],
}

# A page has thousands of words, and axe compares the colours of each with what lies behind it, for milliseconds. What
# comes of that are the colours, the sizes, and all that is painted behind: of the words that look alike in this, in one
# of the themes, the first and the last are looked at. The last theme stays.
MARK_EACH_LOOK = """(themes) => {
    let grounds;
    const ground = (element) => {
        if (!grounds.has(element)) {
            const style = getComputedStyle(element), { tagName, className } = element;
            const paint = [
                style.backgroundColor, style.backgroundImage, style.opacity, style.filter, style.mixBlendMode,
            ];
            // What is taken out of the flow may lie on something else than its parent.
            const out = ["static", "relative"].includes(style.position) ? "" : `${tagName}.${className}`;
            const own = `${paint} ${out}`;
            const nothing = "rgba(0, 0, 0, 0),none,1,none,normal ";
            grounds.set(element, ground(element.parentElement) + (own === nothing ? "" : own));
        }
        return grounds.get(element);
    };
    document.querySelectorAll("[data-look]").forEach((element) => element.removeAttribute("data-look"));
    const words = [...document.body.querySelectorAll("*")].filter((element) =>
        (element.matches("input, select, textarea")
            || [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim()))
        && element.checkVisibility({ visibilityProperty: true }));
    for (const theme of themes) {
        document.documentElement.dataset.theme = theme;
        grounds = new Map([[null, ""]]);
        const looks = new Map();
        for (const element of words) {
            const { color, fontSize, fontWeight, textShadow } = getComputedStyle(element);
            const look = [ground(element), color, fontSize, fontWeight, textShadow].join();
            looks.set(look, [...(looks.get(look) ?? [element]).slice(0, 1), element]);
        }
        for (const element of [...looks.values()].flat()) element.setAttribute("data-look", "");
    }
    axe.configure({ rules: [{ id: "color-contrast", selector: "[data-look]" }] });
}"""

# Most elements are words of code and parts of formulas, and axe asks each of them where it lies. Of those whose look
# need not be looked at, and that can be blamed for nothing else, only the text stays, or the box.
THIN_OUT = """() => {
    const alike = ":not([data-look], :has([data-look]))";
    for (const word of document.querySelectorAll(`main :is(pre, code, dt) :is(span, em)${alike}`)) {
        if ([...word.attributes].every(({ name }) => name === "class")) word.replaceWith(...word.childNodes);
    }
    document.body.normalize();
    const formulas = [...document.querySelectorAll(`main mjx-container${alike}:not(:has(a))`)];
    const insides = formulas.map((formula) => formula.firstElementChild);
    const boxes = insides.map((inside) => [inside, inside.getBoundingClientRect()]);
    for (const [inside, { width, height }] of boxes) {
        inside.innerHTML = `<span style="display: inline-block; width: ${width}px; height: ${height}px"></span>`;
        inside.parentElement.replaceChildren(inside);
    }
}"""

RUN_AXE = """async (known) => {
    const options = {
        preload: false, // axe would fetch the style sheets once more, which file:// does not allow
        resultTypes: ["violations"],
        rules: { "target-size": { enabled: true } }, // which it asks for only when told
    };
    const { violations } = await axe.run(document, options);
    const isKnown = (rule, target) =>
        (known[rule] ?? []).some((selector) => document.querySelector(target).matches(selector));
    return violations.flatMap(({ id, help, nodes }) => nodes
        .filter(({ target }) => !isKnown(id, target[0]))
        .map(({ target, failureSummary }) => `${id} (${help}) at ${target[0]}: ${failureSummary}`));
}"""

SETTLED = """async () => {
    await window.MathJax?.startup?.promise;
    await document.fonts.ready;
    return true;
}"""

# Text between the dollars or brackets of a formula that MathJax left alone; code may contain both.
RAW_FORMULAS = r"""() => {
    const raw = /\$[^$\s][^$]*\$|\$\$|\\[([]|\\(?:frac|sum|alpha|top|mathbf|begin)\b/;
    const inCode = "pre, code, script, style, mjx-container, textarea";
    const walker = document.createTreeWalker(document.querySelector("main") ?? document.body, NodeFilter.SHOW_TEXT);
    const found = [];
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        if (node.parentElement.closest(inCode)) continue;
        if (raw.test(node.data)) found.push(node.data.trim());
    }
    return found;
}"""

# assets/scrolling-parts.js lets the keyboard reach what scrolls, after the sidebar has moved and the page with it.
# Nothing is asked of a page before.
REACHABLE = """(width) => innerWidth === width
    && !document.getAnimations().some(({ playState }) => playState === "running") && [...document.querySelectorAll(
    "pre, :has(> svg.picture), .nboutput > .output_area, .cell_output > .output, .jp-RenderedHTMLCommon,"
    + ".pst-scrollable-table-container, div.math mjx-container",
)].filter((part) => part.checkVisibility()).every((part) => (part.tabIndex === 0)
    === (part.scrollWidth > part.clientWidth || part.scrollHeight > part.clientHeight))"""

TOO_WIDE = (
    f"async () => {{ await ({DRAWN})();"
    + """
    const { scrollWidth, clientWidth } = document.scrollingElement;
    return scrollWidth > clientWidth ? `${scrollWidth} > ${clientWidth}` : "";
}"""
)


# The pictures that can be seen and whose letters cannot be read.
PICTURES = """() => [...document.querySelectorAll("svg.picture")].filter((svg) => svg.checkVisibility())
    .flatMap((svg) => {
    const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
    const letters = [...svg.querySelectorAll("text")].map((text) => Number.parseFloat(getComputedStyle(text).fontSize));
    const smallest = scale * Math.min(...letters);
    return smallest < 10.9 ? [`letters of ${smallest.toFixed(1)} px: ${svg.ariaLabel}`] : [];
})"""

# The pictures that can be seen and are wider than their place.
WIDE = """() => [...document.querySelectorAll("svg.picture")].map((svg) => svg.parentElement)
    .filter((place) => place.checkVisibility() && place.scrollWidth > place.clientWidth + 1)
    .map((place) => place.textContent.trim().slice(-60))"""
# Blocks of code that are higher than their lines, those counted twice that go on below.
EMPTY_LINES = """() => [...document.querySelectorAll(".highlight > pre")].filter((pre) => pre.checkVisibility())
    .flatMap((pre) => {
    const style = getComputedStyle(pre), high = Number.parseFloat(style.lineHeight);
    const boxes = [...pre.querySelectorAll(".line")].map((line) => Math.round(line.clientHeight / high) - 1);
    const lines = boxes.reduce((sum, more) => sum + more, pre.textContent.replace(/\\n$/, "").split("\\n").length);
    const room = Number.parseFloat(style.paddingTop) + Number.parseFloat(style.paddingBottom);
    return (pre.clientHeight - room) / high > lines + 0.6 ? [pre.textContent.slice(0, 60)] : [];
})"""


# How far down a page its first live figure begins, as a share of the page's height.
FIRST_FIGURE = """() => {
    const page = document.querySelector("article.bd-article").getBoundingClientRect();
    return (document.querySelector("[data-live]").getBoundingClientRect().top - page.top) / page.height;
}"""


# Pages that are made alike, by how their names begin: `make test` opens the first of each.
ALIKE = ("book/api_", "book/bug_", "book/exercises/a")
PAGES = pages()
FIRST = {next((kind for kind in ALIKE if name.startswith(kind)), name): name for name in reversed(PAGES)}


@pytest.mark.parametrize("name", quick(PAGES, FIRST.values()))
def test_page(name, built, visit, thorough, request):
    """One visit, from the disk, of the archive in which files were left out: all that can be said of any page."""
    # Whoever looks at another build has no archive of it.
    place = built if "BOOK_HTML" in os.environ else request.getfixturevalue("unpacked") / "pages"
    visited = visit(place / name)
    page = visited.page
    page.evaluate(SETTLED)

    assert page.locator("mjx-merror").count() == 0, page.locator("mjx-merror").all_text_contents()
    assert page.locator("main .math").count() <= page.locator("main .math mjx-container").count()
    assert page.evaluate(RAW_FORMULAS) == []
    assert page.get_by_text("Show code cell").count() == 0, "a bar that does not say what it holds"
    assert page.locator(".cell_output").get_by_text("Not written yet").count() == 0, "a check without an answer"
    assert page.evaluate(PICTURES) == []
    assert page.evaluate(EMPTY_LINES) == []
    if re.match(r"book/\d\d_", name):
        page.wait_for_selector("[data-live]", state="attached")
        assert page.evaluate(FIRST_FIGURE) <= 0.34, "a chapter shows its figure before its measurements"

    page.set_viewport_size({"width": 375, "height": 800})
    assert page.evaluate(TOO_WIDE) == "", "light, 375 px"
    assert page.evaluate(PICTURES) == [], "375 px"
    assert page.evaluate(WIDE) == []
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    assert page.evaluate(TOO_WIDE) == "", "dark, 375 px"

    page.evaluate(AXE)
    page.wait_for_function(REACHABLE, arg=375)
    page.evaluate(MARK_EACH_LOOK, ["light", "dark"])
    page.evaluate(THIN_OUT)
    assert page.evaluate(RUN_AXE, KNOWN) == [], "dark, 375 px"
    if thorough:
        page.set_viewport_size({"width": 1280, "height": 900})
        page.wait_for_function(REACHABLE, arg=1280)
        page.evaluate(MARK_EACH_LOOK, ["light"])
        assert page.evaluate(RUN_AXE, KNOWN) == [], "light, 1280 px"

    assert visited.failed == []


@pytest.mark.parametrize("name", ["book/bug_checks.html", "book/exercises/a03_scores.html"])
def test_what_scrolls_is_reached_however_late_the_column_settles(name, visit):
    """The theme looks 300 ms after the window has changed; on a busy machine its sidebar moves later than that."""
    page = visit(name).page
    page.evaluate(SETTLED)
    page.add_style_tag(content=".bd-sidebar-primary { transition-duration: 800ms !important }")
    for width in (375, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function(REACHABLE, arg=width)


def test_the_home_page_from_a_web_server(visit):
    """The same from http, where other rules of the browser apply."""
    page = visit("index.html", scheme="http").page
    page.wait_for_url("**/book/index.html")  # the signpost at the root has led on
    page.evaluate(SETTLED)
    assert page.locator("main").inner_text()

"""The built book in a real browser, with the network cut off."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Locator, Page, sync_playwright

from benchmarks.examples import page_of, page_with
from benchmarks.figures import busy, launch, pace, served
from website.live_figures import share

# BOOK_HTML: another build to look at, for whoever works on a widget without building the whole book.
BUILT = Path(os.environ.get("BOOK_HTML") or Path(__file__).parents[2] / "_build" / "html").resolve()

# What the theme logs on every page and we cannot change. Everything else fails.
HARMLESS = (
    "Identifier 'THEBE_JS_URL' has already been declared",  # sphinx-thebe writes its inline script twice
    "Got invalid theme mode",  # pydata-sphinx-theme on a first visit
)


def pages() -> list[str]:
    """The pages of the book, relative to its root, found in what was built. `None` if nothing was built.

    Decks are no pages: tests/browser/test_slides.py opens them.
    """
    found = sorted(path.relative_to(BUILT).as_posix() for path in BUILT.rglob("*.html"))
    return [name for name in found if not name.startswith(("_", "slides/")) and not leads_on(name)] or [None]


def leads_on(name: str) -> bool:
    """Whether a page is only a signpost to another, as the root's index.html is."""
    return 'http-equiv="refresh"' in (BUILT / name).read_text(encoding="utf-8").lower()


# How high the figure is at each step of its slider, or after each of some arrow keys.
HEIGHTS = """async (control) => {
    const figure = control.closest("[data-live]"), heights = [];
    const note = async () => {
        await new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)));
        heights.push(Math.round(figure.getBoundingClientRect().height));
    };
    await note();
    for (let n = 0; n <= 30; n++) {
        if (control.matches("input")) {
            control.value = Number(control.min) + (Number(control.max) - Number(control.min)) * n / 30;
            control.dispatchEvent(new Event("input", { bubbles: true }));
        } else {
            control.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true, cancelable: true }));
        }
        await note();
    }
    return heights;
}"""


def heights_in_a_drag(control: Locator) -> list[int]:
    """Pixels that a figure is high, at each place to which its slider is drawn."""
    return control.first.evaluate(HEIGHTS)


def assert_within_a_frame(control: Locator, figure: str):
    """A move of a slider takes no longer than a frame of 60 per second; on a slow core, at most twice as long.

    The page's own work is measured. `make bench` prints what the clock says, which a busy machine disturbs.
    """
    taken = busy(control, rounds=5, enough=16)
    if taken > 16:
        allowed = 16 * min(2.0, pace(control.page.context.browser))
        assert busy(control, rounds=5, enough=allowed) <= allowed, f"{figure}: {taken:.0f} ms"


class Visit(NamedTuple):
    """A page that was opened, and what it did."""

    page: Page
    third_party: list[str]  # addresses it asked for beyond the book itself; none was answered
    errors: list[str]  # of the console, and exceptions nobody caught
    failed: list[str]  # files that it asked for and did not get


@pytest.fixture(scope="session")
def built() -> Path:
    if not (BUILT / "index.html").exists():
        pytest.fail(f"there is no built book at {BUILT}: run `make book` first")
    return BUILT


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        chromium = launch(playwright)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def site(built) -> str:
    with served(built) as address:
        yield address


@pytest.fixture
def visit(browser, request) -> Callable[..., Visit]:
    """Open a page: `visit("book/index.html", theme="dark", width=375, scheme="http")`, or any file by its Path."""
    contexts = []

    def open_page(name: str | Path, theme="light", width=1280, scheme="file", touch=False) -> Visit:
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=theme, has_touch=touch, reduced_motion="reduce"
        )
        contexts.append(context)
        # The theme remembers a reader's choice here.
        context.add_init_script(f"localStorage.setItem('mode', '{theme}'); localStorage.setItem('theme', '{theme}');")
        context.set_default_timeout(10_000)  # nothing here waits for a network
        visited = Visit(context.new_page(), [], [], [])

        def only_here(route):
            if urlsplit(route.request.url).hostname == "127.0.0.1":
                return route.continue_()
            visited.third_party.append(route.request.url)
            return route.abort()

        # The other schemes (file, data, blob) never reach the network, and a blocked blob would break widgets.
        context.route(lambda url: urlsplit(url).scheme in ("http", "https", "ws", "wss"), only_here)

        def note(text: str):
            if not any(harmless in text for harmless in HARMLESS):
                visited.errors.append(text)

        visited.page.on("pageerror", lambda error: note(str(error)))
        visited.page.on("console", lambda message: note(message.text) if message.type == "error" else None)
        visited.page.on("requestfailed", lambda asked: visited.failed.append(asked.url))
        if isinstance(name, Path):
            address = name.as_uri()
        elif scheme == "file":
            address = (request.getfixturevalue("built") / name).as_uri()
        else:
            address = f"{request.getfixturevalue('site')}/{name}"
        visited.page.goto(address)
        return visited

    yield open_page
    for context in contexts:
        context.close()


@pytest.fixture
def mounted(visit, tmp_path) -> Callable[..., Visit]:
    """Figures on a page of their own: `mounted(figure, figure, theme="dark", width=375)`, with the book's host."""

    def open_figures(*figures, **how) -> Visit:
        file = tmp_path / "figures.html"
        file.write_text(page_of(figures, theme=how.get("theme", "light")))
        visited = visit(file, **how)
        visited.page.wait_for_function(
            "n => document.querySelectorAll('[data-live], .admonition').length === n", arg=len(figures)
        )
        return visited

    return open_figures


@pytest.fixture
def static_page(visit, tmp_path):
    """Open a page as myst-nb writes it: the state of some widgets, and where each was displayed."""

    def open_page(records: dict[str, dict], views: list[str], body: str = "", sharing: bool = False):
        stored = {"version_major": 2, "version_minor": 0, "state": records}
        page = tmp_path / "page.html"
        page.write_text(page_with(share(stored, "page") if sharing else stored, views, before=body))
        return visit(page)

    return open_page

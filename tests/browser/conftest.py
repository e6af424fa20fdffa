"""The built book in a real browser, with the network cut off."""

import os
import re
import zipfile
from collections.abc import Callable, Collection
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from attnlib.figures.figure import Figure
from attnlib.figures.page import page, view
from benchmarks.examples import page_of
from benchmarks.figures import launch, served
from website import archive
from website.live_figures import share

# BOOK_HTML: another build to look at, for whoever works on a widget without building the whole book.
BUILT = Path(os.environ.get("BOOK_HTML") or Path(__file__).parents[2] / "_build" / "html").resolve()

# What the theme logs on every page and we cannot change. Everything else fails.
HARMLESS = (
    "Got invalid theme mode",  # pydata-sphinx-theme on a first visit
)


def pages() -> list[str]:
    """The pages of the book, relative to its root, found in what was built.

    Decks are no pages: tests/browser/test_slides.py opens them.
    """
    found = sorted(path.relative_to(BUILT).as_posix() for path in BUILT.rglob("*.html"))
    return [name for name in found if not name.startswith(("_", "slides/")) and not leads_on(name)]


def leads_on(name: str) -> bool:
    """Whether a page is only a signpost to another, as the root's index.html is."""
    return 'http-equiv="refresh"' in (BUILT / name).read_text(encoding="utf-8").lower()


def quick(names: Collection, some: Collection) -> list:
    """Parameters of a test, all of a kind, of which `make test` takes some; [None] where nothing was built."""
    if names and not some:
        raise ValueError(f"of {sorted(names)}, nothing would be left for `make test`")
    if names and (unknown := set(some) - set(names)):
        raise ValueError(f"{sorted(unknown)} are none of {sorted(names)}")
    return [pytest.param(name, marks=() if name in some else pytest.mark.thorough) for name in names] or [None]


# The browser has drawn what was asked for before, observers of sizes included.
DRAWN = "() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(drawn))))"

# What a figure shows, leaving out its controls and their readouts: those move even where nobody listens. What is
# read out follows later, and would be taken for the answer of the next control.
LOOK = """root => {
    const copy = root.cloneNode(true);
    copy.querySelectorAll("input, select, output, .attn-readout, .attn-spoken").forEach((own) => own.remove());
    return copy.innerHTML;
}"""

# The same once the browser has drawn it.
SHOWN = f"""async (root) => {{
    await new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)));
    return ({LOOK})(root);
}}"""

# How high the figure is at each step of its slider, or after each of some arrow keys.
HEIGHTS = (
    f"async (control) => {{ await ({DRAWN})();"
    """
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
)


def heights_in_a_drag(control: Locator) -> list[int]:
    """Pixels that a figure is high, at each place to which its slider is drawn."""
    page = control.page
    page.wait_for_function("width => innerWidth === width", arg=page.viewport_size["width"])
    return control.first.evaluate(HEIGHTS)


def stop_clock(page: Page):
    """From here on time stands still in the page: only `page.clock.run_for` moves it, however long a test takes."""
    page.clock.install(time=0)
    page.clock.pause_at(60_000)


class Visit(NamedTuple):
    """A page that was opened, and what it did."""

    page: Page
    third_party: list[str]  # addresses it asked for beyond the book itself; none was answered
    errors: list[str]  # of the console, and exceptions nobody caught
    failed: list[str]  # files that it asked for and did not get


class Tab:
    """A page with a profile of its own, lent to one visit after the other: to make one costs more than most tests."""

    def __init__(self, browser: Browser, touch: bool):
        self.context = browser.new_context(has_touch=touch, reduced_motion="reduce")
        # The theme remembers a reader's choice here.
        self.context.add_init_script("""{
            const mode = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
            localStorage.setItem("mode", mode);
            localStorage.setItem("theme", mode);
        }""")
        # The other schemes (file, data, blob) never reach the network, and a blocked blob would break widgets.
        self.context.route(re.compile("^(https?|wss?):"), self.only_here)
        self.page = self.context.new_page()
        self.visit = Visit(self.page, [], [], [])
        self.page.on("pageerror", lambda error: self.note(str(error)))
        self.page.on("console", lambda message: self.note(message.text) if message.type == "error" else None)
        self.page.on("requestfailed", self.not_had)

    def only_here(self, route):
        if urlsplit(route.request.url).hostname == "127.0.0.1":
            return route.continue_()
        self.visit.third_party.append(route.request.url)
        return route.abort()

    def not_had(self, request):
        if request.failure != "net::ERR_ABORTED":  # dropped, because the reader has left the page while it loaded
            self.visit.failed.append(request.url)

    def note(self, text: str):
        if not any(harmless in text for harmless in HARMLESS):
            self.visit.errors.append(text)

    def open(self, address: str, theme: str, width: int) -> Visit:
        self.page.set_default_timeout(10_000)  # nothing here waits for a network
        self.page.emulate_media(color_scheme=theme, media="screen")
        self.page.set_viewport_size({"width": width, "height": 900})
        self.page.goto(address)
        return self.visit

    def clear(self):
        """Forget the visit: what it has stored, and where its mouse and its other windows were."""
        for window in self.context.pages[1:]:
            window.close()
        self.page.evaluate("localStorage.clear(); sessionStorage.clear()")
        self.page.goto("about:blank")  # what the old page still has to say, it says to its own visit
        self.page.mouse.move(0, 0)
        self.visit = Visit(self.page, [], [], [])


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


@pytest.fixture(scope="session")
def unpacked(tmp_path_factory) -> Path:
    """The archive's one folder, below a path with a blank and letters that are not ASCII."""
    made = archive.ROOT / "_build" / f"{archive.name()}.zip"
    if not made.exists():
        pytest.fail(f"there is no {made}: run `make zip` first")
    place = tmp_path_factory.mktemp("archive") / "Geräte & Bücher 本"
    with zipfile.ZipFile(made) as packed:
        packed.extractall(place)
    (folder,) = place.iterdir()
    return folder


@pytest.fixture(scope="session")
def tabs() -> dict[bool, list[Tab]]:
    """Those that nobody has on loan: for a finger, and for a mouse."""
    return {True: [], False: []}


@pytest.fixture
def visit(browser, tabs, request) -> Callable[..., Visit]:
    """Open a page: `visit("book/index.html", theme="dark", width=375, scheme="http")`, or any file by its Path.

    Whatever stays in a profile for good, a clock or a permission, needs one of its own: `alone=True`. An error, or a
    question to another host, fails the test at its end, unless the test has taken it out of the visit's list.
    """
    lent = []

    def open_page(name: str | Path, theme="light", width=1280, scheme="file", touch=False, alone=False) -> Visit:
        tab = tabs[touch].pop() if tabs[touch] and not alone else Tab(browser, touch)
        lent.append((tab, touch, alone))
        if isinstance(name, Path):
            address = name.as_uri()
        elif scheme == "file":
            address = (request.getfixturevalue("built") / name).as_uri()
        else:
            address = f"{request.getfixturevalue('site')}/{name}"
        return tab.open(address, theme, width)

    yield open_page
    found = [text for tab, *_ in lent for text in (*tab.visit.errors, *tab.visit.third_party)]
    for tab, touch, alone in lent:
        if alone:
            tab.context.close()
        else:
            tab.clear()
            tabs[touch].append(tab)
    assert found == []


class Seen:
    """A live figure on a page, by what a reader sees of it, and the same figure in Python."""

    def __init__(self, visited: Visit, twin: Figure | None = None):
        self.page, self.twin = visited.page, twin
        self.root = self.page.locator("[data-live=true] .attn-frame").first
        self.sentence = self.root.locator(".attn-sentence")
        expect(self.root).to_be_visible()

    def button(self, name: str | re.Pattern) -> Locator:
        return self.root.get_by_role("button", name=name)

    def set(self, traits: dict):
        """Let Python compute for another state."""
        for name, value in traits.items():
            setattr(self.twin, name, value)

    def numbers(self) -> list[list[str]]:
        """The table of all numbers, row by row."""
        details = self.root.locator("details.attn-details").first
        details.evaluate("details => { details.open = true; }")
        rows = details.locator("tbody tr")
        expect(rows.first).to_contain_text(re.compile(r"\S"))  # filled when it has opened
        return rows.evaluate_all("rows => rows.map((row) => [...row.cells].map((cell) => cell.innerText))")


def centre(part: Locator) -> tuple[float, float]:
    """In the window."""
    part.scroll_into_view_if_needed()
    box = part.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def swipe(page: Page, x: float, y: float, dx: float, dy: float):
    """Put a finger down, move it, and take it away."""
    finger = page.context.new_cdp_session(page)

    def touch(kind: str, *points: dict):
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [*points]})

    touch("touchStart", {"x": x, "y": y})
    for step in range(1, 11):
        touch("touchMove", {"x": x + dx * step / 10, "y": y + dy * step / 10})
    touch("touchEnd")


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
    """Open a page with the state of some widgets, and a view of each that is named."""

    def open_page(records: dict[str, dict], views: list[str], body: str = "", sharing: bool = False):
        stored = {"state": records}
        file = tmp_path / "page.html"
        file.write_text(
            page(share(stored, "page") if sharing else stored, body + "".join(map(view, views)), theme="light")
        )
        return visit(file)

    return open_page

"""How fast the live figures are in Chromium: from slider to repaint, from page to first figure; and how heavy.

python -m benchmarks.figures        (the book must be built; `make bench` measures this and more)
"""

import argparse
import contextlib
import functools
import http.server
import json
import os
import shutil
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import numpy as np
from playwright.sync_api import Locator, Page, sync_playwright

from attnlib.course.figures.translator_file import MODELS
from benchmarks.examples import EXAMPLES, page_of

BUILT = Path(__file__).resolve().parents[1] / "_build" / "html"
MOVES = 120  # per figure; the first tenth warms up

#: The first of these that is there: Debian's shell is the same browser without all that a window needs, and takes a
#: sixth less time.
BROWSERS = ["chromium-headless-shell", "chromium", "google-chrome"]

FLAGS = [
    "--no-sandbox",  # containers have no user namespaces
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    # The browser's own errands would be counted among the requests of the page.
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

# In one frame: move the slider, then wait until the browser has drawn what that changed. The message arrives after
# style, layout and paint of this frame.
REPAINT = """async (control, moves) => {
    const drawn = () => new Promise((done) => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => done(performance.now());
        port2.postMessage(null);
    });
    const fire = (event) => control.dispatchEvent(event);
    const move = (n) => {
        if (control.matches("input")) {
            const [low, high, step] = [Number(control.min), Number(control.max), Number(control.step) || 1];
            const half = Math.min(30, (high - low) / step); // every move is at least a step
            control.value = low + (high - low) * Math.abs((n % (2 * half)) - half) / half; // there and back
            fire(new Event("input", { bubbles: true }));
        } else {
            const key = n % 20 < 10 ? "ArrowRight" : "ArrowLeft";
            fire(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
        }
    };
    control.scrollIntoView({ block: "center" });
    const times = [];
    for (let n = 0; n < moves; n++) {
        await new Promise((frame) => requestAnimationFrame(async () => {
            const start = performance.now();
            move(n);
            times.push(await drawn() - start);
            frame();
        }));
    }
    return times.slice(moves / 10);
}"""

# The classes of a page's figures, in the order in which they stand.
NAMES = """() => {
    const json = (tag) => JSON.parse(tag.textContent);
    const tags = (kind) => [...document.querySelectorAll(`script[type="application/vnd.jupyter.widget-${kind}+json"]`)];
    const { state } = json(tags("state")[0]);
    return tags("view").map((tag) => state[json(tag).model_id].state._anywidget_id.split(".").at(-1));
}"""

# When the document could be read, and when the first figure had been drawn, in ms since the navigation began.
WATCH = """
    document.addEventListener("DOMContentLoaded", () => { window.domReady = performance.now(); });
    new MutationObserver((_, observer) => {
        if (!document.querySelector("[data-live]")) return;
        window.firstFigure = performance.now();
        observer.disconnect();
    }).observe(document, { subtree: true, attributes: true, attributeFilter: ["data-live"] });
"""


class Weight(NamedTuple):
    """What one page made the browser load."""

    page: str
    figures: int
    first: float  # ms from DOM ready to the first figure
    kilobytes: float  # without images and models, with MathJax and its fonts, uncompressed
    models: float  # kilobytes of trained models that lie in files of their own
    copies: int  # of the code that every figure shares
    elsewhere: int  # requests beyond the book


def repaint_times(control: Locator, moves: int = MOVES) -> list[float]:
    """Milliseconds from a move of a control to the repaint, one per move."""
    return control.first.evaluate(REPAINT, moves)


def launch(playwright):
    """Debian's Chromium or Chrome, without a window."""
    named = os.environ.get("CHROMIUM")
    found = next(filter(None, map(shutil.which, [named] if named else BROWSERS)), None)
    if not found:
        missing = named or "Chromium"
        raise RuntimeError(f"no {missing}: install {' or '.join(BROWSERS)}, or name one in the variable CHROMIUM")
    return playwright.chromium.launch(executable_path=found, args=FLAGS)


def sliders(browser) -> dict[str, list[float]]:
    """Every live figure at S = T = 32, alone on a page."""
    times = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, example in EXAMPLES.items():
            file = Path(folder) / f"{name}.html"
            file.write_text(page_of([example.make("word")]), encoding="utf-8")
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.goto(file.as_uri())
            page.wait_for_selector("[data-live]", state="attached")
            times[name] = repaint_times(page.locator(f"[data-live] {example.control}"))
            page.close()
    return times


def controls_of(page: Page) -> dict[str, Locator]:
    """The slider of each figure of a page of the book, by the figure's name."""
    found, names = {}, page.evaluate(NAMES)
    page.wait_for_function("n => document.querySelectorAll('[data-live]').length === n", arg=len(names))
    for n, name in enumerate(names):
        control = page.locator("[data-live]").nth(n).locator(EXAMPLES[name].control)
        if control.count():  # a figure of one step has none
            found[name if name not in found else f"{name} {n + 1}"] = control
    return found


def sliders_of_the_book(browser, built: Path) -> dict[str, list[float]]:
    """Every figure at its own size, on its own page of the book."""
    times = {}
    for name in pages_with_figures(built):
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto((built / name).as_uri())
        if page.locator("script[src*='mathjax' i]").count():  # only pages with formulas load it
            page.wait_for_function("window.MathJax?.startup?.promise")
            page.evaluate("MathJax.startup.promise.then(() => true)")
        for figure, control in controls_of(page).items():
            stem = Path(name).stem  # a chapter's number, or the name of another page
            times[f"{stem[:2] if stem[0].isdigit() else stem} {figure}"] = repaint_times(control)
        page.close()
    return times


def pages_with_figures(built: Path) -> list[str]:
    """Names of pages, relative to the book's root."""
    mark = "application/vnd.jupyter.widget-view+json"
    names = {p.relative_to(built).as_posix() for p in built.rglob("*.html") if mark in p.read_text("utf8")}
    return sorted(name for name in names if not name.startswith("slides/"))  # a deck is no page to be weighed


def weigh(browser, site: str, name: str) -> Weight:
    """Open one page of a web server on this machine, and note what it loads and when."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    sizes, models, elsewhere = [], [], []
    trained = {file.name for file in MODELS.glob("*.js")}

    def note(response):
        if not response.url.startswith((site, "blob:", "data:")):
            elsewhere.append(response.url)
        elif response.url.startswith("http") and response.request.resource_type != "image":
            kind = models if Path(urlsplit(response.url).path).name in trained else sizes
            kind.append(len(response.body()))

    page.on("response", note)
    page.on("requestfailed", lambda request: elsewhere.append(request.url))
    page.add_init_script(WATCH)
    page.goto(f"{site}/{name}", wait_until="networkidle")
    page.wait_for_function("window.firstFigure !== undefined")
    first = page.evaluate("Math.max(0, window.firstFigure - window.domReady)")
    copies = page.content().count("//# figure.js")
    loaded = (sum(sizes) / 1000, sum(models) / 1000)
    weight = Weight(name, page.locator("[data-live]").count(), first, *loaded, copies, len(elsewhere))
    page.close()
    return weight


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a web server that knows one folder and nothing else."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


class Repaint(NamedTuple):
    """Milliseconds from slider to repaint."""

    median: float
    p95: float
    worst: float


def measure(book: Path = BUILT) -> dict:
    """Every figure alone and in the book, and every page that has one, as JSON knows it."""
    with sync_playwright() as playwright, served(book) as site:
        browser = launch(playwright)
        version, alone = browser.version, sliders(browser)
        in_book = sliders_of_the_book(browser, book)
        pages = [weigh(browser, site, name) for name in pages_with_figures(book)]
        browser.close()
    return {
        "chromium": version,
        "repaint_ms": {name: repaint(times)._asdict() for name, times in alone.items()},
        "repaint_in_book_ms": {name: repaint(times)._asdict() for name, times in in_book.items()},
        "pages": [one._asdict() for one in pages],
    }


def repaint(times: list[float]) -> Repaint:
    """What the moves of one slider come to."""
    return Repaint(float(np.median(times)), float(np.percentile(times, 95)), max(times))


def report(record: dict) -> str:
    """Two tables."""
    lines = [
        f"Chromium {record['chromium']}, {os.cpu_count()} cores\n",
        "slider to repaint, ms               median    p95    worst   (S = T = 32; a frame is 16)",
        *(repaint_line(name, Repaint(**one)) for name, one in record["repaint_ms"].items()),
        "  in the chapters, at their own sizes:",
        *(repaint_line(name, Repaint(**one)) for name, one in record["repaint_in_book_ms"].items()),
        "\npage                          figures  first figure   weight    models   copies of   requests",
        "                                          ms after    without             shared code  elsewhere",
        "                                         DOM ready    both",
    ]
    for one in (Weight(**page) for page in record["pages"]):
        lines.append(
            f"  {one.page.removeprefix('book/').removesuffix('.html'):27s} {one.figures:7d} {one.first:13.0f} "
            f"{one.kilobytes:7.0f} kB {one.models:6.0f} kB {one.copies:9d} {one.elsewhere:11d}"
        )
    return "\n".join(lines)


def repaint_line(name: str, one: Repaint) -> str:
    return f"  {name:32s} {one.median:7.1f} {one.p95:6.1f} {one.worst:8.1f}"


def main() -> None:
    """Measure, print two tables, and write them as JSON if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="write the numbers here as JSON, too")
    parser.add_argument("--book", type=Path, default=BUILT, help="the built book")
    given = parser.parse_args()
    record = measure(given.book)
    print(report(record))
    if given.out:
        given.out.write_text(json.dumps(record, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()

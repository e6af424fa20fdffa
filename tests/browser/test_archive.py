"""The archive that `make zip` has written: unpacked in an awkward place, with no network, all of it works."""

import json
import re
import zipfile
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

import pytest
from lxml import html
from playwright.sync_api import expect

from attnlib.figures.page import VIEW
from benchmarks.figures import pages_with_figures
from tests.browser.conftest import pages as built_pages
from website import archive

MADE = archive.ROOT / "_build" / f"{archive.name()}.zip"
STALE = "it is not what is here now: run `make zip` again; or two runs give different bytes"
ASSIGNMENTS = sorted((archive.ROOT / "book" / "exercises").glob("*.ipynb"))
NOTEBOOKS = sorted((archive.ROOT / "notebooks").rglob("*.ipynb")) + ASSIGNMENTS


@pytest.fixture(scope="session")
def pages(unpacked) -> list[Path]:
    return sorted(unpacked.rglob("*.html"))


def references(path: Path) -> tuple[set[str], set[str]]:
    """What a page points to, and where one can point in it."""
    page = html.document_fromstring(path.read_bytes())
    return {*page.xpath("//@href | //@src")}, {"", *page.xpath("//@id | //a/@name")}


def test_it_is_what_the_build_gives_and_a_second_run_gives_the_same_bytes(tmp_path):
    again = archive.write(tmp_path / MADE.name, archive.book())
    assert again.read_bytes() == MADE.read_bytes(), STALE
    assert MADE.stat().st_size <= archive.LARGEST


def test_a_reader_finds_where_to_begin(unpacked, visit):
    assert unpacked.name == MADE.stem
    assert {p.name for p in unpacked.iterdir()} == {"index.html", "README.txt", "LICENSE.txt", "pages"}
    page = visit(unpacked / "index.html").page
    page.wait_for_url("**/pages/book/index.html")
    expect(page.locator("h1").first).to_contain_text("Attention, Derived and Executed")


def test_who_looks_into_the_archive_is_told_to_unpack_it(unpacked, visit, tmp_path):
    alone = tmp_path / "index.html"  # as a file manager shows it: without the others
    alone.write_bytes((unpacked / "index.html").read_bytes())
    visited = visit(alone)
    page = visited.page
    page.wait_for_function("document.images[0].complete")  # it was looked for, and would have led on
    visited.errors.clear()  # of the picture that is not there
    assert page.url == alone.as_uri()
    expect(page.get_by_text("unpack all of it first")).to_be_visible()


def test_it_has_every_page_of_the_book_and_every_figure(unpacked, pages):
    """test_pages.py opens them there, and test_slides.py the decks."""
    opened = {unpacked / "pages" / name for name in built_pages()}
    decks = {p for p in pages if p.parent == unpacked / "pages" / "slides"}
    assert {*pages} == opened | decks | {unpacked / "index.html"}
    assert len(opened) > 40
    stored = {p.stem for p in (archive.ROOT / "book").glob("*.ipynb") if VIEW in p.read_text("utf8")}
    lent = {p.stem for p in (archive.ROOT / "book").glob("*.md") if "{live-figure}" in p.read_text("utf8")}
    assert {Path(name).stem for name in pages_with_figures(unpacked / "pages")} == stored | lent


def test_all_links_lead_somewhere(unpacked, pages):
    known = {path: references(path) for path in pages}
    broken = []
    for path, (addresses, _) in known.items():
        for address in addresses:
            target = urlsplit(urljoin(path.as_uri(), address))
            if target.scheme in ("http", "https", "mailto", "data"):
                continue
            file = Path(unquote(target.path))
            inside = file.is_relative_to(unpacked) and file.is_file()
            if not inside or (file in known and unquote(target.fragment) not in known[file][1]):
                broken.append(f"{path.name}: {address}")
    assert broken == []
    assert sum(len(addresses) for addresses, _ in known.values()) > 2000


def test_nothing_in_it_speaks_of_the_machine_that_made_it(unpacked):
    private = re.compile(rf"(?<![\w.]){re.escape(str(archive.ROOT))}(?!\w)|(?<![\w.]){re.escape(str(Path.home()))}/")
    told = [p for p in unpacked.rglob("*") if p.is_file() and private.search(p.read_text("utf8", errors="ignore"))]
    assert told == []


def test_a_download_is_the_notebook_that_people_open(unpacked, visit):
    page = visit(unpacked / "pages" / "book" / "index.html").page
    pages = {f"book/{path.stem}": path for path in NOTEBOOKS if path.parent.name == "notebooks"}
    pages |= {f"book/exercises/{path.stem}": path for path in ASSIGNMENTS}
    for name, path in list(pages.items())[::8]:
        page.goto((unpacked / "pages" / f"{name}.html").as_uri())
        page.get_by_role("button", name="Download this page").click()
        with page.expect_download() as download:
            page.get_by_role("link", name=".ipynb").click()
        assert download.value.suggested_filename == path.name
        assert Path(download.value.path()).read_bytes() == path.read_bytes()


def test_the_button_copies_code_and_the_shade_can_be_changed(unpacked, visit):
    page = visit(unpacked / "pages" / "book" / "03_attention_step_by_step.html").page
    code = page.locator("div.cell_input:visible .highlight").first
    code.hover()
    code.locator("button.copybtn").click()
    page.evaluate("document.body.append(Object.assign(document.createElement('textarea'), { id: 'pasted' }))")
    page.locator("#pasted").focus()
    page.keyboard.press("Control+v")
    assert page.locator("#pasted").input_value().strip() == code.locator("pre").inner_text().strip()
    shade = "document.documentElement.dataset.theme"
    before = page.evaluate(shade)
    for _ in range(2):  # auto, light, dark: one of two presses changes what is seen
        page.locator(".theme-switch-button:visible").first.click()
    assert page.evaluate(shade) != before


def test_the_other_archive_holds_the_notebooks_and_how_to_run_them(tmp_path):
    made = MADE.with_name(f"{archive.name()}-notebooks.zip")
    with zipfile.ZipFile(made) as packed:
        inside = {name.removeprefix(f"{made.stem}/"): packed.read(name) for name in packed.namelist()}
    notebooks = {n: data for n, data in inside.items() if n.endswith(".ipynb")}
    assert notebooks == {p.relative_to(archive.ROOT).as_posix(): p.read_bytes() for p in NOTEBOOKS}
    assert all(json.loads(data)["nbformat"] == 4 for data in notebooks.values())
    assert f"pip install --no-deps git+{archive.facts()['address']}@" in inside["README.md"].decode()
    assert inside["requirements.txt"] == (archive.ROOT / "requirements.txt").read_bytes()
    assert archive.write(tmp_path / made.name, archive.notebooks()).read_bytes() == made.read_bytes(), STALE

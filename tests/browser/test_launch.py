"""Launch buttons and links: each opens exactly the notebook that it stands on, in Colab or on Binder."""

import re
from pathlib import Path

import pytest

from attnlib.course.book import BOOK, ROOT, repository, revision, site
from tests.browser.conftest import BUILT

LAUNCH = re.compile(r'https://(?:colab\.research\.google\.com|mybinder\.org)/[^\s")]+')


def addresses(notebook: Path) -> set[str]:
    """Where a notebook of this repository can be run: at the tag of a release, else at the branch."""
    url = repository()["url"]
    name, path = url.removeprefix("https://github.com/"), notebook.relative_to(ROOT).as_posix()
    return {
        f"https://colab.research.google.com/github/{name}/blob/{revision()}/{path}",
        f"https://mybinder.org/v2/gh/{name}/{revision()}?urlpath=lab/tree/{path}",
    }


@pytest.mark.parametrize("page", sorted(path.stem for path in BOOK.glob("*.ipynb")))
def test_the_buttons_of_a_page_open_the_notebook_that_people_work_in(page):
    text, notebook = (BUILT / "book" / f"{page}.html").read_text("utf8"), ROOT / "notebooks" / f"{page}.ipynb"
    assert set(LAUNCH.findall(text)) == (addresses(notebook) if notebook.exists() else set())
    assert (f'href="../_sources/book/{page}.ipynb"' in text) == notebook.exists()  # the download


@pytest.mark.parametrize("assignment", sorted((BOOK / "exercises").glob("*.ipynb")), ids=lambda path: path.stem)
def test_the_buttons_of_an_assignment_open_it(assignment):
    page = BUILT / assignment.relative_to(ROOT).with_suffix(".html")
    assert set(LAUNCH.findall(page.read_text("utf8"))) == addresses(assignment)


def test_the_readme_links_every_chapter_and_nothing_else():
    rows = [row for row in (ROOT / "README.md").read_text("utf8").splitlines() if LAUNCH.search(row)]
    chapters = sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))
    assert [set(LAUNCH.findall(row)) for row in rows] == [addresses(chapter) for chapter in chapters]


def test_every_link_of_a_notebook_to_the_book_finds_its_place():
    """Page and anchor, as built."""
    dead, ids, address = [], {}, re.compile(rf"{re.escape(site())}/([\w/.-]+\.html)(?:#([\w-]+))?")
    for notebook in sorted((ROOT / "notebooks").rglob("*.ipynb")):
        for page, anchor in address.findall(notebook.read_text("utf8")):
            if page not in ids:
                built = BUILT / page
                ids[page] = set(re.findall(r'\bid="([^"]+)"', built.read_text("utf8"))) if built.exists() else None
            if ids[page] is None or (anchor and anchor not in ids[page]):
                dead.append((notebook.name, page, anchor))
    assert dead == [] and len(ids) > 20

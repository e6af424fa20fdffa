"""Launch buttons and links: each opens exactly the notebook that it stands on, in Colab or on Binder."""

import re
from pathlib import Path

import pytest

from attnlib.course.book import BOOK, ROOT, repository
from tests.browser.conftest import BUILT
from tests.colab import every_notebook

LAUNCH = re.compile(r'https://(?:colab\.research\.google\.com|mybinder\.org)/[^\s")]+')


def addresses(notebook: Path) -> set[str]:
    """Where a notebook of this repository can be run, at the branch that `_config.yml` names."""
    url, branch = repository()["url"], repository()["branch"]
    name, path = url.removeprefix("https://github.com/"), notebook.relative_to(ROOT).as_posix()
    return {
        f"https://colab.research.google.com/github/{name}/blob/{branch}/{path}",
        f"https://mybinder.org/v2/gh/{name}/{branch}?urlpath=lab/tree/{path}",
    }


@pytest.mark.parametrize("notebook", every_notebook(), ids=lambda path: path.stem)
def test_the_buttons_of_a_page_open_its_notebook(notebook):
    page = BUILT / notebook.relative_to(ROOT).with_suffix(".html")
    assert set(LAUNCH.findall(page.read_text("utf8"))) == addresses(notebook)


def test_the_readme_links_every_chapter_and_nothing_else():
    rows = [row for row in (ROOT / "README.md").read_text("utf8").splitlines() if LAUNCH.search(row)]
    chapters = sorted((ROOT / "book").glob("[0-9][0-9]_*.ipynb"))
    assert [set(LAUNCH.findall(row)) for row in rows] == [addresses(chapter) for chapter in chapters]


def test_every_notebook_is_the_work_of_a_source():
    """Neither does a button lead to a notebook that is not there, nor does one lie there that no test knows."""
    assert all(path.exists() for path in every_notebook())
    assert set(every_notebook()) == set(BOOK.rglob("*.ipynb")) - set(BOOK.rglob(".*/*"))

"""The pages of the assignments: nothing secret in what is published, and everything that a student needs."""

import re

import nbformat
import pytest

from attnlib.grading import assignment, release
from tests.browser.conftest import BUILT, quick


def test_no_page_and_no_source_gives_an_assignment_away():
    pages = {path.name for path in (BUILT / "_sources" / "book" / "exercises").glob("*.ipynb")}
    assert pages == {f"{name}.ipynb" for name in assignment.names()}
    assert release.book_leaks(BUILT) == {}


@pytest.mark.parametrize("name", quick(assignment.names(), ["a05_alignment"]))
def test_a_student_can_read_and_open_it(name, visit):
    page = visit(f"book/exercises/{name}.html").page
    notebook = nbformat.reads(release.student_version(name), as_version=4)
    assert page.locator("div.highlight").filter(has_text="YOUR CODE HERE").count() == len(assignment.answers(notebook))
    assert page.locator(".cell_output").count() == 0  # nobody has run it
    for heading in re.findall(r"^## (.+?) ·", "\n".join(c.source for c in notebook.cells), re.M):
        assert page.get_by_role("heading", name=re.compile(f"^{heading} ")).is_visible()
    launch = page.locator('a[href*="colab.research.google.com"]').first.get_attribute("href")
    assert launch.endswith(f"/book/exercises/{name}.ipynb")

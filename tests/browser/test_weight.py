"""What a page with a live figure makes a reader load; how long it takes, `make bench` prints."""

import pytest

from benchmarks.figures import pages_with_figures, weigh
from tests.browser.conftest import BUILT, quick

SOME = ["book/03_attention_step_by_step.html", "book/07_alignment.html"]  # of one figure, and of several


@pytest.mark.parametrize("name", quick(pages_with_figures(BUILT), SOME))
def test_a_page_with_figures_is_light(name, browser, site):
    if name is None:
        pytest.fail(f"no page at {BUILT} has a figure: run `make book` first")
    weight = weigh(browser, site, name)
    assert weight.figures >= 1
    assert weight.copies == 1, "shared code stands in the page more than once"
    assert weight.elsewhere == 0
    assert weight.kilobytes <= 2000, "without images and models, with MathJax, uncompressed"
    assert weight.models <= 1500


def test_icons_and_formulas_do_without_what_was_left_out(visit):
    page = visit("book/03_attention_step_by_step.html").page
    page.evaluate("window.MathJax.startup.promise")
    assert page.locator("script[src*=fontawesome]").count() == 0
    assert page.evaluate("document.fonts.ready.then(() => document.fonts.check('900 16px \"Font Awesome 6 Free\"'))")
    icons = page.locator(".bd-header-article i[class*=fa-]:visible, .bd-header-article [class*=fa-]:visible")
    assert icons.count() >= 3
    assert min(icon.bounding_box()["width"] for icon in icons.all()) > 5
    formulas = page.locator("mjx-container").count()
    assert formulas > 20
    assert page.locator("mjx-container mjx-assistive-mml math").count() == formulas, "formulas cannot be heard"

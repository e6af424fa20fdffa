"""What a page with a live figure makes a reader load, and wait for."""

import pytest

from benchmarks import figures
from benchmarks.figures import busy, controls_of, pace, pages_with_figures, weigh
from tests.browser.conftest import BUILT, assert_within_a_frame, heights_in_a_drag

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("name", pages_with_figures(BUILT) or [None])
def test_a_page_with_figures_is_light_and_quick(name, browser, site):
    if name is None:
        pytest.fail(f"no page at {BUILT} has a figure: run `make book` first")
    weight = weigh(browser, site, name)
    assert weight.figures >= 1
    assert weight.copies == 1, "shared code stands in the page more than once"
    assert weight.elsewhere == 0
    assert weight.kilobytes <= 2000, "without images, with MathJax, uncompressed"
    # `make bench` prints the times; a busy machine may disturb one visit, but hardly each of four
    assert weight.first <= 500 or min(weigh(browser, site, name).first for _ in range(3)) <= 500, "ms after DOM ready"


@pytest.mark.parametrize("name", pages_with_figures(BUILT))
def test_a_slider_of_a_page_is_drawn_within_a_frame(name, visit):
    """Its figures at their own sizes, and all else that the page must lay out and paint."""
    page = visit(name).page
    page.wait_for_function("window.MathJax?.startup?.promise")
    for figure, control in controls_of(page).items():
        assert_within_a_frame(control, figure)


def slow(control, milliseconds):
    control.evaluate(
        """(control, ms) => control.addEventListener("input", () => {
            for (const end = performance.now() + ms; performance.now() < end;);
        })""",
        milliseconds,
    )


def test_what_a_page_computes_keeps_it_busy(browser):
    page = browser.new_page()
    page.set_content("<input type=range min=0 max=100>")
    control = page.locator("input")
    idle = busy(control)
    slow(control, 30)
    assert idle < 5 and 8 < busy(control) - idle < 45  # of 30, what other programs leave it
    page.close()


def test_a_slow_slider_is_noticed_on_a_slow_machine(browser):
    page = browser.new_page()
    page.set_content("<input type=range min=0 max=100>")
    control = page.locator("input")
    assert_within_a_frame(control, "nothing moves")
    slow(control, 100)
    with pytest.raises(AssertionError, match="too slow"):
        assert_within_a_frame(control, "too slow")
    page.close()


def test_the_pace_is_that_of_known_work(browser, monkeypatch):
    monkeypatch.setattr(figures, "WORDS", "() => {}")
    assert pace(browser) == 1, "a quick machine makes no test stricter"
    monkeypatch.setattr(
        figures, "WORDS", "() => { for (const end = performance.now() + 500; performance.now() < end;); }"
    )
    assert 2 < pace(browser) <= 11  # 10, less what other programs take of the time


@pytest.mark.parametrize("width", [1280, 375])
@pytest.mark.parametrize("name", pages_with_figures(BUILT))
def test_nothing_below_a_figure_moves_in_a_drag(name, width, visit):
    page = visit(name, width=width).page
    for figure, control in controls_of(page).items():
        heights = heights_in_a_drag(control)
        assert len(set(heights)) == 1, f"{figure}: {heights}"


def test_icons_and_formulas_do_without_what_was_left_out(visit):
    visited = visit("book/03_attention_step_by_step.html")
    page = visited.page
    page.evaluate("window.MathJax.startup.promise")
    assert page.locator("script[src*=fontawesome]").count() == 0
    assert page.evaluate("document.fonts.ready.then(() => document.fonts.check('900 16px \"Font Awesome 6 Free\"'))")
    icons = page.locator(".bd-header-article i[class*=fa-]:visible, .bd-header-article [class*=fa-]:visible")
    assert icons.count() >= 3
    assert min(icon.bounding_box()["width"] for icon in icons.all()) > 5
    formulas = page.locator("mjx-container").count()
    assert formulas > 20
    assert page.locator("mjx-container mjx-assistive-mml math").count() == formulas, "formulas cannot be heard"
    assert visited.errors == []

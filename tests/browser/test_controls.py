"""No dead controls: whatever looks as if it could be moved, answers, and nothing below it moves along."""

import pytest
from playwright.sync_api import TimeoutError as TimedOut

from benchmarks.figures import controls_of, pages_with_figures
from tests.browser.conftest import BUILT, heights_in_a_drag

VIEW = 'script[type="application/vnd.jupyter.widget-view+json"]'
CONTROLS = "input, select, button, [role=slider], summary"


# What a figure shows, leaving out its controls and their readouts: those move even where nobody listens.
LOOK = """root => {
    const copy = root.cloneNode(true);
    copy.querySelectorAll("input, select, output, .attn-readout").forEach((own) => own.remove());
    return copy.innerHTML;
}"""


@pytest.mark.parametrize("name", pages_with_figures(BUILT) or [None])
def test_every_control_of_every_output_answers(name, visit):
    if name is None:
        pytest.fail(f"no page at {BUILT} has a figure: run `make book` first")
    page = visit(name).page
    page.wait_for_function(
        """views => [...document.querySelectorAll(views)].every(
            (tag) => tag.nextElementSibling?.matches("[data-live], .admonition")
        )""",
        arg=VIEW,
    )
    failed = page.get_by_text("This figure could not start").all_inner_texts()
    assert failed == []
    # Outside of live figures an output has no controls at all: it would be one that no one listens to.
    orphans = page.locator(f".cell_output :is({CONTROLS}):not([data-live] *):not(.copybtn)").all()
    assert [orphan.evaluate("e => e.outerHTML") for orphan in orphans] == []

    for view in page.locator("[data-live=true]").all():
        # By a mark, not by count: a control may bring others and take them away.
        view.evaluate("(e, css) => e.querySelectorAll(css).forEach((c, n) => c.setAttribute('data-nth', n))", CONTROLS)
        marked = [view.locator(f"[data-nth='{n}']") for n in range(view.locator(CONTROLS).count())]
        controls = [control for control in marked if control.is_visible()]
        assert controls, "a live figure without a control"
        # A menu may take other controls away, and a reset answers only once something has changed.
        late = {"text": 1, "select-one": 1, "button": 2}  # by their type
        for control in sorted(controls, key=lambda control: late.get(control.evaluate("e => e.type"), 0)):
            if control.get_attribute("aria-pressed") == "true":
                continue  # chosen already
            if control.evaluate("e => e.disabled"):  # there is no past to look back to; no other control may be off
                assert control.evaluate("e => e.labels?.[0]?.textContent") == "look back"
                continue
            if control.get_attribute("aria-disabled") == "true":
                # a bet is a bet, and a reset has something to do once something has changed
                assert control.evaluate("e => e.closest('.attn-answers') !== null || e.textContent.startsWith('Reset')")
                continue
            before = view.evaluate(LOOK)
            operate(control)
            try:  # what is put on the clipboard is said when it is there
                page.wait_for_function(
                    f"([root, before]) => ({LOOK})(root) !== before", arg=[view.element_handle(), before]
                )
            except TimedOut:
                pytest.fail(f"dead: {control.evaluate('e => e.outerHTML')[:300]}")


@pytest.mark.parametrize("name", pages_with_figures(BUILT))
def test_nothing_below_a_figure_moves_in_a_drag(name, visit):
    page = visit(name).page
    for width in (1280, 375):
        page.set_viewport_size({"width": width, "height": 900})
        for figure, control in controls_of(page).items():
            heights = heights_in_a_drag(control)
            assert len(set(heights)) == 1, f"{figure}, {width} px: {heights}"


def operate(control):
    kind = control.evaluate("e => e.getAttribute('role') ?? e.type ?? e.tagName.toLowerCase()")
    if kind in ("range", "slider"):
        control.focus()
        at_start = control.evaluate("e => Number(e.value ?? e.ariaValueNow) <= Number(e.min || e.ariaValueMin)")
        control.press("ArrowRight" if at_start else "ArrowLeft")
    elif kind == "select-one":
        values = control.locator("option").evaluate_all("options => options.map(option => option.value)")
        control.select_option(next(value for value in reversed(values) if value != control.input_value()))
    elif kind == "text":
        control.press("End")
        control.press("Backspace" if control.input_value() else "a")
    else:
        control.click()

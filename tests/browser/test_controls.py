"""No dead controls: whatever looks as if it could be moved, answers, and nothing below it moves along."""

import re

import pytest
from playwright.sync_api import Locator
from playwright.sync_api import TimeoutError as TimedOut

from benchmarks.figures import controls_of, pages_with_figures
from tests.browser.conftest import BUILT, LOOK, heights_in_a_drag, quick

VIEW = 'script[type="application/vnd.jupyter.widget-view+json"]'
CONTROLS = "input, select, button, [role=slider], summary"

# The visible controls of a figure, what is folded too, marked: a control may bring others and take them away, so that
# places would not do. A menu may take others away, a reset answers only once something has changed, and folding hides.
MARK = """(root, controls) => {
    const late = { text: 1, "select-one": 1, button: 2, summary: 3 };
    root.querySelectorAll("details").forEach((details) => { details.open = true; });
    const shown = [...root.querySelectorAll(controls)].filter((e) => e.checkVisibility({ visibilityProperty: true }));
    shown.forEach((e, n) => e.setAttribute("data-nth", n));
    const when = (e) => late[e.type ?? e.localName] ?? 0;
    return shown.sort((a, b) => when(a) - when(b)).map((e) => e.dataset.nth);
}"""

# How a control is operated, what the figure shows before that, and why it may be off.
STATE = f"""control => {{
    const root = control.closest("[data-live]");
    root.before = ({LOOK})(root);
    return {{
        kind: control.role ?? control.type ?? control.localName,
        chosen: control.ariaPressed === "true",
        off: control.disabled ? "no past" : control.ariaDisabled === "true" ? "nothing to do" : "",
        label: control.labels?.[0]?.textContent ?? "",
        resets: control.textContent.startsWith("Reset") || control.closest(".attn-answers") !== null,
        atStart: Number(control.value ?? control.ariaValueNow) <= Number(control.min || control.ariaValueMin),
        others: [...control.options ?? []].map((o) => o.value).filter((value) => value !== control.value),
        text: control.value,
    }};
}}"""


PAGES = pages_with_figures(BUILT)
# `make test` tries the first page that has a figure of each class.
CLASS = re.compile(r'"_anywidget_id": "[\w.]*\.(\w+)"')
FIRST = {name: page for page in reversed(PAGES) for name in CLASS.findall((BUILT / page).read_text("utf-8"))}


@pytest.mark.parametrize("name", quick(PAGES, FIRST.values()))
def test_every_control_answers_and_nothing_below_moves_in_a_drag(name, visit, thorough):
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
        marked = view.evaluate(MARK, CONTROLS)
        assert marked, "a live figure without a control"
        for nth in marked:
            control = view.locator(f"[data-nth='{nth}']")
            state = control.evaluate(STATE)
            if state["off"] == "no past":  # no other control may be off
                assert state["label"] == "look back"
            elif state["off"]:  # a bet is a bet, and a reset has something to do once something has changed
                assert state["resets"], control.evaluate("e => e.outerHTML")
            # Some settings show only while models learn: test_learn_to_align.py waits for that.
            elif not state["chosen"] and state["label"] not in ("speed", "mask padding"):
                operate(control, state)
                try:  # what is put on the clipboard is said when it is there
                    page.wait_for_function(f"root => ({LOOK})(root) !== root.before", arg=view.element_handle())
                except TimedOut:
                    pytest.fail(f"dead: {control.evaluate('e => e.outerHTML')[:300]}")

    page.reload()  # as a reader finds it
    for width in (1280, 375) if thorough else (375,):
        page.set_viewport_size({"width": width, "height": 900})
        for figure, control in controls_of(page).items():
            heights = heights_in_a_drag(control)
            assert len(set(heights)) == 1, f"what is below {figure} moves in a drag, {width} px: {heights}"


def operate(control: Locator, state: dict):
    """With real keys and clicks, as `STATE` says that it is operated."""
    match state["kind"]:
        case "range" | "slider":
            control.press("ArrowRight" if state["atStart"] else "ArrowLeft")
        case "select-one":
            control.select_option(state["others"][-1])
        case "text":
            control.press("End")
            control.press("Backspace" if state["text"] else "a")
        case _:
            control.click()

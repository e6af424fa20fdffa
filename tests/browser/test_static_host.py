"""attnlib/figures/static/anywidget-static.js alone, on small pages made for the purpose, opened from the disk."""

import pytest
from playwright.sync_api import expect

COUNTER = """
export default {
  initialize({ model }) { model.set("started", (model.get("started") ?? 0) + 1); },
  render({ model, el, signal }) {
    if (signal.aborted) throw new Error("aborted");
    const show = (_, count) => { button.textContent = `count ${count}, started ${model.get("started")}`; };
    const button = document.createElement("button");
    button.onclick = () => { model.set("count", model.get("count") + 1); model.save_changes(); };
    button.ondblclick = () => model.off("change:count", show);
    model.on("change:count", show);
    el.append(button);
    show(model, model.get("count"));
  },
};
"""


def widget(esm: str = COUNTER, css: str = "", **state) -> dict:
    return {"model_module": "anywidget", "state": {"_esm": esm, "_css": css, **state}}


def test_views_of_one_widget_share_its_state(static_page):
    page = static_page({"a": widget(count=1), "b": widget(count=5)}, ["a", "a", "b"]).page
    buttons = page.get_by_role("button")
    expect(buttons).to_have_text(["count 1, started 1", "count 1, started 1", "count 5, started 1"])
    for n, shared in ((0, "count 2, started 1"), (1, "count 3, started 1")):
        buttons.nth(n).click()
        expect(buttons).to_have_text([shared, shared, "count 5, started 1"])


@pytest.mark.parametrize("off", ['model.off("change:count", show)', "model.off()"])
def test_off_takes_away_the_listener_of_one_view_only(off, static_page):
    esm = COUNTER.replace('model.off("change:count", show)', off)
    buttons = static_page({"a": widget(esm, count=1)}, ["a", "a"]).page.get_by_role("button")
    buttons.nth(0).dispatch_event("dblclick")
    buttons.nth(0).click()
    expect(buttons).to_have_text(["count 1, started 1", "count 2, started 1"])


def test_off_with_a_callback_spares_the_others_of_the_view(static_page):
    two = """export default { render({ model, el }) {
        const silent = () => { el.textContent = "heard by the one taken off"; };
        model.on("change:count change:other", silent);
        model.on("change:count", (_, count) => { el.textContent += `heard ${count}`; });
        model.off("change:count", silent);
        model.set("count", 2);
    } };"""
    expect(static_page({"a": widget(two, count=1)}, ["a"]).page.locator("[data-live]")).to_have_text("heard 2")


def test_setting_what_is_there_already_is_silent(static_page):
    """Two views that answer each other's changes would otherwise never come to rest."""
    echo = """export default { render({ model, el }) {
        let heard = 0;
        model.on("change:list", () => {
            el.textContent = `heard ${++heard}`;
            model.set("list", [...model.get("list")]);
        });
        model.set("list", [1, 2]);
        model.set({ list: [1, 2, 3] });
    } };"""
    expect(static_page({"a": widget(echo, list=[1, 2])}, ["a"]).page.locator("[data-live]")).to_have_text("heard 1")


def test_one_failure_is_said_in_its_place_and_the_others_live(static_page):
    records = {
        "broken": widget("export default { render() { throw new Error('no luck'); } };"),
        "nonsense": widget("this is not JavaScript"),
        "binary": widget() | {"buffers": [{"path": ["x"], "data": "AAAA", "encoding": "base64"}]},
        "fine": widget(count=1),
    }
    visited = static_page(records, ["broken", "nonsense", "binary", "lost", "fine"])
    expect(visited.page.get_by_role("button")).to_have_text("count 1, started 1")
    notes = visited.page.locator(".admonition p:not(.admonition-title)")
    expect(notes).to_have_count(4)
    sentences = notes.all_inner_texts()
    for sentence, why in zip(sentences, ("no luck", "", "binary data", "state was not saved"), strict=True):
        assert sentence.startswith("This figure could not start: ") and why in sentence
    assert len(visited.errors) == 4  # and the console has the details
    visited.errors.clear()


@pytest.mark.parametrize("launch", [True, False])
def test_a_control_that_needs_python_says_so_and_leads_to_a_kernel(launch, static_page):
    slider = {"model_module": "@jupyter-widgets/controls", "state": {"value": 3}}
    places = {"Colab": "https://colab.research.google.com/github/x/y", "Binder": "https://mybinder.org/v2/gh/x"}
    buttons = "".join(f'<a href="{place}">here</a>' for place in places.values())
    page = static_page({"s": slider}, ["s"], buttons if launch else "").page
    note = page.locator(".admonition")
    expect(note).to_contain_text("This control needs a running kernel: open this chapter in Colab or Binder.")
    links = {link.inner_text(): link.get_attribute("href") for link in note.locator("a").all()}
    assert links == (places if launch else {})
    assert page.locator("[data-live]").count() == 0


def test_a_style_sheet_is_added_once(static_page):
    css, another = "button { letter-spacing: 3px; }", "p { color: red; }"
    records = {"a": widget(css=css, count=1), "b": widget(css=css, count=1), "c": widget(css=another, count=1)}
    page = static_page(records, ["a", "a", "b", "c"]).page
    expect(page.get_by_role("button")).to_have_count(4)
    assert [text for text in page.locator("head style").all_text_contents() if text in (css, another)] == [css, another]
    assert page.get_by_role("button").first.evaluate("b => getComputedStyle(b).letterSpacing") == "3px"


def test_shared_code_is_put_together_again(static_page):
    head, tail = "//# head.js\nconst word = 'heard';\n", "//# {}.js\nexport default {{ render({{ el }}) {{ {} }} }};\n"
    records = {
        "a": widget(head + tail.format("a", "el.textContent = `a ${word}`;"), "/*# a.css */\nmain { color: red; }"),
        "b": widget(head + tail.format("b", "el.textContent = `b ${word}`;"), "/*# a.css */\nmain { color: red; }"),
    }
    visited = static_page(records, ["a", "b"], sharing=True)
    expect(visited.page.locator("[data-live]")).to_have_text(["a heard", "b heard"])
    assert visited.page.content().count("const word = 'heard'") == 1
    assert visited.page.content().count("main { color: red; }") == 2  # in the state, and in the style element


def test_a_factory_may_stand_for_the_definition(static_page):
    factory = "export default async () => ({ render({ el }) { el.textContent = 'made'; } });"
    expect(static_page({"a": widget(factory)}, ["a"]).page.locator("[data-live]")).to_have_text("made")


def test_a_widget_reaches_another_by_its_reference(static_page):
    asking = """export default { async render({ model, el }) {
        const other = await model.widget_manager.get_model(model.get("other"));
        el.textContent = other.get("count");
    } };"""
    page = static_page({"a": widget(asking, other="IPY_MODEL_b"), "b": widget(count=7)}, ["a"]).page
    expect(page.locator("[data-live]")).to_have_text("7")


def test_it_leaves_nothing_global_behind(static_page, visit, tmp_path):
    page = static_page({"a": widget(count=1)}, ["a"]).page
    expect(page.get_by_role("button")).to_be_visible()
    (tmp_path / "empty.html").write_text("<!doctype html>")
    names = "Object.getOwnPropertyNames(window).sort()"
    assert page.evaluate(names) == visit(tmp_path / "empty.html").page.evaluate(names)


LOADER = """export default { async render({ model, el, experimental }) {
    try {
        const [said, buffers] = await experimental.invoke(model.get("command"), model.get("name"));
        el.textContent = `${said.word}, ${buffers.length}`;
    } catch (error) {
        el.textContent = error.message;
    }
} };"""


def test_a_script_beside_the_page_hands_over_what_it_holds(static_page, tmp_path):
    carrier = 'document.currentScript.dispatchEvent(new CustomEvent("source", { detail: { word: "here" } }));'
    (tmp_path / "one.js").write_text(carrier)
    (tmp_path / "empty.js").write_text("")
    asked = [("load", "one.js"), ("load", "none.js"), ("load", "empty.js"), ("load", "../one.js"), ("draw", "one.js")]
    records = {str(n): widget(LOADER, command=command, name=name) for n, (command, name) in enumerate(asked)}
    visited = static_page(records, list(records))
    expect(visited.page.locator("[data-live]")).to_have_text([
        "here, 0", "there is no none.js beside this page", "empty.js holds nothing that can be read",
        "../one.js is no name of a script", "a static page has no kernel to answer",
    ])  # fmt: skip
    assert visited.page.locator("script[src]").count() == 0
    visited.errors.clear()

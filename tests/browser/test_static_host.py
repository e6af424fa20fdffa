"""attnlib/figures/static/anywidget-static.js alone, on small pages made for the purpose, opened from the disk."""

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
    visited = static_page({"a": widget(count=1), "b": widget(count=5)}, ["a", "a", "b"])
    buttons = visited.page.get_by_role("button")
    expect(buttons).to_have_text(["count 1, started 1", "count 1, started 1", "count 5, started 1"])
    buttons.nth(0).click()
    expect(buttons).to_have_text(["count 2, started 1", "count 2, started 1", "count 5, started 1"])
    buttons.nth(1).click()
    expect(buttons).to_have_text(["count 3, started 1", "count 3, started 1", "count 5, started 1"])
    assert visited.errors == []


def test_off_takes_away_the_listener_of_one_view_only(static_page):
    buttons = static_page({"a": widget(count=1)}, ["a", "a"]).page.get_by_role("button")
    buttons.nth(0).dispatch_event("dblclick")
    buttons.nth(0).click()
    expect(buttons).to_have_text(["count 1, started 1", "count 2, started 1"])


def test_off_without_a_callback_or_an_event_spares_other_views(static_page):
    quiet = COUNTER.replace('model.off("change:count", show)', "model.off()")
    buttons = static_page({"a": widget(quiet, count=1)}, ["a", "a"]).page.get_by_role("button")
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
    visited = static_page({"a": widget(echo, list=[1, 2])}, ["a"])
    expect(visited.page.locator("[data-live]")).to_have_text("heard 1")
    assert visited.errors == []


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
    assert "no luck" in sentences[0]
    assert "binary data" in sentences[2]
    assert "state was not saved" in sentences[3]
    assert all(sentence.startswith("This figure could not start: ") for sentence in sentences)
    assert len(visited.errors) == 4  # and the console has the details


def test_a_control_that_needs_python_says_so_and_leads_to_a_kernel(static_page):
    slider = {"model_module": "@jupyter-widgets/controls", "state": {"value": 3}}
    launch = '<a href="https://colab.research.google.com/github/x/y">C</a> <a href="https://mybinder.org/v2/gh/x">B</a>'
    page = static_page({"s": slider}, ["s"], launch).page
    note = page.locator(".admonition")
    expect(note).to_contain_text("This control needs a running kernel: open this chapter in Colab or Binder.")
    assert (
        note.get_by_role("link", name="Colab").get_attribute("href") == "https://colab.research.google.com/github/x/y"
    )
    assert note.get_by_role("link", name="Binder").get_attribute("href") == "https://mybinder.org/v2/gh/x"
    assert page.locator("[data-live]").count() == 0


def test_without_launch_buttons_it_leads_nowhere_but_says_so(static_page):
    slider = {"model_module": "@jupyter-widgets/controls", "state": {}}
    page = static_page({"s": slider}, ["s"]).page
    expect(page.locator(".admonition")).to_contain_text("open this chapter in Colab or Binder.")
    assert page.locator(".admonition a").count() == 0


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
    assert visited.errors == []


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


def test_a_page_without_widgets_is_left_alone(static_page):
    visited = static_page({}, [], "<p>text</p>")
    expect(visited.page.locator("p")).to_have_text("text")
    assert visited.errors == []

"""What the build does to the figures of a page (website/live_figures.py), and where each figure is shown."""

import inspect
import json
from types import SimpleNamespace

import pytest
from sphinx.errors import ExtensionError

import attnlib.course.figures
import attnlib.figures
from attnlib.figures.figure import Figure
from benchmarks.examples import EXAMPLES, stored_figures
from website import live_figures
from website.live_figures import LiveFigure, share


def record(figure: Figure) -> dict:
    return {"model_module": "anywidget", "model_name": "AnyModel", "state": figure.get_state()}


ROOMS = (attnlib.figures, attnlib.course.figures)
OFFERED = {name: getattr(room, name) for room in ROOMS for name in room.__all__}


#: Where each figure is taught. It must be there, and may stand in other chapters too.
CHAPTERS = {
    "ScoreExplorer": ["03", "05"],
    "Translate": ["15"],
    "LookBack": ["06"],
    "MaskedSoftmaxLab": ["04"],
    "AlignmentView": ["07", "08", "10", "11"],
    "AttentionSurgery": ["07"],
    "CostCurve": ["09"],
    "CopyGate": ["10"],
    "FadingTrace": ["01"],
    "HeadGrid": ["12"],
    "LearnToAlign": ["02", "07", "11"],
    "OtherWeights": ["14"],
    "WhereItLooks": ["13"],
}


def test_every_figure_of_the_package_has_an_example_and_is_in_a_chapter():
    members = (member for room in ROOMS for member in inspect.getmembers(room, inspect.isclass))
    figures = {name for name, kind in members if issubclass(kind, Figure)}
    assert figures == set(EXAMPLES) == set(OFFERED) == set(CHAPTERS)


@pytest.mark.parametrize(("name", "chapter"), [(name, c) for name, chapters in CHAPTERS.items() for c in chapters])
def test_the_chapter_shows_the_figure_of_this_tree(name, chapter):
    kind = OFFERED[name]
    for state in stored_figures(chapter, name):
        assert state["_esm"] == str(kind._esm), "the chapter was executed with another version of the figure"
        assert state["_css"] == str(kind._css), "the chapter was executed with another version of its style"


def without_comments(code: str) -> list[str]:
    """The lines of a script or style sheet that do something, and the names of its files."""
    kept, inside = [], False
    for line in code.splitlines():
        text = line.strip()
        named = text.startswith(("//# ", "/*# "))
        inside = inside or (text.startswith("/*") and not named and ("*/" not in text or text.endswith("*/")))
        if not inside and (named or not text.startswith("//")):
            kept.append(line)
        inside = inside and not text.endswith("*/")
    return kept


def test_a_page_keeps_one_copy_of_what_its_figures_share():
    figures = [example.make("word") for example in EXAMPLES.values() for _ in range(2)]
    before = {f"m{n}": record(figure) for n, figure in enumerate(figures)}
    after = share({"version_major": 2, "state": json.loads(json.dumps(before))}, "page")
    assert after["version_major"] == 2
    assert len(set(after["texts"])) == len(after["texts"])
    assert sum(text.startswith("//# figure.js") for text in after["texts"]) == 1
    assert sum(text.startswith("/*# figure.css") for text in after["texts"]) == 1
    for model, old in before.items():
        new = after["state"][model]
        for name in ("_esm", "_css"):  # no code is lost, nothing is added
            joined = "".join(after["texts"][n] for n in new["state"][name])
            assert joined.splitlines() == without_comments(old["state"][name])
            new["state"][name] = old["state"][name]
        assert new == json.loads(json.dumps(old))


def test_comments_stay_behind_and_what_only_looks_like_one_is_kept():
    code = """//# a.js
// Why.
let x = 1; // here
  /** Words,
   * and more. */
let y = "/* no comment */"; /* nor
a line of its own */
/* one */ let z = 2; /* two */
"""
    page = share({"state": {"m": {"model_name": "AnyModel", "state": {"_esm": code}}}}, "page")
    assert page["texts"] == [
        '//# a.js\nlet x = 1; // here\nlet y = "/* no comment */"; /* nor\na line of its own */\n'
        "/* one */ let z = 2; /* two */\n"
    ]


def test_a_state_that_is_too_heavy_stops_the_build_and_is_named():
    def page(size: int) -> dict:
        return {"state": {"m": {"model_name": "AnyModel", "state": {
            "_esm": "x" * 2_000_000, "_anywidget_id": "attnlib.figures.big.Big", "weights": "x" * size}}}}  # fmt: skip

    share(page(900_000), "book/07")  # code does not count: the page has it once
    with pytest.raises(ExtensionError, match=r"book/07: .*big\.Big weighs 1,0\d\d,\d\d\d bytes.* at most 1,000,000"):
        share(page(1_000_000), "book/07")


def placed(**options: str) -> dict:
    """The state of a figure that another page takes from chapter 3 with these options."""
    env = SimpleNamespace(note_dependency=lambda file: None)
    place = SimpleNamespace(document=SimpleNamespace(settings=SimpleNamespace(env=env)))
    read = {name: LiveFigure.option_spec[name](text) for name, text in options.items()}
    chapter = ["03_attention_step_by_step", "ScoreExplorer"]
    machine = SimpleNamespace(reporter=None)
    (node,) = LiveFigure("live-figure", chapter, read, [], 1, 0, "", place, machine).run()
    (state,) = [record["state"] for record in node["records"].values() if "words" in record["state"]]
    return state


def test_a_page_shows_a_figure_of_a_chapter_and_may_set_its_traits():
    as_stored = placed()
    assert as_stored == stored_figures("03", "ScoreExplorer")[0]
    assert as_stored["temperature"] == 1 and as_stored["questions"]
    assert placed(**{"with": '{"temperature": 2, "questions": []}'}) == {**as_stored, "temperature": 2, "questions": []}
    with pytest.raises(ExtensionError, match=r"ScoreExplorer of 03_\w+\.ipynb has no trait larg, smal"):
        placed(**{"with": '{"smal": true, "larg": 1}'})


def test_the_site_has_the_files_that_figures_load(tmp_path, monkeypatch):
    monkeypatch.setattr(live_figures, "MODELS", tmp_path / "none")
    config = SimpleNamespace(html_static_path=["assets"])
    live_figures.carry_models(None, config)
    assert config.html_static_path == ["assets"]
    monkeypatch.setattr(live_figures, "MODELS", tmp_path)
    for name in ("b.js", "a.js", "a.json"):
        (tmp_path / name).touch()
    live_figures.carry_models(None, config)
    assert config.html_static_path == ["assets", str(tmp_path / "a.js"), str(tmp_path / "b.js")]


def test_other_widgets_are_left_alone():
    slider = {"model_module": "@jupyter-widgets/controls", "model_name": "IntSliderModel", "state": {"value": 3}}
    assert share({"state": {"s": slider}}, "page") == {"state": {"s": slider}, "texts": []}

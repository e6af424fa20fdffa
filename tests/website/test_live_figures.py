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
from website.live_figures import share


def record(figure: Figure) -> dict:
    return {"model_module": "anywidget", "model_name": "AnyModel", "state": figure.get_state()}


ROOMS = (attnlib.figures, attnlib.course.figures)
OFFERED = {name: getattr(room, name) for room in ROOMS for name in room.__all__}


#: Where each figure is taught. It must be there, and may stand in other chapters too.
CHAPTERS = {
    "ScoreExplorer": ["03", "05"],
    "Translate": [],  # until the file of its translator is there
    "LookBack": ["06"],
    "MaskedSoftmaxLab": ["04"],
    "AlignmentView": ["07", "08", "10", "11"],
    "AttentionSurgery": ["07"],
    "CostCurve": ["09"],
    "CopyGate": ["10"],
    "FadingTrace": ["01"],
    "HeadGrid": ["12"],
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
        for name in ("_esm", "_css"):  # nothing is lost, nothing added
            assert "".join(after["texts"][n] for n in new["state"][name]) == old["state"][name]
            new["state"][name] = old["state"][name]
        assert new == json.loads(json.dumps(old))


def test_a_state_that_is_too_heavy_stops_the_build_and_is_named():
    def page(size: int) -> dict:
        return {"state": {"m": {"model_name": "AnyModel", "state": {
            "_esm": "x" * 2_000_000, "_anywidget_id": "attnlib.figures.big.Big", "weights": "x" * size}}}}  # fmt: skip

    share(page(900_000), "book/07")  # code does not count: the page has it once
    with pytest.raises(ExtensionError, match=r"book/07: .*big\.Big weighs 1,0\d\d,\d\d\d bytes.* at most 1,000,000"):
        share(page(1_000_000), "book/07")


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

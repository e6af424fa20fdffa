"""What the build does to the figures of a page (scripts/live_figures.py), and what all figures share in Python."""

import base64
import inspect
import io
import json
import re
import sys
import types
from pathlib import Path

import anywidget._util
import matplotlib.image
import numpy as np
import pytest
from sphinx.errors import ExtensionError

import attnlib.widgets
from attnlib.widgets.figure import Figure
from scripts.live_figures import share
from tests.figures import EXAMPLES
from tests.node import run_in_node

BOOK = Path(__file__).resolve().parents[1] / "book"
SYNCED = ("_esm", "_css")
VIEW = "application/vnd.jupyter.widget-view+json"


def record(figure: Figure) -> dict:
    return {"model_module": "anywidget", "model_name": "AnyModel", "state": figure.get_state()}


def test_every_figure_of_the_package_has_an_example():
    classes = {name for name, kind in inspect.getmembers(attnlib.widgets, inspect.isclass) if issubclass(kind, Figure)}
    assert classes == set(EXAMPLES) == set(attnlib.widgets.__all__)


#: Where each figure is taught. It must be there, and may stand in other chapters too.
CHAPTERS = {
    "ScoreExplorer": ["03", "05"],
    "MaskedSoftmaxLab": ["04"],
    "AlignmentView": ["07", "08", "10", "11"],
    "AttentionSurgery": ["07"],
    "CostCurve": ["09"],
    "CopyGate": ["10"],
    "HeadGrid": ["12"],
    "WhereItLooks": ["13"],
}


def stored_figures(chapter: str) -> dict[str, dict]:
    """The states of the figures in a chapter's notebook, by class."""
    (path,) = BOOK.glob(f"{chapter}_*.ipynb")
    widgets = json.loads(path.read_text("utf8"))["metadata"].get("widgets", {})
    states = [record["state"] for part in widgets.values() for record in part["state"].values()]
    return {state["_anywidget_id"].split(".")[-1]: state for state in states if "_anywidget_id" in state}


def test_every_figure_is_in_a_chapter():
    assert set(CHAPTERS) == set(attnlib.widgets.__all__)


@pytest.mark.parametrize(("name", "chapter"), [(name, c) for name, chapters in CHAPTERS.items() for c in chapters])
def test_the_chapter_shows_the_figure_of_this_tree(name, chapter):
    state, kind = stored_figures(chapter)[name], getattr(attnlib.widgets, name)
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
        for name in SYNCED:  # nothing is lost, nothing added
            assert "".join(after["texts"][n] for n in new["state"][name]) == old["state"][name]
            new["state"][name] = old["state"][name]
        assert new == json.loads(json.dumps(old))


def test_a_state_that_is_too_heavy_stops_the_build_and_is_named():
    def page(size: int) -> dict:
        return {"state": {"m": {"model_name": "AnyModel", "state": {
            "_esm": "x" * 2_000_000, "_anywidget_id": "attnlib.widgets.big.Big", "weights": "x" * size}}}}  # fmt: skip

    share(page(900_000), "book/07")  # code does not count: the page has it once
    with pytest.raises(ExtensionError, match=r"book/07: .*big\.Big weighs 1,0\d\d,\d\d\d bytes.* at most 1,000,000"):
        share(page(1_000_000), "book/07")


def test_other_widgets_are_left_alone():
    slider = {"model_module": "@jupyter-widgets/controls", "model_name": "IntSliderModel", "state": {"value": 3}}
    assert share({"state": {"s": slider}}, "page") == {"state": {"s": slider}, "texts": []}


@pytest.mark.parametrize("name", EXAMPLES)
class TestEveryFigure:
    def test_is_one_module_that_needs_nothing_else(self, name):
        """What Colab and VS Code ask of a figure, as far as it shows without them."""
        text = str(EXAMPLES[name].make("word")._esm)
        assert run_in_node(text, "typeof m.default.render", None) == "function"
        unsafe = r"^\s*import\b|\bimport\(|\beval\(|new Function|\.(innerHTML|outerHTML)\s*=|insertAdjacentHTML\("
        assert not re.search(unsafe, text, re.M)
        assert set(re.findall(r"https?://[^\s\"']+", text)) <= {"http://www.w3.org/2000/svg"}

    def test_state_is_json_and_light_enough_for_a_page(self, name):
        figure = EXAMPLES[name].make("word")
        share({"state": {"m": json.loads(json.dumps(record(figure)))}}, name)

    def test_picture_is_legible_and_always_the_same(self, name):
        one, other = (EXAMPLES[name].make("word")._repr_mimebundle_()[0]["image/png"] for _ in range(2))
        assert one == other
        pixels = matplotlib.image.imread(io.BytesIO(base64.b64decode(one)))[..., :3]
        assert (pixels.min(-1) > 0.99).mean() > 0.2, "no white paper"
        assert (pixels.min(-1) < 0.9).mean() > 0.01, "an empty picture"
        assert 300 < pixels.shape[1] < 1500 and len(base64.b64decode(one)) < 200_000

    def test_a_picture_follows_the_figure(self, name):
        example = EXAMPLES[name]
        figure = example.make("word")
        before = np.asarray(bytearray(base64.b64decode(figure._repr_mimebundle_()[0]["image/png"])))
        setattr(figure, example.trait, example.other)
        assert not np.array_equal(before, bytearray(base64.b64decode(figure._repr_mimebundle_()[0]["image/png"])))

    def test_text_for_places_without_pictures(self, name):
        one, other = (repr(EXAMPLES[name].make("word")) for _ in range(2))
        assert one == other and one.startswith(f"{name}(") and "0x" not in one

    def test_asks_colab_for_its_widget_manager(self, name, monkeypatch):
        """Colab loads figures that are not its own only when asked, and wants to be told so with every output."""
        asked = []
        output = types.SimpleNamespace(
            enable_custom_widget_manager=lambda: asked.append(True),
            _widgets=types.SimpleNamespace(_installed_url="https://example.org/manager"),
        )
        monkeypatch.setitem(sys.modules, "google.colab.output", output)
        anywidget._util.enable_custom_widget_manager_once.cache_clear()
        data, metadata = EXAMPLES[name].make("word")._repr_mimebundle_()
        assert asked == [True]
        assert metadata[VIEW]["colab"]["custom_widget_manager"]["url"] == "https://example.org/manager"
        assert {VIEW, "image/png", "text/plain"} == set(data)

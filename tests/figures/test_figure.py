"""What every live figure is in Python: one module, a light state, a picture, and a line of text."""

import base64
import io
import json
import math
import re
import sys
import types

import anywidget._util
import ipywidgets
import matplotlib.image
import numpy as np
import pytest
import torch
from IPython.core.formatters import DisplayFormatter
from traitlets import Int, List, TraitError, Unicode

from attnlib.figures.figure import Figure, fixed
from attnlib.figures.parameters import whole
from benchmarks.examples import EXAMPLES
from tests.node import run_in_node

VIEW = "application/vnd.jupyter.widget-view+json"

every_figure = pytest.mark.parametrize("name", EXAMPLES)


@every_figure
def test_is_one_module_that_needs_nothing_else(name):
    """What Colab and VS Code ask of a figure, as far as it shows without them."""
    text = str(EXAMPLES[name].make("word")._esm)
    assert run_in_node(text, "typeof m.default.render", None) == "function"
    unsafe = r"^\s*import\b|\bimport\(|\beval\(|new Function|\.(innerHTML|outerHTML)\s*=|insertAdjacentHTML\("
    assert not re.search(unsafe, text, re.M)
    assert set(re.findall(r"https?://[^\s\"']+", text)) <= {"http://www.w3.org/2000/svg"}


@every_figure
def test_state_is_json_and_light_enough_for_a_page(name):
    state = EXAMPLES[name].make("word").get_state()
    assert len(json.dumps({key: value for key, value in state.items() if key not in ("_esm", "_css")})) < 1_000_000


def picture(figure: Figure) -> bytes:
    return base64.b64decode(figure._repr_mimebundle_()[0]["image/png"])


@every_figure
def test_picture_is_legible_always_the_same_and_follows_the_figure(name):
    example = EXAMPLES[name]
    figure = example.make("word")
    drawn = picture(figure)
    assert drawn == picture(example.make("word"))
    pixels = matplotlib.image.imread(io.BytesIO(drawn))
    assert pixels[..., 3:].min(initial=1) == 1, "transparent paper, on which a dark page shines through"
    pixels = pixels[..., :3]
    assert (pixels.min(-1) > 0.99).mean() > 0.2, "no white paper"
    assert (pixels.min(-1) < 0.9).mean() > 0.01, "an empty picture"
    assert 300 < pixels.shape[1] < 3000 and len(drawn) < 400_000
    setattr(figure, *(("text", "abc") if name == "AttentionSurgery" else (example.trait, example.other)))
    assert picture(figure) != drawn


@every_figure
def test_text_for_places_without_pictures(name):
    one, other = (repr(EXAMPLES[name].make("word")) for _ in range(2))
    assert one == other and one.startswith(f"{name}(") and "0x" not in one


@every_figure
def test_asks_colab_for_its_widget_manager(name, monkeypatch):
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


@every_figure
def test_ipywidgets_7_does_not_show_it_in_its_own_way(name, monkeypatch):
    """Colab has ipywidgets 7, whose widgets have a method of display that IPython asks before all others."""
    monkeypatch.setattr(ipywidgets.Widget, "_ipython_display_", lambda self, **how: None, raising=False)
    data, _ = DisplayFormatter().format(EXAMPLES[name].make("word"))
    assert {VIEW, "image/png", "text/plain"} == set(data)


RESULTS = {
    "AlignmentView": ["weights", "gold_share", "gold_hits"],
    "AttentionSurgery": ["original", "output", "weights"],
    "CopyGate": ["output", "gates", "shares", "copy_weights"],
    "CostCurve": ["counts", "crossovers", "costs", "largest"],
    "HeadGrid": ["accuracy", "before"],
    "MaskedSoftmaxLab": ["weights", "verdicts"],
    "ScoreExplorer": ["score_values", "weights", "context"],
    "WhereItLooks": ["alpha", "looks_at", "hit"],
}


@every_figure
def test_what_is_computed_cannot_be_written(name):
    figure = EXAMPLES[name].make("word")
    for result in RESULTS[name]:
        with pytest.raises(TraitError, match=f'"{result}" trait is read-only'):
            setattr(figure, result, getattr(figure, result))


class Still(Figure):
    """Two traits, of which one is fixed."""

    words = List(Unicode()).tag(sync=True)
    step = Int(0).tag(sync=True)
    _check_fixed = fixed("words")


def test_what_is_fixed_can_be_set_only_when_the_figure_is_made():
    figure = Still(words=["a", "b"])
    figure.step, figure.words = 3, ["a", "b"]  # a browser sends back what it was given
    with pytest.raises(ValueError, match=r"^words is fixed when the figure is made: make another Still$"):
        figure.words = ["a"]
    assert (figure.step, figure.words) == (3, ["a", "b"])


@pytest.mark.parametrize("given", [0, 4, 4.0, np.int64(2), torch.tensor(2), torch.tensor([4.0], requires_grad=True)])
def test_whole_numbers_in_a_range(given):
    assert whole("step", given, 0, 4) == int(given)
    assert type(whole("step", given, 0, 4)) is int


@pytest.mark.parametrize("given", [-1, 5, 1.5, math.nan, math.inf, None, True, "2", [1, 2]])
def test_what_is_no_whole_number_in_a_range(given):
    message = f"step must be a whole number in 0..4 or None, got {given!r}"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        whole("step", given, 0, 4, " or None")

"""What every live figure is in Python: one module, a light state, a picture, and a line of text."""

import base64
import copy
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
from IPython.core.formatters import DisplayFormatter
from matplotlib.figure import Figure as Picture
from traitlets import Int, List, TraitError, Unicode

from attnlib.figures.figure import Figure, fixed
from attnlib.figures.page import VIEW
from benchmarks.examples import EXAMPLES, stored_figures
from tests.node import run_in_node

every_figure = pytest.mark.parametrize("name", EXAMPLES)
#: Each figure has tests of its own, which reach its lines.
pytestmark = pytest.mark.untraced


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


#: How many characters a figure of a chapter may add to its page, with its code.
LIGHT = {
    ("01", "FadingTrace"): 300_000, ("06", "LookBack"): 300_000, ("07", "AttentionSurgery"): 300_000,
    ("10", "CopyGate"): 500_000, ("13", "WhereItLooks"): 180_000,
}  # fmt: skip


@pytest.mark.parametrize(("chapter", "name"), LIGHT)
def test_the_figure_of_a_chapter_is_light(chapter, name):
    assert [len(json.dumps(state)) <= LIGHT[chapter, name] for state in stored_figures(chapter, name)] == [True]


def picture(figure: Figure) -> bytes:
    return base64.b64decode(figure._repr_mimebundle_()[0]["image/png"])


@pytest.mark.parametrize(
    "name",  # of the others, tests of their own look at the picture as well
    [pytest.param(name, marks=() if name == "ScoreExplorer" else pytest.mark.thorough) for name in EXAMPLES],
)
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
    setattr(figure, *(("text", "abc") if name in ("AttentionSurgery", "Translate") else (example.trait, example.other)))
    assert picture(figure) != drawn


@every_figure
def test_text_for_places_without_pictures(name):
    one, other = (repr(EXAMPLES[name].make("word")) for _ in range(2))
    assert one == other and one.startswith(f"{name}(") and "0x" not in one


@pytest.mark.parametrize("name", ["look.png", "look", "look.html.gz"])
def test_a_figure_is_saved_as_a_page_and_as_nothing_else(name, tmp_path):
    figure = EXAMPLES["CostCurve"].make("word")
    with pytest.raises(ValueError, match=rf"NAME\.html, got '.*{re.escape(name)}'; .*savefig"):
        figure.save(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def unseen(monkeypatch):
    """Make a figure whose picture is cheap to draw, for who does not look at it."""

    def make(name: str) -> Figure:
        figure = EXAMPLES[name].make("word")
        monkeypatch.setattr(type(figure), "picture", lambda self: Picture(figsize=(1, 1)))
        return figure

    return make


@every_figure
def test_asks_colab_for_its_widget_manager(name, unseen, monkeypatch):
    """Colab loads figures that are not its own only when asked, and wants to be told so with every output."""
    asked = []
    output = types.SimpleNamespace(
        enable_custom_widget_manager=lambda: asked.append(True),
        _widgets=types.SimpleNamespace(_installed_url="https://example.org/manager"),
    )
    monkeypatch.setitem(sys.modules, "google.colab.output", output)
    anywidget._util.enable_custom_widget_manager_once.cache_clear()
    data, metadata = unseen(name)._repr_mimebundle_()
    assert asked == [True]
    assert metadata[VIEW]["colab"]["custom_widget_manager"]["url"] == "https://example.org/manager"
    assert {VIEW, "image/png", "text/plain"} == set(data)


@every_figure
def test_ipywidgets_7_does_not_show_it_in_its_own_way(name, unseen, monkeypatch):
    """Colab has ipywidgets 7, whose widgets have a method of display that IPython asks before all others."""
    monkeypatch.setattr(ipywidgets.Widget, "_ipython_display_", lambda self, **how: None, raising=False)
    data, _ = DisplayFormatter().format(unseen(name))
    assert {VIEW, "image/png", "text/plain"} == set(data)


RESULTS = {
    "AlignmentView": ["weights", "gold_share", "gold_hits"],
    "AttentionSurgery": ["original", "output", "weights"],
    "CopyGate": ["output", "gates", "shares", "copy_weights"],
    "CostCurve": ["counts", "crossovers", "costs", "largest"],
    "FadingTrace": ["shares", "left_after", "chances", "moved"],
    "HeadGrid": ["accuracy", "before"],
    "LearnToAlign": ["history", "parameters"],
    "LookBack": ["alpha", "chances"],
    "MaskedSoftmaxLab": ["weights", "verdicts"],
    "OtherWeights": ["weights", "log_odds", "p", "answer", "distance", "farthest"],
    "ScoreExplorer": ["score_values", "weights", "context"],
    "Translate": ["pieces", "problem", "original", "output", "written", "weights", "found"],
    "WhereItLooks": ["alpha", "looks_at", "hit"],
}


@every_figure
def test_what_is_computed_cannot_be_written(name):
    figure = EXAMPLES[name].make("word")
    for result in RESULTS[name]:
        with pytest.raises(TraitError, match=f'"{result}" trait is read-only'):
            setattr(figure, result, getattr(figure, result))


#: What cannot be set, and what is said of it, in part.
REFUSED = {
    "AlignmentView": [
        ("step", 32, "step must be a whole number in 0..31, got 32"), ("step", -1, "0..31, got -1"),
        ("layer", 1, "layer must be a whole number in 0..0, got 1"), ("head", 1, '0..0 or "mean", got 1'),
        ("view", "map", "view 'map'"), ("model", "other", "'other'"), ("panels", [], "make another AlignmentView"),
    ],
    "AttentionSurgery": [
        ("edits", {0: [1.0]}, "edits of step 0 must have shape (32,)"), ("edits", {"a": [1.0] * 32}, "edits: a step"),
        ("step", -1, "step must be a whole number in 0..31, got -1"), ("step", 32, "step must be"),
        ("place", -1, "place must be a whole number in 0..31, got -1"), ("place", 32, "place must be"),
        ("shown", 0, "shown must be a whole number in 1..32, got 0"), ("shown", 33, "shown must be"),
    ],
    "CopyGate": [
        ("p_gen", 2.0, "p_gen must be a number in 0..1 or None, got 2.0"),
        ("step", 32, "step must be a whole number in 0..31, got 32"), ("step", -1, "0..31, got -1"),
    ],
    "CostCurve": [
        ("S", 0, "S must be a whole number in 1..32768, got 0"), ("T", 10**6, "T must be"),
        ("d", -1, "1..4096, got -1"), ("axis", "V", "unknown axis 'V'"),
        ("quantity", "seconds", "unknown quantity 'seconds'"),
    ],
    "FadingTrace": [
        ("word", 96, "word must be a whole number in 0..95, got 96"), ("word", -1, "0..95, got -1"),
        ("vocabulary", [], "vocabulary is fixed"), ("weights", {}, "weights is fixed"), ("longest", 1, "is fixed"),
        ("longest_word", 1, "is fixed"),
    ],
    "HeadGrid": [
        ("model", "none", "no model 'none'; there are 8 heads, 2 heads"), ("off", [9], "0..7, got 9"),
        ("example", 50, "0..49, got 50"), ("example", -1, "0..49, got -1"),
    ],
    "LearnToAlign": [
        ("task", "rhyme", "unknown task 'rhyme'"), ("models", [], "one or two models learn at once, got 0"),
        ("longest", 13, "longest must be a whole number in 4..12, got 13"), ("width", 9, "width is even"),
        ("rate", 0.0, "rate must be positive"), ("seed", -1, "0..10000, got -1"), ("until", -1, "0..100000, got -1"),
        ("at", -2, "-1..100000, got -2"), ("row", 101, "-1..100, got 101"), ("known_tasks", {}, "known_tasks is fixed"),
        ("known_models", {}, "known_models is fixed"), ("small", True, "small is fixed"),
    ],
    "LookBack": [
        ("position", 64, "position must be a whole number in 0..63, got 64"), ("position", -1, "0..63, got -1"),
        ("vocabulary", [], "vocabulary is fixed"), ("weights", {}, "weights is fixed"), ("longest", 1, "is fixed"),
        ("examples", [["a", "b"]], "examples is fixed"),
    ],
    "MaskedSoftmaxLab": [
        ("scores", [[1.0, 2.0]], "scores must keep the shape (32, 32), got (1, 2)"),
        ("lengths", [1, 1], "lengths must have shape (32,) for 32 rows, got (2,)"),
        ("fill", "nonsense", "unknown fill 'nonsense'"), ("precision", "half", "unknown precision 'half'"),
        ("scale", -1.0, "scale must be positive"), ("offset", math.inf, "offset must be finite"),
        ("row", 32, "row must be a whole number in 0..31, got 32"),
    ],
    "OtherWeights": [
        ("text", 2, "text must be a whole number in 0..1, got 2"), ("text", -1, "0..1, got -1"),
        ("edits", {2: [1.0]}, "edits: a text must be a whole number in 0..1, got 2"), ("edits", {"a": [1]}, "got 'a'"),
        ("edits", {1: [1.0]}, "edits of text 1 must have shape (5,) for 5 words, got (1,)"),
        ("edits", {1: [1, 1, 1, 1, -1]}, "edits of text 1 must not be negative"), ("edits", {1: [0] * 5}, "not all 0"),
        *((trait, [], f"{trait} is fixed") for trait in ("words", "own", "votes", "answers", "asked")),
        ("within", 0.1, "within is fixed"),
    ],
    "ScoreExplorer": [
        ("query", [1.0], "query must have shape (2,), got (1,)"), ("key", [[1.0, 2.0]], "key must have shape (32, 2)"),
        ("value", [[1.0, 2.0]], "value must have shape (32, 2)"), ("score", "nonsense", "unknown score 'nonsense'"),
        ("temperature", 0.0, "temperature must be positive"), ("valid_length", 33, "0..32, got 33"),
    ],
    "Translate": [
        ("edits", {0: [1.0]}, "edits of step 0 must have shape (30,) for 30 pieces"),
        ("edits", {32: [1.0] * 30}, "0..31, got 32"), ("edits", {0: [-1.0] * 30}, "must not be negative"),
        ("beams", 0, "beams must be a whole number in 1..5, got 0"), ("beams", 6, "1..5, got 6"),
        ("step", -1, "step must be a whole number in 0..31, got -1"), ("step", 32, "0..31, got 32"),
        ("place", 60, "place must be a whole number in 0..59, got 60"), ("shown", 0, "shown must be"),
        *((trait, value, f"{trait} is fixed") for trait, value in (
            ("examples", []), ("file", "x.js"), ("digest", "x"), ("size", 1), ("carried", {}))),
    ],
    "WhereItLooks": [
        ("scene", 3, "scene must be a whole number in 0..2, got 3"), ("scene", -1, "0..2, got -1"),
        ("step", 32, "step must be a whole number in 0..31, got 32"), ("step", -1, "0..31, got -1"),
        *((trait, [], f"{trait} is fixed") for trait in (
            "images", "sizes", "captions", "weights", "grid", "truth", "static", "boxes", "wrong", "static_wrong")),
    ],
}  # fmt: skip


def state(figure: Figure) -> dict:
    """What the page sees of a figure, and what is computed on this side; but no random number of a widget."""
    computed = {result: getattr(figure, result) for result in RESULTS[type(figure).__name__]}
    return copy.deepcopy(figure.get_state() | computed | {"layout": None})


@every_figure
def test_bad_assignment_is_refused_and_changes_nothing(name):
    figure = EXAMPLES[name].make("word")
    before = state(figure)
    for trait, value, words in REFUSED[name]:
        with pytest.raises(ValueError, match=re.escape(words)):
            setattr(figure, trait, value)
        assert state(figure) == before, (trait, value)


#: What a browser sends at once, of which one part may only be valid with another.
SENT = {
    "AlignmentView": [{"step": 5, "view": "lines", "model": "shifted"}],
    "AttentionSurgery": [{"text": "abc", "edits": {"0": [1.0, 0.0, 0.0]}, "step": 1}, {"text": "a", "edits": {}}],
    "CopyGate": [{"text": "please call Bo", "p_gen": 0.25, "everywhere": True}, {"p_gen": None}],
    "CostCurve": [{"axis": "T", "d": 64, "quantity": "numbers kept"}],
    "FadingTrace": [{"text": "abc de", "word": 1, "becomes": "f", "logarithmic": True}, {"word": 0}],
    "HeadGrid": [{"model": "2 heads", "off": [1]}, {"model": "8 heads", "off": [7, 2], "example": 4}],
    "LearnToAlign": [{"task": "sort", "models": ["dot"], "until": 30}, {"longest": 5, "rate": 0.02, "mask": False}],
    "LookBack": [{"text": "abc de", "position": 4}, {"text": "a", "position": 63}],
    "MaskedSoftmaxLab": [{"fill": "-inf", "row": 1, "lengths": [4] * 31 + [0]}],
    "OtherWeights": [{"text": 1, "edits": {"1": [0.0, 1.0, 0.0, 0.0, 0.0]}, "shuffles": 3}],
    "ScoreExplorer": [{"query": [-2.0, 0.0], "temperature": 0.5, "score": "location"}],
    "Translate": [
        {"text": "the", "edits": {"1": [1.0]}, "beams": 3},
        {"text": "a", "edits": {}, "step": 2, "shown": 3},
    ],
    "WhereItLooks": [{"scene": 1, "step": 4, "smooth": True, "show_boxes": True}],
}


@every_figure
def test_what_a_browser_sends_is_taken_over(name):
    """At once, and with the results of the same traits set one after the other."""
    sent, set_here, untouched = (EXAMPLES[name].make("word") for _ in range(3))
    for message in SENT[name]:
        sent.set_state(copy.deepcopy(message))
        for trait, value in message.items():
            setattr(set_here, trait, value)
    np.testing.assert_equal(state(sent), state(set_here))  # NaN is NaN
    moved = {key for key, value in state(sent).items() if value != state(untouched)[key]}
    # The one head of an AlignmentView's models is shown in any case; what LearnToAlign learns, only a page can say.
    assert moved & set(RESULTS[name]) or name in ("AlignmentView", "LearnToAlign")


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

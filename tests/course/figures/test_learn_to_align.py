"""LearnToAlign on the Python side: what it takes, and what comes back from the browser."""

import json

import pytest
import torch

from attnlib.course.figures.learn_to_align import MODELS, LearnToAlign
from tests.course.figures.test_lesson import LESSON
from tests.node import run_in_node

LEARNED = """(() => {
  const { task, kind, width, longest } = argument;
  const lesson = m.newLesson({ task, longest, width, kind, rate: 0.01, mask: true, seed: 1, sentence: [..."abc"] });
  for (let n = 0; n < 20; n++) lesson.learn();
  const parameters = Object.fromEntries(Object.entries(lesson.parameters()).map(([name, { rows, columns, data }]) =>
    [name, { shape: columns === 1 ? [rows] : [rows, columns], data: [...data] }]));
  return { parameters, look: lesson.look() };
})()"""


@pytest.mark.parametrize("name", MODELS)
def test_what_was_learned_in_the_page_is_a_model_of_attnlib(name):
    """It looks where the page says that it looks."""
    settings = {"task": "reverse", "width": 8, "longest": 5, "kind": MODELS[name]}
    learned = run_in_node(LESSON, LEARNED, settings)
    figure = LearnToAlign("reverse", models=["none", name], longest=5, width=8)
    figure.set_state({"parameters": json.loads(json.dumps([{}, learned["parameters"]]))})
    with pytest.raises(ValueError, match="nothing was learned yet"):
        figure.model(0)
    model = figure.model(1)
    ids = torch.tensor([[4, 5, 6]])  # abc
    written = [4 + ord(letter) - ord("a") for letter in learned["look"]["written"] if letter != "end"]
    with torch.no_grad():
        out = model(ids, torch.tensor([[1, *written]]))
    assert out.logits[0, : len(written)].argmax(-1).tolist() == written
    if MODELS[name]["score"]:
        weights = torch.tensor(learned["look"]["weights"])
        torch.testing.assert_close(out.weights[0, : len(weights)], weights, rtol=1e-3, atol=1e-5)
    else:
        assert learned["look"]["weights"] is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"task": "rhyme"}, "unknown task 'rhyme', known are copy, reverse"),
        ({"models": ["softest"]}, "unknown model 'softest', known are none, additive"),
        ({"models": []}, r"one or two models learn at once, got 0"),
        ({"models": ["dot"] * 3}, r"one or two models learn at once, got 3"),
        ({"longest": 3}, r"longest .*4\.\.12, got 3"),
        ({"width": 9}, "width is even, because the encoder reads in two directions; got 9"),
        ({"width": 80}, r"width .*8\.\.64, got 80"),
        ({"seed": -1}, r"seed .*got -1"),
        ({"rate": 0}, r"rate .*got 0"),
        ({"until": 100_001}, r"until .*0\.\.100000, got 100001"),
        ({"at": -2}, r"at .*-1\.\.100000, got -2"),
        ({"row": 101}, r"row .*-1\.\.100, got 101"),
    ],
)
def test_what_cannot_be_learned_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        for name, value in options.items():
            setattr(LearnToAlign(), name, value)


def test_a_model_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="there are 1 models, got n = 1"):
        LearnToAlign(models=["dot"]).model(1)


def test_the_picture_shows_how_far_the_models_have_come():
    figure = LearnToAlign(models=["dot", "none"])
    (ax,) = figure.picture().axes
    assert ax.get_title() == "write 3 to 8 letters backwards"
    words = "dot (Luong)\nand no attention:\nnothing is learned yet. Press Train."
    assert [text.get_text() for text in ax.texts] == [words]
    assert repr(figure) == "LearnToAlign('reverse', models=['dot', 'none'], steps=0)"
    history = [
        {"model": name, "loss": [3.0, 2.0], "step": [0, 1, 2], "right": right, "error": [1.0, 0.5, 0.2]}
        for name, right in (("dot", [0.0, 0.5, 1.0]), ("none", [0.0, 0.0, 0.1]))
    ]
    figure.set_state({"history": history})
    (ax,) = figure.picture().axes
    assert [line.get_ydata().tolist() for line in ax.lines] == [[0.0, 0.5, 1.0], [0.0, 0.0, 0.1]]
    assert [line.get_linestyle() for line in ax.lines] == ["-", "--"]
    assert [text.get_text() for text in ax.texts] == ["dot", "none"]
    assert repr(figure).endswith("steps=2)")
    figure.set_state({"at": 1, "rate": 0.02, "until": 5})
    assert figure.history == history
    figure.task = "sort"
    assert figure.history == figure.parameters == []


def test_the_page_loads_less_than_150_kilobytes_of_script():
    assert 20_000 < len(str(LearnToAlign._esm)) < 150_000

"""The bets about models that learn in the page: what they ask is learned here, in the page's own words, in node."""

import functools
import json

import pytest

from attnlib.course.bets import born, one_vector, order
from attnlib.course.figures import LearnToAlign
from attnlib.course.figures.learn_to_align import MODELS
from attnlib.figures.questions import checked
from tests.course.figures.test_lesson import LESSON
from tests.node import run_in_node

WIDTHS = (32, 16)  # of a screen, and of a small one

LEARN = """(() => {
  const lesson = m.newLesson(argument.settings);
  for (let n = 0; n < argument.until; n++) lesson.learn();
  return lesson.look();
})()"""


@functools.cache
def learned(settings: str, until: int) -> dict:
    return run_in_node(LESSON, LEARN, {"settings": json.loads(settings), "until": until})


def looks(question: dict, width: int, **changes) -> list[dict]:
    """What is seen of each model when the figure has shown the answer."""
    show = question["show"] | {"width": width, "sentence": None} | changes
    until, models = show.pop("until"), show.pop("models")
    return [learned(json.dumps(show | {"kind": MODELS[name]}, sort_keys=True), until) for name in models]


def rights(question: dict, width: int, **changes) -> list[float]:
    return [look["right"] for look in looks(question, width, **changes)]


@pytest.mark.parametrize("group", [one_vector, born, order])
def test_the_figure_has_all_that_is_shown(group):
    assert len(checked(group(), LearnToAlign.class_trait_names(sync=True))) == 3


@pytest.mark.thorough  # it trains
@pytest.mark.parametrize("width", WIDTHS)
def test_one_vector(width):
    first, short, copied = one_vector()
    none, attention = rights(first, width)
    assert none < 0.1 and attention > 0.6 and first["right"] == 1
    none, attention = rights(short, width)
    assert 0.05 < none < attention - 0.3 and short["right"] == 1
    assert copied["right"] == 1
    alone = {"models": ["none"], "until": copied["show"]["until"]}
    (copying,), (reversing,) = rights(copied, width, **alone), rights(first, width, **alone)
    assert copying <= reversing + 0.03


@pytest.mark.thorough  # it trains
@pytest.mark.parametrize("width", WIDTHS)
def test_born(width):
    free, unmasked, scaled = born()
    assert [question["right"] for question in born()] == [2, 1, 0]
    for question in (free, unmasked):
        assert all(look["error"] < 0.3 for look in looks(question, width)), question["ask"]
    dot, smaller = rights(scaled, width)
    assert dot > smaller + 0.1


@pytest.mark.thorough  # it trains
@pytest.mark.parametrize("width", WIDTHS)
def test_order(width):
    backwards, letters, sort = order()
    placed, bag = rights(backwards, width)
    assert placed > 0.5 and bag < 0.05 and backwards["right"] == 0
    _, said = looks(letters, width)
    assert letters["right"] == 2
    assert {*said["written"]} - {"end"} <= {*said["source"]} and said["written"][:-1] != said["target"]
    placed, bag = rights(sort, width)
    assert sort["right"] == 1 and 0.35 < bag < 2 * placed

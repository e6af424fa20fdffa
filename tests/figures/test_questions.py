"""Questions: what is taken, and what is refused in words."""

import re

import pytest

from attnlib.figures import CostCurve
from attnlib.figures.questions import checked

GOOD = {"ask": "1 + 1?", "answers": ["1", "2"], "right": 1, "because": "It is 2."}


def test_they_are_taken_as_they_are_and_as_copies():
    given = {**GOOD, "show": {"step": 3}}
    (taken,) = checked([given], ["step", "head"])
    assert taken == given and taken is not given and taken["answers"] is not given["answers"]
    assert checked([GOOD], [])[0]["show"] == {}
    assert checked([], []) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"answers": []}, "question 2 must have 2..4 answers in a list, got []"),
        ({"answers": ["one"]}, "2..4 answers"),
        ({"answers": list("abcde")}, "2..4 answers"),
        ({"answers": "ab"}, "2..4 answers in a list, got 'ab'"),
        ({"answers": ["1", "1"]}, "question 2: its answers must be different"),
        ({"answers": ["1", ""]}, "texts that say something, got ''"),
        ({"ask": " "}, "texts that say something, got ' '"),
        ({"because": None}, "texts that say something, got None"),
        ({"right": 2}, "question 2: right must be a whole number in 0..1, got 2"),
        ({"right": -1}, "0..1, got -1"),
        ({"right": True}, "0..1, got True"),
        ({"show": {"temperature": 1}}, "question 2: the figure has no trait 'temperature' to show; it has head, step"),
        ({"show": "step"}, "question 2: show must be a dictionary of traits, got 'step'"),
        ({"hint": "think"}, "question 2: 'hint' is unknown; its parts are answers, ask, because, right, show"),
    ],
)
def test_a_bad_one_is_refused_and_named(change, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        checked([GOOD, {**GOOD, **change}], ["step", "head"])


def test_what_is_missing_is_named():
    with pytest.raises(ValueError, match="question 1: 'because' is missing"):
        checked([{key: value for key, value in GOOD.items() if key != "because"}], [])
    with pytest.raises(ValueError, match="question 1 must be a dictionary of answers, ask, because, right, show"):
        checked(["1 + 1?"], [])


def curve(**how) -> CostCurve:
    return CostCurve({"numbers": {"one": {"part": [(1, {"S": 1})]}}}, **how)


def test_a_figure_takes_questions_when_it_is_made_and_later():
    shown = {"S": 3, "log": False}  # every widget has a `log`; that of this figure is its own
    figure = curve(questions=[{**GOOD, "show": shown}])
    assert figure.questions[0]["show"] == shown
    figure.questions = []
    assert figure.questions == curve().questions == []


@pytest.mark.parametrize("trait", ["questions", "layout", "_esm", "nonsense", "counts"])
def test_a_figure_can_only_show_what_moves(trait):
    with pytest.raises(ValueError, match=f"no trait '{trait}' to show; it has S, T, axis, "):
        curve(questions=[{**GOOD, "show": {trait: 1}}])

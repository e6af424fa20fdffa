"""The pictures of what survives training: a dot for each seed, where its value is, and the same in words."""

import re

import pytest

from attnlib.course.long_runs import Judged
from website.what_survives import in_words, picture

VALUES = {1: [0.5, 0.9], 4: [0.5, 0.5], 16: [0.1, 0.3]}
GAP = Judged("race", "cost", "gap", VALUES, [], 0.2, None, "learns later")


def test_values_and_bounds_are_said():
    assert in_words(GAP, 300) == (
        "0.5 to 0.9 after 300 steps, 0.5 after 1,200 steps, 0.1 to 0.3 after 4,800 steps; held to ≥ 0.2"
    )


def test_every_seed_is_a_dot_at_its_value_and_those_out_of_bounds_are_rings():
    svg = picture(GAP, 300)
    dots = re.findall(r'<circle class="(\w+)" cx="([\d.]+)" cy="([\d.]+)"', svg)
    assert [kind for kind, _, _ in dots] == ["kept"] * 4 + ["broken", "kept"]
    heights = [float(y) for _, _, y in dots]
    bound = float(re.search(r'class="bound".* y1="([\d.]+)"', svg)[1])
    # equal distances of values are equal distances on the page
    assert heights[0] - heights[1] == pytest.approx(2 * (bound - heights[5]) * 2, abs=0.3)
    assert heights[4] > bound > heights[5] > heights[0] == heights[2] == heights[3] > heights[1]
    assert re.findall(r"<text [^>]+>([\d,]+)<", svg) == ["300", "1,200", "4,800"]
    assert 'aria-label="0.5 to 0.9 after 300 steps' in svg


def test_an_upper_bound_and_values_that_are_all_alike():
    svg = picture(Judged("race", "cost", "gap", {1: [2.0], 4: [2.0], 16: [2.0]}, [], None, 2.0, "cannot"), 1)
    assert svg.count('class="kept"') == 3 and "broken" not in svg and "nan" not in svg
    assert 'class="broken"' in picture(Judged("race", "cost", "gap", {1: [2.1]}, [], None, 2.0, "cannot"), 1)

"""A claim is asserted, shown and recorded, and cannot hold by accident."""

import json
import math

import pytest
import torch

from attnlib.course import claims
from attnlib.course.claims import KEY, claim


@pytest.fixture
def shown(monkeypatch):
    shown = []
    monkeypatch.setattr(claims, "display", lambda thing: shown.append(thing._repr_mimebundle_()))
    return shown


def test_a_claim_that_holds_is_shown_and_recorded(shown):
    claim("bottleneck", "exact match", [0.5, 0.9, 0.75], at_least=0.5)
    ((data, metadata),) = shown
    assert data["text/plain"] == "✓ exact match: 0.75 (0.5 to 0.9)\n  held to ≥ 0.5"
    assert json.loads(json.dumps(metadata[KEY])) == {
        "claim": "bottleneck", "what": "exact match", "values": [0.5, 0.9, 0.75], "at_least": 0.5, "at_most": None,
        "verdict": None, "fails_if": None, "comparison": None,
    }  # fmt: skip


@pytest.mark.parametrize("values", [0.25, [0.25], torch.tensor(0.25), torch.tensor([[0.25]]), [torch.tensor(0.25)]])
def test_one_value_in_any_form(shown, values):
    claim("cost", "share", values, at_least=0.25, at_most=0.25)
    assert shown[0][0]["text/plain"] == "✓ share: 0.25\n  held to ≥ 0.25 and ≤ 0.25"
    assert shown[0][1][KEY]["values"] == (0.25,)


@pytest.mark.parametrize(
    ("values", "bounds"),
    [
        ([0.6, 0.49, 0.7], {"at_least": 0.5}),
        ([0.6, 0.51, 0.7], {"at_most": 0.65}),
        ([0.6, math.nan], {"at_least": 0.5}),
        ([0.1, math.nan], {"at_most": 0.5}),
        ([-0.1], {"at_least": 0}),  # a bound of 0 is a bound
    ],
)
def test_a_claim_that_one_value_breaks_fails_and_is_not_recorded(shown, values, bounds):
    with pytest.raises(AssertionError, match=r"scores: exact match must be in .*, measured"):
        claim("scores", "exact match", values, **bounds)
    assert shown == []


@pytest.mark.parametrize(
    ("values", "options", "words"),
    [
        ([0.5], {}, "nothing can refute: give 'exact match' a bound"),
        ([], {"at_least": 0.5}, "no value of 'exact match' was measured"),
        ([0.5], {"at_least": 0.5, "verdict": "never"}, "cannot, learns later, no difference found; got 'never'"),
    ],
)
def test_what_nothing_can_refute_is_no_claim(shown, values, options, words):
    with pytest.raises(ValueError, match=words):
        claim("scores", "exact match", values, **options)
    assert shown == []


def test_a_verdict_and_what_would_refute_it_are_kept(shown):
    claim("cost", "share", 0.5, at_least=0.25, verdict="learns later", fails_if="it were less")
    ((data, metadata),) = shown
    assert data["text/plain"] == "✓ share: 0.5\n  held to ≥ 0.25 · learns later · would fail if it were less"
    assert metadata[KEY]["fails_if"] == "it were less"

"""The ledger of claims is made of the runs, and is not made while one is missing."""

import json
import re
from pathlib import Path

import pytest
import yaml

from attnlib.course.long_runs import BUDGETS, Judged, LongRuns, Run
from website import claims_ledger
from website.claims_ledger import Gate, problems, recorded

ROOT = Path(__file__).resolve().parents[2]

CLAIMS = yaml.safe_load((ROOT / "book" / "claims.yml").read_text("utf8"))
NOTEBOOKS = sorted((ROOT / "book").glob("[0-9]*.ipynb"))


def notebook(path, *gates):
    outputs = [{"data": {"text/plain": "…"}, "metadata": {claims_ledger.KEY: gate}} for gate in gates]
    path.write_text(json.dumps({"cells": [{"cell_type": "markdown"}, {"outputs": [{"text": "x"}, *outputs]}]}))
    return path


def gate(**other):
    return {"claim": "cost", "what": "weights", "values": [3, 1, 2], "at_least": None, "at_most": 4.5, **other}


def test_gates_are_read_from_the_outputs(tmp_path):
    one = notebook(tmp_path / "03_step.ipynb", gate(), gate(claim="scores", at_least=0.0))
    two = notebook(tmp_path / "09_cost.ipynb", gate(values=[0.125]))
    found = recorded([one, two])
    assert found == {
        "cost": [
            Gate("03_step", "weights", [3, 1, 2], None, 4.5),
            Gate("09_cost", "weights", [0.125], None, 4.5),
        ],
        "scores": [Gate("03_step", "weights", [3, 1, 2], 0.0, 4.5)],
    }
    assert [g.measured() for g in found["cost"]] == ["2 (1 to 3)", "0.125"]
    assert found["scores"][0].held_to() == "≥ 0 and ≤ 4.5"


def test_a_ledger_with_a_hole_is_named(tmp_path):
    test = "tests/website/test_claims_ledger.py::test_a_ledger_with_a_hole_is_named"
    whole = {"says": "…", "slides": "S3", "chapters": [3, 9], "tests": [test]}
    gates = {"cost": [Gate("03_step", "w", [1], 1, None), Gate("09_cost", "w", [1], 1, None)]}
    assert problems({"cost": whole}, gates, ROOT) == []
    assert problems({"cost": whole}, {"cost": gates["cost"][:1]}, ROOT) == ["no run of chapter 9 has gated 'cost'"]
    assert problems({"cost": whole}, {}, ROOT) == [f"no run of chapter {n} has gated 'cost'" for n in (3, 9)]
    assert problems({}, gates, ROOT) == ["the chapters gate 'cost', which book/claims.yml does not know"]
    for gone in (f"{test}_gone", test.replace("claims", "gone"), test.split("::")[0]):
        assert problems({"cost": {**whole, "tests": [gone]}}, gates, ROOT) == [f"no such test for 'cost': {gone}"]
    for key in ("says", "slides", "tests"):
        assert problems({"cost": {**whole, key: ""}}, gates, ROOT) == [f"'cost' names no {key}"]


def test_the_margin_is_in_units_of_the_range():
    assert Gate("1", "w", [0.5, 0.7], 0.4, None).margin() == "0.5 ranges"
    assert Gate("1", "w", [0.5, 0.7], 0.4, 0.74).margin() == "0.2 ranges"
    assert Gate("1", "w", [0.5], None, 0.75).margin() == "0.25"


def test_a_verdict_that_the_runs_contradict_is_named(tmp_path):
    runs = LongRuns(tmp_path / "long.json")
    runs.begin("race", steps=10, grid=[0.1], seeds=[0], rates={"slow": 0.1})
    for budget in BUDGETS:
        runs.once("race", "slow", budget, 0.1, 0, lambda: Run(0.1, 0, dev=1.0, plateau=True, measured=1.0))
    runs.judge(Judged("race", "cost", "gap", {1: [1], 4: [1], 16: [0]}, ["slow"], 0.5, None, stated="cannot"))
    test = "tests/website/test_claims_ledger.py::test_a_ledger_with_a_hole_is_named"
    claims = {"cost": {"says": "…", "slides": "S3", "chapters": [3], "tests": [test]}}

    def found(**gate):
        return problems(claims, {"cost": [Gate("03_step", "gap", [1], 0.5, None, **gate)]}, ROOT, runs)

    assert found(verdict="cannot", comparison="race") == ["03_step says 'cannot' of 'gap', its runs say 'learns later'"]
    assert found(verdict="learns later", comparison="race") == []
    assert found(verdict="cannot", comparison="another") == [] and found() == []
    stated = {"comparison": "race", "verdict": "learns later"}
    words = [
        claims_ledger.what_became_of_it(Gate("03_step", "gap", [1], 0.5, None, **of), runs)
        for of in (stated, {**stated, "comparison": "another"}, {})
    ]
    assert words == ["learns later: gone at 160 steps", "learns later, by its chapter", "not trained longer"]


def test_the_rates_of_the_chapters_are_as_good_on_dev_as_any():
    for name, comparison in LongRuns(claims_ledger.LONG_RUNS).read().items():
        for arm, budgets in comparison["arms"].items():
            dev = {}
            for run in budgets["1"]:
                dev.setdefault(run["lr"], []).append(run["dev"])
            means = {lr: sum(losses) / len(losses) for lr, losses in dev.items()}
            # another processor may prefer the next rate by a hair
            assert means[comparison["rates"][arm]] <= min(means.values()) + 0.02, (name, arm, means)


def test_the_ledger_of_the_book_is_whole():
    assert problems(CLAIMS, recorded(NOTEBOOKS), ROOT) == []


def test_every_chapter_but_the_last_is_in_it():
    chapters = {chapter for claim in CLAIMS.values() for chapter in claim["chapters"]}
    assert chapters == set(range(1, 15))  # the slides say nothing on the last
    assert set(" ".join(claim["slides"] for claim in CLAIMS.values()).split()) == {"S0", "S1", "S2", "S3", "S4"}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_recorded_value_keeps_its_bounds_and_reads_alone(path):
    for g in (g for gates in recorded([path]).values() for g in gates):
        low = -float("inf") if g.at_least is None else g.at_least
        high = float("inf") if g.at_most is None else g.at_most
        assert all(low <= v <= high for v in g.values), g
        assert len(g.what) <= 90 and not re.match(r"(?i)the same|it\b|this\b", g.what), g.what

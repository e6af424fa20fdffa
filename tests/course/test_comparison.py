"""The protocol of a fair comparison: rates are chosen on dev, each arm and seed is run, verdicts follow the runs."""

import math
import re

import numpy as np
import pytest
import torch
from torch import nn

from attnlib.course import claims, comparison
from attnlib.course.comparison import compare, recording
from attnlib.course.long_runs import CANNOT, LATER, SAME, Judged, LongRuns, Run, best_rate, has_plateau
from attnlib.training import History

GRID = (0.1, 0.2, 0.3)
BEST = {"slow": 0.2, "quick": 0.3}  # on dev; on test each is best at 0.1


class Trained(nn.Module):
    def __init__(self, measured):
        super().__init__()
        self.weight, self.measured = nn.Parameter(torch.ones(3, 2)), measured


class Arms:
    """A training that costs nothing, and remembers what was asked of it."""

    def __init__(self, still_learning=()):
        self.asked, self.still_learning = [], still_learning

    def __call__(self, arm, seed, lr, steps):
        self.asked.append((arm, seed, lr, steps))
        if lr == 0.1 and arm == "quick":
            raise ValueError("the loss is nan at step 3: the learning rate 0.1 may be too high")
        dev = abs(lr - BEST[arm]) + 0.01 * seed
        right = {"slow": min(1.0, steps / 160), "quick": 1.0}[arm] - seed / 64
        last = dev - 0.5 if {arm, (arm, seed)} & set(self.still_learning) else dev
        history = History(train_loss=[1.0] * steps, tokens=7 * steps, valid_loss=[dev + 1, dev, last], seconds=0.5)
        return Trained([right if lr == BEST[arm] else 2.0, 5.0]), history


def run(train, arms=("slow", "quick"), **options):
    options = {"steps": 10, "grid": GRID, **options}
    return compare("race", arms, train, lambda model: model.measured, **options)


def broken(*_):
    raise ValueError("need tokens (B, T)")


def without_dev(*_):
    return Trained(0), History(train_loss=[1.0])


@pytest.fixture
def shown(monkeypatch):
    shown = []
    monkeypatch.setattr(claims, "display", lambda gate: shown.append(gate))
    return shown


def test_each_arm_gets_the_rate_that_dev_prefers():
    found = run(Arms())
    assert found.rates == BEST
    np.testing.assert_allclose(found.results["quick"], [[1, 5], [63 / 64, 5], [62 / 64, 5]])
    assert [model.measured[0] for model in found.models["slow"]] == [4 / 64, 3 / 64, 2 / 64]
    assert [len(history.train_loss) for history in found.histories["slow"]] == [10, 10, 10]


def test_chosen_rates_are_not_searched_again():
    train = Arms()
    run(train, rates=BEST)
    assert train.asked == [(arm, seed, BEST[arm], 10) for arm in BEST for seed in (0, 1, 2)]


def test_the_table_says_what_was_equal_and_what_came_out():
    found = run(Arms(), rates=BEST)
    assert found.table("right", 0).data.splitlines()[2:] == [
        "| slow | 6 | 0.2 | 10 | 70 | 0.03–0.06 |",
        "| quick | 6 | 0.3 | 10 | 70 | 0.97–1.00 |",
    ]
    assert found.table("five", 1).data.endswith("| 5.00 |")
    axes = found.dots("share right", 0)
    assert [text.get_text() for text in axes.get_yticklabels()] == ["slow", "quick"]
    assert axes.lines[0].get_xdata().tolist() == [4 / 64, 3 / 64, 2 / 64] and axes.get_xlabel() == "share right"


@pytest.mark.parametrize(
    ("call", "fragments"),
    [
        (lambda: run(Arms(), grid=(0.1, 0.2)), ["three rates", "[0.1, 0.2]"]),
        (lambda: run(Arms(), seeds=(0, 1)), ["three seeds", "[0, 1]"]),
        (lambda: run(Arms(), rates={"slow": 0.2}), ["['slow', 'quick']", "{'slow': 0.2}"]),
        (lambda: run(Arms(), rates={"slow": 0.2, "quick": 0.4}), ["0.4", "[0.1, 0.2, 0.3]"]),
        (lambda: run(Arms(), arms=[]), ["need an arm"]),
        (lambda: run(Arms(), budgets=(2, 4)), ["begin with 1", "(2, 4)"]),
        (lambda: run(Arms(), budgets=(1, 8, 4)), ["begin with 1 and grow", "(1, 8, 4)"]),
        (lambda: run(Arms(), kept=True), ["race: what is kept", "['slow', 'quick']"]),
        (lambda: run(broken), ["need tokens"]),  # which is no rate that diverged
        (lambda: run(without_dev, rates=BEST), ["race, slow: ", "dev"]),
        (lambda: best_rate({1.0: [3, math.inf]}, "arm"), ["arm: every rate of [1.0] diverged"]),
        (lambda: best_rate({}, "arm"), ["arm: no rate has been run"]),
        (lambda: has_plateau([1, 1]), ["got 2"]),
    ],
)
def test_what_is_no_fair_comparison_is_refused(call, fragments):
    with pytest.raises(ValueError) as refused:
        call()
    assert all(fragment in str(refused.value) for fragment in fragments)


def test_a_rate_that_diverged_is_not_best_and_a_plateau_is_a_last_third_without_a_lower_loss():
    assert best_rate({1.0: [3, 4], 2.0: [2, 4.5], 3.0: [0, math.inf]}, "arm") == 2.0
    assert Run(0.1, 0).dev == math.inf and not Run(0.1, 0).plateau
    assert has_plateau([9, 5, 4, 3, 2, 1, 1, 1, 0.995])
    assert not has_plateau([9, 5, 4, 3, 2, 1, 1, 1, 0.98])
    assert has_plateau([9, 1, 8, 8, 8, 8]) and not has_plateau([9, 1, 1, 1, 0.5, 1])


def slower(results):
    return results["quick"][:, 0] - results["slow"][:, 0]


def claim_it(comparison, at_least=0.5, verdict=LATER):
    comparison.claim("cost", "quick - slow", slower, at_least=at_least, verdict=verdict, fails_if="slow is quick")


def asked_of(lr_of):
    """What `make long` trains: everything at 1× and 4×, and at 16× the rates of each arm in `lr_of`."""
    rates = {1: dict.fromkeys(BEST, GRID), 4: dict.fromkeys(BEST, GRID), 16: lr_of}
    return [(a, s, lr, 10 * b) for b in rates for a in BEST for lr in rates[b][a] for s in (0, 1, 2)]


def test_the_longest_budget_leaves_out_rates_that_stopped_behind_the_best(tmp_path):
    with recording(tmp_path / "long.json"):
        run(improving := Arms([("slow", 1)]), rates=BEST)
    every = asked_of({"slow": GRID, "quick": [0.3]})  # at 0.1 quick diverges
    assert sorted(improving.asked) == sorted(every)


def test_make_long_runs_every_rate_seed_and_budget_once(tmp_path, shown):
    train = Arms()
    with recording(tmp_path / "long.json") as record:
        claim_it(run(train, rates=BEST))
    asked = train.asked[6:]  # behind those of the chapter
    every = asked_of({arm: [lr] for arm, lr in BEST.items()})
    assert asked == [one for one in every if one not in train.asked[:6]]
    assert record.chosen("race", "quick", 16)[0] == 0.3
    assert record.read()["race"]["rates"] == BEST
    (judged,) = record.claims()
    assert {b: np.round(v, 4).tolist() for b, v in judged.values.items()} == {
        1: [0.9375] * 3, 4: [0.75] * 3, 16: [0.0] * 3
    }  # fmt: skip
    assert record.words(judged) == "learns later: gone at 160 steps"
    assert shown[0].comparison == "race" and shown[0].verdict == LATER


@pytest.mark.parametrize("kept", [False, True])
def test_a_comparison_may_state_how_long_it_trains(tmp_path, shown, kept):
    train = Arms(still_learning=["quick"])
    with recording(tmp_path / "long.json") as record:
        claim_it(run(train, rates=BEST, budgets=(1, 8), kept=kept))
    longer = [one for one in train.asked if one[3] == 80]
    assert {(arm, lr) for arm, _, lr, _ in longer} == {("slow", 0.2), ("quick", 0.2), ("quick", 0.3)}  # 0.1 diverged
    assert {steps for _, _, _, steps in train.asked} == {10, 80}
    (judged,) = record.claims()
    assert {b: np.round(v, 4).tolist() for b, v in judged.values.items()} == {1: [0.9375] * 3, 8: [0.5] * 3}
    assert judged.ended is None and not record.at_plateau(judged)
    assert record.words(judged) == "learns later: not yet after 80 steps, and still improving"


def test_a_comparison_of_one_budget_runs_its_grid(tmp_path):
    with recording(tmp_path / "long.json"):
        run(train := Arms(), rates=BEST, budgets=(1,))
    assert sorted(train.asked[6:]) == sorted((a, s, lr, 10) for a in BEST for lr in GRID for s in (0, 1, 2)
                                             if lr != BEST[a])  # fmt: skip


@pytest.mark.parametrize(
    ("of", "arms"),
    [
        (slower, ["slow", "quick"]),
        (lambda results: results["quick"][:, 0], ["quick"]),
        (lambda results: [run[0] for runs in results.values() for run in runs], ["slow", "quick"]),
    ],
)
def test_a_claim_is_about_the_arms_that_it_reads(tmp_path, shown, of, arms):
    with recording(tmp_path / "long.json") as record:
        run(Arms(), rates=BEST).claim("cost", "…", of, at_least=0, verdict=CANNOT, fails_if="…")
    assert [judged.arms for judged in record.claims()] == [arms]


def test_a_claim_may_name_the_arms_that_could_end_it(tmp_path, shown):
    with recording(tmp_path / "long.json") as record:
        for rivals in ([], ["slow"]):
            run(Arms(["quick"]), rates=BEST).claim(
                "cost", "…", lambda of: of["quick"][:, 0], rivals=rivals, at_least=0, verdict=CANNOT, fails_if="…"
            )
            (judged,) = record.claims()
            assert judged.arms == rivals and record.verdict(judged) == CANNOT


def test_a_claim_of_models_is_judged_by_models_of_every_budget(tmp_path, shown):
    def claim_models(comparison):
        comparison.claim(
            "cost", "quick - slow, by the models", models=True, at_least=0.5, verdict=LATER, fails_if="…",
            of=lambda models: np.subtract(*([model.measured[0] for model in models[arm]] for arm in ("quick", "slow"))),
        )  # fmt: skip

    first, later = Arms(), Arms()
    with recording(tmp_path / "long.json") as record:
        claim_models(run(first, rates=BEST))
    (judged,) = record.claims()
    assert {b: np.round(v, 4).tolist() for b, v in judged.values.items()} == {
        1: [0.9375] * 3, 4: [0.75] * 3, 16: [0.0] * 3
    }  # fmt: skip
    assert judged.arms == ["slow", "quick"] and shown[0].values == tuple(judged.values[1])
    asked = len(first.asked)
    with recording(tmp_path / "long.json") as record:
        claim_models(run(later, rates=BEST))
    assert [again.values for again in record.claims()] == [judged.values]
    # what an earlier process has trained is trained again, with the chosen rates only
    assert asked == 42 and len(later.asked) == 18 and {lr for _, _, lr, _ in later.asked} == set(BEST.values())


def test_a_claim_about_an_arm_that_is_not_there_says_which_there_are(tmp_path):
    with recording(tmp_path / "long.json"), pytest.raises(KeyError, match="'fast' is no arm of"):
        run(Arms(), rates=BEST).claim("cost", "…", lambda of: of["fast"], at_least=0, verdict=LATER, fails_if="…")


def test_a_run_that_was_stopped_goes_on_and_other_settings_begin_anew(tmp_path, shown):
    path = tmp_path / "long.json"
    with recording(path):
        run(Arms(), rates=BEST)
        content = LongRuns(path).read()
    with LongRuns(path).changing() as stopped:
        lost = stopped["race"]["arms"]["quick"]["16"].pop(1)
    again = Arms()
    with recording(path) as record:
        claim_it(run(again, rates=BEST))
    assert again.asked[6:] == [("quick", lost["seed"], lost["lr"], 160)]
    assert record.read()["race"]["arms"]["slow"] == content["race"]["arms"]["slow"]
    other = Arms()
    with recording(path) as record:
        run(other, rates=BEST, steps=20)
    assert len(other.asked) == 42 and record.claims() == []


def test_a_grid_that_grew_keeps_its_runs_and_one_that_shrank_drops_those_of_lost_rates(tmp_path):
    with recording(tmp_path / "long.json"):
        run(Arms(), rates=BEST)
    wider = Arms()
    with recording(tmp_path / "long.json"):
        run(wider, rates=BEST, grid=[*GRID, 0.5])
    assert {lr for _, _, lr, steps in wider.asked[6:]} == {0.5}
    with recording(tmp_path / "long.json") as record:
        run(Arms(), rates=BEST)
    arms = record.read()["race"]["arms"].values()
    assert {one["lr"] for budgets in arms for runs in budgets.values() for one in runs} == set(GRID)


def test_a_rate_that_has_not_run_with_every_seed_is_not_chosen(tmp_path):
    with recording(tmp_path / "long.json") as record:
        run(Arms(), rates=BEST)
    with record.changing() as stopped:
        runs = stopped["race"]["arms"]["slow"]["16"]
        runs.append({**runs[0], "lr": 0.3, "dev": -1.0})
    best, chosen = record.chosen("race", "slow", 16)
    assert best == BEST["slow"] and [one.seed for one in chosen] == [0, 1, 2]


def test_what_is_kept_is_trained_by_make_long_and_read_by_the_chapter(tmp_path, monkeypatch, shown):
    train, unused = Arms(), Arms()
    with recording(tmp_path / "long.json") as record:
        claim_it(run(train, rates=BEST, kept=True))
    assert train.asked == asked_of({arm: [lr] for arm, lr in BEST.items()})
    monkeypatch.setattr(comparison, "LONG_RUNS", tmp_path / "long.json")
    claim_it(found := run(unused, rates=BEST, kept=True))
    assert unused.asked == [] and found.models == {} and found.rates == BEST
    assert shown[0].values == shown[1].values == tuple(record.claims()[0].values[1])
    assert [one.valid for one in found.runs["quick"]] == [[d + 1, d, d] for d in (0, 0.01, 0.02)]
    for name, options, fragment in (
        ("race", {"steps": 11}, "{'steps': 11}, kept is {'steps': 10}"),
        ("race", {"grid": [0.2, 0.3, 0.4]}, "kept is {'grid': [0.1, 0.2, 0.3]}"),
        ("run", {}, "kept is nothing"),
    ):
        with pytest.raises(ValueError, match=re.escape(fragment)):
            compare(name, list(BEST), unused, len, **{"steps": 10, "grid": GRID, "rates": BEST, **options}, kept=True)


def test_outside_of_a_recording_only_the_chapter_is_run(tmp_path):
    with recording(tmp_path / "long.json"):
        pass
    train = Arms()
    run(train, rates=BEST)
    assert len(train.asked) == 6 and not (tmp_path / "long.json").exists()


@pytest.mark.parametrize(
    ("later", "still_learning", "stated", "verdict", "words"),
    [
        ({}, (), CANNOT, CANNOT, "cannot"),
        ({}, ("slow",), CANNOT, LATER, "learns later: not yet after 160 steps, and"),
        ({}, (("slow", 1),), CANNOT, LATER, "learns later: not yet after 160 steps, and"),
        ({}, ("quick",), CANNOT, CANNOT, "cannot"),
        ({4: [1, 0.4]}, (), CANNOT, LATER, "learns later: gone at 40 steps"),
        ({16: [0.4]}, (), LATER, LATER, "learns later: gone at 160 steps"),
        ({}, ("slow",), SAME, SAME, "no difference found"),
        ({16: [0.4]}, (), SAME, LATER, "learns later: gone at 160 steps"),
        ({4: [1.6]}, (), SAME, LATER, "learns later: gone at 40 steps"),
        ({4: [math.nan]}, (), SAME, LATER, "learns later: gone at 40 steps"),
    ],
)
def test_the_verdict_follows_from_the_runs(tmp_path, shown, later, still_learning, stated, verdict, words):
    with recording(tmp_path / "long.json") as record:
        run(Arms(still_learning), rates=BEST)
    values = {1: [1], 4: [1], 16: [1]} | later
    judged = Judged("race", "cost", "…", values, ["slow"], at_least=0.5, at_most=1.5, stated=stated)
    assert record.verdict(judged) == verdict
    assert record.words(judged).startswith(words)

"""The laboratory: arms learn as they are told to, and everything is written down."""

import math
import statistics

import numpy as np
import pytest

from attnlib.course.laboratory import CHECKPOINTS, Arm, Lab


def test_an_arm_learns_along_its_s():
    arm = Arm(ceiling=0.8, needs=100, rate=1e-2, forgets=0.1, diverges=1.0)
    assert arm.share(1e-2, 100) == pytest.approx(0.4)
    assert arm.share(1e-2, 300) == pytest.approx(0.8 * 9 / 10)
    assert arm.share(3e-2, 900) == arm.share(1e-2 / 3, 900) == pytest.approx(0.4)
    assert arm.share(1e-2, 400) - arm.share(1e-2, 1600) == pytest.approx(0.8 * (16 / 17 - 256 / 257) + 0.2)
    assert arm.share(1.0, 1e9) == 0


def test_luck_belongs_to_the_seed_and_noise_to_the_look():
    lab = Lab({"lucky": Arm(luck=0.05), "noisy": Arm(luck=0, noise=0.05)}, steps=1200)
    shares = {}
    for arm in lab.arms:
        runs = [lab.train(arm, seed, 1e-2, 1200) for seed in range(200)]
        shares[arm] = [lab.test(run) for run in runs]
        ideal = 0.95 / (1 + (100 / 1200) ** 2)
        assert statistics.fmean(shares[arm]) == pytest.approx(ideal, abs=0.01)
        assert statistics.stdev(shares[arm]) == pytest.approx(0.05, abs=0.015)
        on_dev = [1 - run.dev[-1] / 2 for run in runs]
        if arm == "lucky":
            assert on_dev == pytest.approx(shares[arm])
        else:
            assert abs(statistics.correlation(on_dev, shares[arm])) < 0.25
    assert lab.test(lab.train("noisy", 3, 1e-2, 1200)) == shares["noisy"][3]


def test_numbers_of_numpy_give_the_run_of_plain_ones():
    lab = Lab({"a": Arm(noise=0.05)})
    plain, numpy = lab.train("a", 1, 1e-2, 400), lab.train("a", np.int64(1), np.float64(1e-2), 400)
    assert plain == numpy and lab.test(plain) == lab.test(numpy)


def test_a_run_says_what_it_has_cost_and_how_dev_fell():
    lab = Lab({"a": Arm(luck=0, tokens=64, parameters=9), "b": Arm(diverges=1e-2)}, steps=240)
    run = lab.train("a", seed=1, lr=1e-2, steps=240)
    assert (run.arm, run.seed, run.lr, run.steps, run.tokens) == ("a", 1, 1e-2, 240, 240 * 64)
    assert run.dev == pytest.approx([2 - 2 * Arm().share(1e-2, 20 * k) for k in range(1, CHECKPOINTS + 1)])
    assert lab.test(run, 2) == pytest.approx(Arm().share(1e-2, 60)) and lab.test(run) == lab.test(run, 11)
    lost = lab.train("b", 0, 3e-2, 240)
    assert lost.dev == (math.inf,) * CHECKPOINTS and lab.test(lost) == 0
    assert lab.trained == [run, lost] and [(look.run, look.at) for look in lab.tested] == [
        (run, 2), (run, 11), (run, 11), (lost, 11)
    ]  # fmt: skip
    assert [look.share for look in lab.tested[-2:]] == [lab.test(run), 0]
    assert lab.tokens == {"a": 64, "b": 1024} and lab.parameters == {"a": 9, "b": 10_000}
    assert lab.rates == {"a": 1e-2, "b": 3e-3} and repr(lab) == "Lab(a, b)"


@pytest.mark.parametrize(
    ("of", "fragments"),
    [
        (("c", 0, 1e-2, 100), ["'c'", "['a', 'b']"]),
        (("a", "b", 1e-2, 100), ["whole number", "seed", "'b'"]),
        (("a", 1.5, 1e-2, 100), ["whole number", "seed", "1.5"]),
        (("a", 0, 0.0, 100), ["above 0", "0.0"]),
        (("a", 0, 1e-2, 11), ["12 or more", "11"]),
        (("a", 0, 1e-2, 99.5), ["whole number", "99.5"]),
    ],
)
def test_what_cannot_be_trained_is_refused(of, fragments):
    lab = Lab({"a": Arm(), "b": Arm()})
    with pytest.raises(ValueError) as refused:
        lab.train(*of)
    assert all(fragment in str(refused.value) for fragment in fragments) and lab.trained == []


def test_there_are_twelve_checkpoints():
    lab = Lab({"a": Arm()})
    with pytest.raises(IndexError):
        lab.test(lab.train("a", 0, 1e-2, 100), CHECKPOINTS)
    assert lab.tested == []

"""The list of seeded bugs fits the package, and a few of them, from every kind of promise, die."""

import subprocess
import sys

import pytest

from tests import mutants
from tests.mutants import MUTANTS, ROOT, Mutant, mutated, survivors


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_bug_fits_the_package(mutant):
    text = mutated(mutant)
    assert text != (ROOT / "attnlib" / mutant.file).read_text("utf8")
    assert (ROOT / "tests" / mutant.tests).exists()


def test_bugs_are_told_apart_and_reach_every_part():
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 30
    assert len({(mutant.file, mutant.old, mutant.new) for mutant in MUTANTS}) == len(MUTANTS)
    needed = {"scores.py", "attention.py", "rnn_lm.py", "training.py", "metrics.py", "data/batching.py"}
    assert needed <= {mutant.file for mutant in MUTANTS}


def test_a_few_bugs_die():
    names = ["loss over padding only", "bits for nats"]
    result = subprocess.run(
        [sys.executable, "tests/mutants.py", *names], cwd=ROOT, capture_output=True, text=True, encoding="utf8"
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert "2 of 2 bugs killed" in result.stdout


def test_survivor_is_reported(monkeypatch, capsys):
    harmless = Mutant("harmless", "metrics.py", "touch.", "reach.", "test_metrics.py")
    monkeypatch.setattr(mutants, "MUTANTS", [harmless])
    assert mutants.main([]) == 1
    assert capsys.readouterr().out.endswith("0 of 1 bugs killed\nSURVIVED: harmless\n")


def test_bug_that_does_not_fit_is_an_error():
    for old, new, message in (
        ("no such line", "", "occurs 0 times"),
        ("import", "", "times"),
        ("import math", "(", "no Python"),
    ):
        with pytest.raises(ValueError, match=message):
            survivors([Mutant("odd", "metrics.py", old, new, "test_metrics.py")])
    assert mutants.main(["no such name"]) == 1


def test_copy_that_is_not_under_test_is_an_error(tmp_path):
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_nothing.py").write_text("def test_nothing():\n    assert True\n")
    with pytest.raises(RuntimeError, match="did not run on the copy"):
        mutants.passes(tmp_path, ["test_nothing.py"])

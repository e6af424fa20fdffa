"""The list of seeded bugs fits the package, and a few of them die."""

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


def test_bugs_die_and_a_survivor_is_reported(monkeypatch, capsys):
    deadly = [mutant for mutant in MUTANTS if mutant.name in ("loss over padding only", "bits for nats")]
    harmless = Mutant("harmless", "metrics.py", "touch.", "reach.", "test_metrics.py")
    monkeypatch.setattr(mutants, "MUTANTS", [*deadly, harmless])
    assert mutants.main([]) == 1
    assert capsys.readouterr().out.endswith("2 of 3 bugs killed\nSURVIVED: harmless\n")


def test_command_says_when_there_is_nothing_to_do():
    command = [sys.executable, "tests/mutants.py", "no such name"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 1
    assert result.stdout == "no bug has one of ['no such name'] in its name\n"


def test_bug_that_does_not_fit_is_an_error():
    for old, new, message in (
        ("no such line", "", "occurs 0 times"),
        ("import", "", "times"),
        ("import math", "(", "no Python"),
    ):
        with pytest.raises(ValueError, match=message):
            survivors([Mutant("odd", "metrics.py", old, new, "test_metrics.py")])


def test_copy_that_is_not_under_test_is_an_error(tmp_path):
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_nothing.py").write_text("def test_nothing():\n    assert True\n")
    with pytest.raises(RuntimeError, match="did not run on the copy"):
        mutants.passes(tmp_path, ["test_nothing.py"])

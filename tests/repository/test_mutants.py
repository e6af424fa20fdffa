"""The list of seeded bugs fits the package, and a few of them die."""

import pytest

from tests import mutants
from tests.bugs import Bug, every_bug
from tests.mutants import ROOT, mutated, survivors

BUGS = every_bug()


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_bug_fits_the_package(bug):
    text = mutated(bug)
    assert text != (ROOT / "attnlib" / bug.file).read_text("utf8")
    file, _, test = bug.tests.partition("[")[0].partition("::")
    tests = (ROOT / "tests" / file).read_text("utf8")
    assert not test or f"\ndef {test}(" in tests


def test_bugs_are_told_apart_and_reach_every_module():
    assert len({bug.name for bug in BUGS}) == len(BUGS) >= 40
    assert len({(bug.file, bug.old, bug.new) for bug in BUGS}) == len(BUGS)
    package = ROOT / "attnlib"
    modules = {path.relative_to(package).as_posix() for path in package.rglob("*.py")}
    unseeded = {name for name in modules if name.endswith(("__init__.py", "version.py"))}
    unseeded |= {"data/cards.py"}  # two tuples
    # commands, tested in clones of the repository; and answers, which are proved with their assignments, in minutes
    unseeded |= {"grading/__main__.py", "grading/command_line.py", "grading/publish.py", "grading/answers.py"}
    assert {bug.file for bug in BUGS} >= modules - unseeded


@pytest.mark.thorough
def test_bugs_die_and_a_survivor_is_reported(monkeypatch, capsys):
    file, tests = "course/critical_path.py", "course/test_critical_path.py"
    deadly = next(bug for bug in BUGS if bug.name == "shortest for longest")
    unreadable = Bug("unreadable", file, "import Tensor", "import Tensors", tests)
    harmless = Bug("harmless", file, "what has to wait", "who has to wait", tests)
    monkeypatch.setattr(mutants, "every_bug", lambda: [deadly, unreadable, harmless])
    assert mutants.main(["--jobs", "2"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[-2:] == ["2 of 3 bugs killed", "SURVIVED: harmless"]
    assert sum(f"shortest for longest: killed by {tests}::test_" in line for line in lines) == 1
    assert sum("unreadable: killed by" in line for line in lines) == 1


def test_bugs_are_chosen_by_name_and_file(monkeypatch, capsys):
    bugs = [Bug(name, file, "", "", "") for name in ("no tanh", "no √d") for file in ("scores.py", "decoders.py")]
    chosen = []
    monkeypatch.setattr(mutants, "every_bug", lambda: bugs)
    monkeypatch.setattr(mutants, "survivors", lambda found, *rest: chosen.extend(found) or [])
    assert mutants.main(["--file", "scores.py", "tanh", "mask"]) == 0
    assert chosen == bugs[:1]
    assert capsys.readouterr().out == "1 of 1 bugs killed\n"
    assert mutants.main(["no such name"]) == 1
    assert capsys.readouterr().out == "no bug has one of ['no such name'] in its name\n"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [("no such line", "", "occurs 0 times"), ("longest", "", "times"), ("import Tensor", "(", "no Python")],
)
def test_bug_that_does_not_fit_is_an_error(old, new, message):
    with pytest.raises(ValueError, match=message):
        survivors([Bug("odd", "course/critical_path.py", old, new, "course/test_critical_path.py")])


def test_tests_that_fail_without_a_bug_are_an_error(monkeypatch):
    class Worker(mutants.Worker):
        said = "E assert 1 == 2"

        def __init__(self, copy):
            self.copy = copy

        def verdict(self, tests):
            return f"{tests[0]}::test_red"

        def close(self):
            pass

    monkeypatch.setattr(mutants, "Worker", Worker)
    monkeypatch.setattr(mutants, "make_copy", lambda directory: directory)
    with pytest.raises(RuntimeError, match=r"the tests fail on the package as it is: .+::test_red\nE assert 1 == 2"):
        survivors(BUGS[:3], jobs=2)


@pytest.mark.thorough
def test_a_worker_that_tests_another_package_is_an_error(tmp_path):
    (tmp_path / "tests" / "bugs").mkdir(parents=True)
    for name in ("mutants.py", "__init__.py", "bugs/__init__.py"):
        (tmp_path / "tests" / name).write_text((ROOT / "tests" / name).read_text("utf8"))
    elsewhere = "import sys, types\nsys.modules['attnlib'] = types.ModuleType('attnlib')\n"
    elsewhere += "sys.modules['attnlib'].__file__ = '/elsewhere/attnlib/__init__.py'\n\ndef test_nothing():\n    pass\n"
    (tmp_path / "tests" / "test_nothing.py").write_text(elsewhere)
    worker = mutants.Worker(tmp_path)
    try:
        with pytest.raises(RuntimeError, match="did not run on the copy"):
            worker.verdict(["test_nothing.py"])
    finally:
        worker.close()

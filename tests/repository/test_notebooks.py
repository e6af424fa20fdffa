"""The chain from a chapter's source to its stored outputs: it must notice everything, and be able to fail."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import nbformat
import nbval.kernel
import pytest
from nbclient import NotebookClient

import conftest
from attnlib.figures.palette import ROLES
from scripts import fingerprint, notebooks, running_times

ROOT = Path(__file__).resolve().parents[2]

CHAPTER = """---
kernelspec:
  display_name: Python 3
  language: python
  name: python3
---

# 7 · A small chapter

```{code-cell} ipython3
def later():  # counts as use, without the seconds that importing torch takes
    from attnlib.scores import DotScore

x = 3
print("x is", x)
```

```{code-cell} ipython3
x + 1
```
"""


def in_tree(monkeypatch, tree: Path) -> Path:
    """Work on the book of a tree; returns the source of its chapter."""
    monkeypatch.setattr(fingerprint, "ROOT", tree)
    monkeypatch.setattr(notebooks, "BOOK", tree / "book")
    return tree / "book" / "07_small.md"


@pytest.fixture(scope="module")
def executed(tmp_path_factory) -> Path:
    """A book of one chapter in a tree of its own, executed; it is copied, and stays as it is."""
    tree = tmp_path_factory.mktemp("executed")
    (tree / "book").mkdir()
    shutil.copytree(ROOT / "attnlib", tree / "attnlib", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "_config.yml", tree)
    (tree / "requirements.txt").write_text("torch==2.13.0\n")
    (tree / "book" / "times.json").write_text('{"machine": "this one", "seconds": {"07_small": 42}}')
    with pytest.MonkeyPatch.context() as monkeypatch:
        source = in_tree(monkeypatch, tree)
        source.write_text(CHAPTER)
        notebooks.execute(source)
    return tree


@pytest.fixture
def chapter(executed, tmp_path, monkeypatch) -> Path:
    """A copy of it that a test may change."""
    shutil.copytree(executed, tmp_path, dirs_exist_ok=True)
    source = in_tree(monkeypatch, tmp_path)
    assert notebooks.problems(source) == []
    return source


@pytest.fixture
def silent(monkeypatch):
    """Cells run and say nothing, in so many seconds: a kernel is started only where a test looks at what it does."""

    def take(seconds: float) -> None:
        def run(notebook, name):
            for number, cell in enumerate((c for c in notebook.cells if c.cell_type == "code"), 1):
                cell.execution_count = number
            return notebook, seconds

        monkeypatch.setattr(notebooks, "run", run)

    take(2)
    return take


def edit(source: Path, change) -> None:
    """Change the stored notebook of a chapter."""
    path = source.with_suffix(".ipynb")
    notebook = nbformat.read(path, as_version=4)
    change(notebook)
    nbformat.write(notebook, path)


def test_running_twice_gives_the_same_bytes(chapter):
    first = chapter.with_suffix(".ipynb").read_bytes()
    notebooks.execute(chapter)
    assert chapter.with_suffix(".ipynb").read_bytes() == first


def test_a_stored_number_that_is_wrong_turns_nbval_red(chapter):
    right = chapter.with_suffix(".ipynb")
    wrong = chapter.with_name("08_wrong.ipynb")
    text = right.read_text("utf8")
    assert text.count('"4"') == 1
    wrong.write_text(text.replace('"4"', '"5"'), "utf8")
    options = ["-p", "nbval.plugin", "--nbval", "--nbval-current-env", "-q", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", *options, str(right), str(wrong)]
    # The other plugins take seconds, and options of this run are none of that one.
    alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""}
    result = subprocess.run(command, capture_output=True, text=True, cwd=chapter.parent, env=alone, timeout=120)
    assert result.returncode == 1 and "1 failed, 3 passed" in result.stdout, result.stdout
    assert "FAILED 08_wrong.ipynb::Cell 1" in result.stdout, result.stdout


def test_kernels_have_no_ports_that_another_may_take(monkeypatch):
    monkeypatch.setattr(nbval.kernel, "KernelManager", None)  # put back in the end
    cleanups = []
    conftest.pytest_configure(SimpleNamespace(getoption=lambda *_: True, add_cleanup=cleanups.append))
    one, other = (nbval.kernel.KernelManager(kernel_name="python3") for _ in range(2))
    assert one.transport == other.transport == "ipc"
    assert one.ip != other.ip and Path(one.ip).parent.is_dir()
    for cleanup in cleanups:
        cleanup()
    assert not Path(one.ip).parent.exists()
    managers = []
    monkeypatch.setattr(NotebookClient, "execute", lambda self: managers.append(self.create_kernel_manager()))
    notebooks.run(nbformat.v4.new_notebook(metadata={"language_info": {"name": "python"}}), "07_small")
    assert [manager.transport for manager in managers] == ["ipc"]


ERROR = nbformat.v4.new_output("error", ename="ValueError", evalue="", traceback=[])
PICTURE = nbformat.v4.new_output("display_data", {"image/png": "aGk="})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda cells: cells[1].update(outputs=[], execution_count=None), "not run once each"),
        (lambda cells: [cells[n].update(execution_count=3 - n) for n in (1, 2)], "not run once each"),
        (lambda cells: cells[2].update(outputs=[ERROR]), "stores an error"),
        (lambda cells: cells[2].update(outputs=[PICTURE]), "without alt text"),
        (lambda cells: cells[1].update(source=cells[1].source + "\nx = 4"), "differ from the .md"),
        (lambda cells: cells[0].update(source=cells[0].source + " Indeed."), "differ from the .md"),
        (lambda cells: cells[2].metadata.update(tags=["nbval-ignore-output"]), "differ from the .md"),
    ],
)
def test_check_sees_a_notebook_that_was_tampered_with(chapter, change, words):
    edit(chapter, lambda notebook: change(notebook.cells))
    assert any(words in problem for problem in notebooks.problems(chapter))


STALE = ["attnlib or requirements.txt changed since it was run"]


@pytest.mark.parametrize(
    ("file", "old", "new", "found"),
    [
        ("requirements.txt", "2.13.0", "2.13.1", STALE),
        ("requirements.txt", "torch", "# a remark\ntorch", []),
        ("attnlib/scores.py", "import math", "import math  # changed", STALE),
        ("attnlib/training/loop.py", '"""', '"""Changed. ', []),
        # of the scores, the one that it names
        ("attnlib/scores.py", "class DotScore(Score):", "class DotScore(Score):  # changed", STALE),
        ("attnlib/scores.py", "return self.sharpness *", "return -self.sharpness *", []),
        ("attnlib/scores.py", '"zero": ZeroScore,', '"zero": ZeroScore, "none": ZeroScore,', []),
    ],
)
def test_check_sees_a_chapter_that_is_older_than_what_it_uses_and_no_other(chapter, file, old, new, found):
    path = chapter.parents[1] / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    assert notebooks.problems(chapter) == found


FIGURE = "from attnlib.course.figures import ScoreExplorer"
CHECK = "from attnlib.course import checks\nfrom attnlib.figures import plots\n\nchecks.masked_softmax(lambda *_: 1)"


@pytest.mark.parametrize(
    ("cell", "used", "unused"),
    [
        # what is behind an import, and what the figure is drawn with
        (
            FIGURE,
            "figures/palette.py figures/static/dom.js figures/static/figure.css course/figures/static/attention.js",
            "course/figures/copy_gate.py figures/static/cost_curve.js figures/static/alignment_view.css",
        ),
        # of the checks, those that it calls
        (
            CHECK,
            "course/checks/attention.py course/checks/verdict.py attention.py",
            "course/checks/__init__.py course/checks/language.py figures/static/dom.js",
        ),
        (
            "from attnlib.course.figures.translate import TRANSLATOR",
            "course/figures/models/home-assistant-es.js course/figures/static/bahdanau.js data/subwords.py",
            "course/figures/copy_gate.py",
        ),
        ("from attnlib.data import load_names", "data/names.py", "data/tasks.py data/bible.py"),
    ],
)
def test_only_what_a_chapter_uses_makes_it_stale(chapter, cell, used, unused):
    package = chapter.parents[1] / "attnlib"
    chapter.write_text(CHAPTER.replace("x + 1", cell))
    files = fingerprint.package_files(fingerprint.code_of(chapter))
    assert {package / name for name in used.split()} <= files
    assert not {package / name for name in unused.split()} & files


SHELF = """
class Base: ...
class One(Base): ...
class Two(One):
    other = "three"
class Three(Base): ...
class Four(Base): ...
SHELF = {"one": One, "two": Two, "three": Three, "four": Four}
def make(name): return SHELF[name]()
"""


@pytest.mark.parametrize(
    ("code", "unused"),
    [
        ("x = 1", {"One", "Two", "Three", "Four"}),
        ("make('one')", {"Two", "Three", "Four"}),
        ("shelf.Four()", {"One", "Two", "Three"}),
        ("SHELF['two']()", {"Four"}),  # with what it is made of, and what it names
        ("[kind() for kind in SHELF.values()]", set()),
        ("SHELF[name]()", set()),
        ("from shelf import Three", {"One", "Two", "Four"}),
        ("from shelf import SHELF", {"One", "Two", "Three", "Four"}),
    ],
)
def test_of_a_registry_the_entries_count_that_somebody_names(code, unused):
    tree = ast.parse(SHELF)
    lines = fingerprint.unused_lines(tree, [ast.parse(code)])
    left = fingerprint.without_lines(SHELF.encode(), lines).decode()
    assert {name for name in ("One", "Two", "Three", "Four") if f"class {name}" not in left} == unused
    assert "class Base" in left and "def make" in left


EXEMPT = CHAPTER.replace("ipython3\ndef", "ipython3\n:tags: [nbval-ignore-output]\n\ndef")
UNPROVED = ["code cell 1 is not compared and no assert follows it (tag it no-claim if it claims nothing)"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (EXEMPT, UNPROVED),
        (EXEMPT.replace("x + 1", "assert x == 3"), []),
        (EXEMPT.replace("x + 1", "race.claim('cost', 'x', of)"), []),
        (EXEMPT.replace("x + 1", "exclaim('cost')"), UNPROVED),
        (EXEMPT.replace("output]", "output, no-claim]"), []),
        (CHAPTER.replace("ipython3\nx", "ipython3\n:tags: [nbval-skip]\n\nx"), ["code cell 2 is skipped by the tests"]),
        (
            CHAPTER.replace("x + 1", "# NBVAL_IGNORE_OUTPUT\nx + 1"),
            ["code cell 2 steers the tests by a comment, which nobody counts: use a tag"],
        ),
    ],
)
def test_a_cell_that_evades_the_tests_is_refused_unless_an_assert_follows(text, found, chapter, silent):
    chapter.write_text(text)
    notebooks.execute(chapter)
    assert notebooks.problems(chapter) == found


def test_a_chapter_that_fails_leaves_its_notebook_as_it_was(chapter, monkeypatch, capsys):
    before = {path.name: path.read_bytes() for path in chapter.parent.glob("*[!d]")}
    chapter.write_text(CHAPTER.replace("x + 1", "1 / 0"))
    monkeypatch.setattr(sys, "argv", ["notebooks.py", "execute"])
    assert notebooks.main() == 1
    assert "07_small.md failed" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in chapter.parent.glob("*[!d]")} == before


def test_an_unknown_chapter_is_named_with_those_there_are_and_a_notebook_without_source(chapter, monkeypatch, capsys):
    with pytest.raises(SystemExit, match=r"no chapter '99'; there are: 07_small"):
        notebooks.choose("99")
    assert notebooks.choose("07") == notebooks.choose("07_small") == [chapter]
    shutil.copy(chapter.with_suffix(".ipynb"), chapter.parent / "08_orphan.ipynb")
    monkeypatch.setattr(sys, "argv", ["notebooks.py", "check"])
    assert notebooks.main() == 1
    assert "08_orphan.ipynb has no .md" in capsys.readouterr().out


def test_marks_are_filled(chapter):
    chapter.write_text(CHAPTER.replace("# 7", "@READING@ @RUNNING@ @REPOSITORY@\n\n# 7"))
    text = notebooks.cells_of(chapter).cells[0].source
    assert "about 5 minutes 42 s https://" in text and "@" not in text


def test_every_comparison_has_a_name_of_its_own():

    sources = [source.read_text("utf8") for source in sorted((ROOT / "book").glob("*.md"))]
    names = [name for text in sources for name in re.findall(r'= compare\(\s*"([\w-]+)"', text)]
    assert len(names) >= 20 and [name for name in names if names.count(name) > 1] == []


def test_reading_takes_the_time_of_what_stands_open():
    def cell(kind, source, *tags):
        return nbformat.from_dict({"cell_type": kind, "source": source.strip(), "metadata": {"tags": list(tags)}})

    seen = [cell("markdown", "word " * 300), cell("code", "x = 1\n\n" * 10, "fragment")]
    assert notebooks.reading_minutes(seen) == pytest.approx(300 / 200 + 19 * 3 / 60)
    words = "word " * 50
    folded = [
        cell("code", "x = 1\n" * 50, "hide-input"),
        cell("markdown", f":::{{dropdown}} Hint\n{words}\n:::\n\n:::{{solution-start}} ex\n:::\n{words}"),
        cell("code", "x = 1\n" * 50),
        cell("markdown", f"{words}\n\n:::{{solution-end}}\n:::\n\n:::{{exercise}} A name\n:label: ex"),
    ]
    assert notebooks.reading_minutes([*seen, *folded]) == notebooks.reading_minutes(seen)


@pytest.mark.parametrize(
    ("seconds", "found"),
    [
        ({}, ["nobody knows how long it runs: `make times` measures it"]),
        ({"07_small": 61}, ["it runs 61 s, and a page may run 60"]),
        ({"07_small": 60}, []),
    ],
)
def test_a_page_without_a_time_is_reported_and_one_above_the_bound(seconds, found, chapter, monkeypatch, capsys):
    (chapter.parent / "times.json").write_text(json.dumps({"machine": "this one", "seconds": seconds}))
    assert notebooks.slowness(chapter) == found
    monkeypatch.setattr(sys, "argv", ["notebooks.py", "check"])
    assert notebooks.main() == bool(found)
    assert all(f"book/07_small.md: {words}" in capsys.readouterr().out for words in found)
    monkeypatch.setattr(notebooks, "execute", lambda source: pytest.fail("it was run, which measures nothing"))
    monkeypatch.setattr(sys, "argv", ["notebooks.py", "execute"])
    assert notebooks.main() == 0


@pytest.fixture
def clock(chapter, silent, monkeypatch):
    """A quiet machine, on which each page takes 7.4 seconds, and what its text says of it."""
    silent(7.4)
    chapter.write_text(CHAPTER.replace("# 7", "runs @RUNNING@\n\n# 7"))
    monkeypatch.setattr(running_times, "BOOK", chapter.parent)
    monkeypatch.setattr(running_times, "machine", lambda: "this one")
    monkeypatch.setattr(os, "getloadavg", lambda: (0.1, 5.0, 5.0))
    return lambda: nbformat.read(chapter.with_suffix(".ipynb"), as_version=4).cells[0].source.split("\n")[0]


@pytest.mark.parametrize("pages", [[], ["07"]])
def test_a_measured_time_stands_in_the_list_and_in_the_page(pages, clock, chapter):
    running_times.measure(pages)
    assert notebooks.times() == {"machine": "this one", "seconds": {"07_small": 7}}
    assert clock() == "runs 7 s" and notebooks.problems(chapter) == []


def test_a_page_that_reads_the_list_is_run_again_when_it_is_written(clock, chapter, monkeypatch):
    plans = chapter.with_name("plans.md")
    plans.write_text(CHAPTER.replace("x + 1", 'open("times.json").read()'))
    ran, run = [], notebooks.run

    def noted(notebook, name):
        ran.append((name, notebooks.times()["seconds"].get("07_small")))
        return run(notebook, name)

    monkeypatch.setattr(notebooks, "run", noted)
    running_times.measure([])
    assert ran == [("07_small", 42), ("plans", 42), ("plans", 7)]
    assert notebooks.times()["seconds"] == {"07_small": 7, "plans": 7}


@pytest.mark.parametrize("missing", ["sched_getaffinity", "getloadavg"])
def test_a_system_that_does_not_say_how_busy_it_is_can_measure_too(missing, monkeypatch):

    monkeypatch.delattr(os, missing)
    assert re.fullmatch(r".+, \d+ cores, Python 3\.\d+\.\d+", running_times.machine())
    assert running_times.load() >= 0


def test_nothing_is_measured_on_a_busy_machine_nor_one_page_on_another(clock, monkeypatch):
    before = notebooks.times()
    monkeypatch.setattr(running_times, "machine", lambda: "a fast one")
    with pytest.raises(SystemExit, match=r"were measured on this one, this is a fast one"):
        running_times.measure(["07"])
    monkeypatch.setattr(os, "getloadavg", lambda: (2.0, 0.0, 0.0))
    with pytest.raises(SystemExit, match=r"busy \(load 2\.0\)"):
        running_times.measure([])
    assert notebooks.times() == before


def test_new_words_are_put_in_without_a_run_and_changed_code_is_stale(chapter, monkeypatch):
    monkeypatch.setattr(notebooks, "run", lambda *_: pytest.fail("it was run"))
    monkeypatch.setattr(sys, "argv", ["notebooks.py", "execute"])
    before = nbformat.read(chapter.with_suffix(".ipynb"), as_version=4)
    chapter.write_text(CHAPTER.replace("# 7 · A", "# 7 · Another"))
    shown = notebooks.with_outputs(chapter)
    assert notebooks.problems(chapter) == ["its cells differ from the .md"]
    assert notebooks.main() == 0 and notebooks.problems(chapter) == []
    after = nbformat.read(chapter.with_suffix(".ipynb"), as_version=4)
    assert "Another" in after.cells[0].source and after.cells[1:] == before.cells[1:] == shown.cells[1:]
    chapter.write_text(CHAPTER.replace('print("x is", x)\n', '```\n\n```{code-cell} ipython3\nprint("x is", x)\n'))
    assert notebooks.refill(chapter) is False  # the same code, in other cells
    chapter.write_text(CHAPTER.replace("x + 1", "x + 2"))
    with pytest.raises(notebooks.Stale, match=r"code has changed .* `make execute`"):
        notebooks.with_outputs(chapter)
    chapter.with_suffix(".ipynb").unlink()
    with pytest.raises(notebooks.Stale, match="never run: `make execute`"):
        notebooks.with_outputs(chapter)


def test_a_notebook_that_cannot_be_read_is_reported_and_made_anew(chapter, silent):
    target = chapter.with_suffix(".ipynb")
    target.write_text("<<<<<<< ours\n" + target.read_text())
    assert any("cannot be read" in problem for problem in notebooks.problems(chapter))
    notebooks.execute(chapter)
    assert notebooks.problems(chapter) == []


def test_roles_become_colours_that_every_renderer_knows():
    blue, purple = ROLES["query"].light, ROLES["weight"].light
    assert notebooks.expand_roles(r"$\query{q_{i}}$") == rf"${{\color{{{blue}}}{{q_{{i}}}}}}$"
    nested = notebooks.expand_roles(r"\weight{a\query{b}}")
    assert nested == rf"{{\color{{{purple}}}{{a{{\color{{{blue}}}{{b}}}}}}}}"
    assert notebooks.expand_roles(r"\keyboard{x}") == r"\keyboard{x}"
    with pytest.raises(ValueError, match="unbalanced"):
        notebooks.expand_roles(r"$\query{q$")

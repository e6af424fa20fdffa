"""The chain from a chapter's source to its stored outputs: it must notice everything, and be able to fail."""

import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from attnlib.figures.palette import ROLES
from scripts import notebooks

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


@pytest.fixture
def book(tmp_path, monkeypatch):
    """A book of one chapter in a tree of its own."""
    (tmp_path / "book").mkdir()
    shutil.copytree(ROOT / "attnlib", tmp_path / "attnlib", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "_config.yml", tmp_path)
    (tmp_path / "requirements.txt").write_text("torch==2.13.0\n")
    (tmp_path / "book" / "07_small.md").write_text(CHAPTER)
    monkeypatch.setattr(notebooks, "ROOT", tmp_path)
    monkeypatch.setattr(notebooks, "BOOK", tmp_path / "book")
    return tmp_path / "book"


@pytest.fixture
def chapter(book):
    """The same, executed."""
    source = book / "07_small.md"
    notebooks.execute(source)
    assert notebooks.problems(source) == []
    return source


def edit(source: Path, change) -> None:
    """Change the stored notebook of a chapter."""
    path = source.with_suffix(".ipynb")
    notebook = nbformat.read(path, as_version=4)
    change(notebook)
    nbformat.write(notebook, path)


def nbval(path: Path) -> subprocess.CompletedProcess:
    options = ["--nbval", "--nbval-current-env", "-q", "-p", "no:cacheprovider", "-p", "no:randomly"]
    command = [sys.executable, "-m", "pytest", *options, str(path)]
    return subprocess.run(command, capture_output=True, text=True, cwd=path.parent, timeout=120)


def test_running_twice_gives_the_same_bytes(chapter):
    first = chapter.with_suffix(".ipynb").read_bytes()
    notebooks.execute(chapter)
    assert chapter.with_suffix(".ipynb").read_bytes() == first


def test_a_stored_number_that_is_wrong_turns_nbval_red(chapter):
    assert nbval(chapter.with_suffix(".ipynb")).returncode == 0

    def change(notebook):
        assert notebook.cells[2].outputs[0].data["text/plain"] == "4"
        notebook.cells[2].outputs[0].data["text/plain"] = "5"

    edit(chapter, change)
    result = nbval(chapter.with_suffix(".ipynb"))
    assert result.returncode == 1 and "1 failed" in result.stdout, result.stdout


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
    ("file", "found"), [("attnlib/scores.py", STALE), ("requirements.txt", STALE), ("attnlib/training/loop.py", [])]
)
def test_check_sees_a_chapter_that_is_older_than_what_it_uses_and_no_other(chapter, file, found):
    path = chapter.parents[1] / file
    path.write_text(path.read_text() + "\n# changed\n")
    assert notebooks.problems(chapter) == found


FIGURE = "from attnlib.course.figures import ScoreExplorer"
CHECK = "from attnlib.course import checks\nfrom attnlib.figures import plots\n\nchecks.masked_softmax(lambda *_: 1)"


@pytest.mark.parametrize(
    ("cell", "used", "unused"),
    [
        # what is behind an import, and what the figure is drawn with
        (FIGURE, "figures/palette.py figures/static/dom.js course/figures/static/attention.js", ""),
        # of the checks, those that it calls
        (
            CHECK,
            "course/checks/attention.py course/checks/verdict.py attention.py",
            "course/checks/__init__.py course/checks/language.py",
        ),
    ],
)
def test_only_what_a_chapter_uses_makes_it_stale(book, cell, used, unused):
    source, package = book / "07_small.md", book.parent / "attnlib"
    source.write_text(CHAPTER.replace("x + 1", cell))
    files = notebooks.package_files(source)
    assert {package / name for name in used.split()} <= files
    assert not {package / name for name in unused.split()} & files


def test_an_exempt_cell_must_be_followed_by_an_assert(book):
    source = book / "07_small.md"
    exempt = CHAPTER.replace("ipython3\ndef", "ipython3\n:tags: [nbval-ignore-output]\n\ndef")
    source.write_text(exempt)
    notebooks.execute(source)
    assert any("no assert follows" in p for p in notebooks.problems(source))
    source.write_text(exempt.replace("x + 1", "assert x == 3"))
    notebooks.execute(source)
    assert notebooks.problems(source) == []
    source.write_text(exempt.replace("output]", "output, no-claim]"))
    notebooks.execute(source)
    assert notebooks.problems(source) == []


@pytest.mark.parametrize(
    ("line", "words"), [(":tags: [nbval-skip]\n", "skipped by the tests"), ("# NBVAL_IGNORE_OUTPUT", "by a comment")]
)
def test_a_cell_that_evades_the_tests_is_refused(book, line, words):
    source = book / "07_small.md"
    source.write_text(CHAPTER.replace("ipython3\nx + 1", f"ipython3\n{line}\nx + 1"))
    notebooks.execute(source)
    assert any(words in problem for problem in notebooks.problems(source))


def test_a_chapter_that_fails_leaves_its_notebook_as_it_was(chapter, monkeypatch, capsys):
    before = chapter.with_suffix(".ipynb").read_bytes()
    chapter.write_text(CHAPTER.replace("x + 1", "1 / 0"))
    monkeypatch.setattr(sys, "argv", ["notebooks.py", "execute"])
    assert notebooks.main() == 1
    assert "07_small.md failed" in capsys.readouterr().err
    assert chapter.with_suffix(".ipynb").read_bytes() == before
    assert sorted(p.name for p in chapter.parent.iterdir()) == ["07_small.ipynb", "07_small.md"]


def test_an_unknown_chapter_is_named_with_those_there_are(book):
    with pytest.raises(SystemExit, match=r"no chapter '99'; there are: 07_small"):
        notebooks.choose("99")
    assert notebooks.choose("07") == notebooks.choose("07_small") == [book / "07_small.md"]


def test_a_notebook_without_source_is_reported(chapter, monkeypatch, capsys):
    shutil.copy(chapter.with_suffix(".ipynb"), chapter.parent / "08_orphan.ipynb")
    monkeypatch.setattr(sys, "argv", ["notebooks.py", "check"])
    assert notebooks.main() == 1
    assert "08_orphan.ipynb has no .md" in capsys.readouterr().out


def test_marks_are_filled(book):
    source = book / "07_small.md"
    source.write_text(CHAPTER.replace("# 7", "@READING@ @RUNNING@ @REPOSITORY@\n\n# 7"))
    text = notebooks.cells_of(source, seconds=42).cells[0].source
    assert "about 5 minutes about 40 seconds https://" in text and "@" not in text


def test_an_unchanged_chapter_keeps_its_time_and_a_changed_one_is_timed_anew(chapter):
    assert notebooks.in_words(3) == "less than 10 seconds"
    edit(chapter, lambda notebook: notebook.metadata["attnlib"].update(seconds=3600))
    notebooks.execute(chapter)
    assert notebooks.facts(chapter.with_suffix(".ipynb"))["seconds"] == 3600
    chapter.write_text(CHAPTER + "\nMore.\n")
    notebooks.execute(chapter)
    assert notebooks.facts(chapter.with_suffix(".ipynb"))["seconds"] < 60


def test_a_notebook_that_cannot_be_read_is_reported_and_made_anew(chapter):
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

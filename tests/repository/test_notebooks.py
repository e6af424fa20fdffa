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
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--nbval",
        "--nbval-current-env",
        "-q",
        "-p",
        "no:cacheprovider",
        str(path),
    ]
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


def test_a_real_chapter_with_a_wrong_number_turns_nbval_red(tmp_path):
    notebook = nbformat.read(ROOT / "book" / "03_attention_step_by_step.ipynb", as_version=4)
    stop = next(n for n, c in enumerate(notebook.cells) if c.cell_type == "code" and "alpha = exp" in c.source)
    notebook.cells = notebook.cells[: stop + 1]
    output = notebook.cells[stop].outputs[0]
    assert "0.27" in output.text
    output.text = output.text.replace("0.27", "0.28")
    nbformat.write(notebook, tmp_path / "copy.ipynb")
    result = nbval(tmp_path / "copy.ipynb")
    assert result.returncode == 1 and "1 failed" in result.stdout, result.stdout


def strip(notebook):
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None


def swap(notebook):
    notebook.cells[1].execution_count, notebook.cells[2].execution_count = 2, 1


def store_error(notebook):
    notebook.cells[2].outputs = [nbformat.v4.new_output("error", ename="ValueError", evalue="", traceback=[])]


def store_picture(notebook):
    notebook.cells[2].outputs = [nbformat.v4.new_output("display_data", {"image/png": "aGk="})]


def change_code(notebook):
    notebook.cells[1].source += "\nx = 4"


def change_prose(notebook):
    notebook.cells[0].source += " Indeed."


def change_tag(notebook):
    notebook.cells[2].metadata["tags"] = ["nbval-ignore-output"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (strip, "not run once each"),
        (swap, "not run once each"),
        (store_error, "stores an error"),
        (store_picture, "without alt text"),
        (change_code, "differ from the .md"),
        (change_prose, "differ from the .md"),
        (change_tag, "differ from the .md"),
    ],
)
def test_check_sees_a_notebook_that_was_tampered_with(chapter, change, words):
    edit(chapter, change)
    assert any(words in problem for problem in notebooks.problems(chapter))


@pytest.mark.parametrize("file", ["attnlib/scores.py", "requirements.txt"])
def test_check_sees_a_chapter_that_is_older_than_what_it_uses(chapter, file):
    path = chapter.parents[1] / file
    path.write_text(path.read_text() + "\n# changed\n")
    assert notebooks.problems(chapter) == ["attnlib or requirements.txt changed since it was run"]


def test_a_change_in_a_module_that_the_chapter_does_not_use_leaves_it_alone(chapter):
    path = chapter.parents[1] / "attnlib" / "training" / "loop.py"
    path.write_text(path.read_text() + "\n# changed\n")
    assert notebooks.problems(chapter) == []


def test_a_change_in_a_module_behind_an_import_is_seen(book):
    source = book / "07_small.md"
    source.write_text(CHAPTER.replace("attnlib.scores import DotScore", "attnlib.course.figures import ScoreExplorer"))
    used = {p.relative_to(book.parent).as_posix() for p in notebooks.package_files(source)}
    assert {"attnlib/figures/palette.py", "attnlib/figures/static/dom.js"} <= used
    assert {"attnlib/course/figures/__init__.py", "attnlib/course/figures/static/attention.js"} <= used


def test_only_the_checks_that_a_chapter_calls_make_it_stale(book):
    source = book / "07_small.md"
    cell = "from attnlib.course import checks\nfrom attnlib.figures import plots\n\nchecks.masked_softmax(lambda *_: 1)"
    source.write_text(CHAPTER.replace("x + 1", cell))
    used = {p.relative_to(book.parent).as_posix() for p in notebooks.package_files(source)}
    assert {"attnlib/course/checks/attention.py", "attnlib/course/checks/verdict.py", "attnlib/attention.py"} <= used
    assert not {"attnlib/course/checks/__init__.py", "attnlib/course/checks/language.py"} & used


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
    ("line", "words"),
    [
        (":tags: [nbval-skip]\n", "skipped by the tests"),
        ("# NBVAL_IGNORE_OUTPUT", "by a comment"),
    ],
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

"""The parts of `make colab` that need no environment: what is published, what is compared, what Colab ships."""

import os
import re
import subprocess
import sys
import tomllib

import nbformat
import pytest
from IPython.core.inputtransformer2 import TransformerManager

from attnlib.course.book import BOOK, ROOT, repository, revision, setup_cell
from tests import colab


@pytest.fixture
def tree(tmp_path):
    """A repository with a file that is committed, one changed since, one that is new, and one ignored."""
    tree = tmp_path / "tree"
    tree.mkdir()
    for name in ("old", "changed", ".gitignore"):
        (tree / name).write_text("ignored\n")
    for command in (["init", "-q"], ["add", "."], ["-c", "user.name=x", "-c", "user.email=x@y", "commit", "-qm", "x"]):
        subprocess.run(["git", *command], cwd=tree, check=True)
    for name in ("changed", "new", "ignored"):
        (tree / name).write_text("2\n")
    return tree


def clone(address: str, to, **environment: str):
    subprocess.run(["git", "clone", "-q", address, to], env={**os.environ, **environment}, check=True)
    return {p.name: p.read_text() for p in to.iterdir() if p.is_file()}


def test_what_is_published_is_the_working_tree_as_it_stands(tree, tmp_path, monkeypatch):
    before = subprocess.run(["git", "status", "--porcelain"], cwd=tree, capture_output=True).stdout
    monkeypatch.setenv("GIT_INDEX_FILE", str(tree / ".git" / "index"))  # as in a hook
    colab.publish(tree, tmp_path / "bare", "main")
    monkeypatch.delenv("GIT_INDEX_FILE")
    address = "https://github.com/nobody/nothing"
    files = clone(address, tmp_path / "clone", **colab.instead_of(address, tmp_path / "bare"))
    assert files == {"old": "ignored\n", ".gitignore": "ignored\n", "changed": "2\n", "new": "2\n"}
    assert subprocess.run(["git", "status", "--porcelain"], cwd=tree, capture_output=True).stdout == before
    (tree / "old").unlink()
    colab.publish(tree, tmp_path / "bare", "main")
    assert "old" not in clone((tmp_path / "bare").as_uri(), tmp_path / "again")


def test_a_package_that_changes_is_named():
    before = {"torch": "2.13.0+cpu", "numpy": "2.0.2", "parso": "0.8.6", "pillow": "11.3.0"}
    assert colab.replaced(before, before | {"faker": "40.1", "parso": "0.8.7"}) == []
    after = {"torch": "2.13.0", "numpy": "2.4.6", "parso": "0.8.6"}
    changes = ["numpy 2.0.2 → 2.4.6", "pillow 11.3.0 → nothing", "torch 2.13.0+cpu → 2.13.0"]
    assert colab.replaced(before, after) == changes


def test_the_setup_cell_is_the_same_everywhere_and_one_that_differs_is_named(tmp_path, monkeypatch):
    assert colab.setup_cell() == setup_cell()
    for name in ("01_a", "02_b", "03_c"):
        text = (ROOT / "notebooks" / "bug_dice.ipynb").read_text("utf8")
        (tmp_path / f"{name}.ipynb").write_text(text.replace("-qqq", "-q") if name == "02_b" else text)
    monkeypatch.setattr(colab, "NOTEBOOKS", tmp_path)
    with pytest.raises(colab.Failed, match=r"^The setup cell of 02_b\.ipynb is not that of the other notebooks"):
        colab.setup_cell()


def test_what_runs_is_the_notebook_of_a_student_and_then_the_solutions(monkeypatch, tmp_path):
    page = BOOK / "03_attention_step_by_step.ipynb"
    student, solutions = (colab.code_of(ROOT / "notebooks" / folder / page.name) for folder in ("", "solutions"))
    notebook = colab.handed_out(page)
    run = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.source for cell in run[: len(student)]] == student
    assert [cell.source for cell in run[len(student) :]] == [cell for cell in solutions if cell not in student]
    (waiting,) = (cell for cell in run if "repeated_words" in cell.source and "# yours" in cell.source)
    assert waiting.outputs[0].data["text/plain"].startswith("Not written yet: ")
    assert colab.handed_out(BOOK / "glossary.ipynb") is None
    monkeypatch.setattr(colab, "NOTEBOOKS", tmp_path)
    nbformat.write(nbformat.v4.new_notebook(cells=notebook.cells[:5]), tmp_path / page.name)
    with pytest.raises(colab.Failed, match=r"03_attention_step_by_step\.ipynb: neither .* the cells \['c006', 'c0"):
        colab.handed_out(page)


# --- the setup cell ---------------------------------------------------------------------------------


WITHOUT_KERNEL = """
from pathlib import Path

asked, checks = [], Path("attnlib/course/checks.py")

class Shell:
    def run_line_magic(self, name, line):
        asked.append(f"%{name} {line}")
        if ARRIVES:
            checks.parent.mkdir(parents=True, exist_ok=True)
            checks.write_text("")

exec(CELL, {"get_ipython": Shell})
print("\\n".join(asked))
"""


def setup(folder, arrives: bool = False):
    """Run the setup cell in a folder where nothing but Python is installed; what it asks pip for arrives, or not."""
    cell = TransformerManager().transform_cell(setup_cell())
    code = f"CELL, ARRIVES = {cell!r}, {arrives}\n{WITHOUT_KERNEL}"
    return subprocess.run([sys.executable, "-E", "-S", "-c", code], cwd=folder, capture_output=True, text=True)


INSTALLS = f'%pip install -qqq "attnlib[course] @ git+{repository()["url"]}@{revision()}"\n'


def test_the_setup_cell_installs_what_the_notebook_belongs_to(tmp_path):
    done = setup(tmp_path, arrives=True)
    assert (done.stdout, done.stderr) == (INSTALLS, "")
    assert setup(tmp_path).stdout == "\n"  # it is there now


def test_the_setup_cell_brings_what_the_package_alone_lacks(tmp_path):
    (tmp_path / "attnlib" / "course").mkdir(parents=True)
    (tmp_path / "attnlib" / "course" / "checks.py").write_text("raise ModuleNotFoundError('numpy is not installed')")
    assert setup(tmp_path, arrives=True).stdout == INSTALLS


def test_a_setup_cell_that_fails_says_so_in_one_sentence(tmp_path):
    said = setup(tmp_path).stderr
    words = "ImportError: The course package could not be installed (No module named 'attnlib'): see that there is"
    assert said.strip().splitlines()[-1].startswith(words) and "another exception occurred" not in said


def test_a_release_installs_its_tag_and_what_is_no_release_the_branch():
    assert revision("1.2.3") == "v1.2.3"
    assert revision("1.2.3.dev0") == repository()["branch"] == "main"


def test_chapters_without_an_environment_say_how_it_is_made(tmp_path, monkeypatch):
    monkeypatch.setattr(colab, "PYTHON", tmp_path / "python")
    with pytest.raises(colab.Failed, match="--only environment"):
        colab.compare([], "2")


def test_the_list_of_colab_has_what_attnlib_needs():

    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))["project"]
    extras = project["optional-dependencies"]
    needed = project["dependencies"] + extras["data"] + extras["figures"] + extras["course"][1:]
    missing = {colab.plain(line.split(">")[0]) for line in needed} - colab.pins(colab.SHIPPED).keys()
    assert missing == {"jaxtyping", "sacrebleu"}

    front = {"ipywidgets", "widgetsnbextension", "ipykernel", "ipython", "traitlets", "tornado", "pyzmq", "anywidget"}
    assert front | {"scipy", "requests", "pip"} <= colab.pins(colab.SHIPPED).keys()
    for line in colab.SHIPPED.read_text("utf8").splitlines():
        assert re.fullmatch(r"#.*|[\w.-]+==[\w.]+( +# .+)?", line), line
    assert colab.pins(colab.SHIPPED)["torch"] == colab.pins(ROOT / "requirements.txt")["torch"]

"""The parts of `make colab` that need no environment: what is published, what is compared, what Colab ships."""

import os
import re
import subprocess
import tomllib

import pytest

from attnlib.course.book import BOOK, ROOT, repository
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


def test_what_was_published_before_is_gone(tree, tmp_path):
    colab.publish(tree, tmp_path / "bare", "main")
    (tree / "old").unlink()
    colab.publish(tree, tmp_path / "bare", "main")
    assert "old" not in clone((tmp_path / "bare").as_uri(), tmp_path / "clone")
    command = ["git", "rev-list", "--all", "--count"]
    assert subprocess.run(command, cwd=tmp_path / "bare", capture_output=True, text=True).stdout == "1\n"


def test_a_package_that_changes_is_named():
    before = {"torch": "2.13.0+cpu", "numpy": "2.0.2", "parso": "0.8.6", "pillow": "11.3.0"}
    assert colab.replaced(before, before | {"faker": "40.1", "parso": "0.8.7"}) == []
    after = {"torch": "2.13.0", "numpy": "2.4.6", "parso": "0.8.6"}
    assert colab.replaced(before, after) == [
        "numpy 2.0.2 → 2.4.6",
        "pillow 11.3.0 → nothing",
        "torch 2.13.0+cpu → 2.13.0",
    ]


def test_the_setup_cell_is_the_same_everywhere_and_names_the_repository():
    assert f'%pip install -q "attnlib[course] @ git+{repository()["url"]}"\n' in colab.setup_cell() + "\n"
    without = {path.stem for path in colab.every_notebook() if not colab.needs_the_course(path)}
    assert without == {"glossary", "instructors", "notation"}  # pages about the book; all else opens in Colab


def test_a_setup_cell_that_differs_is_named(tmp_path, monkeypatch):
    for name in ("01_a", "02_b", "03_c"):
        text = (BOOK / "data.ipynb").read_text("utf8")
        (tmp_path / f"{name}.ipynb").write_text(
            text.replace("pip install -q", "pip install") if name == "02_b" else text
        )
    monkeypatch.setattr(colab, "every_notebook", lambda: sorted(tmp_path.iterdir()))
    with pytest.raises(colab.Failed, match=r"^The setup cell of 02_b\.ipynb is not that of the other notebooks"):
        colab.setup_cell()


def test_chapters_without_an_environment_say_how_it_is_made(tmp_path, monkeypatch):
    monkeypatch.setattr(colab, "PYTHON", tmp_path / "python")
    with pytest.raises(colab.Failed, match="--only environment"):
        colab.compare([], "2")


def test_the_list_of_colab_has_what_attnlib_needs():
    """A new dependency is either on the list, in Colab's version, or one that Colab does not ship."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))["project"]
    extras = project["optional-dependencies"]
    needed = project["dependencies"] + extras["data"] + extras["figures"] + extras["course"][1:]
    missing = {colab.plain(line.split(">")[0]) for line in needed} - colab.pins(colab.SHIPPED).keys()
    assert missing == {"jaxtyping", "sacrebleu"}


def test_the_list_of_colab_pins_what_its_front_end_and_its_users_rely_on():
    """Whatever else is on the list: none of these may be forgotten, or the setup cell could replace it unseen."""
    relied = {"torch", "numpy", "matplotlib", "scipy", "scikit-learn", "pillow"}
    front = {"ipywidgets", "widgetsnbextension", "ipykernel", "ipython", "traitlets", "tornado", "pyzmq", "anywidget"}
    assert relied | front | {"requests", "pip"} <= colab.pins(colab.SHIPPED).keys()
    for line in colab.SHIPPED.read_text("utf8").splitlines():
        assert re.fullmatch(r"#.*|[\w.-]+==[\w.]+( +# .+)?", line), line
    assert colab.pins(colab.SHIPPED)["torch"] == colab.pins(ROOT / "requirements.txt")["torch"]

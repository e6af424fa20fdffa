"""What Binder makes of this repository, by the program that Binder runs (it can read without Docker)."""

import re
import shutil
import subprocess
import sys
import tomllib

from attnlib.course.book import ROOT
from tests.colab import pins, plain

BINDER = ROOT / ".binder"


def recipe(tree) -> str:
    """What Binder would do with the files that repo2docker looks for: its log, and the Dockerfile."""
    for name in ("pyproject.toml", "requirements.txt", "_config.yml"):
        shutil.copy(ROOT / name, tree)
    shutil.copytree(BINDER, tree / ".binder")
    command = [sys.executable, "-m", "repo2docker", "--no-build", "--debug", "."]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_binder_takes_our_python_and_installs_the_course_alone(tmp_path):
    text = recipe(tmp_path)  # .binder/runtime.txt has the Python of the stored outputs
    assert re.findall(r"conda environment for python=(\S+)", text) == ["3.11"]
    assert re.findall(r"pip install .*", text) == ['pip install --no-cache-dir -r ".binder/requirements.txt"']
    # The list names files beside it, so the repository must be there before pip reads it.
    assert text.index("COPY --chown=0:0 src/ ${REPO_DIR}/") < text.index("pip install")


def test_binder_gets_the_pinned_versions_and_no_list_of_its_own():
    lines = (BINDER / "requirements.txt").read_text("utf8").splitlines()
    assert [line for line in lines if not line.startswith("#")] == [
        "--extra-index-url https://download.pytorch.org/whl/cpu",  # a third of the size, and Binder has no GPU
        "--constraint ../requirements.txt",
        ".[course]",
    ]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))["project"]
    extras = project["optional-dependencies"]
    needed = project["dependencies"] + extras["data"] + extras["figures"]
    assert len(needed) > 10 and {plain(line.split(">")[0]) for line in needed} <= pins(ROOT / "requirements.txt").keys()

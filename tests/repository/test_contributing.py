"""The steps of CONTRIBUTING.md, carried out as they are written there, in a copy of the repository."""

import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STEPS = (ROOT / "CONTRIBUTING.md").read_text("utf8").split("## Add a score")[1].split("\n## ")[0]


def after(path: Path, landmark: str, text: str) -> None:
    """Put text behind the first line that begins with a landmark."""
    found = path.read_text("utf8")
    line = re.search(rf"^ *{re.escape(landmark)}.*\n", found, re.M)
    path.write_text(found[: line.end()] + text + found[line.end() :], "utf8")


def run(copy: Path, *tests: str) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-n0", *tests]
    return subprocess.run(command, cwd=copy, capture_output=True, text=True)


@pytest.fixture
def copy(tmp_path) -> Path:
    for name in ("attnlib", "tests", "scripts"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "conftest.py"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "assets").symlink_to(ROOT / "assets")
    return tmp_path


@pytest.mark.thorough
def test_a_score_is_added_in_four_steps(copy):
    blocks = [textwrap.dedent(block) for block in re.findall(r"```\w+\n(.*?)```", STEPS, re.S)]
    written, registered, oracle, javascript, parameters = blocks
    scores, figures = copy / "attnlib" / "scores.py", copy / "attnlib" / "course" / "figures"
    text = scores.read_text("utf8")
    scores.write_text(text.replace("SCORES: dict", f"{written}\n\nSCORES: dict", 1), "utf8")
    after(scores, "SCORES: dict", textwrap.indent(registered, "    "))
    missing = run(copy, "tests/core/test_scores.py", "-k", "has_a_formula")
    assert "oracles.PAIR" in missing.stdout and missing.returncode == 1, missing.stdout  # the third step is asked for
    after(copy / "tests" / "oracles.py", "PAIR = {", textwrap.indent(oracle, "    "))
    after(figures / "static" / "attention.js", "export const SCORES = {", textwrap.indent(javascript, "  "))
    after(figures / "scores.py", "return {", textwrap.indent(parameters, " " * 8))
    of_scores = [f"tests/core/test_{name}.py" for name in ("scores", "attention", "decoders", "copying", "models")]
    done = run(copy, *of_scores, "tests/course/figures/test_score_explorer.py", "-k", "distance or explorer")
    assert done.returncode == 0, done.stdout[-3000:]
    assert len(re.findall(r"^\d\. ", STEPS, re.M)) == 4

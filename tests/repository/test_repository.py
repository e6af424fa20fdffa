"""Facts about the tree as a whole: what a newcomer, an installer and a reader rely on."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import yaml

from scripts import notebooks

ROOT = Path(__file__).resolve().parents[2]
CONFIG = yaml.safe_load((ROOT / "_config.yml").read_text("utf8"))


def tracked() -> list[Path]:
    """Every file of the repository, as git sees it."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [path for name in listing.stdout.split("\0") if name and (path := ROOT / name).is_file()]


def test_the_address_of_the_repository_stands_in_one_place():
    address = CONFIG["repository"]["url"].removeprefix("https://github.com/")
    generated = {ROOT / "README.md"} | {p.with_suffix(".ipynb") for p in notebooks.chapters()}
    generated |= set((ROOT / "book" / "exercises").glob("*.ipynb")) | set((ROOT / "notebooks").rglob("*.ipynb"))
    generated |= {ROOT / "pyproject.toml"}  # tests/repository/test_wheel.py holds it to the one
    repeats = [p for p in tracked() if p not in generated and address in p.read_text("utf8", errors="ignore")]
    assert repeats == [ROOT / "_config.yml"]


def test_every_chapter_is_in_the_table_of_contents():
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text("utf8"))
    pages = [chapter for part in toc["parts"] for chapter in part["chapters"]]
    pages += [section for page in pages for section in page.get("sections", [])]
    listed = {page["file"] for page in pages} | {toc["root"]}
    for source in (ROOT / "book").glob("*.md"):
        page = f"book/{source.stem}"
        suffix = ".ipynb" if source in notebooks.chapters() else ""
        assert page + suffix in listed, page


def test_modules_can_be_read_in_one_sitting():
    paths = [path for room in ("attnlib", "benchmarks", "scripts", "website") for path in (ROOT / room).rglob("*.py")]
    lengths = {path.relative_to(ROOT).as_posix(): len(path.read_text("utf8").splitlines()) for path in paths}
    assert max(lengths.values()) <= 340, {name: n for name, n in lengths.items() if n > 340}


def test_dependencies_are_ranges_with_lower_bounds_and_the_lock_pins_everything_exactly():
    requirements = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))["project"]["dependencies"]
    assert all(re.fullmatch(r"[\w-]+>=[\d.]+", r) for r in requirements), requirements
    for name in ("requirements.txt", "requirements-test.txt", "requirements-upkeep.txt"):
        lines = [l for l in (ROOT / name).read_text("utf8").splitlines() if l and not l.startswith(("#", "-r "))]
        assert lines and all(re.fullmatch(r"[\w.\-]+==[\w.]+", line) for line in lines), name


def test_code_names_of_the_notation_exist_in_attnlib():
    names = {
        word for p in (ROOT / "attnlib").rglob("*.py") for word in re.findall(r"[A-Za-z_]\w*", p.read_text("utf8"))
    }
    table = (ROOT / "book" / "notation.md").read_text("utf8").split("## Symbols")[1]
    rows = [line.split("|") for line in table.splitlines() if line.startswith("| ") and "meaning" not in line]
    code = {name for row in rows for name in re.findall(r"`(\w+)`", row[3])}
    assert {"query", "key", "value", "weights", "context", "mask"} <= code
    assert code <= names, code - names


def test_sources_named_in_docstrings_are_in_the_bibliography():
    known = set(re.findall(r"^@\w+\{(\w+),", (ROOT / "book" / "references.bib").read_text("utf8"), re.M))
    text = "\n".join(p.read_text("utf8") for p in (ROOT / "attnlib").rglob("*.py"))
    named = {key for line in re.findall(r"Source: (.*)", text) for key in re.findall(r"[a-z]+\d{4}[a-z]+", line)}
    assert "bahdanau2015neural" in named and named <= known, named - known


def test_importing_the_package_loads_nothing_heavy():
    heavy = {"matplotlib", "IPython", "anywidget", "sklearn", "scipy", "babel", "PIL", "pooch", "sacrebleu"}
    modules = "sys, attnlib.data, attnlib.captioning, attnlib.transformer, attnlib.training.metrics"
    code = f"import {modules}; print(*sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert heavy & {*result.stdout.split()} == set()


def make(*arguments: str, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        ["make", "--no-print-directory", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=300,
        env={**os.environ, **environment},
    )  # fmt: skip


def test_make_names_a_python_that_is_missing_or_too_old(tmp_path):
    result = make("book", "PYTHON=python9.9", f"VENV={tmp_path}/venv")
    assert result.returncode != 0 and "There is no python9.9 here" in result.stdout
    old = tmp_path / "python3"
    old.write_text('#!/bin/sh\nexec python3 -c "import sys; sys.version_info = (3, 9); exec(sys.argv[1])" "$2"\n')
    old.chmod(0o755)
    result = make("book", f"PYTHON={old}", f"VENV={tmp_path}/venv")
    assert result.returncode != 0 and "needs Python 3.11 or newer" in result.stderr
    assert not (tmp_path / "venv").exists()


def test_make_leaves_nothing_half_installed_without_a_network(tmp_path):
    python = tmp_path / "python3"  # in its environments pip fails, and takes no seconds to come in
    python.write_text(
        f'#!/bin/sh\n[ "$2" = venv ] || exec {sys.executable} "$@"\n'
        'mkdir -p "$3/bin" && printf "#!/bin/sh\\nexit 1\\n" > "$3/bin/python" && chmod +x "$3/bin/python"\n'
    )
    python.chmod(0o755)
    result = make("book", f"PYTHON={python}", f"VENV={tmp_path}/venv")
    assert "==> environment" in result.stdout
    assert result.returncode != 0 and "No environment is left half-installed" in result.stdout
    assert not (tmp_path / "venv").exists()


def test_a_run_in_which_something_is_skipped_is_red(tmp_path):
    bodies = {"pass": 0, "pytest.skip('not today')": 1, "pytest.xfail('one day')": 1}
    shutil.copy(ROOT / "conftest.py", tmp_path)
    for n, body in enumerate(bodies):
        (tmp_path / f"test_{n}.py").write_text(f"import pytest\n\ndef test_it():\n    {body}\n")
    runs = "[int(pytest.main(['-q', '-p', 'no:cacheprovider', f'test_{n}.py'])) for n in range(3)]"
    command = [sys.executable, "-c", f"import pytest, sys; sys.exit({runs} != {[*bodies.values()]})"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    result = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stdout + result.stderr

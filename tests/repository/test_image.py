"""The image for Binder, JupyterHub and Codespaces, and its lock, as far as they can be read without Docker.

What is wrong with the Dockerfile by itself, hadolint says: a job of tests.yml. Where there is Docker, `make image`
builds the image.
"""

import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import json5
import pytest
from packaging.requirements import Requirement

from attnlib.course.book import ROOT
from tests.colab import pins
from tests.repository.test_repository import make, tracked
from tests.repository.test_workflows import PARSED

DOCKERFILE = ROOT / ".binder" / "Dockerfile"
DEVCONTAINER = ROOT / ".devcontainer" / "devcontainer.json"
IGNORED = [line for line in (ROOT / ".dockerignore").read_text("utf8").splitlines() if not line.startswith("#")]

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))
BOOK_LOCK, IMAGE_LOCK, TORCH_LOCK = (ROOT / f"requirements-{name}.txt" for name in ("hashed", "image", "torch"))


def instructions() -> list[tuple[str, str]]:
    """The Dockerfile, instruction by instruction: its name, and what follows."""
    return [tuple(line.split(None, 1)) for line in whole_lines(DOCKERFILE)]


def whole_lines(path: Path) -> list[str]:
    """The lines of a file without comments; those that end in a backslash go on in the next."""
    lines = [line for line in path.read_text("utf8").splitlines() if line and not line.startswith("#")]
    return re.sub(r" *\\\n *", " ", "\n".join(lines)).splitlines()


def values(name: str) -> list[str]:
    return [value for found, value in instructions() if found == name]


def is_left_out(path: str) -> bool:
    """Whether .dockerignore names a path, or a folder above it."""
    ways = [path, *(path.rsplit("/", n)[0] for n in range(1, path.count("/") + 1))]
    return any(fnmatch(way, rule) or fnmatch(way, rule.removeprefix("**/")) for way in ways for rule in IGNORED)


# --- the lock ---------------------------------------------------------------------------------------


def entries(path: Path) -> dict[str, list[str]]:
    """`{"name==version": [its hashes]}`; a line that is neither fails."""
    found = {}
    for line in whole_lines(path):
        pin, *hashes = line.split()
        assert re.fullmatch(r"[\w.-]+==[\w.+]+", pin) and pin not in found, line
        assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", text) for text in hashes), line
        found[pin] = hashes
    return found


@pytest.mark.parametrize("path", [BOOK_LOCK, IMAGE_LOCK, TORCH_LOCK], ids=lambda path: path.name)
def test_every_package_of_the_lock_has_hashes(path):
    found = entries(path)
    assert found and [pin for pin, hashes in found.items() if not hashes] == []
    if path == BOOK_LOCK:  # a compiled package has a hash for every wheel: three Pythons, three systems
        assert min(len(hashes) for pin, hashes in found.items() if pin.split("==")[0] in ("numpy", "scipy")) > 9


def test_the_hashes_are_those_of_the_versions_of_the_book_and_the_image_adds_what_a_hub_needs():
    pinned = pins(ROOT / "requirements.txt")
    assert pins(TORCH_LOCK) == {"torch": f"{pinned.pop('torch')}+cpu"}, "call `make hashes`"
    assert pins(BOOK_LOCK) == pinned, "call `make hashes`"

    added = pins(IMAGE_LOCK)
    assert added.keys() & pins(ROOT / "requirements.txt").keys() == set()
    needed = [Requirement(line) for line in PROJECT["dependency-groups"]["image"] + PROJECT["build-system"]["requires"]]
    wrong = [str(requirement) for requirement in needed if not requirement.specifier.contains(added[requirement.name])]
    assert wrong == []


# --- the recipe -------------------------------------------------------------------------------------


def test_the_python_is_that_of_the_stored_outputs_and_of_its_wheel():
    (version,) = re.findall(r"^python:(\d+\.\d+)\.\d+-slim-\w+(?:@sha256:[0-9a-f]{64})?", values("FROM")[0])
    steps = PARSED["tests.yml"]["jobs"]["make"]["steps"]  # which compare the outputs on every push
    assert version in [step.get("with", {}).get("python-version") for step in steps]
    assert f"--python-version {version} " in make("--dry-run", "hashes", "UPKEEP=.").stdout


def test_every_file_it_copies_is_there_and_reaches_the_engine():
    copied = [word for value in values("COPY") for word in shlex.split(value)[:-1] if not word.startswith("--")]
    assert copied == [BOOK_LOCK.name, IMAGE_LOCK.name, TORCH_LOCK.name, "."]
    assert [path for path in copied if not (ROOT / path).exists() or is_left_out(path)] == []
    names = [path.relative_to(ROOT).as_posix() for path in tracked()]
    built_of = [name for name in names if name.startswith(("attnlib/", "book/", "pyproject.toml", "README", "LICENSE"))]
    assert built_of and [name for name in built_of if is_left_out(name)] == []
    secret = re.findall(r"^(\S+) export-ignore$", (ROOT / ".gitattributes").read_text("utf8"), re.M)
    assert len(secret) == 1 and [path for path in secret if not is_left_out(f"{path}/a04.md")] == []
    assert is_left_out(".git/config")


def test_pip_takes_nothing_that_is_not_in_the_lock():
    commands = [shlex.split(part) for value in values("RUN") for part in value.split("&&")]
    locked, torch, ours = [set(command[2:]) for command in commands if command[:2] == ["pip", "install"]]
    assert locked >= {"--require-hashes", "--no-deps", BOOK_LOCK.name, IMAGE_LOCK.name}
    assert torch >= {"--no-deps", "--index-url", TORCH_LOCK.name}
    assert ours >= {"--no-deps", "--no-build-isolation", "."}
    assert ["pip", "check"] in commands  # nothing is missing


@pytest.mark.parametrize(("machine", "hashes"), [("x86_64", 1), ("aarch64", 0)])
def test_torch_has_a_hash_where_the_image_is_published_and_its_version_elsewhere(tmp_path, machine, hashes):
    """pip refuses a wheel with another hash, and the one hash is that of the wheel for x86-64."""
    shutil.copy(TORCH_LOCK, tmp_path)
    (tmp_path / "uname").write_text(f"#!/bin/sh\necho {machine}\n")
    (tmp_path / "uname").chmod(0o755)
    (step,) = [part for value in values("RUN") for part in value.split("&&") if "uname" in part]
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    subprocess.run(["sh", "-ec", step], cwd=tmp_path, env=environment, check=True)
    ((pin, found),) = entries(tmp_path / TORCH_LOCK.name).items()
    assert pin == f"torch=={pins(ROOT / 'requirements.txt')['torch']}+cpu" and len(found) == hashes


def test_binder_and_hubs_find_the_user_they_expect():
    assert {"NB_USER=jovyan", "NB_UID=1000"} <= set(values("ARG"))
    names = [name for name, _ in instructions()]
    last = len(names) - 1 - names[::-1].index("USER")
    assert instructions()[last] == ("USER", "${NB_USER}") and "RUN" not in names[last:]
    assert values("WORKDIR")[-1] == "${HOME}"  # where Binder's links look for notebooks, and a hub has its disk


@pytest.mark.parametrize(
    ("token", "started"), [("", "jupyter lab --ip=0.0.0.0 --no-browser"), ("secret", "jupyterhub-singleuser")]
)
def test_a_hub_gets_its_own_server_and_others_jupyterlab(tmp_path, token, started):
    for name in ("jupyter", "jupyterhub-singleuser"):
        (tmp_path / name).write_text('#!/bin/sh\necho "$(basename "$0")" "$@"\n')
        (tmp_path / name).chmod(0o755)
    (command,) = values("CMD")
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", **({"JUPYTERHUB_API_TOKEN": token} if token else {})}
    shown = subprocess.run(json.loads(command), env=environment, capture_output=True, text=True, check=True).stdout
    assert shown.split() == started.split()


# --- who uses it ------------------------------------------------------------------------------------


def test_binder_takes_the_recipe(tmp_path):

    shutil.copytree(DOCKERFILE.parent, tmp_path / ".binder")
    command = [sys.executable, "-m", "repo2docker", "--no-build", "--debug", "."]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(DOCKERFILE.read_text("utf8"))
    assert [path.name for path in DOCKERFILE.parent.iterdir()] == ["Dockerfile"]  # Binder would not read a second list


def test_the_devcontainer_is_the_same_room_with_a_clone_in_it():
    container = json5.loads(DEVCONTAINER.read_text("utf8"))
    build = container["build"]
    assert (DEVCONTAINER.parent / build["dockerfile"]).resolve() == DOCKERFILE
    assert (DEVCONTAINER.parent / build["context"]).resolve() == ROOT
    assert f"AS {build['target']}" in values("FROM")[0]
    assert f"NB_USER={container['remoteUser']}" in values("ARG")
    assert {"--no-deps", "--no-build-isolation", "--editable"} <= set(container["postCreateCommand"].split())


def test_what_a_release_publishes_is_this_recipe_and_the_chapter_that_tries_it_is_in_it():
    build, run = make("--dry-run", "image").stdout.splitlines()[-2:]
    name = build.split("--tag ")[1].split()[0]
    assert build == f"docker build --file .binder/Dockerfile --tag {name} ." and f"docker run --rm {name} " in run
    (chapter,) = ROOT.glob(re.search(r"jupyter execute (\S+\.ipynb)", run)[1])
    assert chapter.parent == ROOT / "notebooks" and not is_left_out(chapter.relative_to(ROOT).as_posix())
    job = PARSED["release.yml"]["jobs"]["image"]
    assert set(job["needs"]) == {"tests", "build"}
    made, published = [step for step in job["steps"] if "run" in step]
    assert made == {"run": ".ci/run image"}  # without the token
    assert f'docker tag {name} "$image"' in published["run"] and "--password-stdin" in published["run"]

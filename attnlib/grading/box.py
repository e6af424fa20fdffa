"""The command that builds the box: bubblewrap, with the system, Python and its packages, all read-only.

Of `attnlib` there is what an assignment needs (`closure.py`), and no other copy of it.
"""

import contextlib
import functools
import os
import shutil
import site
import subprocess
import sys
from pathlib import Path

from attnlib.course.book import ROOT
from attnlib.grading.boxed_kernel import RUN, RUN_HERE, USER, Limits

#: Where things stand inside the box.
PACKAGES, DOOR, HOME = "/box/packages", "/box/door", "/tmp/home"
#: What the system's part of the box is made of; where one of these is a link, it is one inside, too.
SYSTEM = ["/bin", "/lib", "/lib32", "/lib64", "/sbin"]
SETTINGS = ["/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime", "/etc/fonts", "/sys/devices/system/cpu"]


def command(limits: Limits, package: Path | None = None, door: Path | None = None) -> list[str]:
    """The command that starts Python inside; what follows are Python's arguments.

    Each kernel puts its own folder and user into it: `boxed_kernel.filled`.

    Args:
        limits: What it may use.
        package: A folder with the part of `attnlib` that is there.
        door: A folder with the socket at which the grader listens; inside, nobody can put anything beside it.
    """
    python = os.path.realpath(sys.executable)
    words = [shutil.which("bwrap") or "bwrap", "--die-with-parent", "--new-session", "--hostname", "box"]
    words += [f"--unshare-{what}" for what in ("ipc", "pid", "net", "uts", "cgroup-try")]
    if os.getuid():
        words += ["--unshare-user", *_if_known("--disable-userns")]
    else:  # The limit of processes does not bind root, so the kernel becomes somebody else.
        words += ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]

    words += ["--ro-bind", "/usr", "/usr"]
    for path in SYSTEM:
        if os.path.islink(path):
            words += ["--symlink", os.readlink(path), path]
        elif os.path.isdir(path):
            words += ["--ro-bind", path, path]
    for path in SETTINGS:
        words += [*_folders(path), "--ro-bind-try", path, path]
    words += ["--proc", "/proc", "--dev", "/dev", *_tmpfs("/dev/shm", limits), "--remount-ro", "/dev"]
    words += [*_tmpfs("/tmp", limits)]

    seen = {sys.base_prefix, os.path.realpath(sys.base_prefix), os.path.dirname(python)}
    seen = sorted(path for path in seen if not _within(path, "/usr"))
    for path in [p for p in seen if not any(_within(p, other) for other in seen if other != p)]:
        words += [*_folders(path), "--ro-bind", path, path]
    if any(_within(str(ROOT), path) for path in ["/usr", *seen]):
        words += ["--tmpfs", str(ROOT)]

    packages = [*site.getsitepackages(), *([site.getusersitepackages()] if site.ENABLE_USER_SITE else [])]
    paths = [PACKAGES, *(f"/box/site{n}" for n, path in enumerate(packages) if os.path.isdir(path))]
    for inside, outside in ((PACKAGES, package), (DOOR, door)):
        words += [*_folders(f"{inside}/x"), *(["--ro-bind", str(outside), inside] if outside else [])]
    for n, path in enumerate(packages):
        if os.path.isdir(path):
            words += ["--ro-bind", path, f"/box/site{n}"]
            for whole in [ours for ours in ("attnlib", "assignments") if os.path.isdir(os.path.join(path, ours))]:
                words += ["--tmpfs", f"/box/site{n}/{whole}", "--remount-ro", f"/box/site{n}/{whole}"]
    words += [*_open("/tmp/work"), *_open(HOME), *_open(f"{HOME}/.cache"), *_open(f"{HOME}/.cache/matplotlib")]
    for fonts in _fonts():  # else every kernel that draws looks for all fonts first
        words += ["--ro-bind", str(fonts), f"{HOME}/.cache/matplotlib/{fonts.name}"]
    words += ["--bind", RUN_HERE, RUN, "--chdir", "/tmp/work", "--clearenv"]
    threads = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMEXPR")}
    environment = {
        "HOME": HOME,
        "LANG": "C.UTF-8",
        "MALLOC_ARENA_MAX": "2",
        "PIP_NO_INDEX": "1",  # there is no network, and pip would wait for it
        "PATH": f"{os.path.dirname(python)}:/usr/bin:/bin",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONNOUSERSITE": "1",
        "PYTHONPATH": ":".join(paths),
        "TMPDIR": "/tmp",
        "USER": "student",
        **threads,
    }
    for name, value in environment.items():
        words += ["--setenv", name, value]
    return [*words, "--", python, "-I", "-S", "-c", START, *map(str, _bounds(limits)), USER, python]


#: The first that runs inside: it takes the limits upon itself, gives all rights away, and becomes Python.
START = """
import os, resource, sys
memory, cpu, file, processes, user = map(int, sys.argv[1:6])
for what, most in (("AS", memory), ("CPU", cpu), ("FSIZE", file), ("NPROC", processes), ("CORE", 0), ("NOFILE", 1024)):
    which = getattr(resource, "RLIMIT_" + what)
    now = resource.getrlimit(which)[1]
    most = most if now == resource.RLIM_INFINITY else min(most, now)
    resource.setrlimit(which, (most, most))
if os.getuid() == 0:
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
os.execv(sys.argv[6], sys.argv[6:])
"""


def _bounds(limits: Limits) -> tuple[int, int, int, int]:
    return limits.memory, limits.cpu, limits.file, limits.processes


def _within(path: str, folder: str) -> bool:
    return Path(path).is_relative_to(folder)


def _folders(path: str) -> list[str]:
    """All folders above a path, open to every reader: bubblewrap itself makes them for their owner alone."""
    above = [str(folder) for folder in reversed(Path(path).parents[:-1])]
    return [word for folder in above for word in ("--perms", "0755", "--dir", folder)]


def _open(path: str) -> list[str]:
    """A folder in which the kernel may write, whoever it is inside."""
    return ["--perms", "0777", "--dir", path]


def _tmpfs(path: str, limits: Limits) -> list[str]:
    """A folder in memory, of bounded size, in which the kernel may write."""
    return ["--perms", "1777", *(["--size", str(limits.disk)] if _if_known("--size") else []), "--tmpfs", path]


@functools.cache
def _if_known(option: str) -> list[str]:
    """An option of bubblewrap's, where it is new enough to have it."""
    words = subprocess.run(["bwrap", "--help"], capture_output=True, text=True).stdout
    return [option] if f" {option} " in words else []


def _fonts() -> list[Path]:
    """Matplotlib's list of the fonts of this machine, where it has been made."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = Path(os.environ.get("MPLCONFIGDIR") or os.path.join(cache, "matplotlib"))
    with contextlib.suppress(OSError):
        return sorted(folder.glob("fontlist-*.json"))
    return []

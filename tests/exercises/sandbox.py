"""A box round the student's kernel, and round nothing else: no network, no grade book, no sources, bounded means.

`install(folder)` writes a kernelspec `python3` that stands in front of the usual one, and returns the environment
in which Jupyter finds it. A kernel started there is this file, run as a program: it builds the box with bubblewrap,
starts ipykernel inside, and carries bytes between Jupyter's ports and the sockets of the boxed kernel, which has no
network to listen on. It watches memory, disk and output while it carries, and ends with whoever started it.

Inside there are the system (read-only), Python, its packages and `attnlib`; /tmp is the box's own. Neither this
repository nor the course nor a home is there. Hidden tests come in as the text of cells: these a student's code can
read (`flags.py` says so), but it has nowhere to bring them.

Nothing here needs Jupyter's configuration, a short path or a setting of nbgrader.
"""

import argparse
import asyncio
import contextlib
import dataclasses
import functools
import json
import os
import shutil
import site
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
#: Where things stand inside the box.
RUN, PACKAGES, HOME = "/box/run", "/box/packages", "/tmp/home"
#: What the system's part of the box is made of; where one of these is a link, it is one inside, too.
SYSTEM = ["/bin", "/lib", "/lib32", "/lib64", "/sbin"]
SETTINGS = ["/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime", "/etc/fonts", "/sys/devices/system/cpu"]
CHANNELS = ["shell", "iopub", "stdin", "control", "hb"]
HOW = "Debian, Ubuntu: `sudo apt install bubblewrap`; Fedora: `sudo dnf install bubblewrap`."


@dataclasses.dataclass(frozen=True)
class Limits:
    """What one kernel may use, together with all that it starts.

    Attributes:
        memory: Bytes; the address space of each process, and what all hold together.
        cpu: Seconds of each process.
        file: Bytes of each file.
        disk: Bytes in /tmp, in /dev/shm, and beside the kernel's sockets, each.
        processes: Processes and threads.
        output: Bytes that the kernel may send.
    """

    memory: int = 4 << 30
    cpu: int = 900
    file: int = 64 << 20
    disk: int = 256 << 20
    processes: int = 128
    output: int = 50_000_000


@functools.cache
def unavailable() -> str | None:
    """Why no kernel can be boxed here, with what helps; None where one can. It has been tried, not guessed."""
    if sys.platform != "linux":
        return f"The sandbox needs Linux; this is {sys.platform}. Grade in a virtual machine or a container."
    if not shutil.which("bwrap"):
        return f"The sandbox needs bubblewrap, which is not installed. {HOW}"
    wanted = "import importlib.util as u; print([n for n in ('attnlib', 'torch', 'ipykernel') if not u.find_spec(n)])"
    with tempfile.TemporaryDirectory() as run:
        try:
            done = subprocess.run(
                [*box(Path(run), Limits()), "-c", wanted],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=60,
            )
        except subprocess.TimeoutExpired:
            return "The sandbox did not start within a minute."
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["it says nothing"])[-1]
        return (
            f"bubblewrap is installed but cannot build a box here: {last}\n"
            "Ubuntu 24.04 forbids it at first: `sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0` allows it. "
            "In Docker: `--security-opt seccomp=unconfined --security-opt apparmor=unconfined --cap-add SYS_ADMIN`."
        )
    if missing := done.stdout.strip().strip("[]"):
        return f"The box starts, but Python does not find {missing} inside. Are they installed for this user to read?"
    return None


def install(folder: Path, limits: Limits | None = None) -> dict[str, str]:
    """Write the kernelspec of the box under `folder`, which the caller removes when the kernels have ended.

    Returns:
        Environment variables: with them every `python3` kernel that Jupyter, nbclient or nbgrader starts is boxed.
    """
    folder = Path(folder).resolve()
    spec = folder / "kernels" / "python3"
    spec.mkdir(parents=True, exist_ok=True)
    (folder / "limits.json").write_text(json.dumps(dataclasses.asdict(limits or Limits())), "utf8")
    program = [sys.executable, "-I", str(Path(__file__).resolve()), str(folder), "{connection_file}"]
    # without "message" an interrupt is a signal to this program, and an endless loop inside goes on
    kernel = {"argv": program, "display_name": "boxed", "language": "python", "interrupt_mode": "message"}
    (spec / "kernel.json").write_text(json.dumps(kernel, indent=1), "utf8")
    paths = [str(folder), *filter(None, [os.environ.get("JUPYTER_PATH")])]
    return {"JUPYTER_PATH": os.pathsep.join(paths)}


def box(run: Path, limits: Limits) -> list[str]:
    """The command that starts Python inside; what follows are Python's arguments.

    Args:
        run: The one folder that both sides see: the connection file and the kernel's sockets.
        limits: What it may use.
    """
    python = os.path.realpath(sys.executable)
    command = [shutil.which("bwrap") or "bwrap", "--die-with-parent", "--new-session", "--hostname", "box"]
    command += [f"--unshare-{what}" for what in ("ipc", "pid", "net", "uts", "cgroup-try")]
    user = os.getuid()
    if user:
        command += ["--unshare-user", *_if_known("--disable-userns")]
    else:  # The limit of processes does not bind root, so the kernel becomes somebody whom no one else is.
        user = 1_000_000 + os.getpid()
        command += ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]

    command += ["--ro-bind", "/usr", "/usr"]
    for path in SYSTEM:
        if os.path.islink(path):
            command += ["--symlink", os.readlink(path), path]
        elif os.path.isdir(path):
            command += ["--ro-bind", path, path]
    for path in SETTINGS:
        command += [*_folders(path), "--ro-bind-try", path, path]
    command += ["--proc", "/proc", "--dev", "/dev", *_tmpfs("/dev/shm", limits), "--remount-ro", "/dev"]
    command += [*_tmpfs("/tmp", limits), *_folders(f"{PACKAGES}/attnlib")]

    seen = {sys.base_prefix, os.path.realpath(sys.base_prefix), os.path.dirname(python)}
    seen = sorted(path for path in seen if not _within(path, "/usr"))
    for path in [p for p in seen if not any(_within(p, other) for other in seen if other != p)]:
        command += [*_folders(path), "--ro-bind", path, path]
    if any(_within(str(REPOSITORY), path) for path in ["/usr", *seen]):
        command += ["--tmpfs", str(REPOSITORY)]

    packages = [*site.getsitepackages(), *([site.getusersitepackages()] if site.ENABLE_USER_SITE else [])]
    paths = [PACKAGES, *(f"/box/site{n}" for n, path in enumerate(packages) if os.path.isdir(path))]
    command += ["--ro-bind", str(REPOSITORY / "attnlib"), f"{PACKAGES}/attnlib"]
    for n, path in enumerate(packages):
        if os.path.isdir(path):
            command += ["--ro-bind", path, f"/box/site{n}"]
    command += [*_open("/tmp/work"), *_open(HOME), *_open(f"{HOME}/.cache"), *_open(f"{HOME}/.cache/matplotlib")]
    for fonts in _fonts():  # else every kernel that draws looks for all fonts first
        command += ["--ro-bind", str(fonts), f"{HOME}/.cache/matplotlib/{fonts.name}"]
    command += ["--bind", str(run), RUN, "--chdir", "/tmp/work", "--clearenv"]
    threads = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMEXPR")}
    environment = {
        "HOME": HOME,
        "LANG": "C.UTF-8",
        "MALLOC_ARENA_MAX": "2",
        "PATH": f"{os.path.dirname(python)}:/usr/bin:/bin",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONNOUSERSITE": "1",
        "PYTHONPATH": ":".join(paths),
        "TMPDIR": "/tmp",
        "USER": "student",
        **threads,
    }
    for name, value in environment.items():
        command += ["--setenv", name, value]
    return [*command, "--", python, "-I", "-S", "-c", START, *map(str, _bounds(limits)), str(user), python]


#: The first that runs inside: it takes the limits upon itself, gives all rights away, and becomes Python.
START = """
import os, resource, sys
memory, cpu, file, processes, user = map(int, sys.argv[1:6])
for what, most in (("AS", memory), ("CPU", cpu), ("FSIZE", file), ("NPROC", processes), ("CORE", 0), ("NOFILE", 1024)):
    which = getattr(resource, "RLIMIT_" + what)
    now = resource.getrlimit(which)[1]
    most = most if now == resource.RLIM_INFINITY else min(most, now)
    resource.setrlimit(which, (most, most))
if os.getuid() == 0 and user:
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


# What follows runs as a program of its own, one for each kernel, with nothing but the standard library.


class Stop(Exception):
    """The box must end; the words say why."""


async def serve(folder: Path, connection: Path, arguments: list[str]) -> int:
    """Start a boxed kernel, carry its messages until it ends, and return its exit code."""
    limits = Limits(**json.loads((folder / "limits.json").read_text("utf8")))
    facts = json.loads(connection.read_text("utf8"))
    run = Path(tempfile.mkdtemp(prefix="run-", dir=folder))
    process = None
    try:
        inside = {**facts, "transport": "ipc", "ip": f"{RUN}/k", **{f"{c}_port": n for n, c in enumerate(CHANNELS, 1)}}
        (run / "connection.json").write_text(json.dumps(inside), "utf8")
        run.chmod(0o777)
        (run / "connection.json").chmod(0o644)
        program = ["-m", "ipykernel_launcher", "-f", f"{RUN}/connection.json", *arguments]
        # nothing that a student writes may look like words of ours on this program's own streams
        silent = dict.fromkeys(["stdin", "stdout", "stderr"], asyncio.subprocess.DEVNULL)
        process = await asyncio.create_subprocess_exec(*box(run, limits), *program, **silent)
        sent = [0]
        for number, channel in enumerate(CHANNELS, 1):
            carried = functools.partial(_carry, run / f"k-{number}", sent, limits.output)
            if facts["transport"] == "ipc":
                await asyncio.start_unix_server(carried, f"{facts['ip']}-{facts[f'{channel}_port']}")
            else:
                await asyncio.start_server(carried, facts["ip"], facts[f"{channel}_port"])
        watching = asyncio.create_task(_watch(process.pid, run, sent, limits))
        ended = asyncio.create_task(process.wait())
        await asyncio.wait({watching, ended}, return_when=asyncio.FIRST_COMPLETED)
        if watching.done() and not ended.done():
            await watching  # it says why
        return ended.result()
    except Stop as reason:
        print(f"sandbox: the kernel was stopped: {reason}", file=sys.stderr, flush=True)
        return 1
    finally:
        if process is not None and process.returncode is None:
            process.kill()
            await process.wait()
        shutil.rmtree(run, ignore_errors=True)


async def _carry(
    socket: Path, sent: list[int], most: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Connect somebody outside with one socket of the kernel."""
    with contextlib.suppress(OSError, asyncio.CancelledError):
        while True:
            with contextlib.suppress(FileNotFoundError, ConnectionRefusedError):
                from_kernel, to_kernel = await _connect(socket)
                break
            await asyncio.sleep(0.02)
        await asyncio.gather(_pump(reader, to_kernel, [0], sys.maxsize), _pump(from_kernel, writer, sent, most))


async def _connect(path: Path) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect to a socket in a folder in which the student writes, too: a link that lies there leads nowhere.

    Going through the open file also makes its path short: a socket's may have 107 characters.
    """
    handle = os.open(path, os.O_PATH | os.O_NOFOLLOW)
    try:
        if not stat.S_ISSOCK(os.fstat(handle).st_mode):
            raise FileNotFoundError(path)
        return await asyncio.open_unix_connection(f"/proc/self/fd/{handle}")
    finally:
        os.close(handle)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, count: list[int], most: int) -> None:
    """Carry bytes one way, and count them; what is too much is not carried any more, until the box is closed."""
    try:
        while data := await reader.read(1 << 18):
            count[0] += len(data)
            if count[0] > most:
                await asyncio.sleep(3600)
            writer.write(data)
            await writer.drain()
    finally:
        writer.close()


async def _watch(pid: int, run: Path, sent: list[int], limits: Limits) -> None:
    """Return never; raise when the box uses too much, or when nobody is left to use it for."""
    parent = os.getppid()
    while True:
        await asyncio.sleep(0.25)
        if os.getppid() != parent:
            raise Stop("who had started it is gone")
        if sent[0] > limits.output:
            raise Stop(f"it sent more than {limits.output // 1_000_000} MB")
        family = _family(pid)
        if len(family) > limits.processes + 8:  # should the system's own limit not hold
            raise Stop(f"it started more than {limits.processes} processes")
        if _memory(family, limits.memory) > limits.memory:
            raise Stop(f"its processes held more than {limits.memory >> 20} MB of memory")
        if _size(run) > limits.disk:
            raise Stop(f"it wrote more than {limits.disk >> 20} MB beside its sockets")


def _size(folder: Path) -> int:
    """Bytes of all files in a folder, while somebody else makes and removes them."""
    total = 0
    for top, _, files in os.walk(folder):
        for file in files:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(top, file)).st_blocks * 512
    return total


def _family(pid: int) -> list[int]:
    """A process and all its descendants."""
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError):
                fields = Path("/proc", entry, "stat").read_text("utf8", errors="replace").rpartition(")")[2].split()
                children.setdefault(int(fields[1]), []).append(int(entry))
    family = [pid]
    for member in family:
        family += children.get(member, [])
    return family


def _memory(family: list[int], most: int) -> int:
    """Bytes that processes hold together; exact only where the quick sum exceeds `most`."""
    page, quick, exact = os.sysconf("SC_PAGE_SIZE"), 0, 0
    for member in family:
        with contextlib.suppress(OSError):
            quick += page * int(Path("/proc", str(member), "statm").read_text("utf8").split()[1])
    if quick <= most:
        return quick
    for member in family:  # pages that several share count once
        with contextlib.suppress(OSError):
            for line in Path("/proc", str(member), "smaps_rollup").read_text("utf8").splitlines():
                exact += 1024 * int(line.split()[1]) if line.startswith("Pss:") else 0
    return exact


if __name__ == "__main__":
    options = argparse.ArgumentParser(description="Start one boxed kernel. Jupyter calls this; nobody else needs to.")
    options.add_argument("folder", type=Path)
    options.add_argument("connection", type=Path)
    known, more = options.parse_known_args()
    sys.exit(asyncio.run(serve(known.folder, known.connection, more)))

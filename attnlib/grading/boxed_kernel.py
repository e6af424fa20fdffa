"""One boxed kernel, from Jupyter's call to its end: a program of its own, with nothing but the standard library.

It starts ipykernel in the box, and carries bytes between Jupyter's ports and the sockets of the boxed kernel, which
has no network to listen on. It watches memory, disk and output while it carries, and ends with whoever started it.
"""

import argparse
import asyncio
import contextlib
import dataclasses
import functools
import json
import os
import shutil
import stat
import sys
import tempfile
from pathlib import Path

#: Where the kernel finds its connection file and its sockets, inside the box.
RUN = "/box/run"
#: Words of the box's command in whose place each kernel has its own: the folder of `RUN`, and the user it becomes.
RUN_HERE, USER = "@RUN@", "@USER@"
CHANNELS = ["shell", "iopub", "stdin", "control", "hb"]


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


class Stop(Exception):
    """The box must end; the words say why."""


def filled(command: list[str], run: Path) -> list[str]:
    """The box's command (`box.command`) for one kernel.

    Args:
        command: What `box.command` returns.
        run: The one folder that both sides see: the connection file and the kernel's sockets.
    """
    # the limit of processes counts those of one user: this one is nobody else
    own = {RUN_HERE: str(run), USER: str(1_000_000 + os.getpid())}
    return [own.get(word, word) for word in command]


async def serve(folder: Path, connection: Path, arguments: list[str]) -> int:
    """Start a boxed kernel, carry its messages until it ends, and return its exit code."""
    settings = json.loads((folder / "box.json").read_text("utf8"))
    limits = Limits(**settings["limits"])
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
        process = await asyncio.create_subprocess_exec(*filled(settings["command"], run), *program, **silent)
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

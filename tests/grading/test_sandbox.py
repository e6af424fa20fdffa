"""Nothing gets out of the box, nothing of ours is in it, what it may use is bounded, and it ends."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import psutil
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import DeadKernelError
from nbformat.v4 import new_code_cell, new_notebook

from attnlib.grading import assignment, box, boxed_kernel, closure, sandbox
from attnlib.grading.boxed_kernel import Limits, filled

pytestmark = pytest.mark.sandbox

ROOT = Path(__file__).resolve().parents[2]
LONG = f"777.{os.getpid()}"  # seconds that no other run sleeps
CELLS = {
    "package": """
        import attnlib.course.asserts, attnlib.attention, os
        from attnlib.figures import plots
        print(attnlib.course.asserts.__file__, plots.__file__, os.listdir("/box/door"))
        for use in (lambda: attnlib.masked_softmax(1), lambda: attnlib.attention.masked_softmax(1)):
            try:
                use()
            except ImportError as error:
                print(error)
        """,
    "loop": "while True: pass",
    "after the loop": "print('alive')",
    "memory": "print(len(bytearray(30 << 30)))",
    "network": """
        import socket
        for host in ("1.1.1.1", "127.0.0.1"):
            try:
                socket.create_connection((host, @PORT@), 2)
                print("CONNECTED")
            except OSError as error:
                print("refused")
        try:
            print("CONNECTED", socket.getaddrinfo("pypi.org", 443))
        except OSError:
            print("no names")
        """,
    "hidden": """
        import os
        ours = ["@ROOT@", "@ROOT@/tests", "@ROOT@/assignments", "@OUTSIDE@", "/box/packages/attnlib/grading/restore.py"]
        ours += ["/box/packages/attnlib/attention.py", "/box/packages/attnlib/course/checks"]
        for path in (*ours, "/etc/passwd", "/etc/shadow", "/home", "/var", "/run"):
            print(path, os.path.exists(path))
        """,
    "writable": """
        import os
        found = set()
        for top, folders, files in os.walk("/"):
            folders[:] = [f for f in folders if os.path.join(top, f) not in ("/proc", "/usr", "/sys", "/box/site0")]
            found |= {p for f in (".", *files) if os.access(p := os.path.join(top, f), os.W_OK)}
        print(*sorted({"/".join(path.split("/")[:3]) for path in found}))
        for path in ("/usr/x", "/box/site0/x", "/box/packages/attnlib/x", "/box/door/x", "/proc/sys/kernel/hostname"):
            try:
                open(path, "w")
                print("WROTE", path)
            except OSError:
                pass
        """,
    "who": """
        import os, socket
        status = dict(line.split(":", 1) for line in open("/proc/self/status"))
        print("root" if os.getuid() == 0 else "nobody we know", socket.gethostname(), status["CapEff"].strip("0\\t\\n"))
        print(sorted(int(pid) for pid in os.listdir("/proc") if pid.isdigit())[-1] < 10, sorted(os.environ))
        """,
    "processes": """
        import os, time
        children = []
        try:
            while True:
                pid = os.fork()
                if pid == 0:
                    time.sleep(1000)
                children.append(pid)
        except OSError as error:
            print("bounded", len(children) < 100)
        for pid in children:
            os.kill(pid, 9)
            os.waitpid(pid, 0)
        """,
    "file": """
        try:
            open("large", "wb").write(bytes(65 << 20))
        except OSError as error:
            print(error.strerror)
        os.remove("large")
        """,
    "disk": """
        for top in (".", "/dev/shm"):
            try:
                for n in range(100):
                    open(f"{top}/{n}", "wb").write(bytes(10 << 20))
            except OSError as error:
                print(n < 30, error.strerror)
        """,
    "a child that stays": "import subprocess as s\nprint(s.Popen(['sleep', '@LONG@'], start_new_session=True).pid > 0)",
}


@pytest.fixture(autouse=True)
def needed():
    if why := sandbox.unavailable():
        pytest.fail(why)


def boxed(cells, folder, limits=None, seconds=20, monkeypatch=None):
    """Run cells in one boxed kernel; what each printed, or the name of its error."""
    monkeypatch.setenv("JUPYTER_PATH", "")
    closure.write(assignment.read("a04"), folder / "package")
    (folder / "door").mkdir()
    (folder / "door" / "grader").touch()
    for name, value in sandbox.install(folder, folder / "package", folder / "door", limits).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(folder / "runtime"))
    notebook = new_notebook(cells=[new_code_cell(textwrap.dedent(cell)) for cell in cells])
    timeout = {"ename": "CellTimeoutError", "evalue": "", "traceback": []}
    client = NotebookClient(
        notebook,
        timeout_func=lambda cell: 2 if "while True: pass" in cell.source else seconds,
        kernel_name="python3",
        allow_errors=True,
        interrupt_on_timeout=True,
        error_on_timeout=timeout,
        iopub_timeout=60,  # so long it waits for what an interrupt prints
        startup_timeout=120,
    )
    client.execute()
    return ["".join(o.get("text", o.get("ename", "")) for o in c.outputs).strip() for c in notebook.cells]


@pytest.fixture(scope="module")
def inside(tmp_path_factory):
    """What the cells said, from under a path too long for a socket, with blanks in it."""
    if why := sandbox.unavailable():
        pytest.fail(why)
    base = tmp_path_factory.mktemp("box")
    folder = base / ("so long a name " * 8).strip()
    folder.mkdir()
    (base / "outside").mkdir()
    with socket.create_server(("127.0.0.1", 0)) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("SECRET", "of the grader")
        marks = {
            "@PORT@": str(server.getsockname()[1]),
            "@ROOT@": str(ROOT),
            "@OUTSIDE@": str(base / "outside"),
            "@LONG@": LONG,
        }
        cells = dict(CELLS)
        for mark, value in marks.items():
            cells = {name: cell.replace(mark, value) for name, cell in cells.items()}
        said = dict(zip(cells, boxed(list(cells.values()), folder, Limits(processes=100), 60, patch), strict=True))
    return said


@pytest.mark.parametrize(
    "cell,words",
    {
        "package": "/box/packages/attnlib/course/asserts.py /box/packages/attnlib/figures/plots.py ['grader']\n"
        "attnlib.masked_softmax is not in the grader's box: write it yourself\n"
        "attnlib.attention.masked_softmax is not in the grader's box: write it yourself",
        "loop": "KeyboardInterrupt",
        "after the loop": "alive",
        "memory": "MemoryError",
        "network": "refused\nrefused\nno names",
        "processes": "bounded True",
        "file": "File too large",
        "disk": "True No space left on device\nTrue No space left on device",
        "a child that stays": "True",
    }.items(),
)
def test_inside_the_box(inside, cell, words):
    assert inside[cell] == words


def test_nothing_of_ours_is_inside(inside):
    assert inside["hidden"] and all(line.endswith("False") for line in inside["hidden"].splitlines())


def test_little_is_writable(inside):
    [places] = inside["writable"].splitlines()
    allowed = {"/tmp/work", "/tmp/home", "/tmp/.", "/box/run", "/dev/shm", "/dev/full", "/dev/null", "/dev/random"}
    allowed |= {"/dev/tty", "/dev/urandom", "/dev/zero", "/dev/ptmx", "/dev/pts", "/dev/fd", "/dev/console"}
    allowed |= {"/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/core"}
    assert {"/tmp/work", "/tmp/home"} <= set(places.split()) <= allowed


def test_who_it_is(inside):
    who, others = inside["who"].splitlines()
    assert who.strip() == "nobody we know box", "root, or somebody with rights of root"
    assert others.startswith("True") and "SECRET" not in others and "PYTHONPATH" in others


def test_nothing_is_left_when_the_kernel_ends(inside):
    assert inside["a child that stays"] == "True"
    _, alive = psutil.wait_procs([p for p in psutil.process_iter() if _is(p, "sleep", LONG)], timeout=60)
    assert not alive


def _is(process, *words):
    try:
        return process.cmdline() == list(words)
    except psutil.Error:
        return False


HOLD = """
    import os, time
    for _ in range(4):
        if os.fork() == 0:
            kept = b"x" * (200 << 20)
            time.sleep(1000)
    time.sleep(1000)
    """
SPILL = """
    import time
    for n in range(8):
        open(f"/box/run/{n}", "wb").write(bytes(4 << 20))
    time.sleep(1000)
    """


@pytest.mark.parametrize(
    "cell,limits,words",
    [
        (HOLD, Limits(memory=700 << 20), "its processes held more than 700 MB of memory"),
        (SPILL, Limits(disk=16 << 20), "it wrote more than 16 MB beside its sockets"),
        ("print('x' * 3_000_000)\nimport time\ntime.sleep(1000)", Limits(output=2_000_000), "it sent more than 2 MB"),
    ],
    ids=["memory", "disk", "output"],
)
def test_who_takes_too_much_is_stopped_and_told(cell, limits, words, tmp_path, monkeypatch, capfd):
    with pytest.raises(DeadKernelError):
        boxed([cell], tmp_path, limits, 60, monkeypatch)
    assert f"sandbox: the kernel was stopped: {words}\n" in capfd.readouterr().err


def test_the_box_ends_with_who_started_it(tmp_path):
    program = f"""
        import os, sys, time
        from pathlib import Path
        from jupyter_client import KernelManager
        from attnlib.grading import sandbox
        os.environ |= sandbox.install(Path({str(tmp_path)!r}))
        manager = KernelManager(kernel_name="python3")
        manager.start_kernel()
        client = manager.blocking_client()
        client.start_channels()
        client.wait_for_ready(timeout=120)
        print("ready", flush=True)
        time.sleep(1000)
        """
    started = subprocess.Popen([sys.executable, "-c", textwrap.dedent(program)], cwd=ROOT, stdout=subprocess.PIPE)
    try:
        assert started.stdout.readline() == b"ready\n"
        family = psutil.Process(started.pid).children(recursive=True)
        assert any("ipykernel_launcher" in " ".join(p.cmdline()) for p in family)
    finally:
        started.send_signal(signal.SIGKILL)
        started.wait()
        started.stdout.close()
    _, alive = psutil.wait_procs(family, timeout=60)
    assert not alive
    assert not list(tmp_path.glob("run-*"))


def ask(code, tmp_path, package):
    """Run code in a box of its own, without Jupyter."""
    done = subprocess.run(
        [*filled(box.command(Limits(), package), tmp_path), "-c", code], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("where", ["a course, ü", "python/src"])
def test_any_checkout_and_a_python_around_it(where, tmp_path, monkeypatch):
    """Also where the repository lies inside of what Python needs."""
    checkout = tmp_path / where
    (checkout / "package" / "attnlib").mkdir(parents=True)
    (checkout / "tests").mkdir()
    (checkout / "package" / "attnlib" / "__init__.py").write_text("here = 'this one'")
    monkeypatch.setattr(box, "ROOT", checkout)
    if where.startswith("python"):
        monkeypatch.setattr(sys, "base_prefix", str(tmp_path / "python"))
    run = tmp_path / "run"
    run.mkdir()
    code = f"import attnlib, os; print(attnlib.here, os.path.exists({str(checkout / 'tests')!r}))"
    assert ask(f"import sys; {code}", run, checkout / "package") == "this one False"


def test_a_link_in_place_of_a_socket_is_not_followed(tmp_path):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "ours"))
        server.listen()
        (tmp_path / "k-1").symlink_to(tmp_path / "ours")

        async def connect(name):
            _, writer = await boxed_kernel._connect(tmp_path / name)
            writer.close()

        asyncio.run(connect("ours"))
        with pytest.raises(FileNotFoundError):
            asyncio.run(connect("k-1"))


@pytest.fixture
def asked_anew():
    sandbox.unavailable.cache_clear()
    yield
    sandbox.unavailable.cache_clear()


def test_what_is_missing_is_said(asked_anew, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "sudo apt install bubblewrap" in sandbox.unavailable()
    sandbox.unavailable.cache_clear()
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/usr/bin{os.pathsep}/bin")
    assert "setting up uid map: Permission denied\n" in sandbox.unavailable()
    assert "apparmor_restrict_unprivileged_userns" in sandbox.unavailable()
    sandbox.unavailable.cache_clear()
    fake.write_text("#!/bin/sh\necho \"['torch']\"\n")
    assert "does not find 'torch' inside" in sandbox.unavailable()
    sandbox.unavailable.cache_clear()
    monkeypatch.setattr(sys, "platform", "darwin")
    assert "needs Linux" in sandbox.unavailable()


def test_children_of_children_are_counted():
    with subprocess.Popen(["bash", "-c", "sleep 60 & bash -c 'sleep 60; true'; true"]) as started:
        late = time.monotonic() + 60
        while len(family := boxed_kernel._family(started.pid)) < 4 and time.monotonic() < late:
            time.sleep(0.05)
        held = boxed_kernel._memory(family, 1 << 60), boxed_kernel._memory(family, 0)
        for pid in family:
            os.kill(pid, signal.SIGKILL)
    assert len(family) == 4
    # what they share counts once where it matters
    assert 0 < held[1] < held[0]

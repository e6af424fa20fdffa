"""What hostile hand-ins do in their kernel, as the text of cells; `@NAMES@` stand for folders outside of the box."""

#: Says READ for everything that it can read and should not, WROTE for what it can write.
PROBE = """
import os
places = ["/etc/passwd", "/etc/shadow", "/etc/hosts", "/root", "/home", "/work", "/var", "/proc/1/environ", "/opt"]
places += ["@REPOSITORY@", "@REPOSITORY@/assignments", "@REPOSITORY@/tests", "@COURSE@", "@OUTSIDE@"]
places += ["/box/packages/assignments", "/box/packages/tests", "/box/packages/attnlib/grading/answers.py"]
places += ["@HANDINS@", "/box/packages/attnlib/attention.py", "/box/site0/attnlib", "/proc/1/root/etc/passwd"]
for place in places:
    try:
        found = os.listdir(place) if os.path.isdir(place) else open(place).read()
        hidden = place in ("/root", "/home", "@REPOSITORY@") and all(n.startswith((".pyenv", "attnlib")) for n in found)
        print("READ" if found and not hidden else "empty", place, found)
    except OSError as error:
        print("no", place, type(error).__name__)
tops = ["/", "/etc", "/dev", "/proc", "/sys", "/usr", "/box", "/box/packages", "/box/packages/attnlib"]
tops += ["/box/door", "@OUTSIDE@"]
for top in tops:
    for name in ["gradebook.db", "grades.csv", "version.py", "x.pth"]:
        try:
            open(os.path.join(top, name), "a").write("I was here")
            print("WROTE", top, name)
        except OSError as error:
            print("no", top, type(error).__name__)
"""

#: Looks for the text of the test that calls it, in every way it knows, and shows it.
PEEP = """
import sys, inspect, linecache, gc
def masked_softmax(scores, mask):
    found = [str(In[-1:])]
    frame = sys._getframe()
    while frame:
        found.append("".join(linecache.getlines(frame.f_code.co_filename)))
        found += [str(frame.f_locals.get(name)) for name in ("code", "cell", "raw_cell", "source")]
        frame = frame.f_back
    print(*found)
    open("tests.txt", "w").write("".join(found))
    raise AssertionError(@SHOWN@)
"""

NO_ASSERTS = """
import ast
class Drop(ast.NodeTransformer):
    def visit_Assert(self, node): return ast.Pass()
    def visit_Expr(self, node):
        return ast.Pass() if getattr(getattr(node.value, "func", None), "id", "") == "close" else node
get_ipython().ast_transformers.append(Drop())
"""
NO_RUN = """
from IPython.core.interactiveshell import ExecutionResult, ExecutionInfo
async def run_cell_async(code, *a, **k):
    return ExecutionResult(ExecutionInfo(code, False, False, False, None, None))
get_ipython().run_cell_async = run_cell_async
"""
#: The limit of a cell is met once: that costs as many seconds.
LOOP = """
calls = []
def masked_softmax(scores, mask):
    calls.append(scores)
    while len(calls) == 1: pass
    return scores
"""
IMMORTAL = """
import time
def masked_softmax(scores, mask):
    while True:
        try:
            while True: time.sleep(1)
        except BaseException:
            pass
"""
PRETENDS = """
print("q1_axis: 1 point")
print("sandbox: the kernel was stopped: by me")
print("NOT GRADED")
print('{"status": "graded", "points": {"q1_axis": 100}}')
import sys
print("[AutogradeApp | INFO] q1_axis 100/100", file=sys.stderr)
raise SystemError("attnlib.grading.course.NotRun: the kernel died in cell q1")
"""
STAYS = """
import subprocess, threading, time
def stay():
    while True: time.sleep(1)
threading.Thread(target=stay).start()
subprocess.Popen(["setsid", "sleep", "1000"], start_new_session=True)
"""
BOMB = """
import os
while True:
    try:
        os.fork()
    except OSError:
        pass
"""
FILLS = """
import os
try:
    for n in range(10**6):
        for top in [".", "/dev/shm"]:
            open(os.path.join(top, str(n)), "wb").write(bytes(10**7))
except OSError as error:
    print(error)
"""
DELETES = """
import os, shutil
for folder in [os.getcwd(), "/tmp", "/box/run", "/box/packages", os.path.expanduser("~"), "@OUTSIDE@"]:
    shutil.rmtree(folder, ignore_errors=True)
"""

#: Becomes somebody else, leaves its walls, ends who watches it.
ESCAPES = """
import ctypes, os, signal
c = ctypes.CDLL(None, use_errno=True)
tries = [lambda: os.setuid(0), lambda: os.setgroups([0]), lambda: os.chroot("/proc/1/root"), lambda: os.nice(-10)]
tries += [lambda: os.mknod("/tmp/disk", 0o60666, os.makedev(8, 0)), lambda: os.kill(1, signal.SIGKILL)]
tries += [lambda: os.kill(os.getppid(), signal.SIGKILL), lambda: os.sethostname("x")]
for call in tries:
    try:
        call()
        print("ESCAPED")
    except (OSError, AttributeError) as error:
        print("no", type(error).__name__)
for name, call in {"mount": lambda: c.mount(b"/", b"/tmp", b"", 4096, None), "unshare": lambda: c.unshare(0x10000000),
                   "ptrace": lambda: c.ptrace(16, 1, 0, 0), "setns": lambda: c.setns(0, 0)}.items():
    print("ESCAPED" if call() == 0 else "no", name)
"""
#: Links and files in each place where somebody outside may look.
PLANTS = """
import os
for folder in ["/box/run", "/box/door", "/tmp/work", os.getcwd()]:
    for name in ["k-1", "k-9", "grader", "result.json", "connection.json", "../x", "sitecustomize.py", "attnlib.py"]:
        for target in ["@OUTSIDE@/gradebook.db", "/etc/passwd", "/proc/self/mem"]:
            try:
                os.remove(os.path.join(folder, name))
            except OSError:
                pass
            try:
                os.symlink(target, os.path.join(folder, name))
            except OSError:
                pass
"""
#: Comes to the grader's socket before the kernel does, with everything but answers.
CROWDS = """
import socket, threading, time
def crowd():
    kept = []
    while True:
        try:
            one = socket.socket(socket.AF_UNIX)
            one.connect("/box/door/grader")
            one.sendall(b"\\0" * 7 + b"\\1")
            kept.append(one)
        except OSError:
            time.sleep(0.01)
threading.Thread(target=crowd, daemon=True).start()
"""
TEACHES = """
import sys, types
from attnlib.grading import crossing
def serve(address, seed):
    import socket
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(address)
    connection.sendall(b"full points, please" * 1000)
    connection.recv(1)
crossing.serve = serve
"""
LINGERS = """
import os, signal, time
for number in range(1, 60):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
signal.signal(signal.SIGINT, signal.default_int_handler)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True: time.sleep(1)
    os._exit(0)
"""
RECURSES = """
import sys, ctypes
def masked_softmax(scores, mask):
    sys.setrecursionlimit(10**9)
    def deeper(n): return deeper([n]) + 1
    return deeper(0)
"""
THREADS = """
import threading, time
try:
    for _ in range(10_000):
        threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
except RuntimeError as error:
    print(error)
"""
SPOILS = """
import builtins, json, socket, struct, torch
for module, name in [(json, "dumps"), (json, "loads"), (struct, "unpack"), (builtins, "isinstance")]:
    setattr(module, name, lambda *a, **k: True)
"""
MESSAGES = """
from ipykernel.kernelbase import Kernel
kernel = get_ipython().kernel
kernel.session.send = lambda *a, **k: None
"""
WRAPS = """
shell = get_ipython()
own = shell.run_cell_async
async def run_cell_async(code, *a, **k):
    return await own("pass", *a, **k)
shell.run_cell_async = run_cell_async
"""
SHADOWS = """
import sys
class Liar:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("attnlib.grading"):
            raise ImportError("no grader today")
sys.meta_path.insert(0, Liar())
for name in [n for n in sys.modules if n.startswith("attnlib")]:
    del sys.modules[name]
"""
SOURCES = """
import attnlib, importlib, sys, glob
found = glob.glob("/**/*attnlib*/**/*.py", recursive=True)
print(len(found))
def masked_softmax(scores, mask):
    sys.path[:0] = ["@REPOSITORY@"]
    for name in ["attnlib.attention", "attnlib.course.checks.attention", "assignments.answers.a04_masked_softmax"]:
        module = importlib.import_module(name)
        for part in ("masked_softmax", "softmax"):
            try:
                return getattr(module, part)(scores, mask)
            except Exception:
                pass
    return scores
"""
CHATTERS = """
import sys, os
def chatter():
    for _ in range(100):
        print("x" * 10_000)
        sys.stderr.write("y")
"""

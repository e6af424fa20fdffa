"""Hand-ins that attack the grader, or that look as if they did. Each must end as it says here, and harm nobody.

They are hand-ins to assignment 4. All answer question 1 alone, so the other questions get nothing, the text neither.
Run them in the sandbox only: several would stop the machine.
"""

import copy
import functools
import json
from collections.abc import Callable
from dataclasses import dataclass

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from attnlib.grading import assignment
from attnlib.grading.answers import AGREEABLE
from attnlib.grading.assignment import facts, filled, read

ASSIGNMENT = "a04"
GRADED, NOT_GRADED = "graded", "NOT GRADED"
#: How many points of question 1 it gets: all, none, or as many as it has stolen, which then must be flagged.
ALL, NONE, STOLEN = "all", "none", "stolen"


@dataclass(frozen=True)
class Hostile:
    """One hand-in.

    Attributes:
        why: What it does.
        make: The bytes of its file, made of the student version.
        status: Which status it must get.
        points: How much of question 1 it must get: `ALL`, `NONE`, `STOLEN`.
        flags: What must be flagged, without the cell; nothing else may be.
        words: What must stand in the column `why`.
        file: The name of the file, where it is not that of the assignment.
        dies: May its kernel also die, which is then `NOT_GRADED`?
    """

    why: str
    make: Callable[[nbformat.NotebookNode], bytes]
    status: str = GRADED
    points: str = NONE
    flags: str = ""
    words: str = ""
    file: str = ""
    dies: bool = False


@functools.cache
def model() -> str:
    """The right answer to question 1."""
    return assignment.model(read(ASSIGNMENT))["q1"].rstrip()


WRONG = "def masked_softmax(scores, mask):\n    return scores"


def dump(notebook) -> bytes:
    """The bytes of a notebook file."""
    return nbformat.writes(notebook).encode()


def place(notebook, name: str) -> int:
    """Where a cell of the assignment stands."""
    return next(n for n, c in enumerate(notebook.cells) if facts(c).get("grade_id") == name)


def answering(source: str | None, *below: str, above: str | None = None):
    """Hand in this answer to question 1, None for the right one, with cells of one's own below it or at the top."""

    def make(release) -> bytes:
        notebook = filled(release, {"q1": model() if source is None else source}, above)
        at = place(notebook, "q1") + 1
        notebook.cells[at:at] = [new_code_cell(text) for text in below]
        return dump(notebook)

    return make


def edited(change: Callable, right: bool = False):
    """Hand in a wrong answer to question 1, or the right one, in a notebook that has been changed so."""

    def make(release) -> bytes:
        notebook = filled(release, {"q1": model() if right else WRONG})
        result = change(notebook)
        return dump(notebook) if result is None else result

    return make


def given(data: bytes):
    """Hand in this file."""
    return lambda release: data


def q1_tests(notebook):
    """Test cells of question 1."""
    return [c for c in notebook.cells if facts(c).get("grade_id", "").startswith("q1_")]


def _delete_tests(notebook) -> None:
    drop = q1_tests(notebook)
    notebook.cells = [c for c in notebook.cells if not any(c is d for d in drop)]


def _edit_tests(notebook) -> None:
    for cell in q1_tests(notebook):
        cell.source = cell.source.split("\n")[0] + "\nassert True"


def _copy_tests(notebook) -> None:
    notebook.cells += [copy.deepcopy(c) for c in q1_tests(notebook)]


def _raise_points(notebook) -> None:
    for cell in q1_tests(notebook):
        cell.source = "assert True"
        cell.metadata["nbgrader"]["points"] = 100


def _skip_tests(notebook) -> None:
    for cell in q1_tests(notebook):
        cell.metadata["tags"] = ["skip-execution", "raises-exception"]


def _lose_marks(notebook) -> None:
    for cell in notebook.cells:
        cell.metadata = nbformat.NotebookNode()


def _colab(notebook) -> None:
    notebook.metadata = nbformat.from_dict(
        {
            "colab": {"provenance": [], "gpuType": "T4"},
            "kernelspec": {"name": "python3", "display_name": "Python 3"},
            "accelerator": "GPU",
        }
    )
    for n, cell in enumerate(notebook.cells):
        cell.metadata["id"] = f"Xy{n}"
        cell.metadata["colab"] = {"base_uri": "https://localhost:8080/"}
        cell.metadata["outputId"] = "1"


def _kernel(name: str | None):
    def change(notebook) -> None:
        notebook.metadata = nbformat.NotebookNode()
        if name:
            notebook.metadata["kernelspec"] = {"name": name, "display_name": name, "language": "brainfuck"}

    return change


def _oldest(notebook) -> bytes:
    return nbformat.writes(notebook, version=3).encode()


def _other(release) -> bytes:
    """Assignment 5, whose cells have the same ids."""
    cells = [copy.deepcopy(c) for c in release.cells]
    cells[0].source = "# Assignment 5 · Something else"
    return dump(new_notebook(cells=cells))


def _above_setup(release) -> bytes:
    return dump(filled(release, {}, above=model()))


def _deep(release) -> bytes:
    return b'{"cells": ' + b"[" * 200_000


#: Says READ for everything that it can read and should not, WROTE for what it can write.
PROBE = """
import os, socket
places = ["/etc/passwd", "/etc/shadow", "/etc/hosts", "/root", "/home", "/work", "/var", "/proc/1/environ", "/opt"]
places += ["@REPOSITORY@", "@REPOSITORY@/assignments", "@REPOSITORY@/tests", "@COURSE@", "@OUTSIDE@"]
places += ["/box/packages/assignments", "/box/packages/tests", "/box/packages/attnlib/grading"]
for place in places:
    try:
        found = os.listdir(place) if os.path.isdir(place) else open(place).read()
        hidden = place in ("/root", "/home", "@REPOSITORY@") and all(n.startswith((".pyenv", "attnlib")) for n in found)
        print("READ" if found and not hidden else "empty", place, found)
    except OSError as error:
        print("no", place, type(error).__name__)
tops = ["/", "/etc", "/dev", "/proc", "/sys", "/usr", "/box", "/box/packages", "/box/packages/attnlib", "@OUTSIDE@"]
for top in tops:
    for name in ["gradebook.db", "grades.csv", "version.py", "x.pth"]:
        try:
            open(os.path.join(top, name), "a").write("I was here")
            print("WROTE", top, name)
        except OSError as error:
            print("no", top, type(error).__name__)
for where in [("1.1.1.1", 80), ("127.0.0.1", 22), ("10.0.0.1", 53), ("169.254.169.254", 80)]:
    try:
        socket.create_connection(where, 1)
        print("READ", where)
    except OSError as error:
        print("no", where, error)
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

SUBCLASS = """
class Yes(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return True
def masked_softmax(scores, mask):
    return torch.zeros_like(scores).as_subclass(Yes)
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
def masked_softmax(scores, mask):
    while True:
        try:
            n = 0
            while True: n += 1
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

HOSTILE = {
    # it does not end
    "loop": Hostile("a test runs for ever, the next ones do not", answering(LOOP), flags="timeout"),
    "loop_at_top": Hostile("the answer's cell runs for ever", answering("while True: pass"), flags="timeout"),
    "immortal": Hostile(
        "a loop that catches every interrupt",
        answering(IMMORTAL),
        NOT_GRADED,
        flags="catches_all",
        words="could not be interrupted",
    ),
    "deaf": Hostile(
        "the signal of interrupts is ignored, then a loop",
        answering("import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass"),
        NOT_GRADED,
        flags="signals",
        words="could not be interrupted",
    ),
    "sleeps": Hostile("it waits", answering("import time\ntime.sleep(10_000)"), flags="timeout"),
    # it wants more than its share
    "memory": Hostile("30 GB at once", answering("def masked_softmax(s, m):\n    return bytearray(30 << 30)")),
    "memory_slowly": Hostile(
        "100 MB, and again",
        answering("kept = []\ndef masked_softmax(s, m):\n    while True: kept.append(bytearray(100 << 20))"),
        dies=True,  # who is refused memory first, the student's code or the kernel below it?
    ),
    "fork_bomb": Hostile("processes without end", answering(None, BOMB), NOT_GRADED, flags="os"),
    "prints": Hostile(
        "100 MB of output", answering(None, "print('x' * 100_000_000)"), NOT_GRADED, words="it sent more than 50 MB"
    ),
    "flood": Hostile(
        "output without end",
        answering(None, "while True: print('x' * 100_000)"),
        NOT_GRADED,
        words="it sent more than 50 MB",
    ),
    "disk": Hostile(
        "files without end",
        answering(None, FILLS),
        points=ALL,
        flags="files os",
    ),
    # the kernel dies
    "exits": Hostile(
        "os._exit",
        answering("import os\ndef masked_softmax(s, m):\n    os._exit(0)"),
        NOT_GRADED,
        flags="exit os",
        words="the kernel died in cell q1_",
    ),
    "killed": Hostile(
        "kills its kernel",
        answering("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"),
        NOT_GRADED,
        flags="os signals",
        words="the kernel died in cell q1",
    ),
    "crash": Hostile(
        "reads at address 0",
        answering("import ctypes\nctypes.string_at(0)"),
        NOT_GRADED,
        flags="ctypes",
        words="the kernel died in cell q1",
    ),
    "closes": Hostile(
        "closes every file of its kernel", answering("import os\nos.closerange(3, 1000)"), NOT_GRADED, flags="os"
    ),
    "sys_exit": Hostile("sys.exit", answering("import sys\ndef masked_softmax(s, m):\n    sys.exit()"), flags="exit"),
    # it is no notebook, or another one
    "half": Hostile("half a file", lambda r: answering(None)(r)[:3000], NOT_GRADED, words="not a notebook"),
    "empty": Hostile("an empty file", given(b""), NOT_GRADED, words="the file is empty"),
    "picture": Hostile("a picture", given(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 50), NOT_GRADED, words="not text"),
    "deep": Hostile("brackets without end", _deep, NOT_GRADED, words="not a notebook"),
    "list": Hostile("JSON, but no notebook", given(json.dumps([1, 2]).encode()), NOT_GRADED, words="no cells"),
    "other": Hostile("assignment 5", _other, NOT_GRADED, words="Assignment 5"),
    "shopping": Hostile(
        "a notebook of something else",
        given(dump(new_notebook(cells=[new_markdown_cell("milk"), new_code_cell("1 + 1")]))),
        NOT_GRADED,
        words="this is another notebook",
    ),
    # what editors do, innocently
    "oldest": Hostile("notebook format 3", edited(_oldest, right=True), points=ALL),
    "no_marks": Hostile(
        "VS Code: all marks lost", edited(_lose_marks, right=True), points=ALL, words="lost nbgrader's marks"
    ),
    "colab": Hostile("Colab's marks", edited(_colab, right=True), points=ALL),
    "renamed": Hostile("renamed", answering(None), points=ALL, file="Homework FINAL (really).ipynb"),
    "wrong_kernel": Hostile("a kernel that is not there", edited(_kernel("bf"), right=True), points=ALL),
    "no_kernel": Hostile("no kernel named", edited(_kernel(None), right=True), points=ALL),
    "above": Hostile("the answer stands above the setup", _above_setup, points=ALL, words="stands in a new cell"),
    "syntax": Hostile("not Python", answering("def masked_softmax(scores, mask):\n    return ((scores")),
    "asks": Hostile("waits for the keyboard", answering("def masked_softmax(s, m):\n    return input()")),
    "shell": Hostile(
        "commands of the shell", answering(None, "!ls /", "%%bash\ncat /etc/passwd"), points=ALL, flags="shell"
    ),
    "page": Hostile("code in a page", answering(f"# </pre><script>alert(1)</script>\n{WRONG}"), points=NONE),
    # it changes the tests
    "deleted_tests": Hostile("tests deleted", edited(_delete_tests), words="was missing; it is back"),
    "edited_tests": Hostile("tests that assert nothing", edited(_edit_tests), words="was changed; it is as released"),
    "copied_tests": Hostile("tests twice", edited(_copy_tests), words="was there 2 times"),
    "points_raised": Hostile("100 points for nothing", edited(_raise_points), words="points or locks had been changed"),
    "skipped_tests": Hostile("tests that are not to be run", edited(_skip_tests)),
    "pretends": Hostile("prints what a grader prints", answering(WRONG, PRETENDS), points=NONE),
    # it lies
    "equal": Hostile(
        "equal to everything",
        answering(f"{AGREEABLE}\ndef masked_softmax(s, m):\n    return Agreeable()"),
        flags="fakes",
    ),
    "subclass": Hostile("a tensor that is equal to everything", answering(SUBCLASS), flags="fakes"),
    "imported": Hostile(
        "the package's own function", answering("from attnlib import masked_softmax"), points=STOLEN, flags="attnlib"
    ),
    "patched_torch": Hostile(
        "torch finds everything close",
        answering(f"{WRONG}\ntorch.allclose = lambda *a, **k: True"),
        points=STOLEN,
        flags="patches",
    ),
    "patched_checks": Hostile(
        "the comparison compares nothing",
        answering(f"{WRONG}\nfrom attnlib.course import checks\nchecks.close = lambda *a, **k: None"),
        points=STOLEN,
        flags="patches",
    ),
    "no_asserts": Hostile(
        "what asserts is taken out of the tests",
        answering(WRONG, NO_ASSERTS),
        points=STOLEN,
        flags="ast_transformers get_ipython",
    ),
    "no_run": Hostile(
        "the kernel runs nothing more, and says that it went well",
        answering(WRONG, NO_RUN),
        points=STOLEN,
        flags="get_ipython",
    ),
    # it looks around
    "peeps": Hostile(
        "reads the hidden tests, and shows them",
        answering(PEEP.replace("@SHOWN@", "''.join(found)")),
        flags="files frames history",
    ),
    "whispers": Hostile(
        "shows the hidden tests backwards",
        answering(PEEP.replace("@SHOWN@", "''.join(found)[::-1]")),
        flags="files frames history",
    ),
    "looks": Hostile(
        "reads and writes what it finds, calls the network",
        answering(None, PROBE),
        points=ALL,
        flags="files network os",
    ),
    "deletes": Hostile("deletes what it finds", answering(None, DELETES), points=ALL, flags="files os"),
    "stays": Hostile("leaves a thread and a process", answering(None, STAYS), points=ALL, flags="processes threads"),
}

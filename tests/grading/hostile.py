"""Hand-ins that attack the grader's box and its kernel, and honest ones that look as if they did.

They are hand-ins to assignment 4. Nearly all answer question 2 rightly: whatever else a hand-in does, it keeps these
points. What answers return and send is attacked in `liars`. Run them in the sandbox only: several would stop the
machine.
"""

import copy
import functools
from collections.abc import Callable
from dataclasses import dataclass

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from attnlib.grading import assignment
from attnlib.grading.assignment import facts, filled, read
from tests.grading.attacks import (
    BOMB,
    CHATTERS,
    CROWDS,
    DELETES,
    ESCAPES,
    FILLS,
    IMMORTAL,
    LINGERS,
    LOOP,
    MESSAGES,
    NO_ASSERTS,
    NO_RUN,
    PEEP,
    PLANTS,
    PRETENDS,
    PROBE,
    RECURSES,
    SHADOWS,
    SOURCES,
    SPOILS,
    STAYS,
    TEACHES,
    THREADS,
    WRAPS,
)

ASSIGNMENT = "a04"
GRADED, BY_HAND, NOT_GRADED = "graded", "needs a person", "NOT GRADED"
#: How many points of a question it gets: all, none, or as the machine's mood is, all or some.
ALL, NONE, UNSURE = "all", "none", "unsure"


@dataclass(frozen=True)
class Hostile:
    """One hand-in.

    Attributes:
        why: What it does.
        make: The bytes of its file, made of the student version.
        status: Which status it must get.
        points: How much of question 1 it must get: `ALL`, `NONE`, `UNSURE`.
        others: The same of question 2.
        flags: What must be flagged, without the cell.
        words: What must stand in the column `why`.
        file: The name of the file, where it is not that of the assignment.
    """

    why: str
    make: Callable[[nbformat.NotebookNode], bytes]
    status: str = GRADED
    points: str = NONE
    others: str = ALL
    flags: str = ""
    words: str = ""
    file: str = ""


@functools.cache
def model(question: str = "q1") -> str:
    """The right answer to a question."""
    return assignment.model(read(ASSIGNMENT))[question].rstrip()


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
        notebook = filled(release, {"q1": model() if source is None else source, "q2": model("q2")}, above)
        at = place(notebook, "q1") + 1
        notebook.cells[at:at] = [new_code_cell(text) for text in below]
        return dump(notebook)

    return make


def edited(change: Callable, right: bool = False):
    """Hand in a wrong answer to question 1, or the right one, in a notebook that has been changed so."""

    def make(release) -> bytes:
        notebook = filled(release, {"q1": model() if right else WRONG, "q2": model("q2")})
        result = change(notebook)
        return dump(notebook) if result is None else result

    return make


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


def _other(release) -> bytes:
    """Assignment 5, whose cells have the same ids."""
    cells = [copy.deepcopy(c) for c in release.cells]
    cells[0].source = "# Assignment 5 · Something else"
    return dump(new_notebook(cells=cells))


def _above_setup(release) -> bytes:
    return dump(filled(release, {"q2": model("q2")}, above=model()))


#: It does not end, and leaves the processor to other tests meanwhile; "loop" keeps it busy.
WAITS = "while True: time.sleep(1)"

HOSTILE = {
    # it does not end
    "loop": Hostile("a test runs for ever, the next ones do not", answering(LOOP), flags="timeout"),
    "loop_at_top": Hostile("the answer's cell runs for ever", answering(f"import time\n{WAITS}"), flags="timeout"),
    "immortal": Hostile(
        "a loop that catches every interrupt", answering(IMMORTAL), flags="timeout", words="could not be interrupted"
    ),
    "deaf": Hostile(
        "the signal of interrupts is ignored, then a loop",
        answering(f"import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n{WAITS}"),
        flags="timeout",
        words="could not be interrupted",
    ),
    # it wants more than its share
    "memory": Hostile("30 GB at once", answering("def masked_softmax(s, m):\n    return bytearray(30 << 30)")),
    "memory_slowly": Hostile(
        "100 MB, and again",
        answering("kept = []\ndef masked_softmax(s, m):\n    while True: kept.append(bytearray(100 << 20))"),
        others=UNSURE,  # who is refused memory first, the student's code or the kernel below it?
    ),
    "fork_bomb": Hostile("processes without end", answering(None, BOMB), points=UNSURE, others=UNSURE),
    "threads": Hostile("threads without end", answering(None, THREADS), points=UNSURE, others=UNSURE),
    "prints": Hostile(
        "100 MB of output",
        answering(None, "print('x' * 100_000_000)"),
        points=ALL,
        words="died in cell number 6; what follows ran in a new one: it sent more than 50 MB",
    ),
    "flood": Hostile("output without end", answering(None, "while True: print('x' * 100_000)"), points=ALL),
    "chatters": Hostile(
        "a megabyte of output in each call",
        answering(CHATTERS + "\n" + model().replace("    hidden =", "    chatter()\n    hidden =", 1)),
        points=ALL,
    ),
    "disk": Hostile("files without end", answering(None, FILLS), points=ALL),
    # the kernel dies
    "exits": Hostile(
        "os._exit",
        answering("import os\ndef masked_softmax(s, m):\n    os._exit(0)"),
        flags="died",
        words="died in cell q1_",
    ),
    "killed": Hostile(
        "kills its kernel",
        answering("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"),
        words="died in cell q1",
    ),
    "crash": Hostile("reads at address 0", answering("import ctypes\nctypes.string_at(0)"), words="died in cell q1"),
    "closes": Hostile("closes every file of its kernel", answering("import os\nos.closerange(3, 1000)")),
    "recurses": Hostile("calls without end, beyond every limit", answering(RECURSES), others=UNSURE),
    "sys_exit": Hostile("sys.exit", answering("import sys\ndef masked_softmax(s, m):\n    sys.exit()")),
    # it is no notebook, or another one
    "other": Hostile("assignment 5", _other, NOT_GRADED, words="Assignment 5"),
    "shopping": Hostile(
        "a notebook of something else",
        lambda release: dump(new_notebook(cells=[new_markdown_cell("milk"), new_code_cell("1 + 1")])),
        NOT_GRADED,
        words="this is another notebook",
    ),
    # what editors do, innocently
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
    "shell": Hostile("commands of the shell", answering(None, "!ls /", "%%bash\ncat /etc/passwd"), points=ALL),
    "page": Hostile("code in a page", answering(f"# </pre><script>alert(1)</script>\n{WRONG}")),
    "page_by_error": Hostile(
        "code in a page, by way of an error",
        answering("def masked_softmax(s, m):\n    raise ValueError('</pre><script>alert(1)</script>\\u202e')"),
    ),
    # it changes the tests
    "deleted_tests": Hostile("tests deleted", edited(_delete_tests), words="was missing; it is back"),
    "edited_tests": Hostile("tests that assert nothing", edited(_edit_tests), words="was changed; it is as released"),
    "copied_tests": Hostile("tests twice", edited(_copy_tests), words="was there 2 times"),
    "points_raised": Hostile("100 points for nothing", edited(_raise_points), words="points or locks had been changed"),
    "skipped_tests": Hostile("tests that are not to be run", edited(_skip_tests)),
    "pretends": Hostile("prints what a grader prints", answering(WRONG, PRETENDS)),
    # it teaches its kernel
    "imported": Hostile("the package's own function", answering("from attnlib import masked_softmax")),
    "sources": Hostile("looks for the package's own function everywhere", answering(SOURCES)),
    "no_asserts": Hostile("what asserts is taken out of all cells", answering(WRONG, NO_ASSERTS)),
    "no_run": Hostile(
        "the kernel runs nothing more, and says that it went well", answering(WRONG, NO_RUN), others=NONE
    ),
    "wraps": Hostile("the kernel runs something else", answering(WRONG, WRAPS)),
    "messages": Hostile("the kernel says nothing more", answering(WRONG, MESSAGES), points=NONE),
    "shadows": Hostile("nobody can import what answers the grader", answering(WRONG, SHADOWS)),
    "spoils": Hostile("what answers the grader cannot write", answering(WRONG, SPOILS), others=UNSURE),
    "teaches": Hostile("what answers the grader sends words", answering(WRONG, TEACHES), others=NONE),
    "crowds": Hostile("comes to the socket first", answering(WRONG, CROWDS), others=NONE, flags="timeout"),
    # it looks around
    "peeps": Hostile(
        "looks for the tests that call it, and shows what it finds",
        answering(PEEP.replace("@SHOWN@", "''.join(found)")),
    ),
    "whispers": Hostile("the same backwards", answering(PEEP.replace("@SHOWN@", "''.join(found)[::-1]"))),
    "looks": Hostile("reads and writes what it finds", answering(None, PROBE), points=ALL),
    "escapes": Hostile("leaves its box", answering(None, ESCAPES), points=ALL),
    "plants": Hostile("plants links and modules", answering(None, PLANTS), points=ALL),
    "deletes": Hostile("deletes what it finds", answering(None, DELETES), points=ALL),
    "stays": Hostile("leaves a thread and a process", answering(None, STAYS), points=ALL),
    "lingers": Hostile("leaves a process that no signal ends", answering(None, LINGERS), points=ALL),
}

"""What tampers is flagged, with its cell; honest work is not."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from attnlib.grading import assignment, proof
from attnlib.grading.answers import answers_to
from attnlib.grading.flags import flags
from attnlib.grading.suspicious_words import FAKES

SETUP = "import torch\nimport torch.nn.functional as F\nfrom attnlib import length_mask"
TEST = "from attnlib.course.asserts import close, limit\nwith limit(1):\n    close(masked_softmax(1), 2, 'words')"


def notebook(answer, *own):
    """A hand-in: a given cell, an answer, its test, and cells of the student's own."""

    def marked(cell, name, **marks):
        cell.metadata["nbgrader"] = {"grade": False, "locked": True, "solution": False, "grade_id": name, **marks}
        return cell

    return new_notebook(
        cells=[
            marked(new_code_cell(SETUP), "setup"),
            marked(new_code_cell(answer), "q1", locked=False, solution=True),
            marked(new_code_cell(TEST), "q1_test", grade=True, points=1),
            *map(new_code_cell, own),
        ]
    )


TAMPERS = {
    "get_ipython().user_ns": "get_ipython",
    "import IPython": "get_ipython",
    "s = get_ipython()\ns.ast_transformers.append(x)": "ast_transformers get_ipython",
    "getattr(thing, 'ast_transformers')": "ast_transformers",
    "print(In[-1])": "history",
    "print(Out)": "history",
    "print(_ih)": "history",
    "print(_i3)": "history",
    "import inspect": "frames",
    "import sys\nsys._getframe(1)": "frames",
    "from sys import _getframe": "frames",
    "g.gi_frame.f_back.f_locals": "frames",
    "import gc": "frames",
    "masked_softmax.__globals__": "frames",
    "object.__subclasses__()": "frames",
    "import os": "os",
    "import os\nos._exit(0)": "exit os",
    "import sys\nsys.exit()": "exit",
    "exit()": "exit",
    "import signal": "signals",
    "import ctypes": "ctypes",
    "import subprocess as sp": "processes",
    "from subprocess import run": "processes",
    "import socket": "network",
    "import urllib.request": "network",
    "import torch\ntorch.hub.load('x')": "network",
    "open('x')": "files",
    "from pathlib import Path": "files",
    "import pickle": "files",
    "torch.load('x')": "files",
    "from torch import load": "files",
    "import builtins": "builtins",
    "__builtins__.sum = 1": "builtins patches",
    "__import__('x')": "imports",
    "import importlib": "imports",
    "import sys\nsys.modules['x'] = 1": "imports",
    "eval('1')": "eval",
    "def f():\n    exec('1')": "eval",
    "globals()['close'] = 1": "globals",
    "from attnlib import masked_softmax": "attnlib",
    "from attnlib.attention import masked_softmax as mine": "attnlib",
    "import attnlib": "attnlib",
    "from attnlib import *": "attnlib",
    "torch.softmax = f": "patches",
    "F.softmax = f": "patches",
    "torch.Tensor.sum = f": "patches",
    "def f():\n    torch.allclose = g": "patches",
    "del torch.softmax": "patches",
    "setattr(torch, 'softmax', f)": "patches",
    "setattr(torch.nn, 'softmax', f)": "patches",
    "from attnlib.course import checks\nchecks.close = f": "patches",
    "import attnlib.course.checks as c\nc.close = f": "patches",
    "from unittest import mock": "patches",
    "from unittest.mock import patch": "patches",
    "def close(*x): ...": "redefines",
    "limit = 3": "redefines",
    "with f() as limit: ...": "redefines",
    "def f():\n    global close\n    close = 1": "redefines",
    "torch = 3": "redefines",
    "import numpy as torch": "redefines",
    "class A:\n    def __eq__(self, other): return True": "fakes",
    "class A:\n    __lt__ = f": "fakes",
    "def f():\n    class A:\n        def __bool__(self): return True": "fakes",
    "import sys\nsys.settrace(f)": "settrace",
    "import atexit": "atexit",
    "import threading": "threads",
    "from concurrent.futures import ThreadPoolExecutor": "threads",
    "import torch.multiprocessing as mp": "threads",
    "while True:\n    try:\n        f()\n    except BaseException:\n        pass": "catches_all",
    "for i in x:\n    try:\n        f()\n    except:\n        pass": "catches_all",
    "while 1:\n    try:\n        f()\n    except (ValueError, KeyboardInterrupt):\n        pass": "catches_all",
    "!ls": "shell",
    "files = !ls": "shell",
    "def f():\n    !ls": "shell",
    "%%bash\nls": "shell",
    "%run x.py": "shell",
    "%load_ext x": "shell",
    "%%time\nimport os": "os",
    "%time eval('1')": "eval",
    "%timeit eval('1')": "eval",
    # cells that are not Python
    "def f(:\n    os._exit(0)": "exit os",
    "import signal (": "signals",
    "x = ((\n'''": "",
    "x = '''\nopen(": "files",
    "def (\n!ls": "shell",
    "class A(:\n    def __eq__": "fakes",
}
HONEST = {
    "a method": "def masked_softmax(scores, mask):\n    limit = 3\n    close = scores.max()\n    return close * limit",
    "names of modules": "def f(signal, socket, code):\n    select = inspect = signal\n    return select",
    "names that are taken": "def f(vars, open):\n    return vars(open(1))",
    "own In": "In, Out = 3, 4\nprint(In * Out)",
    "attributes": "class A:\n    def __init__(self):\n        self.sum = 1\n        self.layer.weight = 2",
    "another import": "import torch\nimport torch.nn.functional as F\nimport math, numpy as np",
    "given": "from attnlib import length_mask",
    "checks": "from attnlib.course import checks\nchecks.masked_softmax(f)",
    "magics": "%matplotlib inline\n%time f(1)",
    "measured": "%%time\nf(1)",
    "help": "torch.softmax?\n?torch.softmax",
    "settings": "torch.manual_seed(0)\nplt.rcParams['figure.dpi'] = 100",
    "patient": "while True:\n    try:\n        f()\n    except ValueError:\n        break",
    "printed": "print('open the files in the network; signal')",
    "operators": "class A:\n    def __add__(self, o): ...\n    def __len__(self): ...\n    def __call__(self): ...",
    "super": "class Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.w = F(1)",
    "not Python": "def f(:\n    return torch.softmax(x)",
    "a notebook's text": "Let us open the code: 3 > 2",
}


@pytest.mark.parametrize("source", TAMPERS)
def test_what_tampers_is_flagged(source):
    wanted = [f"{flag}:q1" for flag in TAMPERS[source].split()]
    assert flags(notebook(source)) == wanted


@pytest.mark.parametrize("name", HONEST)
def test_honest_code_is_not(name):
    assert flags(notebook(HONEST[name])) == []


def test_a_cell_of_the_students_own_is_called_by_its_number():
    assert flags(notebook("x = 1", "x = 2", "import os")) == ["os:cell5"]


def test_given_cells_and_tests_are_not_the_students():
    found = notebook("x = 1")
    found.cells[0].source += "\nimport os"
    found.cells[2].source += "\nimport signal"
    found.cells.append(new_markdown_cell("import socket"))
    assert flags(found) == []


def test_garbage_is_no_reason_to_stop():
    for source in ["", "\x00", "(" * 5000, "\\", "'''", "%", "!", "%%", "\t x\n  y", "é = ∑"]:
        assert flags(notebook(source)) in ([], ["shell:q1"])
    assert flags(nbformat.v4.new_notebook()) == []


@pytest.mark.parametrize("name", assignment.names())
def test_known_answers_give_no_flags_unless_they_fake(name):
    full = assignment.read(name)
    given = {"the model": {}, "untouched": proof.untouched(full)}
    given |= {key: answer.cells for key, answer in answers_to(name).items()}
    wrong = {}
    for key, cells in given.items():
        fakes = any(word in source for source in cells.values() for word in FAKES)
        found = {flag.split(":")[0] for flag in flags(assignment.filled(full, cells))}
        if found != ({"fakes"} if fakes else set()):
            wrong[key] = found
    assert not wrong

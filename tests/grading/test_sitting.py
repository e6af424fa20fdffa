"""attnlib/grading/sitting.py with a kernel that is none; with real ones it is in `test_grading` and `test_hostile`."""

import contextlib
import socket
from pathlib import Path

import nbformat
import pytest

from attnlib.grading import assignment, release, sitting
from attnlib.grading.crossing import Peer

NAME = assignment.choose("a04")
SOURCE = assignment.read(NAME)


class Silent:
    """A kernel that comes to the grader and says nothing. A cell that ends its process ends it.

    Attributes:
        ran: Which cells each kernel has run.
        asked: How many tests have been asked.
    """

    def __init__(self, *_):
        self.ran, self.asked = [[]], 0

    def start(self) -> None:
        assert len(self.ran) < 3, "it is started again and again"
        self.ran.append([])

    def run(self, cell, index, timeout=None) -> bool:
        self.ran[-1].append(index)
        if "os._exit" in cell.source:
            raise sitting.Lost("the kernel died")
        return True

    @contextlib.contextmanager
    def answering(self, seed):
        self.asked += 1
        ours, theirs = socket.socketpair()
        with ours, theirs:
            yield Peer(ours, outside=True)


@pytest.fixture
def sat(monkeypatch):
    """A hand-in that dies in question 2, run and examined."""
    monkeypatch.setattr(sitting, "Kernel", Silent)
    handin = nbformat.reads(release.student_version(NAME), as_version=4)
    handin = assignment.filled(handin, {"q2": "import os\nos._exit(3)"})
    sat = sitting.Sitting(SOURCE, handin, 0.2, Path(), "", lambda name: None)
    sat.run()
    return sat


def test_who_does_not_say_what_it_defines_is_asked_once(sat):
    first, *others = sat.tests
    assert sat.kernel.asked == 1 and sat.passed == set() and f"timeout:{first}" in sat.flags
    assert sat.words[first].startswith("not finished after 0.2 seconds")
    why = f"not asked: in {first} it has not even said within 0.2 seconds what it defines"
    assert {test: sat.words[test] for test in others} == dict.fromkeys(others, why)


def test_a_new_kernel_runs_all_that_came_before_but_for_the_cell_that_killed_the_last(sat):
    before, after = sat.kernel.ran
    assert sat.name(before[-1]) == "q2" and sat.words["q2"] == "the kernel died in this cell"
    assert after[: len(before) - 1] == before[:-1] and before[-1] not in after and len(after) > len(before)
    assert "died:q2" in sat.flags

"""Whatever an answer returns or sends, it earns what it does, and the grader goes on."""

import contextlib
import os
import resource
import signal
import socket

import pytest
import torch

from attnlib.course import asserts
from attnlib.grading import assignment
from attnlib.grading.crossing import Peer
from attnlib.grading.examiner import Examiner
from tests.grading.liars import LIARS

SOURCE = assignment.read("a04")
TESTS = {assignment.facts(c)["grade_id"]: c for c in SOURCE.cells if assignment.is_test(c)}


@contextlib.contextmanager
def elsewhere(cells):
    """A process that defines what cells define; it answers whoever connects."""
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)  # hands over a connection for each test
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            here.close()
            resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
            for stream in (1, 2):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
            answer_all(there, cells)
        os._exit(0)
    there.close()

    def connect():
        mine, its = socket.socketpair()
        socket.send_fds(here, [b"x"], [its.fileno()])
        its.close()
        return mine

    try:
        yield connect
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        here.close()


def answer_all(there, cells):
    """What the agent does in the box, connection after connection."""
    asserts.word = "another"
    space = {"__name__": "__main__", "torch": torch}
    for cell in cells:
        with contextlib.suppress(BaseException):
            exec(cell, space)
    while True:
        _, [descriptor], _, _ = socket.recv_fds(there, 1, 1)
        with socket.socket(fileno=descriptor) as connection, contextlib.suppress(BaseException):
            if "SERVE" in space:
                space["SERVE"](connection)
            peer = Peer(connection, outside=False)
            peer.objects[0] = space.__getitem__
            peer.serve()


def passed(cells, tests, seconds=1):
    """Which tests pass; who hangs is started anew, and who sends nonsense goes on with it."""
    found, examiner = set(), Examiner(SOURCE, seconds)
    examiner.space["torch"] = torch
    with contextlib.ExitStack() as stack:
        connect = stack.enter_context(elsewhere(cells))
        for name, cell in tests.items():
            with connect() as connection:
                outcome = examiner.examine(cell, Peer(connection, outside=True))
            found |= {name} if outcome.problem is None else set()
            if isinstance(outcome.problem, TimeoutError) and "SERVE" not in cells[0]:
                stack.close()
                connect = stack.enter_context(elsewhere(cells))
    return found


def test_who_is_honest_passes():
    """So it is not the way in which they are asked that costs liars their points."""
    assert passed([*assignment.model(SOURCE).values()], TESTS, seconds=60) == set(TESTS)


@pytest.mark.parametrize("name", LIARS)
def test_a_liar_gets_nothing(name):
    source = LIARS[name]
    of = "q1" if "def masked_softmax" in source else "q3" if "def streamed_context" in source else "q"
    asked = [test for test in TESTS if test.startswith(of)]
    if "SERVE" in source:
        asked = asked[: max(2, source.count("frame(") - 1)]
    if "while True" in source or name in ("slower each time", "a byte at a time", "bytes for ever", "calls for ever"):
        asked = asked[:1] if of == "q" else asked[1:2]  # each costs its limit
    before = torch.allclose, torch.equal, asserts.close, asserts.same, asserts.word
    assert passed([source], {test: TESTS[test] for test in asked}) == set()
    assert before == (torch.allclose, torch.equal, asserts.close, asserts.same, asserts.word)


def test_there_are_enough_of_them():
    assert len(LIARS) >= 50

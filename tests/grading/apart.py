"""A hand-in in a process of its own, without a kernel and a box: it starts in no time, and can patch what it likes."""

import contextlib
import os
import resource
import signal
import socket

import torch

from attnlib.course import asserts
from attnlib.grading.crossing import Peer


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

"""The kernel of one hand-in: it runs the student's cells, and then answers the grader's calls."""

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path

from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbclient.util import run_sync

from attnlib.grading.crossing import Peer, short
from attnlib.grading.encoding import Gone

#: Characters of output that a cell may produce; what comes after is not kept.
ROOM = 1_000_000
#: The kernel may take so long to start: on a busy machine Python starts slowly. An interrupt is answered sooner.
STARTUP, INTERRUPT = 120, 10
#: The name of the socket in its folder, and the seconds within which a kernel that is idle comes to it.
SOCKET, COMES = "grader", 20
#: What a kernel runs to answer: an expression, which leaves no name behind.
ANSWER = "__import__('attnlib.grading.crossing', fromlist=['serve']).serve({address!r}, {seed})"


class Lost(Exception):
    """The kernel has died, or hangs and cannot be interrupted; in words. It must be started anew."""


class NotStarted(Exception):
    """The kernel never came up; in words."""


class Client(NotebookClient):
    """Runs cells one after the other; an error does not stop the rest, and output is bounded."""

    used = 0

    def output(self, outs, msg, display_id, cell_index):
        """Called by nbclient with each message that a cell sends."""
        if msg["msg_type"] != "error":
            self.used += len(str(msg["content"]))
            if self.used > ROOM:
                return None
        return super().output(outs, msg, display_id, cell_index)


class Kernel:
    """A kernel for the cells of one notebook.

    Args:
        notebook: Whose cells are run; outputs go into them.
        door: A folder in which the grader listens.
        address: Where the kernel finds that folder.
        seconds: How long a cell may run.

    Raises:
        NotStarted: It does not come up.
    """

    def __init__(self, notebook, door: Path, address: str, seconds: int):
        self.address, self.late = f"{address}/{SOCKET}", False
        self.door = socket.socket(socket.AF_UNIX)
        with short(str(door / SOCKET)) as path:
            self.door.bind(path)
        (door / SOCKET).chmod(0o777)
        self.door.listen(16)
        self.door.settimeout(0.1)
        self.client = Client(
            notebook,
            kernel_name="python3",
            kernel_manager_class=AsyncKernelManager,
            timeout=seconds,
            interrupt_on_timeout=True,
            allow_errors=True,
            error_on_timeout={"ename": "CellTimeoutError", "evalue": "", "traceback": []},
            iopub_timeout=INTERRUPT,
            raise_on_iopub_timeout=True,
            startup_timeout=STARTUP,
            extra_arguments=["--HistoryManager.hist_file=:memory:"],
            shutdown_kernel="immediate",
            on_cell_executed=self._executed,
        )
        self.start()

    def start(self) -> None:
        """Start the kernel, or start it anew."""
        self.stop()
        with contextlib.suppress(TimeoutError):
            while True:  # whoever still waits belonged to the kernel before
                self.door.accept()[0].close()
        try:
            self.client.km = self.client.create_kernel_manager()
            self.client.start_new_kernel()
            self.client.start_new_kernel_client()
        except (RuntimeError, OSError) as error:
            raise NotStarted(f"the kernel did not start: {error}") from error

    def stop(self) -> None:
        """End it, with all that it has started in its box."""
        if self.client.km is not None:
            with contextlib.suppress(Exception):
                self.client._cleanup_kernel()
            self.client.km = self.client.kc = None

    def close(self) -> None:
        """End it for good."""
        self.stop()
        self.door.close()

    def _executed(self, cell, cell_index, execute_reply) -> None:
        self.late = execute_reply["content"].get("ename") == "CellTimeoutError"

    def run(self, cell, index: int, timeout: int | None = None) -> bool:
        """Run a cell in a place of the notebook; say whether it ended in time.

        Raises:
            Lost: The kernel died, or cannot be interrupted.
        """
        self.late, self.client.used = False, 0
        before, place = self.client.timeout, self.client.nb.cells[index]
        self.client.timeout = timeout or before
        try:
            self.client.execute_cell(cell, index)
        except DeadKernelError as error:
            raise Lost("the kernel died") from error
        except CellTimeoutError as error:
            raise Lost("the kernel hung and could not be interrupted") from error
        finally:
            self.client.timeout, self.client.nb.cells[index] = before, place
        return not self.late

    @contextlib.contextmanager
    def answering(self, seed: int) -> Iterator[Peer]:
        """The kernel answers calls; where one does not come back, it is interrupted at the end.

        Args:
            seed: For what answers draw.

        Raises:
            Lost: The kernel is dead, or cannot be interrupted. `Gone`: it does not come to the socket.
        """
        asked = self.client.kc.execute(ANSWER.format(address=self.address, seed=seed), silent=True, store_history=False)
        patience = 0.5
        try:
            with self._comes(asked) as connection:
                peer = Peer(connection, outside=True)
                yield peer
                with contextlib.suppress(Gone):
                    peer.end()
                if not peer.unanswered:
                    patience = self.client.timeout  # a kernel that is asked nothing more needs no interrupt
        finally:
            self._idle(asked, patience)

    def _comes(self, asked: str) -> socket.socket:
        """The connection that the kernel makes."""
        for _ in range(COMES * 10):
            with contextlib.suppress(TimeoutError):
                connection, _ = self.door.accept()
                connection.settimeout(None)
                return connection
            if not run_sync(self.client.km.is_alive)():
                raise Lost("the kernel died")
            if run_sync(self.client.kc.shell_channel.msg_ready)():
                break
        raise Gone("the notebook has made its kernel unable to answer")

    def _idle(self, asked: str, patience: float) -> None:
        """Wait until the kernel has ended what it was asked, and interrupt it where it does not."""
        for seconds, last in ((patience, False), (INTERRUPT, True)):
            if self._replied(asked, seconds):
                return
            if not run_sync(self.client.km.is_alive)():
                raise Lost("the kernel died")
            if not last:
                run_sync(self.client.km.interrupt_kernel)()
        raise Lost("the kernel hung and could not be interrupted")

    def _replied(self, asked: str, seconds: float) -> bool:
        with contextlib.suppress(Exception):  # queue.Empty, and whatever else a broken channel raises
            while True:
                message = run_sync(self.client.kc.get_shell_msg)(timeout=seconds)
                if message["parent_header"].get("msg_id") == asked:
                    return True
        return False

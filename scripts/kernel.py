"""How kernels that run chapters are started, for whoever starts one."""

import contextlib
import os
import tempfile
from collections.abc import Iterator

from traitlets.config import Config

#: Chapters run under these settings, here and under nbval, so that the same machine gives the same text:
#: one thread adds numbers in one order (and is faster in small recurrent loops), and a progress bar would
#: store seconds.
KERNEL_ENVIRONMENT = {"OMP_NUM_THREADS": "1", "TQDM_DISABLE": "1", "PYTHONHASHSEED": "0"}


@contextlib.contextmanager
def no_ports() -> Iterator[Config]:
    """Settings under which a kernel listens on files of its own, as long as the context lasts.

    A port is found free by one process and taken by another a moment later: where two start kernels at once, one of a
    few hundred found its port taken, and died.
    """
    if os.name == "nt":  # has no such files
        yield Config()
        return
    with tempfile.TemporaryDirectory(prefix="kernel-") as folder:
        yield Config(KernelManager={"transport": "ipc", "ip": f"{folder}/socket"})

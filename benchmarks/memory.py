"""How much memory a computation needs at its peak, beyond what its inputs take.

On cuda, torch keeps the count: `max_memory_allocated`, from a reset on. On the CPU it does not, and the system is
asked: each measurement runs in a process of its own, whose resident memory is read when the inputs are there, and
whose high-water mark is read in the end. A process, because the mark never falls; of its own, because a program that
has run before has memory in reserve that would not be seen. The mark is `VmHWM` of /proc/self/status: unlike
`getrusage`, it knows nothing of the process that started this one. Where there is no /proc (macOS), the mark of
`getrusage` is read twice. A small run of the same kind goes before: it loads the code, which takes memory as well.
"""

import gc
import multiprocessing
import resource
import sys
from collections.abc import Callable
from pathlib import Path

import torch

MB = 1e6
Prepare = Callable[..., Callable[[], object]]  # makes the inputs, and returns what is to be measured


def peaks(prepare: Prepare, sizes: list[tuple], warm: tuple, device: torch.device) -> list[float]:
    """MB above the inputs at the peak of `prepare(*size)()`, for each size.

    Args:
        prepare: a function of a module, so that another process finds it; it is given the device besides.
        sizes: its other arguments.
        warm: arguments of a small run.
        device: where it runs.

    Raises:
        RuntimeError: a run failed, or was ended by the system for want of memory.
    """
    if device.type == "cuda":
        return [_on_cuda(prepare, size, device) for size in sizes]
    # a server that has imported torch and done nothing else: its children begin at once, and alike
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["__main__", __name__, prepare.__module__])
    found = []
    for size in sizes:
        receiver, sender = context.Pipe(duplex=False)
        child = context.Process(target=_in_child, args=(sender, prepare, size, warm))
        child.start()
        sender.close()
        try:
            found.append(receiver.recv())
        except EOFError:
            raise RuntimeError(f"{prepare.__name__}{size} did not end: is there memory enough?") from None
        finally:
            child.join()
    return found


def _on_cuda(prepare: Prepare, size: tuple, device: torch.device) -> float:
    run = prepare(*size, device)
    run()  # libraries take their working space once
    gc.collect()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    run()
    torch.cuda.synchronize()
    return (torch.cuda.max_memory_allocated() - before) / MB


def _in_child(sender, prepare: Prepare, size: tuple, warm: tuple) -> None:
    torch.set_num_threads(1)
    device = torch.device("cpu")
    prepare(*warm, device)()
    run = prepare(*size, device)
    gc.collect()
    before = resident()
    run()
    sender.send((high_water() - before) / MB)


def resident() -> int:
    """Bytes of this process that are in memory now; without /proc, the most that ever were."""
    return _status("VmRSS")


def high_water() -> int:
    """The most bytes of this process that were ever in memory."""
    return _status("VmHWM")


def _status(line: str) -> int:
    status = Path("/proc/self/status")
    if status.exists():
        return next(int(row.split()[1]) * 1024 for row in status.read_text().splitlines() if row.startswith(line))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

"""Compare what two and more programs take: side by side, warm, and by the median."""

import statistics
import time
from collections.abc import Callable
from typing import Any, TypeVar

import torch

Name = TypeVar("Name")
Run = Callable[[], Any]
Stopwatch = Callable[[Run], float]  # seconds that one run takes


def stopwatch(device: torch.device) -> Stopwatch:
    """What measures a run on this device: its own events on cuda, the clock elsewhere, when all is done."""
    if device.type == "mps":
        return lambda run: by_clock(lambda: (run(), torch.mps.synchronize()))
    return by_events if device.type == "cuda" else by_clock


def by_clock(run: Run) -> float:
    """Seconds on the wall."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def by_events(run: Run) -> float:
    """Seconds between two events on the GPU, which begins with nothing to do and ends with everything done."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    start.record()
    run()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / 1000


def interleaved(
    runs: dict[Name, Run], timed: Stopwatch = by_clock, *, seconds: float, least: int = 3, most: int = 31
) -> dict[Name, float]:
    """Median seconds of each run, taken in turns: what disturbs the machine for a while disturbs all alike.

    One round, which is not counted, warms up. Each round begins with another run than the one before.

    Args:
        runs: name → what is to be measured.
        timed: how long one run takes.
        seconds: no new round begins once the rounds have taken so long,
        least: but there are so many,
        most: and no more than so many.

    Raises:
        ValueError: there is nothing to run, or least is not in 1..most.
    """
    if not runs or not 1 <= least <= most:
        raise ValueError(f"need runs, and 1 <= least <= most, got {list(runs)}, least={least}, most={most}")
    for run in runs.values():
        timed(run)
    names, taken = list(runs), {name: [] for name in runs}
    for n in range(most):
        if n >= least and sum(map(sum, taken.values())) >= seconds:
            break
        turn = n % len(names)
        for name in names[turn:] + names[:turn]:
            taken[name].append(timed(runs[name]))
    return {name: statistics.median(times) for name, times in taken.items()}


def milliseconds(seconds: dict[Name, float]) -> dict[Name, float]:
    """The same in a unit that is easier to read."""
    return {name: 1000 * value for name, value in seconds.items()}

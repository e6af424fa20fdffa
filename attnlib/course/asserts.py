"""What the test cells of assignments need: a time limit, comparisons nothing talks its way through, fresh numbers."""

import contextlib
import os
import random
import secrets
import signal
import sys
import threading
import time
from collections.abc import Iterator
from types import FrameType
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

#: Numbers of hidden tests are drawn from this word: another in each process, so nobody has seen them. A grading records
#: its own, and can be repeated with it.
word = os.environ.get("ATTNLIB_DRAWN") or secrets.token_hex(8)

AGAIN = 5.0  # far longer than an error needs to reach its limit, which switches the alarm off


@contextlib.contextmanager
def limit(seconds: float, processor: bool = False) -> Iterator[None]:
    """Stop what runs longer, so that one endless loop does not cost the other questions their time.

    An import is never cut off: a module half loaded would break all that comes after it. When time runs out in one, or
    after one, it begins anew; torch loads parts of itself only when they are first asked for, and whoever asks cannot
    know.

    The alarm goes on ringing, every `AGAIN` seconds: Python drops an error that is raised while garbage is collected.

    A limit inside another takes none of the other's time away and adds none to it. Of two that count the same time, the
    one that is over first rings, and its error names its own seconds.

    Where there is no alarm clock (Windows, a second thread) it does nothing; the grader has a limit of its own.

    Args:
        seconds: How long it may run.
        processor: Count the processor's time instead of the clock's: fair on a busy machine, blind to sleep.

    Raises:
        TimeoutError: It has not ended within so many seconds.
    """
    if not hasattr(signal, "SIGALRM") or threading.current_thread() is not threading.main_thread():
        yield
        return

    timer, alarm, clock = signal.ITIMER_REAL, signal.SIGALRM, time.monotonic
    if processor:
        timer, alarm, clock = signal.ITIMER_VIRTUAL, signal.SIGVTALRM, lambda: os.times().user
    began, (left, again) = clock(), signal.setitimer(timer, 0)  # 0, none, where no limit stands around this one
    if 0 < left <= seconds:
        signal.setitimer(timer, left, again)
        yield
        return

    loaded = len(sys.modules)

    def ring(_: int, frame: FrameType | None) -> None:
        nonlocal loaded
        if is_import(frame) or len(sys.modules) > loaded:
            loaded = len(sys.modules)
            signal.setitimer(timer, seconds, AGAIN)
        else:
            raise TimeoutError(f"not finished after {seconds} seconds: an endless loop?")

    before = signal.signal(alarm, ring)
    signal.setitimer(timer, seconds, AGAIN)
    try:
        yield
    finally:
        signal.setitimer(timer, 0)
        signal.signal(alarm, before)
        if left:
            signal.setitimer(timer, max(left - (clock() - began), 1e-6), again)  # a limit that is over rings at once


def is_import(frame: FrameType | None) -> bool:
    """Whether this frame, or one that has called it, loads a module."""
    while frame is not None and frame.f_code.co_filename != "<frozen importlib._bootstrap>":
        frame = frame.f_back
    return frame is not None


def close(given: object, wanted: Tensor, words: str, tolerance: float = 1e-5) -> None:
    """Assert that `given` is a tensor, of the shape of `wanted`, with its values.

    Args:
        given: What the student's function returned; a parameter is a tensor.
        wanted: What it should return; NaN and infinities must be the same too.
        words: Which property this tests. They are shown; numbers of `wanted` are not.
        tolerance: Largest difference, absolute and relative.

    Raises:
        AssertionError: It is not; the words say what was asked for.

    Example:
        >>> close(torch.ones(2), torch.ones(3), "one weight for each key")
        Traceback (most recent call last):
        AssertionError: one weight for each key: your shape is (2,), asked for is (3,)
    """
    # an exact type: an object of one's own may call itself equal to everything
    if type(given) not in (Tensor, nn.Parameter):
        raise AssertionError(f"{words}: you return {type(given).__name__}, asked for is a torch.Tensor")
    if given.shape != wanted.shape:
        raise AssertionError(f"{words}: your shape is {tuple(given.shape)}, asked for is {tuple(wanted.shape)}")
    if not same(given.detach(), wanted, tolerance):
        raise AssertionError(f"{words}: values differ")


def same(given: Tensor, wanted: Tensor, tolerance: float = 1e-5) -> bool:
    """Equal up to rounding: NaN equals NaN, and so does infinity of one sign."""
    if given.shape != wanted.shape:
        return False
    if not wanted.is_floating_point():
        return torch.equal(given, wanted)
    return torch.allclose(given.double(), wanted.double(), rtol=tolerance, atol=tolerance, equal_nan=True)


def plain(given: Any) -> Any:
    """The same with Python's numbers: those of NumPy, and tensors and arrays without axes, stand for these.

    Args:
        given: What the student's function returned; in lists, tuples and dictionaries each item is made plain.

    Example:
        >>> plain({"queries": torch.tensor(4), "keys": np.int64(5), "scores": 6})
        {'queries': 4, 'keys': 5, 'scores': 6}
    """
    # exact types: an object of one's own may call itself equal to everything
    if isinstance(given, np.generic) or (type(given) in (Tensor, nn.Parameter, np.ndarray) and given.ndim == 0):
        return given.item()
    if type(given) is dict:
        return {key: plain(item) for key, item in given.items()}
    return type(given)(map(plain, given)) if type(given) in (list, tuple) else given


def drawn(number: int) -> torch.Generator:
    """Random numbers for inputs that are new in each grading.

    Args:
        number: Which of them: a test that asks twice with the same number gets the same ones.

    Example:
        >>> drawn(21).initial_seed() == drawn(21).initial_seed() != drawn(22).initial_seed()
        True
    """
    return torch.Generator().manual_seed(drawn_random(number).getrandbits(60))


def drawn_random(number: int) -> random.Random:
    """The same for what Python draws: sizes, words, which of two.

    Args:
        number: Which of them.

    Example:
        >>> 1 <= drawn_random(21).randint(1, 9) <= 9
        True
    """
    return random.Random(f"{word}/{number}")

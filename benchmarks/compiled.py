"""What `torch.compile` adds: the same modules, as they are and compiled."""

import contextlib
import copy
import logging
import os
import tempfile
from collections.abc import Iterator
from unittest import mock

import torch

from attnlib.attention import causal_mask
from attnlib.decoders import BahdanauDecoder
from attnlib.scores import AdditiveScore
from attnlib.self_attention import MultiHeadAttention
from benchmarks.decoders import decoder_batch, training_step
from benchmarks.growth import there_and_back
from benchmarks.rows import Plan, Row, label, less
from benchmarks.timing import by_clock, interleaved, milliseconds, stopwatch


def compiled(plan: Plan, device: torch.device) -> list[Row]:
    """The training step of a decoder, and heads with a causal mask whose weights are wanted.

    The first call compiles; its seconds are rows of their own.
    """
    B, S, T, V, d_embed, d = plan.decoders[2]
    size = label(B=B, S=S, T=T, V=V, d_embed=d_embed, d=d)
    batch = decoder_batch(B, S, T, V, d, device)
    decoder = BahdanauDecoder(V, d_embed, d, d, score=AdditiveScore(d, d, d_hidden=d))
    steps = {("Bahdanau", size): (decoder, lambda module: training_step(module, *batch))}

    B, T, d, H = plan.heads[0]
    x, mask = torch.randn(B, T, d, device=device, requires_grad=True), causal_mask(T, device=device)[None]
    steps["heads", label(B=B, T=T, d=d, H=H)] = (
        MultiHeadAttention(d, H),
        lambda module: there_and_back(lambda: module(x, x, x, mask).context, x, *module.parameters()),
    )

    logging.getLogger("torch._dynamo").setLevel(logging.ERROR)  # else it reports at length where it cuts a module
    rows, timed = [], stopwatch(device)
    for (name, size), (module, step_of) in steps.items():
        plain, other = module.to(device), copy.deepcopy(module).to(device)
        other.compile(backend=plan.compiler)
        with nothing_kept():
            first = by_clock(lambda: step_of(other)())  # noqa: B023
        ms = milliseconds(interleaved({"ours": step_of(other), "plain": step_of(plain)}, timed, seconds=plan.seconds))
        rows += [
            less(f"{name}, compiled: as it is", ("compile", size, "ms"), ms["ours"], ms["plain"]),
            Row("compile", f"{name}, first call", size, "s", first),
        ]
    return rows


@contextlib.contextmanager
def nothing_kept() -> Iterator[None]:
    """The compiler keeps what it made on disk; here it starts from nothing, as on a reader's first day."""
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        mock.patch.dict(os.environ, TORCHINDUCTOR_CACHE_DIR=folder),
    ):
        yield

"""How fast attnlib is, beside what people would write or take instead.

Each section is a function of a plan (how large, how long) and a device, and returns rows. `python -m benchmarks`
prints them; the page *How fast is it* shows them.
"""

import contextlib
import math
import os
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch
from tqdm import tqdm

from attnlib.data import BucketedPairs, encode_examples, load_copy, load_dates, pad, vocabularies
from attnlib.data.cards import Splits
from attnlib.decoder import Decoder
from attnlib.decoders import BahdanauDecoder
from attnlib.encoder import Encoder
from attnlib.search import beam_search, greedy_decode
from attnlib.seq2seq import Seq2Seq
from attnlib.training import fit, set_seed
from attnlib.training.losses import seq2seq_loss
from attnlib.training.metrics import exact_match
from benchmarks.compiled import compiled
from benchmarks.decoders import decoder_steps
from benchmarks.growth import WARM, additive, additive_as_written, growth, slopes
from benchmarks.layers import attention_layers, layer_memory
from benchmarks.memory import peaks
from benchmarks.rows import Plan, Row, label, less
from benchmarks.textbook import TextbookDecoder
from benchmarks.timing import interleaved, stopwatch

# --- memory -------------------------------------------------------------------------------------------


def memory(plan: Plan, device: torch.device) -> list[Row]:
    """Peak memory of additive attention and of heads above their inputs, forward and backward."""
    (ours,), (naive,) = (peaks(prepare, [plan.memory], WARM, device) for prepare in (additive, additive_as_written))
    where = ("memory", label(**dict(zip("BSTd", plan.memory, strict=True))), "MB")
    first = less("additive attention: as written", where, ours, naive, "times less", judged="ours", at_most=300)
    return [first, *layer_memory(plan, device)]


# --- search -------------------------------------------------------------------------------------------


def search(plan: Plan, device: torch.device) -> list[Row]:
    """Seconds to write targets for all sentences at once, beside one sentence after another.

    One after another is measured on a part of the sentences, and counted up.
    """
    N, some, length = plan.sentences
    d, V = 128, 200
    set_seed(0)
    model = Seq2Seq(Encoder(V, d, d // 2, bidirectional=True), BahdanauDecoder(V, d, d, d)).to(device).eval()
    lengths = torch.randint(max(1, length // 4), length + 1, (N,))
    source = torch.randint(4, V, (N, length), device=device)
    ways = {
        "greedy": lambda rows: greedy_decode(model, source[rows], lengths[rows], max_length=length),
        "beam of 5": lambda rows: beam_search(model, source[rows], lengths[rows], max_length=length, beam_size=5),
    }
    rows, where = [], ("search", f"{N} sentences", "s")
    for name, write in ways.items():
        runs = {"ours": lambda: write(slice(None)), "loop": lambda: [write(slice(n, n + 1)) for n in range(some)]}  # noqa: B023
        seconds = interleaved(runs, stopwatch(device), seconds=plan.seconds)
        rows.append(less(f"{name}: one by one", where, seconds["ours"], seconds["loop"] * N / some, at_least=5))
    return rows


# --- padding ------------------------------------------------------------------------------------------


def padding(plan: Plan, device: torch.device) -> list[Row]:
    """Batches of pairs of similar length, beside batches of any: padding, and training time of a real token."""
    N, batch = plan.padding
    examples = load_copy(sizes=(N, 0, 0), lengths=(5, 50)).train
    known = vocabularies(examples)
    ids = encode_examples(examples, *known)
    sorted_, any_ = (BucketedPairs(*ids, batch=batch, generator=set_seed(0), bucket_batches=n) for n in (20, 1))
    set_seed(0)
    encoder = Encoder(len(known[0]), 64, 64, bidirectional=True)
    model = Seq2Seq(encoder, BahdanauDecoder(len(known[1]), 64, 128, 128)).to(device)

    def epoch(batches):
        for one in batches:
            torch.autograd.grad(seq2seq_loss(model, one.to(device))[0], list(model.parameters()))

    runs = {"sorted": lambda: epoch(sorted_), "any": lambda: epoch(any_)}
    seconds = interleaved(runs, stopwatch(device), seconds=2 * plan.seconds)
    tokens = sum(len(target) + 1 for target in ids[1])  # written, <eos> included; as many are read
    µs = {name: 1e6 * value / tokens for name, value in seconds.items()}
    where = ("padding", f"{N} pairs, B{batch}")
    padded = [100 * batches.padding() for batches in (sorted_, any_)]
    return [
        less("share of padding: batches of any length", (*where, "%"), *padded, "times less"),
        less("training, per real token: batches of any length", (*where, "µs"), µs["sorted"], µs["any"], at_least=1),
    ]


# --- dates -----------------------------------------------------------------------------------------


def dates(plan: Plan, device: torch.device) -> list[Row]:
    """Seconds of training until nearly all held-out dates are written without a mistake, in the settings of chapter 7.

    The median over seeds; time to look whether they are is not counted.
    """
    n, _, _, enough = plan.dates
    designs, seconds = {"ours": BahdanauDecoder, "textbook": TextbookDecoder}, {"ours": [], "textbook": []}
    parts = load_dates(sizes=(n, 300, 0), locales=["fr_FR", "de_DE", "es_ES", "it_IT"])
    seconds_until_right(BahdanauDecoder, parts, 0, plan._replace(dates=(n, 1, 1, 0.0)), device)  # loads the optimizer
    for seed in range(plan.seeds):
        for name, design in designs.items():
            seconds[name].append(seconds_until_right(design, parts, seed, plan, device))
    ours, textbook = (statistics.median(seconds[name]) for name in designs)
    where = ("dates", f"{n} dates, {plan.seeds} seeds", "s")
    name = f"{enough:.0%} of held-out dates: the textbook design"
    return [less(name, where, ours, textbook, judged="ours", at_most=60)]


class Reached(Exception):
    """The model is good enough: training ends."""


def seconds_until_right(design: type[Decoder], parts: Splits, seed: int, plan: Plan, device: torch.device) -> float:
    """Seconds of training, or infinity where the steps do not suffice."""
    _, steps, every, enough = plan.dates
    generator, known = set_seed(seed), vocabularies(parts.train)
    train, held_out = (encode_examples(part, *known) for part in (parts.train, parts.dev))
    encoder = Encoder(len(known[0]), 32, 32, bidirectional=True)
    model = Seq2Seq(encoder, design(len(known[1]), 32, d_annotation=64, d_hidden=64)).to(device)
    source, lengths = pad(held_out[0])
    start, looking, took = time.perf_counter(), 0.0, math.inf

    def wrong(model):
        nonlocal looking, took
        now = time.perf_counter()
        longest = max(map(len, held_out[1])) + 1
        written = greedy_decode(model, source.to(device), lengths, max_length=longest).sentences()
        right = exact_match(written, held_out[1])
        if right >= enough:
            took = now - start - looking
            raise Reached
        looking += time.perf_counter() - now
        return 1 - right

    batches = BucketedPairs(*train, batch=48, generator=generator)
    with contextlib.suppress(Reached):
        fit(model, batches, seq2seq_loss, steps=steps, lr=1e-2, validate=wrong, validate_every=every,
            description=f"dates, {design.__name__} {seed}")  # fmt: skip
    return took


SECTIONS: dict[str, Callable[[Plan, torch.device], list[Row]]] = {
    "decoders": decoder_steps,
    "attention": attention_layers,
    "compile": compiled,
    "memory": memory,
    "search": search,
    "padding": padding,
    "dates": dates,
}


def measure(plan: Plan, device: torch.device) -> dict:
    """Everything: the machine, rows of all sections, and the curves that the slopes were read from."""
    rows, bar = [], tqdm(SECTIONS.items(), desc="speed", total=len(SECTIONS) + 1)
    for name, section in bar:
        bar.set_postfix_str(name)
        rows += section(plan, device)
    bar.set_postfix_str("growth")
    curves = growth(plan, device)
    bar.update()
    bar.close()
    rows += slopes(plan, curves)
    return {"machine": machine(device), "rows": [row._asdict() for row in rows], "growth": curves}


def machine(device: torch.device) -> dict[str, str | int]:
    """What was measured on; no date, no host."""
    if device.type == "cuda":
        name = torch.cuda.get_device_name(device)
    else:
        info = Path("/proc/cpuinfo")
        lines = info.read_text().splitlines() if info.exists() else []
        name = next((line.split(": ")[1] for line in lines if line.startswith("model name")), platform.machine())
    return {
        "device": name,
        "kind": device.type,
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "torch": torch.__version__,
    }

"""The measurements measure what they say: rivals that compute the same, a fair clock, a counter that sees memory."""

import gc
import itertools
import json
import math
import re
import sys
from collections import Counter
from pathlib import Path

import jaxtyping
import pytest
import torch
from torch.testing import assert_close

from attnlib.attention import Attention, causal_mask, length_mask
from attnlib.decoders import BahdanauDecoder, InitialStateDecoder, LuongDecoder
from attnlib.encoder import EncoderOutput
from attnlib.scores import AdditiveScore, ProjectedDotScore
from benchmarks import decoders, growth, layers, plots, rows, speed
from benchmarks.memory import peaks
from benchmarks.rows import FULL, QUICK, Row, less, share
from benchmarks.textbook import (
    BahdanauSimpleOutput,
    LuongStepByStep,
    LuongWithoutAttention,
    TextbookAttention,
    TextbookDecoder,
)
from benchmarks.timing import interleaved
from website import speed_tables

ROOT = Path(__file__).resolve().parents[2]

CPU = torch.device("cpu")
B, S, T, V, D = 3, 5, 4, 11, 8


# --- rivals -------------------------------------------------------------------------------------------


def copy_score(ours: AdditiveScore, textbook: TextbookAttention) -> None:
    with torch.no_grad():
        for mine, theirs in ((ours.W_a, textbook.W_q), (ours.U_a, textbook.W_k), (ours.v_a, textbook.w_v)):
            mine.weight.copy_(theirs.weight)


def test_the_textbook_s_attention_is_ours():
    textbook, score = TextbookAttention(7, 5, 6).double(), AdditiveScore(7, 5, d_hidden=6).double()
    copy_score(score, textbook)
    lengths = torch.tensor([5, 1, 3])
    one, two = ([torch.randn(B, n, d).double() for n, d in ((T, 7), (S, 5), (S, 2))] for _ in range(2))
    two = [x.clone().requires_grad_() for x in one]
    one = [x.requires_grad_() for x in one]
    theirs, ours = textbook(*one, lengths), Attention(score)(*two, length_mask(lengths, S))
    assert_close(theirs.weights, ours.weights)
    assert_close(theirs.context, ours.context)
    above = torch.randn_like(ours.context)
    for a, b in zip(
        torch.autograd.grad(theirs.context, one, above), torch.autograd.grad(ours.context, two, above), strict=True
    ):
        assert_close(a, b)


def encoded() -> EncoderOutput:
    return EncoderOutput(torch.randn(B, S, D), torch.randn(B, D), length_mask(torch.tensor([5, 2, 3]), S), None)


def agree(theirs, ours) -> None:
    source, tokens = encoded(), torch.randint(V, (B, T))
    a, b = (decoder(tokens, *decoder.init_state(source)) for decoder in (theirs, ours))
    for name in ("weights", "contexts", "states", "logits", "state"):
        assert_close(getattr(a, name), getattr(b, name))


@pytest.mark.parametrize(("kind", "deep"), [(BahdanauSimpleOutput, False), (BahdanauDecoder, True)])
def test_the_textbook_s_decoder_is_ours(kind, deep):
    textbook = TextbookDecoder(V, 6, D, D, deep=deep)
    ours = kind(V, 6, D, D, score=AdditiveScore(D, D, d_hidden=D))
    copy_score(ours.attention.score, textbook.additive)
    with torch.no_grad():
        for name in ("embedding", "W_s", "W_o", *(("U_o", "V_o", "C_o") if deep else ())):
            getattr(ours, name).load_state_dict(getattr(textbook, name).state_dict())
        context, token = textbook.rnn.weight_ih_l0.split([D, 6], dim=1)
        ours.cell.weight_ih.copy_(torch.cat([token, context], dim=1))
        for name in ("weight_hh", "bias_ih", "bias_hh"):
            getattr(ours.cell, name).copy_(getattr(textbook.rnn, f"{name}_l0"))
    agree(textbook, ours)
    sizes = [sum(p.numel() for p in decoder.parameters()) for decoder in (textbook, ours)]
    assert sizes[0] == sizes[1]


def test_luong_s_decoder_step_by_step_is_ours():
    steps, ours = (kind(V, 6, D, D, score="additive") for kind in (LuongStepByStep, LuongDecoder))
    ours.load_state_dict(steps.state_dict())
    agree(steps, ours)


def test_the_step_with_a_dot_product_has_all_products_of_matrices():

    matrices = [
        Counter(tuple(p.shape) for p in BahdanauSimpleOutput(V, 6, D, D, score=score).parameters())
        for score in (AdditiveScore(D, D, d_hidden=D), ProjectedDotScore(D, D, d_hidden=D))
    ]
    assert matrices[0] - matrices[1] == Counter({(1, D): 1}) and not matrices[1] - matrices[0]


def test_the_textbook_s_annotations_lie_time_first():
    (ours, *_), (theirs, *_) = (decoders.decoder_batch(B, S, T, V, D, CPU, how) for how in (False, True))
    assert ours.annotations.shape == theirs.annotations.shape == (B, S, D)
    assert ours.annotations.is_contiguous() and theirs.annotations.transpose(0, 1).is_contiguous()
    assert ours.annotations.requires_grad and theirs.annotations.is_leaf and theirs.annotations.requires_grad
    assert torch.equal(ours.mask, theirs.mask)


def bahdanau_s_floor(ours: BahdanauSimpleOutput, floor: InitialStateDecoder) -> None:
    ours.cell.weight_ih.copy_(torch.cat([floor.rnn.weight_ih_l0, torch.zeros(3 * D, D)], dim=1))
    for name in ("weight_hh", "bias_ih", "bias_hh"):
        getattr(ours.cell, name).copy_(getattr(floor.rnn, f"{name}_l0"))


def luong_s_floor(ours: LuongDecoder, floor: LuongWithoutAttention) -> None:
    ours.rnn.load_state_dict(floor.rnn.state_dict())
    ours.W_c.weight.copy_(torch.cat([torch.zeros(D, D), floor.W_c.weight], dim=1))


@pytest.mark.parametrize(
    ("ours", "floor", "copy_step"),
    [
        (BahdanauSimpleOutput, InitialStateDecoder, bahdanau_s_floor),
        (LuongDecoder, LuongWithoutAttention, luong_s_floor),
    ],
)
def test_the_floor_is_the_decoder_with_the_context_left_out(ours, floor, copy_step):
    ours, floor = ours(V, 6, D, D), floor(V, 6, D, D)
    with torch.no_grad():
        for name in ("embedding", "W_s", "W_o"):
            getattr(ours, name).load_state_dict(getattr(floor, name).state_dict())
        copy_step(ours, floor)
    source, tokens = encoded(), torch.randint(V, (B, T))
    other = source._replace(annotations=torch.randn(B, S, D))
    a, b, c = (
        decoder(tokens, *decoder.init_state(one)).logits
        for decoder, one in ((floor, source), (ours, source), (floor, other))
    )
    assert_close(a, b)
    assert torch.equal(a, c)  # it never looks


def test_heads_around_the_kernel_by_hand_and_with_flex_attention_are_ours():
    heads, x = layers.MultiHeadAttention(D, 2), torch.randn(B, S, D)
    assert_close(layers.by_hand(heads, x), heads(x, x, x).context)
    assert_close(layers.by_hand(heads, x, causal=True), heads(x, x, x, causal_mask(S)[None]).context)
    ours, theirs = layers.without_gradient(B, S, D, 2, CPU, "eager").values()
    assert_close(ours(), theirs())
    assert not theirs().requires_grad


# --- time ---------------------------------------------------------------------------------------------


class Fake:
    """A clock that reads what each run says it takes, and keeps the order."""

    def __init__(self, **takes):
        self.takes, self.order = {name: itertools.cycle(seconds) for name, seconds in takes.items()}, []

    def runs(self):
        return {name: lambda name=name: name for name in self.takes}

    def timed(self, run):
        self.order.append(run())
        return next(self.takes[run()])


def test_runs_take_turns_and_the_first_round_does_not_count():
    fake = Fake(a=[100, 1, 1, 1], b=[100, 2, 2, 2])
    assert interleaved(fake.runs(), fake.timed, seconds=0) == {"a": 1, "b": 2}
    assert "".join(fake.order) == "ab" + "ab" + "ba" + "ab"


def test_a_median_forgets_one_bad_round():
    fake = Fake(a=[1, 1, 90, 3, 2, 1], b=[1, 5, 5, 5, 5, 5])
    assert interleaved(fake.runs(), fake.timed, seconds=1000, most=5) == {"a": 2, "b": 5}


def test_rounds_end_when_the_seconds_are_spent():
    for seconds, rounds in ((0, 3), (8, 3), (9.5, 4), (14.5, 5), (1000, 7)):
        fake = Fake(a=[1], b=[2])
        interleaved(fake.runs(), fake.timed, seconds=seconds, most=7)
        assert len(fake.order) == 2 * (1 + rounds), seconds


# --- memory -------------------------------------------------------------------------------------------


def planted(n, device):
    inputs = torch.ones(50_000_000 if n > 100 else 1)  # 200 MB that are there before
    return lambda: (torch.ones(n) + 1, inputs)[0].sum()


def test_the_counter_sees_a_planted_100_mb_and_not_the_inputs():
    small, large = peaks(planted, [(250_000,), (12_500_000,)], (10,), CPU)
    assert small == pytest.approx(2, abs=3)
    assert large == pytest.approx(100, abs=1.5)  # the sum and what it was made of: 2 × 50 MB


def unruly(n, device):
    return lambda: sys.exit(n)


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: peaks(unruly, [(3,)], (0,), CPU), RuntimeError, r"unruly\(3,\) did not end"),
        (lambda: interleaved({"a": print}, seconds=1, least=0), ValueError, "least"),
        (lambda: interleaved({"a": print}, seconds=1, least=5, most=4), ValueError, "least"),
        (lambda: interleaved({}, seconds=1), ValueError, "runs"),
    ],
)
def test_what_cannot_be_measured_is_an_error(call, kind, words):
    with pytest.raises(kind, match=words):
        call()


# --- rows ---------------------------------------------------------------------------------------------


def test_a_row_knows_whether_its_bounds_are_kept():
    where = ("decoders", "B2", "ms")
    faster = less("a: b", where, 2.0, 3.0, at_least=1.5, aim=2)
    assert faster.ratio == 1.5 and faster.met and faster.held_to() == "≥ 1.5, aim 2"
    assert not faster._replace(at_least=1.51).met
    slow = share("a: b", where, 2.0, 1.6, at_most=1.25)
    assert slow.ratio == 1.25 and slow.met and not slow._replace(at_most=1.2).met
    whole = faster._replace(judged="ours", at_least=None, at_most=1.9)
    assert not whole.met and whole._replace(at_most=2.0).met and whole.held_to() == "≤ 1.9 ms, aim 2"
    assert faster._replace(at_least=None).met is None


def test_a_slope_is_that_of_the_power():
    assert growth.slope([(x, 5 * x**1.5) for x in (2, 4, 8, 16)]) == pytest.approx(1.5)
    assert growth.slope([(x, 7.0) for x in (2, 4, 8)]) == pytest.approx(0)


def in_this_process(prepare, sizes, warm, device):
    """In place of `peaks`, whose sixteen processes would take most of the time: the numbers in the first gradient."""
    return [prepare(*size, device)()[0].numel() for size in sizes]


@pytest.fixture(scope="module")
def quick():
    """The record of a short run. The section on memory asks processes; the curves of memory are drawn without them."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    jaxtyping.config.update("jaxtyping_disable", True)  # torch.compile cannot read the shape checks
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(growth, "peaks", in_this_process)
        record = speed.measure(QUICK, CPU)
    jaxtyping.config.update("jaxtyping_disable", False)
    torch._dynamo.reset()
    gc.collect()  # as in tests/core/test_models.py
    torch.set_num_threads(threads)
    return record


def rows_of(record) -> list[Row]:
    return [Row(**fields) for fields in record["rows"]]


@pytest.mark.thorough  # it measures
def test_every_section_gives_finite_rows(quick):
    assert list(dict.fromkeys(row.section for row in rows_of(quick))) == [*speed.SECTIONS, "growth"]
    for row in rows_of(quick):
        numbers = [n for n in (row.ours, row.other, row.ratio) if n is not None]
        assert numbers and all(map(math.isfinite, numbers)), row
        assert row.section == "growth" or min(numbers) > 0, row
        compared_with_dot = row.section == "decoders" and not re.search("deep|additive", row.name)
        assert (row.with_dot is not None and math.isfinite(row.with_dot)) == compared_with_dot, row
    assert json.loads(json.dumps(quick))["rows"] == quick["rows"]


def test_a_step_is_taken_apart():
    """Each time has the one before in it: 10 without attention, 16 with products, 20 with hidden layers."""
    where = ("decoders", "B2", "ms")
    made = [
        less("Bahdanau: the textbook design", where, 20.0, 40.0, at_least=1.5, aim=2, with_dot=40 / 16),
        share("Bahdanau: without attention", where, 20.0, 10.0, with_dot=16 / 10),
        share("Luong: without attention", where, 12.0, 10.0, at_most=1.25, with_dot=1.1),
    ]
    record = {"rows": [row._asdict() for row in made]}
    assert plots.steps(record) == [plots.Step("B2", 10.0, 16.0, 20.0, 40.0, 1.5, 2)]
    fig = plots.plt.figure()
    plots.draw_steps(fig, record)
    *pieces, whole = fig.axes[0].patches
    assert [(bar.get_x(), bar.get_width()) for bar in (*pieces, whole)] == [(0, 25), (25, 15), (40, 10), (0, 100)]
    strokes = [line.get_xdata()[0] for line in fig.axes[0].lines if len(line.get_xdata())]
    assert strokes == pytest.approx([100 / 1.5] * 2 + [50] * 2)  # each on a white one


@pytest.mark.thorough  # it measures
def test_the_picture_is_drawn_and_is_the_same_twice(quick, tmp_path):
    for name in ("a.svg", "b.svg"):
        plots.write(quick, tmp_path / name)
    drawn = (tmp_path / "a.svg").read_bytes()
    assert drawn == (tmp_path / "b.svg").read_bytes() and len(drawn) > 20_000


# --- the page -----------------------------------------------------------------------------------------

PAGE = json.loads((ROOT / "book" / "speed.json").read_text("utf8"))


@pytest.mark.thorough  # it measures
def test_the_page_s_numbers_are_those_of_a_whole_run(quick):
    def shape(record):
        return Counter(
            (r.section, r.unit, r.means, r.judged, r.at_least, r.at_most, r.aim, r.with_dot is None)
            for r in rows_of(record)
        )

    assert shape(PAGE) == shape(quick)
    assert PAGE["machine"].keys() == quick["machine"].keys() and PAGE["machine"]["threads"] == 1
    for quantity, curves in quick["growth"].items():
        assert PAGE["growth"][quantity].keys() == curves.keys()
        for by_letter in PAGE["growth"][quantity].values():
            assert list(by_letter) == list("BSTd")
            assert {len(points) for points in by_letter.values()} == {len(FULL.factors)}
    sizes = {row.size for row in rows_of(PAGE) if row.section in ("decoders", "attention", "memory")}
    assert len(sizes) == len(FULL.decoders) + len(FULL.heads) + 1
    assert {"B128 S9 T9 V5000 d_embed256 d256", "B8 S512 T512 d256", "B8 T1024 d512 H8"} <= sizes
    assert PAGE["figures"]["repaint_ms"]


def test_every_section_has_a_table_on_the_page():
    text = (ROOT / "book" / "how_fast.md").read_text("utf8")
    for section in [*speed.SECTIONS, "growth"]:
        assert f"```{{speed-table}} {section}\n" in text, section


def test_what_is_missed_is_said_with_its_number():
    row = less("Bahdanau: the textbook design", ("decoders", "B64", "ms"), 2.0, 2.5, at_least=1.7, aim=2, with_dot=1.3)
    said = "Bahdanau, beside the textbook design, B64: 1.25 times faster, held to ≥ 1.7, aim 2"
    assert speed_tables.complaint(row) == f"{said} (with a dot product as its score: 1.30)"
    assert speed_tables.complaint(row._replace(with_dot=None)) == said
    beside, bounds = "Bahdanau, beside the textbook design\nB64", "≥ 1.7, aim 2\nnot kept"
    times = ("2.00\xa0ms", "2.50\xa0ms", "1.25 times faster", "1.30")
    assert speed_tables.cells(row) == (beside, *times, bounds)
    whole = Row("dates", "all of them", "", "min", 29.04, judged="ours", at_most=12)
    assert speed_tables.complaint(whole) == "all of them: 29.0 min, held to ≤ 12 min"


def test_numbers_have_three_digits_and_a_column_that_nobody_fills_is_left_out():
    said = [rows.short(n) for n in (None, 1.0, 0.974, 29.04, 201.4, 1592.6, 0.0)]
    assert said == ["", "1.00", "0.974", "29.0", "201", "1593", "0.00"]
    filled = speed_tables.without_empty(("a", "b", "c"), [("1", "", ""), ("", "", "2")])
    assert filled == (("a", "c"), [("1", ""), ("", "2")])


@pytest.mark.thorough  # it measures
def test_slopes_stand_in_one_line_for_each_curve(quick):
    lines = speed_tables.slope_lines([row for row in rows_of(quick) if row.section == "growth"])
    assert [line[0].splitlines()[0] for line in lines] == [
        "time, additive", "time, dot", "memory, additive", "memory, additive, as written",
    ]  # fmt: skip
    assert {len(line) for line in lines} == {5} and lines[1][1].endswith(" (1.00)")

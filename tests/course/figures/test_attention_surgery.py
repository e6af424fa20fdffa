"""The translator in the page writes what attnlib writes, with and without weights from outside."""

import numpy as np
import pytest
import torch
from torch import Tensor

from attnlib.course.figures import AttentionSurgery
from attnlib.course.figures.bahdanau import Written, translator, write
from attnlib.course.figures.weights import export, packed, rounded, unpacked
from attnlib.data import load_dates
from attnlib.decoders import BahdanauDecoder
from attnlib.encoder import Encoder
from attnlib.search import greedy_decode
from attnlib.seq2seq import Seq2Seq
from benchmarks.examples import stored_figures
from tests.node import run_in_node

ESM = str(AttentionSurgery._esm)
SOURCE, TARGET = ["<pad>", *"abcde f"], ["<pad>", "<bos>", "<eos>", *"xyz-"]
MARKS = {"begin": 1, "end": 2}

WRITE = """(() => {
    const weights = m.tensors(argument.network);
    return argument.cases.map(({ ids, how }) => m.write(weights, m.beginWriting(weights, ids), how).map(
        (step) => ({ token: step.token, logits: Array.from(step.logits), weights: Array.from(step.weights) })));
})()"""


def seq2seq(V_s=8, V_t=7, d_x=6, h=5, d_y=4, d=7, bidirectional=True, seed=0) -> Seq2Seq:
    torch.manual_seed(seed)
    encoder = Encoder(V_s, d_x, h, bidirectional=bidirectional)
    model = Seq2Seq(encoder, BahdanauDecoder(V_t, d_y, encoder.d_annotation, d))
    for weight in model.parameters():  # far from the small numbers of a fresh model, so that tokens vary
        weight.data = torch.randn(weight.shape) * 0.8
    model.decoder.W_o.bias.data[:2] = -100  # as `greedy_decode`, it writes neither <pad> nor <bos>
    return rounded(model).eval()


def in_attnlib(model: Seq2Seq, ids: list[int], max_length: int, edits: dict[int, Tensor]) -> Written:
    return write(model, ids, edits, *MARKS.values(), max_length)


def assert_same(got: list[dict], wanted: Written, tolerance: float):
    """The same tokens, and logits and weights equal to so much."""
    assert [step["token"] for step in got] == wanted.tokens
    for what in ("weights", "logits"):
        found = [step[what] for step in got]
        np.testing.assert_allclose(found, getattr(wanted, what), rtol=0, atol=tolerance, err_msg=what)


SIZES = [{}, {"bidirectional": False}, {"d_y": 9}, {"d_x": 1, "h": 1, "d_y": 1, "d": 1}, {"d": 12}]


@pytest.mark.parametrize("double", [True, False], ids=["float64", "float32"])
def test_javascript_writes_what_attnlib_writes(double):
    """250 inputs of all lengths, half of them with painted weights in some steps."""
    generator, written = torch.Generator().manual_seed(3), []
    for seed, size in enumerate(SIZES):
        model = seq2seq(seed=seed, **size)
        exported = export(model)
        model = translator({name: w.double() if double else w for name, w in model.state_dict().items()})
        cases, wanted = [], []
        for n in range(50):
            S = 1 + n % 12
            ids, max_length = torch.randint(8, (S,), generator=generator).tolist(), 1 + n % 10
            rows = torch.rand(2, S, generator=generator, dtype=torch.float64) ** 4
            edits = {i: row / row.sum() for i, row in zip((n % 3, 1 + n % 5), rows, strict=True)} if n % 2 else {}
            if n % 10 == 1:
                edits[0] = torch.eye(S, dtype=torch.float64)[n % S]
            how = MARKS | {"maxLength": max_length, "edits": {i: row.tolist() for i, row in edits.items()}}
            cases.append({"ids": ids, "how": how})
            wanted.append(in_attnlib(model, ids, max_length, edits))
            if not edits:  # and the reference is what the library's own search writes
                tokens = greedy_decode(model, torch.tensor([ids]), max_length=max_length).tokens[0].tolist()
                assert tokens == wanted[-1].tokens
        answers = run_in_node(ESM, WRITE, {"network": exported, "cases": cases})
        for got, expected in zip(answers, wanted, strict=True):
            assert_same(got, expected, 1e-12 if double else 1e-5)
        written += ["".join(map(str, steps.tokens)) for steps in wanted]
    assert len(written) == 250 and len(set(written)) > 80, "too little is written to prove much"
    assert {1, 10} <= {len(w) for w in written}


def one_run(model: Seq2Seq, ids: list[int], most: int) -> list[dict]:
    """What the page writes of one source."""
    case = {"ids": ids, "how": MARKS | {"maxLength": most}}
    return run_in_node(ESM, WRITE, {"network": export(model), "cases": [case]})[0]


def test_an_empty_source_has_nothing_to_look_at():
    model = seq2seq(seed=5).double()
    got = one_run(model, [], most=4)
    with torch.no_grad():
        memory, state = model.encode(torch.tensor([[0]]), torch.tensor([0]))
        wanted = model.decoder(torch.tensor([[1]]), memory, state)
    np.testing.assert_allclose(got[0]["logits"], wanted.logits[0, 0].tolist(), atol=1e-12)
    assert got[0]["weights"] == []


def test_the_weights_of_a_tie_are_even():
    model = seq2seq()
    model.decoder.attention.score.v_a.weight.data.zero_()
    assert all(step["weights"] == pytest.approx([0.25] * 4, abs=1e-15) for step in one_run(model, [3, 4, 5, 6], most=3))


# --- the model of the chapter, as it is stored


def test_the_model_of_the_chapter_writes_the_same_dates_in_the_page():
    """200 dates that were never drawn for the chapter, and what attnlib makes of them in float32."""
    (stored,) = stored_figures("07", "AttentionSurgery")
    source = stored["source_vocabulary"]
    model = translator(unpacked(stored["network"])).float()
    dates = load_dates(sizes=(200, 0, 0), locales=["fr_FR", "de_DE", "es_ES", "it_IT"], seed=7).train
    generator, cases, wanted = torch.Generator().manual_seed(0), [], []
    for n, date in enumerate(dates):
        ids = [source.index(character) for character in date.source if character in source][: stored["longest"]]
        row = torch.rand(len(ids), generator=generator) ** 8
        edits = {n // 2 % 10: row / row.sum()} if n % 2 else {}
        how = MARKS | {"maxLength": stored["max_length"], "edits": {i: row.tolist() for i, row in edits.items()}}
        cases.append({"ids": ids, "how": how})
        wanted.append(in_attnlib(model, ids, stored["max_length"], edits))
    answers = run_in_node(ESM, WRITE, {"network": stored["network"], "cases": cases})
    for got, expected in zip(answers, wanted, strict=True):
        assert_same(got, expected, 1e-5)


# --- what a reader does


def test_painting_sets_one_weight_and_the_others_share_the_rest():
    cases = [
        ([[0.2, 0.3, 0.5], 0, 0.6], [0.6, 0.15, 0.25]),
        ([[0.2, 0.3, 0.5], 2, 0.0], [0.4, 0.6, 0.0]),
        ([[0.0, 1.0, 0.0], 1, 0.4], [0.3, 0.4, 0.3]),  # nothing to keep the proportions of
        ([[0.5, 0.5], 0, 7.0], [1.0, 0.0]),
        ([[0.5, 0.5], 0, -1.0], [0.0, 1.0]),
        ([[1.0], 0, 0.3], [1.0]),
    ]
    got = run_in_node(ESM, "argument.map((given) => m.painted(...given))", [given for given, _ in cases])
    for (given, wanted), row in zip(cases, got, strict=True):
        assert row == pytest.approx(wanted, abs=1e-12), given


def test_only_known_characters_are_read_and_the_rest_is_named():
    """What is read, FadingTrace's tests compare with attnlib."""
    cases = [["abcd", 9], ["a?b??c!", 9], ["abcd", 2], ["", 9], ["𝒳a𝒳", 9], ["a!bcd", 3]]
    reading = "m.readable(text, new Map([...'abcd'].map((c, n) => [c, n + 5])), longest)"
    got = run_in_node(ESM, f"argument.map(([text, longest]) => {reading})", cases)
    assert [one["strange"] for one in got] == [[], ["?", "!"], [], [], ["𝒳"], ["!"]]
    assert [one["cut"] for one in got] == [0, 0, 2, 0, 0, 1]
    assert got[1]["ids"] == [5, 6, 7]


def test_changed_characters_are_found_also_where_one_target_is_longer():
    cases = [["abc", "abc"], ["abc", "axc"], ["ab", "abc"], ["abc", ""], ["", ""]]
    got = run_in_node(ESM, "argument.map(([a, b]) => m.changedPlaces([...a], [...b]))", cases)
    assert got == [[False] * 3, [False, True, False], [False, False, True], [True] * 3, []]


def test_the_likeliest_come_first_and_the_first_of_equals():
    assert run_in_node(ESM, "m.likeliest([0.1, 0.4, 0.4, 0.05], 3)", None) == [1, 2, 0]
    assert run_in_node(ESM, "m.likeliest([1], 3)", None) == [0]


def test_a_link_brings_back_what_it_was_made_of():
    states = [
        {"text": "jeudi 14 mars", "step": 3, "place": 2, "edits": {"3": [0.25, 0.75] + [0.0] * 11, "0": [1 / 13] * 13}},
        {"text": "&#=?:ü 𝒳% +", "step": 0, "place": 0, "edits": {}},
        {"text": "", "step": 0, "place": 0, "edits": {}},
    ]
    got = run_in_node(
        ESM,
        "argument.map((s) => [m.toHash('one', s), m.fromHash(m.toHash('one', s), 'one', (t) => [...t].length, 12), "
        "m.fromHash(m.toHash('other', s), 'one', () => 0, 12)])",
        states,
    )
    for state, (link, back, elsewhere) in zip(states, got, strict=True):
        assert link.isascii()
        assert back["edits"].keys() == state["edits"].keys()
        for step, row in state["edits"].items():
            assert back["edits"][step] == pytest.approx(row, abs=1e-4)
            assert sum(back["edits"][step]) == pytest.approx(1, abs=1e-12)
        assert all(back[name] == state[name] for name in ("text", "step", "place"))
        assert elsewhere is None


ASKED = """argument.map((link) => {
    try { return m.fromHash(link, "one", (t) => t.length, 12) } catch (e) { return e.message }
})"""


def test_a_link_that_makes_no_sense_is_answered_in_words():
    wrong = {
        "step=1": "it has no text",
        "text=abc&step=12": "the step “12” is not in 0 to 11",
        "text=abc&step=-1": "the step “-1”",
        "text=abc&place=3": "the place “3” is not in 0 to 2",
        "text=abc&edit=1:0-5:2": "“1:0-5:2” is not a row of weights",
        "text=abc&edit=12:0-5": "the step “12”",
        "text=abc&edit=1:3-5": "the place “3”",
        "text=abc&edit=1:0-10001": "the share “10001”",
        "text=abc&edit=1:0-0": "are all 0",
        "text=abc&edit=1:0": "the share “undefined”",
    }
    answers = run_in_node(ESM, ASKED, [f"#one&{link}" for link in wrong])
    for (link, words), said in zip(wrong.items(), answers, strict=True):
        assert isinstance(said, str) and words in said, link


def test_a_link_to_something_else_is_left_alone():
    assert run_in_node(ESM, ASKED, ["", "#", "#one", "#ones&text=a", "#figure-7", "#two&text="]) == [None] * 6


def test_percentages_do_not_claim_certainty():
    got = run_in_node(ESM, "argument.map(m.percent)", [0, 0.001, 0.004, 0.006, 0.5, 0.994, 0.996, 0.9999, 1])
    assert got == ["0 %", "< 1 %", "< 1 %", "1 %", "50 %", "99 %", "> 99 %", "> 99 %", "100 %"]


# --- the Python side


def figure(**changes) -> AttentionSurgery:
    words = {"source_vocabulary": SOURCE, "target_vocabulary": TARGET, "text": "abba d"}
    return AttentionSurgery(**({"network": export(seq2seq(seed=2))} | words | changes))


def test_the_figure_shows_what_attnlib_writes():
    shown, model = figure(edits={0: [0, 0, 3, 1, 0, 0], 2: [1] * 6}), seq2seq(seed=2).double()
    ids, rows = [SOURCE.index(character) for character in "abba d"], {0: [0, 0, 0.75, 0.25, 0, 0], 2: [1 / 6] * 6}
    for result, edits in ((shown.original, {}), (shown.output, rows)):
        wanted = in_attnlib(model, ids, 12, {i: torch.tensor(row, dtype=torch.float64) for i, row in edits.items()})
        assert result == "".join(TARGET[token] for token in wanted.tokens if token != 2)
    np.testing.assert_allclose(shown.weights, wanted.weights, rtol=0, atol=1e-12)


def test_results_follow_text_and_edits():
    shown = figure()
    before = (shown.output, shown.weights)
    assert shown.output == shown.original
    shown.edits = {1: [0, 0, 0, 0, 0, 5]}
    assert shown.weights[:2] == [before[1][0], [0, 0, 0, 0, 0, 1]] and shown.original == before[0]
    shown.text = "dead"  # weights of another text mean nothing here
    fresh = figure(text="dead")
    assert (shown.edits, shown.original, shown.weights) == ({}, fresh.original, fresh.weights)
    shown.text = "abba d"
    assert (shown.output, shown.weights) == before


def test_the_browsers_text_may_be_anything():
    shown = figure()
    for text, tokens in [("a?b", "ab"), ("", ""), ("a" * 40, "a" * 32), ("<pad>", "ad")]:
        shown.set_state({"text": text, "edits": {}})
        assert "".join(shown.tokens) == tokens
        assert bool(shown.weights) == bool(tokens)
        assert shown.picture()
    assert shown.original == figure(text="ad").original
    shown.set_state({"text": "ab", "edits": {"0": [0.5, 0.5]}})
    shown.set_state({"text": "abc", "edits": {"0": [1.0, 0.0, 0.0]}})  # both at once
    assert shown.weights[0] == [1.0, 0.0, 0.0]
    assert shown.output != shown.original == figure(text="abc").original


def test_arrays_and_tensors_are_welcome():
    for given in (torch.tensor([1.0, 0, 0, 2, 0, 1], requires_grad=True), np.array([1, 0, 0, 2, 0, 1])):
        shown = figure(edits={0: given})
        assert shown.weights[0] == [0.25, 0, 0, 0.5, 0, 0.25]


def without(name: str) -> dict:
    return {key: entry for key, entry in export(seq2seq()).items() if key != name}


def reshaped(name: str, *shape: int) -> dict:
    return export(seq2seq()) | {name: packed(name, torch.zeros(shape))}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"network": without("decoder.W_s.weight")}, "decoder.W_s.weight must be among the weights"),
        ({"network": without("decoder.cell.bias_hh")}, 'Missing key.*: "decoder.cell.bias_hh"'),
        ({"network": reshaped("decoder.w_c", 7)}, 'Unexpected key.*: "decoder.w_c"'),
        ({"network": reshaped("decoder.C_o.weight", 14, 9)}, r"C_o.weight.*\[14, 9\].*model.*\[14, 10\]"),
        ({"network": reshaped("decoder.attention.score.W_a.weight", 7)}, r"a matrix: got the shape \(7,\)"),
        ({"source_vocabulary": SOURCE[:-1]}, "encoder.embedding.weight has 8 rows for a vocabulary of 7"),
        ({"target_vocabulary": [*TARGET, "q"]}, "decoder.embedding.weight has 7 rows for a vocabulary of 8"),
        ({"target_vocabulary": ["<pad>", "<s>", *TARGET[2:]]}, "must have <bos>"),
        ({"text": "abg"}, r"'abg' has characters that are not in the source vocabulary: \['g'\]"),
        ({"text": ""}, "1 to 32 characters, got 0"),
        ({"text": "abba", "longest": 3}, "1 to 3 characters, got 4"),
        ({"examples": ["ab", "<pad>"]}, "'<pad>' has characters"),
        ({"edits": {0: [1, 0]}}, r"edits of step 0 must have shape \(6,\) for 6 characters, got \(2,\)"),
        ({"edits": {12: [1] * 6}}, r"0\.\.11, got 12"),
        ({"edits": {0: [1, -1, 1, 1, 1, 1]}}, "must not be negative"),
        ({"edits": {0: [0] * 6}}, "not all 0"),
        ({"max_length": 0}, "max_length must be at least 1, got 0"),
        ({"name": "Two words"}, "'Two words'"),
    ],
)
def test_bad_input_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        figure(**changes)


def test_repr_and_picture_say_what_the_figure_shows():
    shown = figure(edits={10: [1] * 6, 2: [0, 0, 0, 0, 0, 1]})
    assert repr(shown) == f"AttentionSurgery('abba d' → {shown.original!r}, painted=[2, 10] → {shown.output!r})"
    (ax,) = shown.picture().axes
    assert shown.original != shown.output and all(word in ax.get_title() for word in (shown.original, shown.output))
    assert "".join(label.get_text() for label in ax.get_yticklabels()).removesuffix("<eos>") == shown.output
    (ax,) = figure().picture().axes
    assert "surgery" not in ax.get_title()

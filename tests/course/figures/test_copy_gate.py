"""CopyGate: its JavaScript writes what attnlib's CopyDecoder writes, and its Python side shows the same."""

import json
import random

import numpy as np
import pytest
import torch

from attnlib.copying import pointer_generator_log_probs
from attnlib.course.figures import CopyGate
from attnlib.course.figures.copier import Written, copier, words_of, write
from attnlib.course.figures.weights import packed, unpacked
from attnlib.data.names import load_names
from attnlib.data.vocabulary import EOS
from attnlib.seq2seq import Seq2Seq
from benchmarks.examples import copier_weights, stored_figures
from tests.node import run_in_node

WORDS = ["<pad>", "<bos>", "<eos>", "<unk>", "call", "the", "lamp", "please", ",", "constructor"]
UNKNOWN = 3
TEXT = "call the iPad , the iPad please"
ESM = str(CopyGate._esm)
#: What is held: nothing, everything, one step, some steps.
HELD = ([], [0.0] * 9, [1.0] * 9, [0.35] * 9, [None, None, 0.9], [None, 1.0, 0.0, 0.5])


def gate(**changes) -> CopyGate:
    given = {"weights": copier_weights(len(WORDS)), "vocabulary": WORDS, "unknown": UNKNOWN, "text": TEXT}
    return CopyGate(**(given | changes))


WRITE = """(({ weights, vocabulary, unknown, runs }) => {
    const copier = m.copier(m.tensors(weights), vocabulary, unknown);
    return runs.map(({ text, held, most }) =>
        copier.write(copier.read(m.wordsOf(text)), (i) => held[i] ?? null, most).map((step) => (
            { ...step, weights: [...step.weights], log: [...step.log], said: null, copied: null, state: null })));
})(argument)"""


def in_page(weights: dict, runs: list[dict], vocabulary=WORDS, unknown: int = UNKNOWN) -> list[list[dict]]:
    """What the page's copier writes for every run; −∞ becomes null on its way."""
    return run_in_node(ESM, WRITE, {"weights": weights, "vocabulary": vocabulary, "unknown": unknown, "runs": runs})


def in_attnlib(model: Seq2Seq, vocabulary: list[str], text: str, held: list, most: int) -> Written:
    """The same run in attnlib; what is not held at a step is None, or beyond the end."""
    return write(model, vocabulary, words_of(text), lambda i: held[i] if i < len(held) else None, most)


def assert_same(found: list[dict], wanted: Written, tolerance: float, why: object):
    """The same words, weights, gates and log-probabilities."""
    assert [step["word"] for step in found] == wanted.words, why
    for i, step in enumerate(found):
        log = [-np.inf if x is None else x for x in step["log"]]
        assert step["token"] == np.argmax(log) == wanted.log_prob[i].argmax(), why
        np.testing.assert_allclose(log, wanted.log_prob[i], atol=tolerance, rtol=tolerance, err_msg=str(why))
        np.testing.assert_allclose(step["weights"], wanted.weights[i], atol=tolerance, rtol=tolerance)
        assert [step["p"], step["own"]] == pytest.approx([wanted.p_gen[i], wanted.own[i]], abs=tolerance), why


def sources(n: int, seed: int) -> list[str]:
    """Texts of 1 to 12 words: known ones, new ones, repeated ones, and words that JavaScript has a use for."""
    rng = random.Random(seed)
    pool = [*WORDS, "iPad", "iPad", "Ottilie", "__proto__", "toString", "naïve", "שלום"]
    texts = [" ".join(rng.choices(pool, k=rng.randint(1, 12))) for _ in range(n)]
    return [*texts, "iPad", "call", "iPad iPad iPad", "<eos> <eos>", "lamp " * 31 + "lamp"]


@pytest.mark.parametrize("both", [True, False], ids=["both ways", "one way"])
def test_javascript_writes_what_attnlib_writes(both):
    seen = set()
    for seed in range(4):
        weights = copier_weights(len(WORDS), seed=seed, both=both)
        cases = [{"text": t, "held": HELD[n % 6], "most": 9} for n, t in enumerate(sources(31, seed))]
        answers = in_page(weights, cases)
        model = copier(unpacked(weights), UNKNOWN)
        for case, answer in zip(cases, answers, strict=True):
            wanted = in_attnlib(model, WORDS, **case)
            assert_same(answer, wanted, 1e-9, why=case)
            read = words_of(case["text"])
            for i, step in enumerate(answer):  # the share is p_gen P_vocab(w) / P(w), by its definition
                there = sum(alpha for alpha, w in zip(wanted.weights[i], read, strict=True) if w == step["word"])
                probability = wanted.log_prob[i].max().exp().item()
                assert step["probability"] == pytest.approx(probability, abs=1e-9)
                share = pytest.approx(1 - (1 - wanted.p_gen[i]) * there / probability, abs=1e-9)
                assert step["share"] == share and wanted.share[i] == share
                seen |= {"said"} if step["share"] > 0.9 else {"copied"} if step["share"] < 0.1 else set()
            seen |= {"known" if word in WORDS else "new" for word in wanted.words}
            seen |= {"low" if p < 0.5 else "high" for p in wanted.p_gen}
            seen.add("ended" if wanted.words[-1] == WORDS[EOS] else "cut")
    assert seen == {"new", "known", "low", "high", "ended", "cut", "said", "copied"}  # or the test would show little


def test_mixture_is_that_of_attnlib_even_where_the_gate_is_shut():
    generator = torch.Generator().manual_seed(0)
    cases = []
    for n in range(60):
        copied = torch.rand(7, generator=generator).double() * (torch.rand(7, generator=generator) < 0.6)
        said = torch.randn(5, generator=generator).double().mul(20).log_softmax(-1)
        cases.append([said.tolist(), [0.0, 3.0, -40.0, 800.0, -2e5, 1e9][n % 6], copied.tolist()])
    mixed = "argument.map(([said, gate, copied]) => [...m.mix(said, gate, Float64Array.from(copied))])"
    answers = run_in_node(ESM, mixed, cases)
    for (said, g, copied), answer in zip(cases, answers, strict=True):
        rows = [torch.tensor(x, dtype=torch.float64).view(1, 1, -1) for x in (said, [g], copied)]
        found = torch.tensor([-torch.inf if x is None else x for x in answer], dtype=torch.float64)
        torch.testing.assert_close(found, pointer_generator_log_probs(*rows)[0, 0], atol=1e-12, rtol=1e-12)


def test_words_are_what_stands_between_blanks_in_both_languages():
    texts = ["", "  ", " a  b ", "a\tb\nc", "a\u00a0b\u3000c", "a\u200bb", "a\x1cb\ufeffc", "<img src=x>", "ש ל"]
    found = run_in_node(ESM, "argument.map((text) => m.wordsOf(text))", texts)
    assert found == [words_of(text) for text in texts]
    assert found[2:6] == [["a", "b"], ["a", "b", "c"], ["a", "b", "c"], ["a\u200bb"]]


def test_largest_are_in_order_and_of_equals_the_first():
    asked = [[[0.1, 0.4, 0.4, 0.0, 0.5], 3], [[1.0], 3], [[], 2], [[0.2, 0.2, 0.2], 2], [[1.0, 2.0, 3.0], 3]]
    found = run_in_node(ESM, "argument.map(([x, n]) => m.likeliest(Float64Array.from(x), n))", asked)
    assert found == [[4, 1, 2], [0], [], [0, 1], [2, 1, 0]]


# --- the figure of the chapter


def test_the_copier_of_the_chapter_writes_in_the_page_what_it_writes_in_torch():
    """200 requests with names it has never seen, a third of them with the gate held: log-probabilities to 1e-5."""
    (chapter,) = stored_figures("10", "CopyGate")
    words = chapter["vocabulary"]
    examples = load_names(sizes=(1, 0, 200)).test
    held = ([], [], [0.8] * 25)
    runs = [{"text": " ".join(e.source), "held": held[n % 3], "most": 25} for n, e in enumerate(examples)]
    answers = in_page(chapter["weights"], runs, words, chapter["unknown"])
    model = copier(unpacked(chapter["weights"]), chapter["unknown"]).float()
    right = 0
    for run, answer, example in zip(runs, answers, examples, strict=True):
        assert_same(answer, in_attnlib(model, words, **run), 1e-5, why=run)
        right += not run["held"] and [step["word"] for step in answer] == [*example.target, "<eos>"]
    assert right >= 0.95 * sum(not run["held"] for run in runs)


# --- the Python side


def test_results_follow_every_trait():
    weights = copier_weights(len(WORDS), seed=8)  # its answer depends on p_gen
    figure, model = gate(weights=weights, max_length=6), copier(unpacked(weights), UNKNOWN)
    alone = figure.output
    one = torch.tensor(1.0, requires_grad=True).bfloat16()
    given = [(1.0, 0, False), (0.3, 1, False), (one, 1, False), (1.0, 1, True), (None, 0, False)]
    for p_gen, step, everywhere in given:
        figure.p_gen, figure.step, figure.everywhere = p_gen, step, everywhere
        held = [figure.p_gen if everywhere or i == step else None for i in range(6)]
        wanted = in_attnlib(model, WORDS, TEXT, held, 6)
        assert (figure.output, figure.gates, figure.shares) == (wanted.words, wanted.p_gen, wanted.share)
        np.testing.assert_allclose(figure.copy_weights, wanted.weights, atol=1e-12)
        assert ("iPad" in figure.output) == (not everywhere)  # the vocabulary cannot say it
        assert p_gen is None or figure.gates[step] == pytest.approx(figure.p_gen)
    assert figure.output == alone
    assert json.dumps(figure.get_state(["p_gen"])) == '{"p_gen": null}'
    figure.text = "call"
    assert np.shape(figure.copy_weights) == (len(figure.output), 1)


@pytest.mark.parametrize("text", ["", "   ", "a " * 33])
def test_nothing_is_written_for_no_words_or_too_many(text):
    figure = gate(text=text)
    assert (figure.output, figure.gates, figure.shares, figure.copy_weights) == ([], [], [], [])
    assert "1 to 32 words" in figure.picture().axes[0].texts[0].get_text()
    figure.text = "a " * 32
    assert figure.output


def test_an_answer_is_cut_at_the_longest():
    never_ending = changed("decoder.decoder.W_o.bias", torch.tensor([0.0, 0, -1000, *[0] * 7]))
    for longest in (4, 32):
        figure = gate(weights=never_ending, max_length=longest)
        assert len(figure.output) == longest and len(repr(figure)) <= 110
        figure.step = longest - 1


def changed(name: str, weight: torch.Tensor | None) -> dict:
    """The weights with one replaced, or left out."""
    weights = copier_weights(len(WORDS))
    weights.pop(name, None)
    return weights if weight is None else weights | {name: packed(name, weight)}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"weights": changed("decoder.w_g.bias", None)}, 'Missing key.*: "decoder.w_g.bias"'),
        ({"weights": changed("decoder.decoder.W_o.weight", torch.zeros(9, 8))}, r"W_o.weight.*\[9, 8\].*\[10, 8\]"),
        ({"weights": changed("encoder.embedding.weight", torch.zeros(10))}, r"a matrix: got the shape \(10,\)"),
        ({"vocabulary": WORDS[:-1]}, "has 10 rows for a vocabulary of 9 words"),
        ({"vocabulary": [*WORDS[:-1], "call"]}, r"twice: \['call'\]"),
        ({"vocabulary": ["<pad>", "<bos>"]}, "begins and ends"),
        ({"unknown": 10}, r"unknown .*0\.\.9.*10"),
        ({"p_gen": 1.01}, r"p_gen .*0\.\.1.*1.01"),
        ({"p_gen": -0.1}, r"p_gen .*0\.\.1.*-0.1"),
        ({"p_gen": float("nan")}, "p_gen .*nan"),
        ({"p_gen": "much"}, "p_gen .*'much'"),
        ({"step": 25}, r"step .*0\.\.24.*25"),
        ({"max_length": 33}, r"max_length .*1\.\.32.*33"),
    ],
)
def test_bad_input_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        gate(**changes)


def test_picture_shows_the_answer_and_what_is_held():
    figure = gate(p_gen=1.0, step=1, max_length=6)
    ax = figure.picture().axes[0]
    rows = [text.get_text() for text in ax.get_yticklabels()]
    assert [row.split("  ")[0] for row in rows] == figure.output
    assert "(said, 1.00)" in rows[1]
    assert [text.get_text() for text in ax.get_xticklabels()] == TEXT.split()
    assert figure.picture().get_suptitle() == "p_gen held at 1.00, at word 2"
    figure.everywhere = True
    assert figure.picture().get_suptitle().endswith("at every word")
    assert gate().picture().get_suptitle() == ""


def test_repr_is_short_and_says_what_is_written():
    figure = gate(text="call Bo", p_gen=0.5, max_length=4)
    assert repr(figure) == f"CopyGate(p_gen=0.5, output={' '.join(figure.output)!r})"

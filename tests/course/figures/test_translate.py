"""Translate: the page writes what attnlib writes, step by step and beam by beam, with and without surgery."""

import base64
import copy

import numpy as np
import pytest
import torch

from attnlib.course.figures import Translate
from attnlib.course.figures.translate import MOST_CHARACTERS, MOST_PIECES, read_text, search
from attnlib.course.figures.translator_file import TranslatorFile, packed, read_translator, unpacked_translator
from attnlib.data.subwords import Subwords
from attnlib.data.texts import read_texts
from attnlib.search import beam_search, greedy_decode
from attnlib.seq2seq import Seq2Seq
from attnlib.training.translator import Settings, make_model, translate
from benchmarks.examples import stand_in
from tests.node import run_in_node

ESM = str(Translate._esm)
LONGEST = 20

#: Of each case the beams: tokens, score and log P; of the best one logits, weights and own weights, as float64.
WRITE = """m.unpackTranslator(argument.detail).then(({ weights }) => argument.cases.map(({ ids, size, edits }) => {
    const decoder = m.decoderOf(weights), how = { size, maxLength: argument.longest, edits };
    const found = m.searchTargets(decoder, weights, decoder.begin(weights, ids), how);
    const sent = (name) => Buffer.from(Float64Array.from(found[0].steps.flatMap((step) => [...step[name]])).buffer)
        .toString("base64");
    const beams = found.map(({ steps, score, log }) => ({ tokens: steps.map(({ token }) => token), score, log }));
    return { logits: sent("logits"), weights: sent("weights"), own: sent("own"), beams };
}))"""


@pytest.fixture(scope="module")
def texts():
    return read_texts("home-assistant-es")


@pytest.fixture(scope="module")
def subwords(texts) -> Subwords:
    return Subwords.learn([*texts.train.source[:1500], *texts.train.target[:1500]], 400)


@pytest.fixture(scope="module", params=["luong", "bahdanau"])
def trained(subwords, request) -> TranslatorFile:
    """As large and as sure of itself as a small trained one, with the corpus's own pieces."""
    torch.manual_seed(0)
    model = make_model(Settings("home-assistant-es", request.param, pieces=400, width=32), 400)
    with torch.no_grad():
        for weight in model.parameters():
            weight *= 3
        model.decoder.W_o.bias[2] += {"luong": 2, "bahdanau": 9}[
            request.param
        ]  # some translations end early, some late
    return unpacked_translator(packed(model, subwords, {"corpus": "home-assistant-es"}, LONGEST))


def written(trained: TranslatorFile, cases: list[dict]) -> list[dict]:
    """What the page makes of the cases."""
    given = {"detail": trained.detail, "cases": cases, "longest": LONGEST}
    answers = run_in_node(ESM, WRITE, given)
    for answer, case in zip(answers, cases, strict=True):
        T = len(answer["beams"][0]["tokens"])
        for name, columns in (("logits", 400), ("weights", len(case["ids"])), ("own", len(case["ids"]))):
            answer[name] = np.frombuffer(base64.b64decode(answer[name])).reshape(T, columns)
    return answers


def held_out(trained: TranslatorFile, texts, n: int) -> list[list[int]]:
    """Sentences of the test part, as ids."""
    return [trained.subwords.encode(text).tolist() for text in texts.test.source[:: len(texts.test.source) // n][:n]]


def exact(trained: TranslatorFile) -> Seq2Seq:
    """The model in float64, as the page computes."""
    return copy.deepcopy(trained.model).double()


def logits_of(trained: TranslatorFile, ids: list[int], tokens: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
    """What attnlib says after each of these tokens, read at once."""
    with torch.no_grad():
        output = exact(trained)(torch.tensor([ids]), torch.tensor([[1, *tokens[:-1]]]))
    return output.logits[0], output.weights[0]


@pytest.mark.thorough
def test_a_hundred_held_out_sentences_are_translated_as_attnlib_does(trained, texts):
    sources = held_out(trained, texts, 100)
    answers = written(trained, [{"ids": ids, "size": 1, "edits": {}} for ids in sources])
    lengths = set()
    for ids, answer in zip(sources, answers, strict=True):
        wanted = greedy_decode(trained.model, torch.tensor([ids]), max_length=LONGEST)
        (beam,) = answer["beams"]
        assert beam["tokens"] == wanted.tokens[0].tolist()
        assert beam["log"] == pytest.approx(wanted.log_prob.item(), abs=1e-4)
        logits, weights = logits_of(trained, ids, beam["tokens"])
        np.testing.assert_allclose(answer["logits"], logits, rtol=0, atol=1e-9)
        np.testing.assert_allclose(answer["weights"], weights, rtol=0, atol=1e-9)
        np.testing.assert_array_equal(answer["weights"], answer["own"])
        lengths.add(len(beam["tokens"]))
    assert len(lengths) > 5 and len({str(answer["beams"]) for answer in answers}) > 60, "too little to prove much"


@pytest.mark.untraced
@pytest.mark.parametrize("size", [2, pytest.param(3, marks=pytest.mark.thorough), 5])
def test_the_beams_are_those_of_attnlib(size, trained, texts):
    sources = held_out(trained, texts, 25)
    answers, model = (
        written(trained, [{"ids": ids, "size": size, "edits": {}} for ids in sources]),
        trained.model.double(),
    )
    other = 0
    for ids, answer in zip(sources, answers, strict=True):
        source = torch.tensor([ids])
        wanted = beam_search(model, source, max_length=LONGEST, beam_size=size, length_penalty=1.0)
        assert len(answer["beams"]) == size
        for k, beam in enumerate(answer["beams"]):
            tokens = wanted.tokens[0, k, : len(beam["tokens"])].tolist()
            assert beam["tokens"] == tokens and not wanted.tokens[0, k, len(tokens) :].any()
            assert beam["score"] == pytest.approx(wanted.score[0, k].item(), abs=1e-9)
            assert beam["log"] == pytest.approx(wanted.log_prob[0, k].item(), abs=1e-9)
        np.testing.assert_allclose(answer["weights"], wanted.weights[0, 0, : len(answer["weights"])], rtol=0, atol=1e-9)
        other += answer["beams"][0]["tokens"] != greedy_decode(model, source, max_length=LONGEST).tokens[0].tolist()
    assert other >= 3, "a beam that finds nothing better proves nothing"


@pytest.mark.untraced
def test_painted_weights_are_taken_in_their_step_and_beam(trained, texts):
    generator, cases = torch.Generator().manual_seed(1), []
    for n, ids in enumerate(held_out(trained, texts, 40)):
        rows = torch.rand(2, len(ids), generator=generator, dtype=torch.float64) ** 6
        edits = {i: (row / row.sum()).tolist() for i, row in zip((n % 3, 1 + n % 5), rows, strict=True)}
        cases.append({"ids": ids, "size": 1 + n % 3, "edits": edits})
    model, changed = exact(trained), 0
    for case, answer in zip(cases, written(trained, cases), strict=True):
        edits = {i: torch.tensor(row, dtype=torch.float64) for i, row in case["edits"].items()}
        wanted = search(model, case["ids"], edits, case["size"], LONGEST)
        tokens = answer["beams"][0]["tokens"]
        assert tokens == wanted.tokens[0, 0, : len(tokens)].tolist()
        np.testing.assert_allclose(answer["weights"], wanted.weights[0, 0, : len(tokens)], rtol=0, atol=1e-9)
        for i, row in case["edits"].items():
            if i < len(tokens):
                assert answer["weights"][i].tolist() == row and answer["own"][i].tolist() != row
        plain = search(model, case["ids"], {}, case["size"], LONGEST)
        changed += tokens != plain.tokens[0, 0, : len(tokens)].tolist()
    assert changed >= 5


# --- text


def test_the_page_reads_a_text_as_python_does_and_says_the_same_of_it(trained):
    typed = [
        "Restart the hub to add {device}.", "", " \n", "日本語", "a" * 1001, "a" * 1000, "🙂" * 1000, "the hub " * 31,
        "the hub " * 30, "the 日本 hub", "\0", "שלום", "▁", "<unk>", "Open [the page](x) **now**", "RESTART",
        "a " * 61, "a " * 60,
    ]  # fmt: skip
    reading = """m.unpackTranslator(argument.detail).then(({ subwords }) =>
        argument.typed.map((text) => m.readText(subwords, text)))"""
    got = run_in_node(ESM, reading, {"detail": trained.detail, "typed": typed})
    problems = []
    for text, found in zip(typed, got, strict=True):
        wanted = read_text(trained.subwords, text)
        assert (found["ids"], found["pieces"], found["problem"]) == wanted, text[:40]
        assert found["unknown"] == [i == 3 for i in wanted.ids]
        problems.append(wanted.problem)
    assert problems[0] == problems[9] == problems[-1] == ""
    assert problems[1] == problems[2] == "There is nothing to read yet: type an English sentence."
    assert problems[3].startswith("None of these characters occurred in training")
    assert problems[4] == "At most 1000 characters are read, and this text has 1001."
    assert problems[5] == "At most 60 pieces are read, and this text has 1000."
    assert problems[7].startswith("At most 60 pieces are read, and this text has ")
    assert problems[-2] == "At most 60 pieces are read, and this text has 61."
    assert (MOST_CHARACTERS, MOST_PIECES) == (1000, 60)


def test_a_character_of_which_a_half_is_missing_is_read_in_python_too(trained):
    assert read_text(trained.subwords, "the \ud83d hub").ids == read_text(trained.subwords, "the \ufffd hub").ids


# --- the figure


@pytest.fixture(scope="module")
def file(trained, tmp_path_factory):
    path = tmp_path_factory.mktemp("translator") / "small.js"
    path.write_text(packed(trained.model, trained.subwords, trained.settings, LONGEST), "utf8")
    return path


def figure(small, **changes) -> Translate:
    return Translate(**({"text": "Restart the hub to add it.", "file": small} | changes))


@pytest.mark.untraced
def test_the_figure_translates_as_the_command_does(file, trained, texts):
    for text in texts.test.source[:12]:
        for beams in (1, 4):
            shown = figure(file, text=text.replace("X", "{name}"), beams=beams)  # as the corpus was written
            ids = trained.subwords.encode(text).tolist()
            wanted = beam_search(
                trained.model, torch.tensor([ids]), max_length=LONGEST, beam_size=beams, length_penalty=1.0
            )
            best = wanted.best()
            (tokens,) = best.sentences()
            assert shown.output == shown.original == trained.subwords.decode(tokens)
            assert shown.pieces == trained.subwords.cut(text)[1]
            assert len(shown.found) == beams and shown.found[0][0] == shown.output
            np.testing.assert_allclose([score for _, score in shown.found], wanted.score[0], rtol=1e-5)
            np.testing.assert_allclose(shown.weights, best.weights[0, : len(shown.weights)], atol=1e-5)
            ended = trained.subwords.pieces(tokens) == shown.written[:-1] and shown.written[-1] == "<eos>"
            assert ended or (shown.written == trained.subwords.pieces(tokens) and len(tokens) == LONGEST)
    (said,) = translate(trained.model, trained.subwords, ["restart the hub to add it."])
    assert figure(file).output == said or len(said) > len(figure(file).output)  # the command writes more, if it must


def test_results_follow_text_edits_and_beams(file):
    shown = figure(file)
    S, before = len(shown.pieces), (shown.output, shown.weights)
    for place in range(S):
        shown.edits = {0: [int(j == place) for j in range(S)]}
        assert shown.original == before[0] and shown.weights[0] == shown.edits["0"]
        if shown.output != before[0]:
            break
    assert shown.output != before[0], "no weights change anything"
    assert repr(shown).endswith(f"→ {shown.output[:59]!r}, beams=1, painted=[0])") or len(shown.output) > 60
    (ax,) = shown.picture().axes
    assert "after surgery" in ax.get_title() and len(ax.get_yticklabels()) == len(shown.written)
    shown.beams = 3
    assert len(shown.found) == 3 and shown.weights[0] == shown.edits["0"]
    shown.beams, shown.text = 1, "Turn on the light"
    assert shown.edits == {} and shown.output == figure(file, text="Turn on the light").output
    shown.text = "Restart the hub to add it."
    assert (shown.output, shown.weights) == before
    (ax,) = shown.picture().axes
    assert "surgery" not in ax.get_title()
    assert [label.get_weight() for label in ax.get_yticklabels()].count("bold") == 1


@pytest.mark.parametrize("text", ["", "日本", "a" * 2000, "the hub " * 50])
def test_what_cannot_be_translated_is_said_and_harmless(text, file):
    shown = figure(file)
    shown.text = text
    assert (
        shown.problem
        and (shown.output, shown.original, shown.written, shown.weights, shown.found) == ("",) * 2 + ([],) * 3
    )
    assert shown.problem in shown.picture().axes[0].texts[0].get_text()


def test_the_translator_is_loaded_and_not_carried_unless_a_page_is_saved(file):
    shown, detail = figure(file), read_translator(file).detail
    assert shown.get_state()["carried"] == {}
    assert shown.state_without_kernel()["carried"] == detail
    assert figure(file, carried=True).get_state()["carried"] == detail
    assert shown.load("small.js", []) == (detail, [])  # a kernel answers
    assert (shown.file, shown.digest, shown.size) == ("small.js", detail["digest"], file.stat().st_size)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"edits": {0: [1, 0]}}, r"edits of step 0 must have shape \(\d+,\) for \d+ pieces, got \(2,\)"),
        ({"edits": {LONGEST: [1]}}, "0..19, got 20"),
        ({"beams": 6}, r"beams must be a whole number in 1\.\.5, got 6"),
        ({"step": LONGEST}, "step must be a whole number in 0..19, got 20"),
        ({"file": "nowhere.js"}, "there is no translator nowhere.js"),
    ],
)
def test_bad_input_is_refused(changes, message, file):
    with pytest.raises(ValueError, match=message):
        figure(file, **changes)


def test_unknown_characters_are_pieces(tmp_path):
    shown = Translate("the 日本 hub", file=stand_in(tmp_path))
    assert shown.pieces[:3] == ["▁the", "▁", "日本"] and shown.output

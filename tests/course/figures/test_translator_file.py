"""A translator's file: what goes in comes out, in Python and in the page, and what is damaged is refused in words."""

import base64
import json
import zlib

import numpy as np
import pytest
import torch

import attnlib.course.figures as room
from attnlib.course.figures.translator_file import (
    AFTER,
    BEFORE,
    digest_of,
    model_of,
    packed,
    read_translator,
    unpacked_translator,
)
from attnlib.data.subwords import Subwords
from attnlib.decoders import BahdanauDecoder, EveryStepDecoder, LuongDecoder
from attnlib.encoder import Encoder
from attnlib.figures.assets import module
from attnlib.seq2seq import Seq2Seq
from benchmarks.examples import stand_in
from tests.node import run_in_node

FILE = module("translator_file.js", beside=room.__file__)


@pytest.fixture(scope="module")
def subwords(tmp_path_factory) -> Subwords:
    return read_translator(stand_in(tmp_path_factory.mktemp("subwords"))).subwords


@pytest.fixture
def file(tmp_path):
    return stand_in(tmp_path)


UNPACKED = """m.unpackTranslator(argument).then(({ weights, maxLength, language, subwords }) => ({
    maxLength, language, n: subwords.pieces.length,
    weights: Object.fromEntries(Object.entries(weights).map(([name, w]) => [name, { ...w, data: Array.from(w.data) }])),
}))"""


def test_the_page_and_python_have_the_same_numbers(file):
    found = read_translator(file)
    got = run_in_node(FILE, UNPACKED, found.detail)
    assert (got["maxLength"], got["language"], got["n"]) == (32, "Spanish", 60)
    state = found.model.state_dict()
    assert got["weights"].keys() == state.keys()
    for name, weight in state.items():
        there = np.reshape(got["weights"][name]["data"], weight.shape)
        assert np.array_equal(there, weight.numpy()), name  # float32 holds them to the last bit
        assert got["weights"][name]["rows"] == weight.shape[0]


@pytest.mark.parametrize("bits", [8, 7, 4])
def test_a_weight_is_off_by_half_a_step_of_its_row_at_most(bits, subwords):
    torch.manual_seed(0)
    model = Seq2Seq(encoder := Encoder(60, 5, 6, bidirectional=True), decoder_of(60, encoder))
    with torch.no_grad():
        model.encoder.embedding.weight *= torch.logspace(-6, 3, 60).unsqueeze(1)  # rows of all sizes
        model.encoder.embedding.weight[7] = 0
    kept = unpacked_translator(packed(model, subwords, {"steps": 3}, 50, bits))
    assert (kept.max_length, kept.settings) == (50, {"steps": 3})
    assert kept.subwords.model == subwords.model
    steps = 2 ** (bits - 1) - 1
    for name, weight in model.state_dict().items():
        off = (kept.model.state_dict()[name] - weight).abs()
        if weight.dim() == 2:
            assert (off <= weight.abs().amax(1, keepdim=True) / steps / 2 * 1.003 + 1e-30).all(), name
        else:
            assert torch.equal(kept.model.state_dict()[name], weight.half().float()), name


def decoder_of(V: int, encoder: Encoder) -> LuongDecoder:
    return LuongDecoder(V, 7, encoder.d_annotation, 8)


def test_fewer_bits_make_a_smaller_file_and_what_was_kept_stays(subwords):
    torch.manual_seed(1)
    model = Seq2Seq(encoder := Encoder(60, 40, 20, bidirectional=True), decoder_of(60, encoder))
    texts = [packed(model, subwords, {}, 50, bits) for bits in (8, 7, 6)]
    assert sorted(map(len, texts), reverse=True) == list(map(len, texts))
    again = packed(unpacked_translator(texts[0]).model, subwords, {}, 50)
    assert again == texts[0]  # and the same text for the same model


# --- what is refused


def damaged(file, change) -> str:
    """The text of a file whose header and data were changed."""
    detail = json.loads(file.read_text("utf8")[len(BEFORE) : -len(AFTER)])
    change(detail)
    return f"{BEFORE}{json.dumps(detail)}{AFTER}"


def flip(detail: dict):
    """One bit of the data."""
    data = bytearray(base64.b64decode(detail["data"]))
    data[len(data) // 2] ^= 1
    detail["data"] = base64.b64encode(data).decode()


def other_subwords(detail: dict):
    """The same model, with fewer pieces."""
    data, n = zlib.decompress(base64.b64decode(detail["data"])), detail["subwords"]
    fewer = Subwords.learn(["the hub is restarted", "turn on the light, or off", "el concentrador: shown"], 59).model
    data = fewer + data[n:]
    detail |= {
        "data": base64.b64encode(zlib.compress(data)).decode(),
        "subwords": len(fewer),
        "digest": digest_of(data),
    }


#: How a file is damaged, and what is said of it in Python and in the page.
DAMAGE = {
    "a bit": (flip, "error: Error -3", "incorrect data check"),
    "cut": (lambda d: d.update(data=d["data"][: len(d["data"]) // 2]), "incomplete or truncated", "unexpected end"),
    "no base64": (lambda d: d.update(data="é" * 40), "only ASCII", "Invalid character"),
    "another kind": (
        lambda d: d.update(kind="a picture"),
        "its kind must be 'attnlib translator, 1'",
        "not of the kind",
    ),
    "a weight less": (lambda d: d["weights"].popitem(), "bytes with the digest", "its header speaks of"),
    "other subwords": (other_subwords, "another vocabulary: it reads 60 pieces", "another vocabulary: 60 pieces"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_file_is_refused_in_one_sentence(name, file, tmp_path):
    change, in_python, in_page = DAMAGE[name]
    broken = tmp_path / "broken.js"
    broken.write_text(damaged(file, change), "utf8")
    with pytest.raises(ValueError, match=f"broken.js is no file of a translator, or was damaged: .*{in_python}"):
        read_translator(broken)
    given = json.loads(broken.read_text("utf8")[len(BEFORE) : -len(AFTER)])
    asked = {"file": "broken.js", "digest": given["digest"], "carried": given}
    said = run_in_node(FILE, "m.translatorOf(argument).then(() => 'taken', (error) => error.message)", asked)
    assert said.startswith("broken.js was damaged: ") and "\n" not in said
    assert in_page in said


def test_no_file_and_another_file_are_told_apart(tmp_path, file):
    with pytest.raises(ValueError, match=r"there is no translator .*none.js: `make translator RUN=…` makes one"):
        read_translator(tmp_path / "none.js")
    for content in (b"\xff\xfe", b"", b"alert(1)", b"{}"):
        (tmp_path / "other.js").write_bytes(content)
        with pytest.raises(ValueError, match=r"other.js is no file of a translator"):
            read_translator(tmp_path / "other.js")
    asking = """Promise.all([
        ["x", async () => argument], ["y", async () => { throw new Error("there is no file"); }],
    ].map(([digest, load]) => m.translatorOf({ file: "f.js", digest, carried: null, load }).catch((e) => e.message)))"""
    other, missing = run_in_node(FILE, asking, read_translator(file).detail)
    assert other == "f.js holds another translator than the one that this figure was made with."
    assert missing == "The translator is missing: there is no file."


def test_all_figures_of_a_page_share_one_translator_and_a_failure_is_not_kept(file):
    asking = """(async () => {
        let asked = 0, fails = true;
        const load = async () => { asked += 1; if (fails) throw new Error("not yet"); return argument; };
        const one = () => m.translatorOf({ file: "f.js", digest: argument.digest, carried: null, load });
        const first = await one().catch((e) => e.message);
        fails = false;
        const [a, b] = await Promise.all([one(), one()]);
        return [first, asked, a === b];
    })()"""
    assert run_in_node(FILE, asking, read_translator(file).detail) == ["The translator is missing: not yet.", 2, True]


def test_models_that_the_page_cannot_run_are_not_packed(subwords):
    encoder = Encoder(60, 5, 6, bidirectional=True)
    luongs = Seq2Seq(encoder, decoder_of(60, encoder))
    for model, bits, message in [
        (
            Seq2Seq(encoder, EveryStepDecoder(60, 7, 12, 8)),
            8,
            "decoder.attention.score.W.weight must be among the weights",
        ),
        (Seq2Seq(one := Encoder(60, 5, 6), decoder_of(60, one)), 8, "do not fit the model: .*Missing.*rnn_backward"),
        (luongs, 9, r"bits must be in 2\.\.8, got 9"),
        (luongs, 1, r"got 1"),
        (
            Seq2Seq(few := Encoder(50, 5, 6, bidirectional=True), decoder_of(50, few)),
            8,
            "it reads 50 pieces .* 60 subw",
        ),
    ]:
        with pytest.raises(ValueError, match=message):
            packed(model, subwords, {}, 50, bits)
    with torch.no_grad():
        luongs.decoder.W_c.weight[0, 0] = torch.nan
    with pytest.raises(ValueError, match=r"decoder.W_c.weight must be finite"):
        packed(luongs, subwords, {}, 50)
    for decoder in (decoder_of(60, encoder), BahdanauDecoder(60, 7, 12, 8)):
        found = model_of(Seq2Seq(encoder, decoder).state_dict()).decoder
        assert (type(found), found.d_hidden) == (type(decoder), 8)

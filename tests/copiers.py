"""Copiers for the tests: random weights as a page holds them, and what attnlib's own model does with them."""

import base64
from collections.abc import Mapping, Sequence

import numpy as np
import torch

from attnlib.copying import CopyDecoder, ExtendedVocabulary
from attnlib.data.vocabulary import BOS, EOS, Vocabulary
from attnlib.decoders import LuongDecoder
from attnlib.encoder import Encoder
from attnlib.seq2seq import Seq2Seq
from attnlib.widgets.copier import expected_shapes
from attnlib.widgets.weights import packed

#: In JavaScript: what a copier writes for every run; −∞ becomes null on its way.
IN_JAVASCRIPT = """(({ weights, vocabulary, unknown, runs }) => {
    const copier = m.copier(m.tensors(weights), vocabulary, unknown);
    return runs.map(({ text, held, most }) =>
        copier.write(copier.read(m.wordsOf(text)), (i) => held[i] ?? null, most).map((step) => (
            { ...step, weights: [...step.weights], log: [...step.log], said: null, copied: null, state: null })));
})"""


def copier_weights(V: int, d: int = 4, spread: float = 1.0, seed: int = 0, both: bool = True) -> dict[str, dict]:
    """Random weights of a copier with V words, no two of its widths alike; wide enough to have opinions."""
    named = ["encoder.embedding.weight", "encoder.rnn.weight_hh_l0", "encoder.rnn.weight_hh_l0_reverse"]
    named += ["decoder.decoder.embedding.weight", "decoder.decoder.rnn.weight_hh_l0"]
    widths = {name: {"shape": [0, d + n]} for n, name in enumerate(named) if both or "reverse" not in name}
    generator = torch.Generator().manual_seed(seed)
    return {
        name: packed(name, (spread * torch.randn(shape, generator=generator)).half())
        for name, shape in expected_shapes(widths, V).items()
    }


def model_of(exported: Mapping[str, Mapping], unknown: int) -> Seq2Seq:
    """attnlib's model with exported weights."""
    (V, reads), (_, says) = (exported[f"{name}.embedding.weight"]["shape"] for name in ("encoder", "decoder.decoder"))
    h, d = (exported[f"{name}.rnn.weight_hh_l0"]["shape"][1] for name in ("encoder", "decoder.decoder"))
    encoder = Encoder(V, reads, h, bidirectional="encoder.rnn.weight_hh_l0_reverse" in exported, unknown=unknown)
    model = Seq2Seq(encoder, CopyDecoder(LuongDecoder(V, says, encoder.d_annotation, d), unknown))
    numbers = {name: half_precision(weight) for name, weight in exported.items()}
    model.load_state_dict(numbers)
    return model.eval()


def half_precision(exported: Mapping) -> torch.Tensor:
    """A weight as the page holds it, read by numpy."""
    numbers = np.frombuffer(base64.b64decode(exported["data"]), dtype="<f2").astype("float32")
    return torch.from_numpy(numbers).reshape(exported["shape"])


@torch.no_grad()
def in_attnlib(model: Seq2Seq, words: Sequence[str], unknown: str, text: str, held: Sequence, most: int) -> list[dict]:
    """What attnlib's model writes, step by step; where p_gen is held, by nailing its gate as chapter 10 does."""
    own = ExtendedVocabulary(Vocabulary(words, unknown=unknown), text.split())
    memory, state = model.encode(own.encode(text.split())[None])
    w_g = model.decoder.w_g
    learned = {name: weight.clone() for name, weight in w_g.state_dict().items()}
    token, steps = BOS, []
    while len(steps) < most and token != EOS:
        p = held[len(steps)] if len(steps) < len(held) else None
        own_p = None
        if p is not None:
            own_p = model.decoder(torch.tensor([[token]]), memory, state).p_gen.item()
            w_g.weight.zero_()
            w_g.bias.fill_(torch.logit(torch.tensor(p, dtype=torch.float64)))
        decoded = model.decoder(torch.tensor([[token]]), memory, state)
        w_g.load_state_dict(learned)
        log, state = decoded.logits[0, 0], decoded.carry
        token = int(log.argmax())
        steps.append(
            {
                "token": token,
                "word": own.decode(torch.tensor([token]))[0],
                "p": decoded.p_gen.item(),
                "own": decoded.p_gen.item() if own_p is None else own_p,
                "weights": decoded.weights[0, 0].double(),
                "log": log.double(),
            }
        )
    return steps


def assert_same(found: list[dict], wanted: list[dict], atol: float, rtol: float, why: object) -> float:
    """Two decodes agree: the same words, weights, gates and log-probabilities; returns the worst difference."""
    assert [step["word"] for step in found] == [step["word"] for step in wanted], why
    worst = 0.0
    for one, other in zip(found, wanted, strict=True):
        log = torch.tensor([-torch.inf if x is None else x for x in one["log"]], dtype=torch.float64)
        assert one["token"] == other["token"] == int(log.argmax()), why
        assert log.isneginf().equal(other["log"].isneginf()), why
        torch.testing.assert_close(log, other["log"], atol=atol, rtol=rtol, msg=lambda text: f"{why}\n{text}")
        torch.testing.assert_close(
            torch.tensor(one["weights"], dtype=torch.float64), other["weights"], atol=atol, rtol=rtol
        )
        assert abs(one["p"] - other["p"]) <= atol, why
        assert abs(one["own"] - other["own"]) <= atol, why
        seen = log.isfinite() & (log > -1000)
        worst = max(worst, (log - other["log"])[seen].abs().max().item())
    return worst

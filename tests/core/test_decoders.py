"""The five decoders are what their equations say, and project the source once."""

from unittest.mock import Mock

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from attnlib.decoders import DECODERS, BahdanauDecoder
from attnlib.scores import SCORES, AdditiveScore, DotScore, GeneralScore, ProjectedDotScore
from tests import oracles
from tests.core.test_decoder import (
    D_EMBED,
    D_KEY,
    VARIANTS,
    B,
    D,
    S,
    T,
    V,
    draw_encoded,
    draw_pairs,
    draw_tokens,
    make,
    make_model,
    numbers,
    read,
)

ONE_SPACE = {name for name, kind in SCORES.items() if issubclass(kind, DotScore)}  # queries and keys of one width
ATTENTIVE = ["bahdanau", "luong", "simple_rnn"]


# --- written from the equations: numpy, one sentence, one step at a time ----------------------------


def gru(p, x, s):
    """With the parameters of the one recurrent layer among them."""
    return oracles.gru(x, s, *(value for name, value in p.items() if name.startswith(("rnn.", "cell."))))


def relevance(score, p, s, h_j, j):
    return oracles.PAIR[score](s, h_j, j, {n.removeprefix("attention.score."): value for n, value in p.items()})


def covered(score, p, s, h_j, seen_j):
    """The score of a key of which seen_j has been looked at."""
    q = "attention.score."
    if score == "additive":
        inner = p[q + "W_a.weight"] @ s + p[q + "U_a.weight"] @ h_j + p["w_c"] * seen_j
        return p[q + "v_a.weight"][0] @ np.tanh(inner)
    if score == "general":
        return s @ (p[q + "W.weight"] @ h_j + p["w_c"] * seen_j)
    if score == "projected_dot":
        return (p[q + "W_q.weight"] @ s) @ (p[q + "W_k.weight"] @ h_j + p["w_c"] * seen_j)
    assert score == "dot"
    return s @ (h_j + p["w_c"] * seen_j)


def look(energy, h, visible):
    """α_i and c_i, given the energy of position j."""
    weights = oracles.softmax([energy(j) for j in range(len(h))], visible)
    return weights, sum(weights[j] * h[j] for j in range(len(h)))


def initial_state(p, y, s, h, summary, visible, score):
    for x in y:
        s = gru(p, x, s)
        yield p["W_o.weight"] @ s + p["W_o.bias"], None, s, None


def every_step(p, y, s, h, summary, visible, score):
    for x in y:
        s = gru(p, np.concatenate([x, summary]), s)
        yield p["W_o.weight"] @ s + p["W_o.bias"], None, s, None


def bahdanau(p, y, s, h, summary, visible, score):
    seen = np.zeros(len(h))
    for x in y:
        before = s
        if "w_c" in p:
            weights, c = look(lambda j, s=s, seen=seen: covered(score, p, s, h[j], seen[j]), h, visible)
        else:
            weights, c = look(lambda j, s=s: relevance(score, p, s, h[j], j), h, visible)
        s = gru(p, np.concatenate([x, c]), before)
        inner = p["U_o.weight"] @ s + p["U_o.bias"] + p["V_o.weight"] @ x + p["C_o.weight"] @ c
        t = np.array([max(inner[2 * n], inner[2 * n + 1]) for n in range(len(inner) // 2)])
        seen = seen + weights
        yield p["W_o.weight"] @ t + p["W_o.bias"], weights, s, c


def luong(p, y, s, h, summary, visible, score):
    for x in y:
        s = gru(p, x, s)
        weights, c = look(lambda j, s=s: relevance(score, p, s, h[j], j), h, visible)
        attentional = np.tanh(p["W_c.weight"] @ np.concatenate([c, s]))
        yield p["W_o.weight"] @ attentional + p["W_o.bias"], weights, s, c


def simple_rnn(p, y, s, h, summary, visible, score):
    _, c = look(lambda j: relevance(score, p, s, h[j], j), h, visible)
    for x in y:
        s = np.tanh(p["A.weight"] @ np.concatenate([x, s, c]) + p["A.bias"])
        weights, c = look(lambda j, s=s: relevance(score, p, s, h[j], j), h, visible)
        yield p["W_o.weight"] @ np.concatenate([s, c]) + p["W_o.bias"], weights, s, c


FORMULAS = {formula.__name__: formula for formula in (initial_state, every_step, bahdanau, luong, simple_rnn)}
FORMULAS["coverage"] = bahdanau
CASES = [
    ("initial_state", None),
    ("every_step", None),
    *((name, score) for name in ATTENTIVE for score in oracles.PAIR),
    *(("coverage", score) for score in ("additive", "general", "projected_dot", "dot")),
]


@pytest.mark.parametrize(("name", "score"), CASES, ids=lambda case: str(case))
def test_equals_its_formula(name, score):
    """Read in two parts, so that what is carried from one to the other counts."""
    decoder = make(name, D if score in ONE_SPACE else D_KEY, **({} if score is None else {"score": score}))
    encoded, tokens = draw_encoded(decoder.d_annotation), draw_tokens()
    memory, state = decoder.init_state(encoded)
    first = decoder(tokens[:, :2], memory, state)
    parts = first, decoder(tokens[:, 2:], memory, first.state)
    p = oracles.arrays(decoder)
    for b in range(B):
        h, summary, visible = (x[b].numpy() for x in (encoded.annotations, encoded.summary, encoded.mask[:, 0]))
        s_0 = np.tanh(p["W_s.weight"] @ summary + p["W_s.bias"])
        steps = FORMULAS[name](p, p["embedding.weight"][tokens[b]], s_0, h, summary, visible, score)
        for field, column in zip(("logits", "weights", "states", "contexts"), zip(*steps, strict=True), strict=True):
            if column[0] is None:
                assert getattr(first, field) is None
            else:
                found = torch.cat([getattr(part, field)[b] for part in parts])
                assert_close(found.detach(), torch.from_numpy(np.array(column)), msg=field)
        assert len(column) == T


def test_every_decoder_of_the_package_has_a_formula():
    assert {n for n, kind in DECODERS.items() if kind.__module__ == "attnlib.decoders"} == set(FORMULAS) - set(VARIANTS)
    scores = [type(make(name).attention.score) for name in ATTENTIVE]
    assert scores == [AdditiveScore, GeneralScore, ProjectedDotScore]


# --- what is computed, and how often ----------------------------------------------------------------


@pytest.mark.parametrize("name", [*ATTENTIVE, *VARIANTS])
def test_keys_are_projected_once_per_sentence_and_compared_once_per_step(name, monkeypatch):
    model = make_model(name)
    source, lengths, tokens = draw_pairs()
    score = model.decoder.attention.score
    for method in ("project_key", "compare"):
        monkeypatch.setattr(score, method, Mock(wraps=getattr(score, method)))
    memory, state = model.encode(source, lengths)
    for i in range(20):
        state = model.decoder(tokens[:, i % T : i % T + 1], memory, state).state
    assert [key.shape[:2] for (key,), _ in score.project_key.call_args_list] == [(B, S)]
    steps = 21 if name == "simple_rnn" else 20  # c_0 is looked up before the first
    if name == "luong":  # whose steps need not wait for each other
        model.decoder(tokens, memory, state)
    compared = [(query.shape[1], key.shape[1]) for (query, key), _ in score.compare.call_args_list]
    assert compared == [(1, S)] * steps + [(T, S)] * (name == "luong")


# --- scores, coverage -------------------------------------------------------------------------------


def test_coverage_starts_without_effect_and_can_learn():
    plain = BahdanauDecoder(V, D_EMBED, D_KEY, D).double()
    decoder = BahdanauDecoder(V, D_EMBED, D_KEY, D, coverage=True).double()
    assert set(decoder.state_dict()) - set(plain.state_dict()) == {"w_c"} and plain.w_c is None
    assert_close(decoder.w_c.detach(), torch.zeros(64).double(), rtol=0, atol=0)
    decoder.load_state_dict(plain.state_dict() | {"w_c": decoder.w_c.detach()})
    encoded, tokens = draw_encoded(), draw_tokens()
    found = read(decoder, encoded, tokens)
    assert_close(numbers(found), numbers(read(plain, encoded, tokens)))
    found.logits.square().sum().backward()
    assert (decoder.w_c.grad != 0).all()


def test_given_score_is_used_as_it_is_whatever_its_precision():
    score = SCORES["additive"](D, D_KEY, d_hidden=5).double()
    for coverage in (False, True):
        decoder = BahdanauDecoder(V, D_EMBED, D_KEY, D, score=score, coverage=coverage)
        assert decoder.attention.score is score
    assert decoder.w_c.shape == (5,) and decoder.w_c.dtype == torch.float64

"""The five decoders are what their equations say, keep one contract with every encoder, and look where they should."""

import copy
import functools
import itertools

import numpy as np
import pytest
import torch
from jaxtyping import TypeCheckError
from torch import nn
from torch.testing import assert_close

from attnlib.decoder import Decoder, DecoderOutput, Memory
from attnlib.decoders import (
    DECODERS,
    BahdanauDecoder,
    EveryStepDecoder,
    InitialStateDecoder,
    LuongDecoder,
    SimpleRNNDecoder,
)
from attnlib.encoder import Encoder, EncoderOutput
from attnlib.scores import SCORES, AdditiveScore, DotScore, GeneralScore, ProjectedDotScore
from attnlib.search import beam_search, greedy_decode
from attnlib.seq2seq import Seq2Seq
from tests import oracles
from tests.core.test_scores import arrays

B, T, S = 3, 5, 7  # primes, so that no two dimensions can be taken for each other
V, V_SOURCE, D_EMBED, D, D_KEY = 17, 19, 2, 11, 13
LENGTHS = torch.tensor([S, 4, 1])

ONE_SPACE = {name for name, kind in SCORES.items() if issubclass(kind, DotScore)}  # queries and keys of one width
VARIANTS = {"coverage": functools.partial(BahdanauDecoder, coverage=True)}  # what more there is to keep the contract
ATTENTIVE = ["bahdanau", "luong", "simple_rnn"]
ENCODERS = [(cell, directions) for cell in ("gru", "lstm", "rnn") for directions in (1, 2)]


def make(name: str, d_annotation: int = D_KEY, dtype=torch.float64, **options) -> Decoder:
    """A decoder of a registered name; a coverage that has been learned is not 0."""
    decoder = (DECODERS | VARIANTS)[name](V, D_EMBED, d_annotation, D, **options)
    if getattr(decoder, "w_c", None) is not None:
        nn.init.normal_(decoder.w_c)
    return decoder.to(dtype)


def make_model(name: str, cell: str = "gru", directions: int = 1, dtype=torch.float64) -> Seq2Seq:
    encoder = Encoder(V_SOURCE, 3, D_KEY if directions == 1 else 5, cell, bidirectional=directions == 2).to(dtype)
    return Seq2Seq(encoder, make(name, encoder.d_annotation, dtype))


def draw_encoded(d_annotation: int = D_KEY, lengths=(S, 4, 0), dtype=torch.float64) -> EncoderOutput:
    """Annotations that no encoder has made, garbage where padding."""
    lengths = torch.tensor(lengths)
    return EncoderOutput(
        annotations=torch.randn(len(lengths), S, d_annotation, dtype=dtype),
        summary=torch.randn(len(lengths), d_annotation, dtype=dtype),
        mask=torch.arange(S).view(1, 1, S) < lengths.view(-1, 1, 1),
        tokens=torch.randint(V_SOURCE, (len(lengths), S)),
    )


def draw_tokens(n: int = B, length: int = T) -> torch.Tensor:
    return torch.randint(V, (n, length))


def read(decoder: Decoder, encoded: EncoderOutput, tokens: torch.Tensor) -> DecoderOutput:
    return decoder(tokens, *decoder.init_state(encoded))


def numbers(decoded: DecoderOutput) -> dict[str, torch.Tensor]:
    """What has one entry for every token read."""
    names = ("logits", "weights", "states", "contexts")
    return {name: getattr(decoded, name) for name in names if getattr(decoded, name) is not None}


def gradients(module: nn.Module) -> dict[str, torch.Tensor]:
    """And 0 for a parameter that took no part."""
    return {n: torch.zeros_like(p) if p.grad is None else p.grad for n, p in module.named_parameters()}


def functional(decoded: DecoderOutput, directions: dict[str, torch.Tensor]) -> torch.Tensor:
    """One number that depends on everything."""
    return sum((value * directions[name]).sum() for name, value in numbers(decoded).items())


# --- written from the equations: numpy, one sentence, one step at a time ----------------------------


def sigma(x):
    return 1 / (1 + np.exp(-x))


def gru(p, x, s):
    """r and z gate, n is the news; torch's order of the three."""
    names = ("rnn.weight_ih_l0", "rnn.bias_ih_l0", "rnn.weight_hh_l0", "rnn.bias_hh_l0")
    names = names if names[0] in p else ("cell.weight_ih", "cell.bias_ih", "cell.weight_hh", "cell.bias_hh")
    W, b, U, c = (p[name] for name in names)
    d = len(s)
    r = sigma(W[:d] @ x + b[:d] + U[:d] @ s + c[:d])
    z = sigma(W[d : 2 * d] @ x + b[d : 2 * d] + U[d : 2 * d] @ s + c[d : 2 * d])
    n = np.tanh(W[2 * d :] @ x + b[2 * d :] + r * (U[2 * d :] @ s + c[2 * d :]))
    return (1 - z) * n + z * s


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


FORMULAS = {
    "initial_state": initial_state,
    "every_step": every_step,
    "bahdanau": bahdanau,
    "coverage": bahdanau,
    "luong": luong,
    "simple_rnn": simple_rnn,
}
CASES = [
    ("initial_state", None),
    ("every_step", None),
    *((name, score) for name in ATTENTIVE for score in oracles.PAIR),
    *(("coverage", score) for score in ("additive", "general", "projected_dot", "dot")),
]


@pytest.mark.parametrize(("name", "score"), CASES, ids=lambda case: str(case))
def test_equals_its_formula(name, score):
    decoder = make(name, D if score in ONE_SPACE else D_KEY, **({} if score is None else {"score": score}))
    encoded, tokens = draw_encoded(decoder.d_annotation), draw_tokens()
    found = read(decoder, encoded, tokens)
    p = arrays(decoder)
    for b in range(B):
        h, summary, visible = (x[b].numpy() for x in (encoded.annotations, encoded.summary, encoded.mask[:, 0]))
        s_0 = np.tanh(p["W_s.weight"] @ summary + p["W_s.bias"])
        steps = FORMULAS[name](p, p["embedding.weight"][tokens[b]], s_0, h, summary, visible, score)
        for i, expected in enumerate(steps):
            for field, value in zip(("logits", "weights", "states", "contexts"), expected, strict=True):
                if value is None:
                    assert getattr(found, field) is None
                else:
                    assert_close(getattr(found, field)[b, i].detach(), torch.from_numpy(value), msg=f"{field} {i}")
        assert i == T - 1
        assert_close(found.state[0][b], found.states[b, -1])


def test_every_decoder_of_the_package_has_a_formula():
    assert {n for n, kind in DECODERS.items() if kind.__module__ == "attnlib.decoders"} == set(FORMULAS) - set(VARIANTS)
    assert DECODERS == {
        "initial_state": InitialStateDecoder,
        "every_step": EveryStepDecoder,
        "bahdanau": BahdanauDecoder,
        "luong": LuongDecoder,
        "simple_rnn": SimpleRNNDecoder,
    }
    scores = [type(make(name).attention.score) for name in ATTENTIVE]
    assert scores == [AdditiveScore, GeneralScore, ProjectedDotScore]


# --- out of torch's own parts, on the same parameters -----------------------------------------------


def cell_with(kind, d_input, weight_ih, bias_ih, weight_hh, bias_hh):
    """torch's own cell around parameters that are there already."""
    cell = kind(d_input, D, dtype=torch.float64)
    assert cell.weight_ih.shape == weight_ih.shape and cell.weight_hh.shape == weight_hh.shape
    tensors = {"weight_ih": weight_ih, "bias_ih": bias_ih, "weight_hh": weight_hh, "bias_hh": bias_hh}
    return lambda x, s: torch.func.functional_call(cell, tensors, (x, s))


def torch_cell(decoder: Decoder):
    if isinstance(decoder, BahdanauDecoder):
        return cell_with(nn.GRUCell, D_EMBED + D_KEY, *(getattr(decoder.cell, n) for n in CELL))
    if isinstance(decoder, SimpleRNNDecoder):  # its input is [x; c]
        from_x, from_s, from_c = decoder.A.weight.split([D_EMBED, D, D_KEY], dim=1)
        weight = torch.cat([from_x, from_c], dim=1)
        return cell_with(nn.RNNCell, D_EMBED + D_KEY, weight, decoder.A.bias, from_s, torch.zeros(D).double())
    return cell_with(nn.GRUCell, decoder.rnn.input_size, *(getattr(decoder.rnn, f"{n}_l0") for n in CELL))


CELL = ("weight_ih", "bias_ih", "weight_hh", "bias_hh")


def textbook(decoder: Decoder, encoded: EncoderOutput, tokens: torch.Tensor) -> DecoderOutput:
    """One step after the other, everything computed when it is needed, and again when it is needed again."""
    cell, score, h = torch_cell(decoder), decoder.attention and decoder.attention.score, encoded.annotations

    def look(s):
        if isinstance(score, AdditiveScore):
            e = score.v_a(torch.tanh(score.W_a(s).unsqueeze(1) + score.U_a(h))).squeeze(-1)
        elif isinstance(score, GeneralScore):
            e = torch.einsum("bq,qk,bsk->bs", s, score.W.weight, h)
        else:
            e = torch.einsum("bd,bsd->bs", score.W_q(s), score.W_k(h))
        weights = e.masked_fill(~encoded.mask[:, 0], -torch.inf).softmax(-1)
        return torch.einsum("bs,bsd->bd", weights, h), weights

    s = torch.tanh(decoder.W_s(encoded.summary))
    c = look(s)[0] if isinstance(decoder, SimpleRNNDecoder) else None
    steps = []
    for i in range(tokens.shape[1]):
        y = decoder.embedding(tokens[:, i])
        weights = c if isinstance(decoder, SimpleRNNDecoder) else None
        if isinstance(decoder, BahdanauDecoder):
            c, weights = look(s)
            s = cell(torch.cat([y, c], dim=1), s)
            inner = decoder.U_o(s) + decoder.V_o(y) + decoder.C_o(c)
            logits = decoder.W_o(torch.maximum(inner[:, 0::2], inner[:, 1::2]))
        elif isinstance(decoder, SimpleRNNDecoder):
            s = cell(torch.cat([y, c], dim=1), s)
            c, weights = look(s)
            logits = decoder.W_o(torch.cat([s, c], dim=1))
        elif isinstance(decoder, LuongDecoder):
            s = cell(y, s)
            c, weights = look(s)
            logits = decoder.W_o(torch.tanh(decoder.W_c(torch.cat([c, s], dim=1))))
        else:
            s = cell(torch.cat([y, encoded.summary], dim=1) if isinstance(decoder, EveryStepDecoder) else y, s)
            logits = decoder.W_o(s)
        steps.append((logits, weights, s, c))
    columns = [None if column[0] is None else torch.stack(column, dim=1) for column in zip(*steps, strict=True)]
    return DecoderOutput(*columns, state=(s,))


@pytest.mark.parametrize("name", ["initial_state", "every_step", *ATTENTIVE])
def test_equals_torchs_cells_in_value_and_gradient(name):
    decoder, tokens = make(name), draw_tokens()
    encoded, results, directions = draw_encoded(lengths=(S, 4, 1)), [], None
    for run in (read, textbook):
        twin = copy.deepcopy(decoder)
        leaves = [encoded.annotations.clone().requires_grad_(), encoded.summary.clone().requires_grad_()]
        decoded = run(twin, encoded._replace(annotations=leaves[0], summary=leaves[1]), tokens)
        directions = directions or {field: torch.randn_like(value) for field, value in numbers(decoded).items()}
        functional(decoded, directions).backward()
        leaf_gradients = [torch.zeros(()) if leaf.grad is None else leaf.grad for leaf in leaves]
        results.append((numbers(decoded), leaf_gradients, gradients(twin)))
    assert_close(results[0], results[1])
    assert set(results[0][0]) == (
        {"logits", "weights", "states", "contexts"} if name in ATTENTIVE else {"logits", "states"}
    )
    assert all(gradient.abs().sum() > 0 for gradient in results[0][2].values())  # every parameter takes part


# --- the contract: each check takes a model, any decoder with any encoder ---------------------------


def draw_pairs(lengths=LENGTHS):
    return torch.randint(V_SOURCE, (len(lengths), S)), lengths.clone(), draw_tokens(len(lengths))


def run(model, source, lengths, tokens) -> DecoderOutput:
    return model.decoder(tokens, *model.encode(source, lengths))


def reads_at_once_as_one_at_a_time(model):
    source, lengths, tokens = draw_pairs()
    memory, start = model.encode(source, lengths)
    whole = model.decoder(tokens, memory, start)
    cuts = [list(range(T + 1)), *([0, n, T] for n in range(1, T))]
    for cut in cuts:
        state, parts = start, []
        for left, right in itertools.pairwise(cut):
            parts.append(model.decoder(tokens[:, left:right], memory, state))
            state = parts[-1].state
        joined = {name: torch.cat([numbers(part)[name] for part in parts], dim=1) for name in numbers(whole)}
        assert_close(joined, numbers(whole))
        assert_close(state, whole.state)
    assert [part.shape for part in whole.state] == [part.shape for part in start]


def gives_a_sentence_alone_what_it_gets_in_a_batch(model):
    source, lengths, tokens = draw_pairs()
    together = run(model, source, lengths, tokens)
    for b, n in enumerate(lengths.tolist()):
        alone = run(model, source[b : b + 1, :n], None, tokens[b : b + 1])
        found = {name: value[b : b + 1] for name, value in numbers(together).items()}
        if "weights" in found:
            assert_close(found["weights"][..., n:], torch.zeros(1, T, S - n).double(), rtol=0, atol=0)
            found["weights"] = found["weights"][..., :n]
        assert_close(found, numbers(alone))
        directions = {name: torch.randn_like(value) for name, value in found.items()}
        results = []
        for value in (sum((found[name] * directions[name]).sum() for name in found), functional(alone, directions)):
            model.zero_grad()
            value.backward(retain_graph=True)
            results.append({n: g.clone() for n, g in gradients(model).items()})
        assert_close(results[0], results[1])


def looks_at_nothing_behind_the_mask(model):
    source, lengths, tokens = draw_pairs()
    before = run(model, source, lengths, tokens)
    padding = torch.arange(S) >= lengths.unsqueeze(1)
    other = torch.where(padding, torch.randint(V_SOURCE, (B, S)), source)
    assert (other != source).any()
    assert_close(numbers(run(model, other, lengths, tokens)), numbers(before), rtol=0, atol=0)
    encoded = model.encoder(source, lengths)
    garbage = torch.where(padding.unsqueeze(2), 100 * torch.randn_like(encoded.annotations), encoded.annotations)
    garbage = garbage.detach().requires_grad_()
    after = read(model.decoder, encoded._replace(annotations=garbage), tokens)
    assert_close(numbers(after), numbers(before))
    if after.contexts is not None:
        (gradient,) = torch.autograd.grad(functional(after, numbers(before)), garbage)
        assert_close(gradient[padding], torch.zeros_like(gradient[padding]), rtol=0, atol=0)
        assert (gradient[~padding].abs().sum(-1) > 0).all()  # and at all the rest


def hears_the_past_and_not_the_future(model):
    source, lengths, tokens = draw_pairs()
    before = run(model, source, lengths, tokens)
    for i in range(T):
        edited = tokens.clone()
        edited[:, i] = (edited[:, i] + 1) % V
        after = run(model, source, lengths, edited)
        for name, value in numbers(before).items():
            assert_close(numbers(after)[name][:, :i], value[:, :i], rtol=0, atol=0)
        assert ((after.logits - before.logits)[:, i:].abs().amax(-1) > 1e-9).all()


def spreads_a_whole_look_over_what_is_real(model):
    source, lengths, tokens = draw_pairs()
    model.train()
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.9
    decoded = run(model, source, lengths, tokens)
    assert (decoded.weights is None) == (decoded.contexts is None) == (model.decoder.attention is None)
    if decoded.weights is None:
        return
    assert decoded.weights.shape == (B, T, S) and decoded.contexts.shape == (B, T, model.decoder.d_annotation)
    real = torch.arange(S) < lengths.unsqueeze(1)
    assert (decoded.weights >= 0).all()
    assert_close(decoded.weights.sum(-1), torch.ones(B, T).double())
    hidden = decoded.weights.masked_select(~real.unsqueeze(1))
    assert_close(hidden, torch.zeros_like(hidden), rtol=0, atol=0)
    assert (decoded.weights.masked_select(real.unsqueeze(1)) > 0).all()


def bears_an_empty_source(model):
    source, lengths, tokens = draw_pairs(torch.tensor([0, S, 0]))
    decoded = run(model, source, lengths, tokens)
    if decoded.weights is not None:
        assert_close(decoded.contexts[::2], torch.zeros(2, T, model.decoder.d_annotation).double(), rtol=0, atol=0)
        assert_close(decoded.weights[::2], torch.zeros(2, T, S).double(), rtol=0, atol=0)
        assert (decoded.contexts[1].abs().sum(-1) > 0).all()
    assert all(value.isfinite().all() for value in numbers(decoded).values())
    functional(decoded, numbers(decoded)).backward()
    assert all(gradient.isfinite().all() for gradient in gradients(model).values())
    other = torch.randint(V_SOURCE, (B, S))
    other[1] = source[1]
    assert_close(numbers(run(model, other, lengths, tokens)), numbers(decoded), rtol=0, atol=0)


MODEL_CONTRACT = [
    reads_at_once_as_one_at_a_time,
    gives_a_sentence_alone_what_it_gets_in_a_batch,
    looks_at_nothing_behind_the_mask,
    hears_the_past_and_not_the_future,
    spreads_a_whole_look_over_what_is_real,
    bears_an_empty_source,
]


@pytest.mark.parametrize("check", MODEL_CONTRACT, ids=lambda check: check.__name__)
@pytest.mark.parametrize(("cell", "directions"), ENCODERS)
@pytest.mark.parametrize("name", [*DECODERS, *VARIANTS])
def test_contract_with_every_encoder(name, cell, directions, check):
    check(make_model(name, cell, directions))


# --- the contract of the decoder itself: each check takes a registered name -------------------------


def reads_one_token_and_one_annotation(name):
    decoder = make(name)
    encoded = draw_encoded(lengths=(S,))
    encoded = encoded._replace(annotations=encoded.annotations[:, :1], mask=encoded.mask[..., :1])
    decoded = read(decoder, encoded, draw_tokens(1, 1))
    assert decoded.logits.shape == (1, 1, V) and decoded.states.shape == (1, 1, D)
    if decoder.attention is not None:
        assert_close(decoded.weights, torch.ones(1, 1, 1).double())
        assert_close(decoded.contexts, encoded.annotations)


def has_the_gradients_of_its_values(name):
    decoder = make(name)
    encoded, tokens = draw_encoded(lengths=(3, 2)), draw_tokens(2, 2)
    names = [n for n, _ in decoder.named_parameters()]

    class Whole(nn.Module):
        def __init__(self):
            super().__init__()
            self.decoder = decoder

        def forward(self, annotations, summary):
            decoded = read(self.decoder, encoded._replace(annotations=annotations, summary=summary), tokens)
            return tuple(numbers(decoded).values())

    whole = Whole()

    def value(annotations, summary, *parameters):
        tensors = {f"decoder.{n}": p for n, p in zip(names, parameters, strict=True)}
        return torch.func.functional_call(whole, tensors, (annotations, summary))

    inputs = [encoded.annotations, encoded.summary, *decoder.parameters()]
    inputs = [x.detach().clone().requires_grad_() for x in inputs]
    assert torch.autograd.gradcheck(value, inputs, fast_mode=True)  # along random directions


def keeps_nothing_on_itself(name):
    decoder, tokens = make(name), draw_tokens()
    encoded = draw_encoded()
    was = [dict(vars(module)) for module in decoder.modules()]
    parameters = copy.deepcopy(decoder.state_dict())
    first = read(decoder, encoded, tokens)
    read(decoder, draw_encoded(lengths=(1, 2)), draw_tokens(2, 3))
    assert_close(numbers(read(decoder, encoded, tokens)), numbers(first), rtol=0, atol=0)
    for module, before in zip(decoder.modules(), was, strict=True):
        assert set(vars(module)) == set(before)
        assert not [value for value in vars(module).values() if isinstance(value, torch.Tensor)]
        assert all(vars(module)[key] is value for key, value in before.items())
    assert_close(decoder.state_dict(), parameters, rtol=0, atol=0)
    assert_close(numbers(read(copy.deepcopy(decoder), encoded, tokens)), numbers(first), rtol=0, atol=0)


def leaves_its_inputs_alone(name):
    decoder, tokens = make(name), draw_tokens()
    memory, state = decoder.init_state(draw_encoded())
    tensors = [tokens, *state, *(field for field in memory if field is not None)]
    before = [tensor.clone() for tensor in tensors]
    decoder(tokens, memory, state)
    assert_close(tensors, before, rtol=0, atol=0)


DECODER_CONTRACT = [
    reads_one_token_and_one_annotation,
    has_the_gradients_of_its_values,
    keeps_nothing_on_itself,
    leaves_its_inputs_alone,
]


@pytest.mark.parametrize("check", DECODER_CONTRACT, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", [*DECODERS, *VARIANTS])
def test_contract(name, check):
    check(name)


# --- a decoder a student adds -----------------------------------------------------------------------


class LooksTwice(LuongDecoder):
    """A mean of two contexts, from the state before the step and from the one after it."""

    def decode_embedded(self, embedded, memory, state):
        states, last = self.rnn(embedded, state[0].unsqueeze(0))
        before = torch.cat([state[0].unsqueeze(1), states[:, :-1]], dim=1)
        looks = [self.attend(query, memory) for query in (before, states)]
        contexts, weights = ((one + two) / 2 for one, two in zip(*looks, strict=True))
        return DecoderOutput(self.answer(contexts, states), weights, states, contexts, state=(last[0],))

    def answer(self, contexts, states):
        return self.W_o(torch.tanh(self.W_c(torch.cat([contexts, states], dim=-1))))


class LooksAtPadding(LooksTwice):
    def attend(self, query, memory):
        return self.attention(query, None, memory.annotations, projected_key=memory.projected_key)


class LooksAhead(LooksTwice):
    def decode_embedded(self, embedded, memory, state):
        return super().decode_embedded(embedded + embedded.mean(1, keepdim=True), memory, state)


class Forgets(LooksTwice):
    def decode_embedded(self, embedded, memory, state):
        return super().decode_embedded(embedded, memory, state)._replace(state=state)


class Remembers(LooksTwice):
    def attend(self, query, memory):
        self.last = super().attend(query, memory)
        return self.last


class SeesTheBatch(LooksTwice):
    def answer(self, contexts, states):
        return super().answer(contexts - contexts.mean(0, keepdim=True), states)


class ForcesItsLook(LooksTwice):
    def attend(self, query, memory):
        context, weights = super().attend(query, memory)
        return context, weights / weights.sum(-1, keepdim=True)


class Overwrites(LooksTwice):
    def decode_embedded(self, embedded, memory, state):
        memory.annotations[:, 0] += 1
        return super().decode_embedded(embedded, memory, state)


@pytest.mark.parametrize("check", MODEL_CONTRACT, ids=lambda check: check.__name__)
def test_contract_covers_a_new_decoder_once_it_is_registered(check, monkeypatch):
    monkeypatch.setitem(DECODERS, "student", LooksTwice)
    check(make_model("student"))


@pytest.mark.parametrize(
    ("kind", "check"),
    [
        (LooksAtPadding, looks_at_nothing_behind_the_mask),
        (LooksAtPadding, spreads_a_whole_look_over_what_is_real),
        (LooksAhead, hears_the_past_and_not_the_future),
        (LooksAhead, reads_at_once_as_one_at_a_time),
        (Forgets, reads_at_once_as_one_at_a_time),
        (SeesTheBatch, gives_a_sentence_alone_what_it_gets_in_a_batch),
        (ForcesItsLook, bears_an_empty_source),
    ],
)
def test_contract_refuses_a_bad_model(kind, check, monkeypatch):
    monkeypatch.setitem(DECODERS, "student", kind)
    with pytest.raises(AssertionError):
        check(make_model("student"))


@pytest.mark.parametrize(
    ("kind", "check"), [(Remembers, keeps_nothing_on_itself), (Overwrites, leaves_its_inputs_alone)]
)
def test_contract_refuses_a_bad_decoder(kind, check, monkeypatch):
    monkeypatch.setitem(DECODERS, "student", kind)
    with pytest.raises(AssertionError):
        check("student")


def test_decoder_without_read_says_so():
    with pytest.raises(NotImplementedError, match="Decoder must define decode_embedded"):
        read(Decoder(V, D_EMBED, D_KEY, D).double(), draw_encoded(), draw_tokens())


# --- what is computed, and how often ----------------------------------------------------------------


def count(decoder: Decoder, monkeypatch) -> dict[str, list]:
    """The shapes of what is projected and of what is compared, from now on."""
    score, found = decoder.attention.score, {"project_key": [], "compare": []}
    for method, shapes in found.items():

        def spy(*inputs, original, shapes):
            result = original(*inputs)
            shapes.append(tuple(result.shape))
            return result

        monkeypatch.setattr(score, method, functools.partial(spy, original=getattr(score, method), shapes=shapes))
    return found


@pytest.mark.parametrize("name", [*ATTENTIVE, *VARIANTS])
def test_keys_are_projected_once_per_sentence_and_compared_once_per_step(name, monkeypatch):
    model = make_model(name)
    source, lengths, tokens = draw_pairs()
    found = count(model.decoder, monkeypatch)
    memory, state = model.encode(source, lengths)
    for i in range(20):
        state = model.decoder(tokens[:, i % T : i % T + 1], memory, state).state
    assert len(found["project_key"]) == 1 and found["project_key"][0][:2] == (B, S)
    steps = 21 if name == "simple_rnn" else 20  # c_0 is looked up before the first
    assert found["compare"] == [(B, 1, S)] * steps


@pytest.mark.parametrize("name", ATTENTIVE)
def test_a_sentence_costs_one_score_for_each_source_and_target_position(name, monkeypatch):
    model = make_model(name)
    found = count(model.decoder, monkeypatch)
    run(model, *draw_pairs())
    m, t = S, T + (name == "simple_rnn")
    assert sum(int(np.prod(shape)) for shape in found["compare"]) == B * m * t
    assert len(found["compare"]) == (1 if name == "luong" else t)  # Luong's need not wait for each other


@pytest.mark.parametrize("search", [greedy_decode, functools.partial(beam_search, beam_size=2)])
@pytest.mark.parametrize("name", ATTENTIVE)
def test_keys_are_projected_once_in_a_search(name, search, monkeypatch):
    model = make_model(name)
    nn.init.constant_(model.decoder.W_o.bias, 0.0)
    with torch.no_grad():
        model.decoder.W_o.bias[2] = -100.0  # no target ends
    found = count(model.decoder, monkeypatch)
    search(model, *draw_pairs()[:2], max_length=6)
    assert len(found["project_key"]) == 1
    assert len(found["compare"]) == 6 + (name == "simple_rnn")


# --- who asks, and what goes where ------------------------------------------------------------------


@pytest.mark.parametrize(("name", "asks"), [("bahdanau", "before"), ("luong", "after"), ("simple_rnn", "after")])
def test_the_query_is_the_state_before_or_after_the_step(name, asks):
    decoder, encoded, tokens = make(name), draw_encoded(), draw_tokens()
    memory, state = decoder.init_state(encoded)
    decoded = decoder(tokens, memory, state)
    queries = {"before": torch.cat([state[0].unsqueeze(1), decoded.states[:, :-1]], dim=1), "after": decoded.states}
    for when, query in queries.items():
        context, weights = decoder.attention(query, encoded.annotations, encoded.annotations, encoded.mask)
        if when == asks:
            assert_close((decoded.weights, decoded.contexts), (weights, context))
        else:
            assert (decoded.weights - weights)[:2].abs().amax() > 1e-3


def test_first_state_is_made_of_the_summary():
    for name in DECODERS:
        decoder, encoded = make(name), draw_encoded()
        memory, state = decoder.init_state(encoded)
        expected = torch.tanh(encoded.summary @ decoder.W_s.weight.T + decoder.W_s.bias)
        assert_close(state[0], expected)
        assert_close((memory.annotations, memory.summary), (encoded.annotations, encoded.summary), rtol=0, atol=0)
        assert memory.mask is encoded.mask and memory.tokens is encoded.tokens
        if decoder.attention is None:
            assert memory.projected_key is None
        else:
            assert_close(memory.projected_key, decoder.attention.score.project_key(encoded.annotations))


@pytest.mark.parametrize(
    ("name", "states_hear", "logits_hear"),
    [
        ("initial_state", set(), set()),
        ("every_step", {"summary"}, {"summary"}),
        ("bahdanau", {"annotations"}, {"annotations"}),
        ("luong", set(), {"annotations"}),  # a look that changes no state
        ("simple_rnn", {"annotations"}, {"annotations"}),
    ],
)
def test_the_source_enters_where_the_equation_says(name, states_hear, logits_hear):
    decoder, encoded, tokens = make(name), draw_encoded(lengths=(S, 4, 2)), draw_tokens()
    memory, state = decoder.init_state(encoded)
    before = decoder(tokens, memory, state)
    for part in ("annotations", "summary"):
        other = encoded._replace(**{part: torch.randn_like(getattr(encoded, part))})
        changed, _ = decoder.init_state(other)
        after = decoder(tokens, changed, (state[0], *decoder.extra_state(state[0], changed)))  # the same s_0
        for field, hears in (("states", states_hear), ("logits", logits_hear)):
            difference = (getattr(after, field) - getattr(before, field)).abs().amax(-1)
            if part in hears:
                assert (difference > 1e-9).all()
            else:
                assert_close(difference, torch.zeros(B, T).double(), rtol=0, atol=0)


def test_context_enters_the_gru_beside_the_token():
    decoder, encoded, tokens = make("bahdanau"), draw_encoded(), draw_tokens()
    memory, (s,) = decoder.init_state(encoded)
    decoded = decoder(tokens, memory, (s,))
    for i in range(T):
        inputs = torch.cat([decoder.embedding(tokens[:, i]), decoded.contexts[:, i]], dim=-1)
        s = decoder.cell(inputs, s)
        assert_close(decoded.states[:, i], s)


@pytest.mark.parametrize("path", ["U_o", "V_o", "C_o"])
def test_deep_output_reads_the_new_state_the_token_and_the_context(path):
    """With the two other paths cut, the logits are what this one makes of its input; nothing before them moves."""
    decoder, encoded, tokens = make("bahdanau"), draw_encoded(), draw_tokens()
    whole = read(decoder, encoded, tokens)
    with torch.no_grad():
        for other in {"U_o", "V_o", "C_o"} - {path}:
            getattr(decoder, other).weight.zero_()
    found = read(decoder, encoded, tokens)
    inputs = {"U_o": whole.states, "V_o": decoder.embedding(tokens), "C_o": whole.contexts}[path]
    inner = inputs @ getattr(decoder, path).weight.T + decoder.U_o.bias
    t = torch.maximum(inner[..., 0::2], inner[..., 1::2])
    assert_close(found.logits, t @ decoder.W_o.weight.T + decoder.W_o.bias)
    assert_close(found[1:4], whole[1:4], rtol=0, atol=0)
    assert (found.logits - whole.logits).abs().amax() > 1e-3


def test_maxout_halves_the_deep_output():
    decoder = make("bahdanau")
    assert decoder.W_o.in_features == D and decoder.U_o.out_features == 2 * D
    encoded, tokens = draw_encoded(), draw_tokens()
    found, p = read(decoder, encoded, tokens), arrays(decoder)
    s_0 = np.tanh(p["W_s.weight"] @ encoded.summary[0].numpy() + p["W_s.bias"])
    y, h = p["embedding.weight"][tokens[0]], encoded.annotations[0].numpy()
    steps = bahdanau(p, y, s_0, h, None, [True] * S, "additive")
    assert_close(found.logits[0].detach(), torch.from_numpy(np.array([logits for logits, *_ in steps])))


# --- coverage ---------------------------------------------------------------------------------------


def test_coverage_is_the_sum_of_the_looks_before():
    decoder, encoded, tokens = make("coverage"), draw_encoded(), draw_tokens()
    memory, state = decoder.init_state(encoded)
    assert_close(state[1], torch.zeros(B, S).double(), rtol=0, atol=0)
    decoded = decoder(tokens, memory, state)
    assert_close(decoded.state[1], decoded.weights.sum(1))
    seen = torch.zeros(B, S).double()
    queries = torch.cat([state[0].unsqueeze(1), decoded.states[:, :-1]], dim=1)
    score = decoder.attention.score
    for i in range(T):
        inner = score.W_a(queries[:, i]).unsqueeze(1) + score.U_a(encoded.annotations) + seen.unsqueeze(2) * decoder.w_c
        e = score.v_a(torch.tanh(inner))[..., 0].masked_fill(~encoded.mask[:, 0], -torch.inf)
        assert_close(decoded.weights[:2, i], e.softmax(-1)[:2])
        seen = seen + decoded.weights[:, i]


def test_coverage_starts_without_effect_and_can_learn():
    torch.manual_seed(1)
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


@pytest.mark.parametrize(("score", "width"), [("general", D), ("dot", D), ("concat", D), ("projected_dot", 64)])
def test_coverage_is_as_wide_as_a_projected_key(score, width):
    decoder = BahdanauDecoder(V, D_EMBED, D, D, score=score, coverage=True)
    assert decoder.w_c.shape == (width,)


def test_given_score_is_used_as_it_is_whatever_its_precision():
    score = SCORES["additive"](D, D_KEY, d_hidden=5).double()
    for coverage in (False, True):
        decoder = BahdanauDecoder(V, D_EMBED, D_KEY, D, score=score, coverage=coverage).double()
        assert decoder.attention.score is score
        encoded = draw_encoded()
        assert_close(decoder.init_state(encoded)[0].projected_key, encoded.annotations @ score.U_a.weight.T)
    assert decoder.w_c.shape == (5,)
    assert BahdanauDecoder(V, D_EMBED, D_KEY, D, score=score, coverage=True).w_c.dtype == torch.float64


# --- dropout, memory --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*DECODERS, *VARIANTS])
def test_dropout_thins_the_embedding_in_training_only(name):
    decoder, encoded, tokens = make(name, dropout=0.5), draw_encoded(), draw_tokens()
    plain = make(name)
    plain.load_state_dict(decoder.state_dict())
    expected = read(plain, encoded, tokens)
    assert_close(numbers(read(decoder.eval(), encoded, tokens)), numbers(expected), rtol=0, atol=0)
    decoder.train()
    torch.manual_seed(5)
    found = read(decoder, encoded, tokens)
    torch.manual_seed(5)
    thinned = nn.functional.dropout(decoder.embedding(tokens), 0.5)
    assert 0 < (thinned == 0).double().mean() < 1
    assert_close(
        numbers(found), numbers(decoder.decode_embedded(thinned, *decoder.init_state(encoded))), rtol=0, atol=0
    )


def test_rows_of_a_memory_are_picked_in_every_field():
    encoded = draw_encoded()
    memory, _ = make("bahdanau").init_state(encoded)
    index = torch.tensor([2, 0, 0, 1, 2])
    rows = memory._replace(pointer_key=memory.projected_key + 1).reorder(index)
    assert isinstance(rows, Memory)
    for name, field in memory._replace(pointer_key=memory.projected_key + 1)._asdict().items():
        for n, b in enumerate(index.tolist()):
            assert_close(getattr(rows, name)[n], field[b], rtol=0, atol=0)
        assert len(getattr(rows, name)) == len(index)
    bare, _ = make("every_step").init_state(encoded._replace(tokens=None))
    rows = bare.reorder(index)
    assert rows.projected_key is None and rows.tokens is None
    assert_close(rows.summary, encoded.summary[index], rtol=0, atol=0)


@pytest.mark.parametrize("name", [*DECODERS, *VARIANTS])
def test_picked_rows_are_decoded_as_the_sentences_they_are(name):
    decoder, encoded = make(name), draw_encoded()
    memory, state = decoder.init_state(encoded)
    index, tokens = torch.tensor([1, 1, 0, 2]), draw_tokens(4)
    found = decoder(tokens, memory.reorder(index), tuple(part[index] for part in state))
    for n, b in enumerate(index.tolist()):
        alone = EncoderOutput(*(field[b : b + 1] for field in encoded))
        expected = read(decoder, alone, tokens[n : n + 1])
        assert_close({k: v[n : n + 1] for k, v in numbers(found).items()}, numbers(expected))


# --- bad input --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (torch.full((B, T), V), rf"0\.\.{V - 1}, got {V}\.\.{V}"),
        (torch.full((B, T), -1), rf"0\.\.{V - 1}, got -1\.\.-1"),
        (torch.zeros(B, 0, dtype=torch.long), r"got \(3, 0\)"),
        (torch.zeros(0, T, dtype=torch.long), r"got \(0, 5\)"),
        (torch.zeros(T, dtype=torch.long), r"got \(5,\)"),
        (torch.zeros(B, T), "got torch.float32"),
        (torch.zeros(B + 1, T, dtype=torch.long), r"tokens \(4, 5\), a memory of 3 sentences"),
        (torch.zeros(1, T, dtype=torch.long), r"tokens \(1, 5\), a memory of 3 sentences"),
    ],
)
@pytest.mark.parametrize("name", DECODERS)
def test_tokens_that_cannot_be_read_are_refused(name, tokens, message, without_shape_checks):
    with pytest.raises(ValueError, match=message):
        read(make(name), draw_encoded(), tokens)


@pytest.mark.parametrize("name", [*DECODERS, *VARIANTS])
def test_state_or_memory_of_another_batch_is_refused(name, without_shape_checks):
    decoder = make(name)
    memory, state = decoder.init_state(draw_encoded())
    with pytest.raises(ValueError, match=r"tokens \(3, 5\), a memory of 1 sentences"):
        decoder(draw_tokens(), memory.reorder(torch.tensor([0])), state)
    for part in range(len(state)):
        wrong = tuple(tensor[:1] if n == part else tensor for n, tensor in enumerate(state))
        with pytest.raises(ValueError, match=r"a memory of 3 sentences and a state .*\(1, "):
            decoder(draw_tokens(), memory, wrong)


@pytest.mark.parametrize("name", DECODERS)
def test_annotations_of_another_width_are_refused(name, without_shape_checks):
    with pytest.raises(ValueError, match=r"of width 13, got \(3, 7, 11\)"):
        make(name).init_state(draw_encoded(D))


@pytest.mark.parametrize("name", ATTENTIVE)
def test_score_that_does_not_fit_is_refused(name, without_shape_checks):
    for score in ("bilinear", AdditiveScore):
        with pytest.raises(ValueError, match=r"known are dot, .*, zero"):
            DECODERS[name](V, D_EMBED, D_KEY, D, score=score)
    with pytest.raises(ValueError, match=r"need a score with d_query=11, d_key=13.*d_query=13, d_key=11"):
        DECODERS[name](V, D_EMBED, D_KEY, D, score=GeneralScore(D_KEY, D))
    with pytest.raises(ValueError, match="got 11 and 13"):
        DECODERS[name](V, D_EMBED, D_KEY, D, score="dot")


def test_shapes_are_checked_at_run_time():
    decoder, memory = make("luong"), draw_encoded()
    with pytest.raises(TypeCheckError, match="B d_hidden"):
        decoder.extra_state(torch.zeros(D), memory)

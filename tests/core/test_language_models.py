"""The language models written out are the ones torch has, read from left to right, and sample what they say."""

import math
import re
from functools import partial

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from attnlib.language_models import RNNLM, AttentionLM, LMOutput
from attnlib.scores import SCORES, DotScore
from attnlib.training.metrics import nats_per_token
from tests import oracles

B, T, V, D_EMBED, D = 2, 5, 11, 3, 7


def draw():
    return RNNLM(V, D_EMBED, D).double(), torch.randint(V, (B, T)), torch.randn(B, D, dtype=torch.float64)


@pytest.mark.parametrize("with_state", [False, True])
def test_equals_torch_in_value_states_and_gradient(with_state):
    model, tokens, state = draw()
    embedding, rnn, output = nn.Embedding(V, D_EMBED), nn.RNN(D_EMBED, D, batch_first=True), nn.Linear(D, V)
    ours = [model.embedding.weight, model.W_e.weight, model.W_h.weight, model.W_e.bias, *model.W_2.parameters()]
    theirs = [embedding.weight, rnn.weight_ih_l0, rnn.weight_hh_l0, rnn.bias_ih_l0, *output.parameters()]
    assert len(ours) == len(list(model.parameters()))
    with torch.no_grad():
        nn.init.zeros_(rnn.bias_hh_l0)
        for one, other in zip(ours, theirs, strict=True):
            other.data = one.data.clone()
    rnn.double()
    h_0 = state if with_state else torch.zeros(B, D).double()
    starts = [h_0.clone().requires_grad_() for _ in range(2)]
    found = model(tokens, *starts[:1] if with_state else ())
    states, _ = rnn(embedding(tokens), starts[1][None])
    results = [(found.logits, found.states), (output(states), states)]
    assert isinstance(found, LMOutput)
    assert_close(*results)
    assert_close(found.state, found.states[:, -1])  # the last state is all there is to hand on
    directions = torch.randn(B, T, V).double(), torch.randn(B, T, D).double()
    for result in results:
        sum((part * direction).sum() for part, direction in zip(result, directions, strict=True)).backward()
    assert_close([p.grad for p in ours], [p.grad for p in theirs])
    if with_state:
        assert_close(starts[0].grad, starts[1].grad)


IDS = torch.zeros(B, T, dtype=torch.long)


@pytest.mark.parametrize("shape", [(D,), (B + 1, D), (B, D + 1), (B + 1, 3, D), (B, 3, D + 1)])
@pytest.mark.parametrize("make", [RNNLM, AttentionLM])
def test_a_state_of_another_shape_is_refused(make, shape, without_shape_checks):
    with pytest.raises(ValueError, match=re.escape(f"got tokens {(B, T)} and state {shape}")):
        make(V, D_EMBED, D)(IDS, torch.zeros(shape))


def test_it_learns():
    model, tokens = RNNLM(V, D_EMBED, D), torch.tensor([[0, 1, 2, 3, 4], [5, 6, 5, 7, 6]])  # 5 needs its memory
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    for _ in range(100):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(tokens[:, :-1]).logits.flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()
        optimizer.step()
    assert loss < 0.1


# --- AttentionLM ------------------------------------------------------------------------------------

WIDE = sorted(set(SCORES) - {"location"})  # location asks where a key stands: windows move it


def looking(score="scaled_dot", window=None) -> AttentionLM:
    torch.manual_seed(1)
    return AttentionLM(V, D_EMBED, D, score, window).double()


@pytest.mark.parametrize("window", [None, 1, 2, 99])
@pytest.mark.parametrize("name", oracles.PAIR)
def test_looking_back_equals_its_formula(name, window):
    model, tokens = looking(name, window), torch.randint(V, (B, T))
    score = {key.removeprefix("attention.score."): value for key, value in oracles.arrays(model).items()}
    output = model(tokens)
    assert isinstance(output, LMOutput)
    for b in range(B):
        logits, states, weights = oracles.attention_lm(tokens[b].tolist(), name, score, oracles.arrays(model), window)
        assert_close(output.states[b].detach(), torch.from_numpy(states))
        assert_close(output.weights[b].detach(), torch.from_numpy(weights))
        assert_close(output.logits[b].detach(), torch.from_numpy(logits))


@pytest.mark.parametrize("cuts", [[2], [1, 2], [1, 2, 3, 4, 5, 6], [4, 5], [6]])
@pytest.mark.parametrize("window", [None, 1, 2, 3, 99])
@pytest.mark.parametrize("name", WIDE)
def test_reading_in_chunks_is_reading_at_once(name, window, cuts):
    model, tokens = looking(name, window), torch.randint(V, (B, 7))
    whole, parts, state = model(tokens), [], None
    for start, end in zip([0, *cuts], [*cuts, 7], strict=True):
        before = 0 if state is None else state.shape[1]
        assert before == min(start, 99 if window is None else window)
        part = model(tokens[:, start:end], state)
        assert part.weights.shape == (B, end - start, before + end - start)
        expected = whole.weights[:, start:end, start - before : end]
        assert_close(part.weights, expected)
        parts.append(part)
        state = part.state
    assert_close(torch.cat([part.logits for part in parts], dim=1), whole.logits)
    assert_close(torch.cat([part.states for part in parts], dim=1), whole.states)
    assert_close(state, whole.state)
    assert_close(state, whole.states[:, -(window or 7) :])


def test_location_counts_from_the_first_state():
    model, tokens = looking("location"), torch.randint(V, (B, 7))
    first = model(tokens[:, :3])
    whole, second = model(tokens), model(tokens[:, 3:], first.state)
    assert_close(second.weights, whole.weights[:, 3:])
    assert_close(second.logits, whole.logits[:, 3:])


def test_looking_back_has_the_gradients_of_its_values():
    model, tokens = looking(window=2), torch.randint(V, (B, 3))
    past = torch.randn(B, 2, D).double().requires_grad_()
    names, parameters = zip(*model.named_parameters(), strict=True)

    def run(past, *given):
        return torch.func.functional_call(model, dict(zip(names, given, strict=True)), (tokens, past)).logits

    assert torch.autograd.gradcheck(run, (past, *parameters), fast_mode=True)


@pytest.mark.parametrize(
    ("score", "window", "message"),
    [
        (DotScore(D + 1, D + 1), None, f"d_query={D}"),
        ("dot", 0, "at least 1, or None for all states, got 0"),
    ],
)
def test_what_cannot_look_back_is_refused(score, window, message):
    assert AttentionLM(V, D_EMBED, D, given := DotScore(D, D)).attention.score is given
    with pytest.raises(ValueError, match=message):
        AttentionLM(V, D_EMBED, D, score, window)


# --- generate ---------------------------------------------------------------------------------------


def fixed(logits: list[float]) -> RNNLM:
    """A model that says the same whatever it has read."""
    model = RNNLM(len(logits), 1, 1)
    with torch.no_grad():
        model.W_2.weight.zero_()
        model.W_2.bias.copy_(torch.tensor(logits))
    return model


@pytest.mark.parametrize("make", [lambda: draw()[0], *(partial(looking, "general", window) for window in (None, 1, 3))])
def test_text_is_continued_with_all_the_memory_there_is(make):
    model, tokens = make(), torch.randint(V, (T,))
    with torch.no_grad():  # or the memory would decide little, and every token would be the same
        for name, parameter in model.named_parameters():
            parameter.mul_({"W_c.weight": 10, "W_h.weight": 5}.get(name, 1))
    expected = tokens.tolist()
    for _ in range(12):  # reads the whole text again for every token
        expected.append(int(model(torch.tensor([expected])).logits[0, -1].argmax()))
    assert model.generate(tokens, 12, temperature=0).tolist() == expected
    assert len(set(expected[T:])) > 1
    assert model.generate(tokens, 0).tolist() == tokens.tolist()


@pytest.mark.parametrize("temperature", [0.25, 1.0, 3.0])
def test_frequencies_are_those_of_the_softmax_at_the_temperature(temperature):
    logits, n = [0.0, 1.0, 1.5, -2.0], 1500
    text = fixed(logits).generate(torch.tensor([0]), n, temperature, torch.Generator().manual_seed(0))[1:]
    probabilities = oracles.softmax([a / temperature for a in logits], [True] * 4)
    found = torch.bincount(text, minlength=4) / n
    for p, share in zip(probabilities, found.tolist(), strict=True):
        assert_close(share, p, rtol=0, atol=4 * (p * (1 - p) / n) ** 0.5 + 1e-9)


def test_same_generator_same_text():
    model, tokens, _ = draw()
    texts = [model.generate(tokens[0], 20, 1.0, torch.Generator().manual_seed(seed)).tolist() for seed in (1, 1, 2)]
    assert texts[0] == texts[1] != texts[2]
    torch.manual_seed(3)
    state = torch.get_rng_state()
    model.generate(tokens[0], 5, 1.0, torch.Generator().manual_seed(1))
    assert_close(torch.get_rng_state(), state, rtol=0, atol=0)  # the global source is left alone


@pytest.mark.parametrize(
    ("prompt", "n_tokens", "temperature", "message"),
    [
        (IDS[0, :0], 3, 1.0, r"at least one token.*\(0,\)"),
        (IDS[:1, :2], 3, 1.0, r"\(1, 2\)"),
        (IDS[0], 3, -0.5, "temperature -0.5 and n_tokens 3"),
        (IDS[0], 3, math.nan, "temperature nan"),
        (IDS[0], 3, math.inf, "temperature inf"),
        (IDS[0], -1, 1.0, "n_tokens -1"),
    ],
)
def test_what_cannot_be_continued_is_refused(prompt, n_tokens, temperature, message, without_shape_checks):
    with pytest.raises(ValueError, match=message):
        RNNLM(V, D_EMBED, D).generate(prompt, n_tokens, temperature)


# --- nats_per_token ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "streams"), [(25, 1), (25, 4), (27, 4), (30, 7), (6, 5), (9, 5)])
@pytest.mark.parametrize("chunk", [1, 3, 100])
@pytest.mark.parametrize("make", [lambda: draw()[0], *(partial(looking, "additive", window) for window in (None, 2))])
def test_nats_per_token_are_the_mean_surprise_of_every_token_but_the_first(make, n, streams, chunk):
    model, text = make(), torch.randint(V, (n,))
    if isinstance(model, AttentionLM):  # or what it looks back at would decide little
        model.W_c.weight.data *= 10
    length, nats = (n - 1) // streams, []
    for part in range(streams):  # each is read from an empty memory; the last one to the end
        start, end = part * length, n - 1 if part == streams - 1 else (part + 1) * length
        logits = model(text[None, start:end]).logits[0].detach()
        nats += [oracles.surprise(row, text[start + t + 1]) for t, row in enumerate(logits)]
    assert len(nats) == n - 1
    assert_close(nats_per_token(model, text, streams, chunk), sum(nats) / len(nats))


@pytest.mark.parametrize(
    ("streams", "chunk", "message"),
    [
        (0, 128, "at least 1, got 0 and 128"),
        (2, 0, "at least 1, got 2 and 0"),
        (5, 128, "5 streams need at least 6 tokens, got 5"),
    ],
)
def test_text_that_cannot_be_cut_up_is_refused(streams, chunk, message):
    with pytest.raises(ValueError, match=message):
        nats_per_token(RNNLM(V, D_EMBED, D), IDS[0], streams, chunk)

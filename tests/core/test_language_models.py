"""The language models written out are the ones torch has, read from left to right, and sample what they say."""

import math
from functools import partial

import numpy as np
import pytest
import torch
from torch import nn
from torch.testing import assert_close

from attnlib.language_models import RNNLM, AttentionLM, LMOutput
from attnlib.scores import SCORES, DotScore
from attnlib.training.metrics import nats_per_token
from tests import oracles
from tests.core.test_scores import arrays

B, T, V, D_EMBED, D = 2, 5, 11, 3, 7


def draw(dtype=torch.float64):
    return RNNLM(V, D_EMBED, D).to(dtype), torch.randint(V, (B, T)), torch.randn(B, D, dtype=dtype)


class Reference(nn.Module):
    """The same model out of torch's own parts, with copied weights."""

    def __init__(self, model: RNNLM):
        super().__init__()
        self.embedding = nn.Embedding.from_pretrained(model.embedding.weight.detach().clone(), freeze=False)
        self.rnn = nn.RNN(D_EMBED, D, batch_first=True).double()
        self.output = nn.Linear(D, V).double()
        with torch.no_grad():
            self.rnn.weight_ih_l0.copy_(model.W_e.weight)
            self.rnn.bias_ih_l0.copy_(model.W_e.bias)
            self.rnn.weight_hh_l0.copy_(model.W_h.weight)
            self.rnn.bias_hh_l0.zero_()
            self.output.load_state_dict(model.W_2.state_dict())

    def forward(self, tokens, state):
        states, _ = self.rnn(self.embedding(tokens), state.unsqueeze(0))
        return self.output(states), states

    def parameters_like(self):
        rnn = self.rnn
        names = {"embedding.weight": self.embedding.weight, "W_e.weight": rnn.weight_ih_l0, "W_e.bias": rnn.bias_ih_l0}
        names |= {"W_h.weight": rnn.weight_hh_l0, "W_2.weight": self.output.weight, "W_2.bias": self.output.bias}
        return names


def test_equals_torch_in_value_states_and_gradient():
    model, tokens, state = draw()
    reference = Reference(model)
    directions = torch.randn(B, T, V).double(), torch.randn(B, T, D).double()
    results = []
    for run in (model, reference):
        h_0 = state.clone().requires_grad_()
        logits, states = run(tokens, h_0)[:2]
        ((logits * directions[0]).sum() + (states * directions[1]).sum()).backward()
        results.append([logits.detach(), states.detach(), h_0.grad])
    assert_close(results[0], results[1])
    assert {n: p.shape for n, p in model.named_parameters()} == {
        n: p.shape for n, p in reference.parameters_like().items()
    }
    for name, parameter in model.named_parameters():
        assert_close(parameter.grad, reference.parameters_like()[name].grad, msg=lambda m, name=name: f"{name}: {m}")


@pytest.mark.parametrize("with_state", [False, True])
def test_equals_its_formula(with_state):
    model, tokens, state = draw()
    output = model(tokens, state) if with_state else model(tokens)
    assert isinstance(output, LMOutput)
    for b in range(B):
        h_0 = state[b].numpy() if with_state else np.zeros(D)
        logits, states = oracles.rnn_lm(tokens[b].tolist(), h_0, arrays(model))
        assert_close(output.logits[b].detach(), torch.from_numpy(logits))
        assert_close(output.states[b].detach(), torch.from_numpy(states))


@pytest.mark.parametrize("cut", range(1, T))
def test_carrying_the_state_reads_two_halves_as_one(cut):
    model, tokens, state = draw()
    whole = model(tokens, state)
    first = model(tokens[:, :cut], state)
    assert_close(first.state, first.states[:, -1])  # the last state is all there is to hand on
    second = model(tokens[:, cut:], first.state)
    assert_close(torch.cat([first.logits, second.logits], dim=1), whole.logits)
    assert_close(torch.cat([first.states, second.states], dim=1), whole.states)
    assert_close(second.state, whole.state)


def test_the_future_does_not_change_the_past_and_the_past_changes_the_future():
    model, tokens, _ = draw()
    before = model(tokens).logits
    for t in range(T):
        edited = tokens.clone()
        edited[:, t] = (edited[:, t] + 1) % V
        after = model(edited).logits
        assert_close(after[:, :t], before[:, :t])
        assert ((after - before)[:, t:].abs().amax(-1) > 1e-9).all()


def test_text_alone_is_read_as_in_a_batch():
    model, tokens, state = draw()
    together = model(tokens, state)
    for b in range(B):
        alone = model(tokens[b : b + 1], state[b : b + 1])
        assert_close((alone.logits[0], alone.states[0]), (together.logits[b], together.states[b]))


def test_nothing_is_kept_between_texts():
    model, tokens, state = draw()
    first = model(tokens)
    model(tokens.flip(1), state)
    assert_close(model(tokens), first)


@pytest.mark.parametrize("shape", [(T,), (), (B, T, 1), (B, 0), (0, T)])
@pytest.mark.parametrize("make", [RNNLM, AttentionLM])
def test_what_is_no_batch_of_texts_is_refused(make, shape, without_shape_checks):
    with pytest.raises(ValueError, match=r"\(B, T\)") as error:
        make(V, D_EMBED, D)(torch.zeros(shape, dtype=torch.long))
    assert f"{shape}" in str(error.value)


@pytest.mark.parametrize(
    ("make", "state"),
    [
        *((RNNLM, shape) for shape in [(B, D + 1), (B + 1, D), (D,), (B, 3, D)]),
        *((AttentionLM, shape) for shape in [(B, 3, D + 1), (B + 1, 3, D), (B, D), (D,)]),
    ],
)
def test_state_of_another_shape_is_refused_with_both_shapes(make, state, without_shape_checks):
    with pytest.raises(ValueError, match=r"need tokens \(B, T\) and state \(B, ") as error:
        make(V, D_EMBED, D)(torch.zeros(B, T, dtype=torch.long), torch.zeros(state))
    assert f"got tokens {(B, T)} and state {state}" in str(error.value)


@pytest.mark.parametrize("bad", [-1, V])
@pytest.mark.parametrize("make", [RNNLM, AttentionLM])
def test_tokens_that_no_vocabulary_has_are_refused(make, bad):
    model, tokens = make(V, D_EMBED, D), torch.full((B, T), 3)
    tokens[1, 2] = bad
    with pytest.raises(ValueError, match=rf"0\.\.{V - 1}, got .*{bad}"):
        model(tokens)
    with pytest.raises(ValueError, match=rf"0\.\.{V - 1}, got .*{bad}"):
        model.generate(tokens[1], 2)


@pytest.mark.parametrize("make", [RNNLM, AttentionLM])
def test_tokens_that_are_no_integers_are_refused(make, without_shape_checks):
    with pytest.raises(ValueError, match=r"got torch\.float32"):
        make(V, D_EMBED, D)(torch.zeros(B, T))


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


def looking(score="scaled_dot", window=None, dtype=torch.float64, **options) -> AttentionLM:
    torch.manual_seed(1)
    if options:
        score = SCORES[score](D, D, **options)
    return AttentionLM(V, D_EMBED, D, score, window).to(dtype)


@pytest.mark.parametrize("window", [None, 1, 2, 99])
@pytest.mark.parametrize("name", oracles.PAIR)
def test_looking_back_equals_its_formula(name, window):
    model, tokens = looking(name, window), torch.randint(V, (B, T))
    score = {key.removeprefix("attention.score."): value for key, value in arrays(model).items()}
    output = model(tokens)
    assert isinstance(output, LMOutput)
    for b in range(B):
        logits, states, weights = oracles.attention_lm(tokens[b].tolist(), name, score, arrays(model), window)
        assert_close(output.states[b].detach(), torch.from_numpy(states))
        assert_close(output.weights[b].detach(), torch.from_numpy(weights))
        assert_close(output.logits[b].detach(), torch.from_numpy(logits))


def test_two_halves_of_W_2_are_one_matrix():
    model, tokens = looking("general"), torch.randint(V, (B, T))
    output = model(tokens)
    context = output.weights @ output.states  # without a past the memory is the states
    whole = nn.Linear(2 * D, V).double()
    with torch.no_grad():
        whole.weight.copy_(torch.cat([model.W_2.weight, model.W_c.weight], dim=1))
        whole.bias.copy_(model.W_2.bias)
    assert_close(output.logits, whole(torch.cat([output.states, context], dim=-1)))


def test_without_its_context_it_is_the_model_without_attention():
    model, tokens = looking(), torch.randint(V, (B, T))
    plain = RNNLM(V, D_EMBED, D).double()
    plain.load_state_dict(model.state_dict(), strict=False)
    expected = plain(tokens)
    assert_close(model(tokens).states, expected.states)  # attention does not touch the recurrence
    first = model(tokens[:, :1])
    assert_close(first.logits, expected.logits[:, :1])  # nothing to look at yet: c_1 = 0
    assert (first.weights == 0).all() and first.weights.shape == (B, 1, 1)
    nn.init.zeros_(model.W_c.weight)
    assert_close(model(tokens).logits, expected.logits)


@pytest.mark.parametrize("window", [None, 1, 2, 3, 99])
def test_every_step_sees_the_latest_states_before_its_own(window):
    weights, length = looking(window=window)(torch.randint(V, (B, 9))).weights, 9
    for i in range(length):
        seen = range(0 if window is None else max(0, i - window), i)
        assert [j for j in range(length) if weights[0, i, j] > 0] == list(seen)
    assert_close(weights[:, 1:].sum(-1), torch.ones(B, length - 1).double())


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


@pytest.mark.parametrize("window", [None, 2])
@pytest.mark.parametrize("name", SCORES)
def test_looking_back_never_sees_the_future(name, window):
    model, tokens = looking(name, window), torch.randint(V, (B, T))
    before = model(tokens)
    for t in range(T):
        edited = tokens.clone()
        edited[:, t] = (edited[:, t] + 1) % V
        after = model(edited)
        assert_close(after.logits[:, :t], before.logits[:, :t])
        assert_close(after.weights[:, :t], before.weights[:, :t])
        assert ((after.logits - before.logits)[:, t:].abs().amax(-1) > 1e-9).all()
    noise = torch.randn_like(before.logits[:, :2])
    model.embedding.weight.grad = None
    (before.logits[:, :2] * noise).sum().backward()
    unread = set(range(V)) - set(tokens[:, :2].flatten().tolist())
    assert all((model.embedding.weight.grad[token] == 0).all() for token in unread)


def test_looking_back_alone_is_looking_back_in_a_batch():
    model, tokens, past = looking("additive"), torch.randint(V, (B, T)), torch.randn(B, 3, D).double()
    for state in (None, past):
        together = model(tokens, state)
        for b in range(B):
            alone = model(tokens[b : b + 1], None if state is None else state[b : b + 1])
            for found, expected in zip(alone, together, strict=True):
                assert_close(found[0], expected[b])


@pytest.mark.parametrize("name", ["scaled_dot", "additive"])
def test_looking_back_has_the_gradients_of_its_values(name):
    model = looking(name, window=2, **({"d_hidden": 2} if name == "additive" else {}))
    tokens, past = torch.randint(V, (B, 3)), torch.randn(B, 2, D).double().requires_grad_()
    names, parameters = zip(*model.named_parameters(), strict=True)

    def run(past, *given):
        return torch.func.functional_call(model, dict(zip(names, given, strict=True)), (tokens, past)).logits

    assert torch.autograd.gradcheck(run, (past, *parameters), fast_mode=True)
    plain = RNNLM(V, D_EMBED, D).double()
    state = torch.randn(B, D).double().requires_grad_()
    assert torch.autograd.gradcheck(lambda h_0: plain(tokens, h_0).logits, (state,))


@pytest.mark.parametrize(("rows", "length"), [(1, 1), (1, T), (B, 1)])
@pytest.mark.parametrize("make", [RNNLM, AttentionLM])
def test_sizes_of_one(make, rows, length):
    for sizes in ((V, D_EMBED, D), (1, 1, 1)):
        output = make(*sizes)(torch.zeros(rows, length, dtype=torch.long))
        assert output.logits.shape == (rows, length, sizes[0]) and output.states.shape == (rows, length, sizes[2])
        assert output.logits.isfinite().all()


@pytest.mark.parametrize("score", ["scaled_dot", DotScore(D, D)])
def test_score_is_a_name_or_made_already(score):
    assert isinstance(AttentionLM(V, D_EMBED, D, score).attention.score, DotScore)


@pytest.mark.parametrize(
    ("score", "window", "message"),
    [
        ("scald_dot", None, "unknown score 'scald_dot', known are dot, "),
        (DotScore(D + 1, D + 1), None, f"d_query={D}"),
        ("dot", 0, "at least 1, or None for all states, got 0"),
        ("dot", -2, "got -2"),
    ],
)
def test_what_cannot_look_back_is_refused(score, window, message):
    with pytest.raises(ValueError, match=message):
        AttentionLM(V, D_EMBED, D, score, window)


def test_looking_back_recalls_what_the_state_has_lost():
    """The lesson: after a long way through other tokens, the mark of the beginning is read off the memory."""
    n_marks, gap, steps = 6, 24, 150
    generator = torch.Generator().manual_seed(0)
    right = {}
    for make in (RNNLM, partial(AttentionLM, score="general")):
        torch.manual_seed(0)
        model = make(n_marks + 3, 8, 24)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        for _ in range(steps):
            marks = torch.randint(n_marks, (64, 1), generator=generator)
            noise = torch.randint(n_marks, n_marks + 2, (64, gap), generator=generator)
            ask = torch.full((64, 1), n_marks + 2)
            logits = model(torch.cat([marks, noise, ask], dim=1)).logits[:, -1]
            loss = nn.functional.cross_entropy(logits, marks[:, 0])
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        right[type(model)] = (logits.argmax(-1) == marks[:, 0]).float().mean().item()
    assert right[AttentionLM] >= 0.95, right
    assert right[RNNLM] <= 0.5, right


# --- generate ---------------------------------------------------------------------------------------


def fixed(logits: list[float]) -> RNNLM:
    """A model that says the same whatever it has read."""
    model = RNNLM(len(logits), 1, 1)
    with torch.no_grad():
        model.W_2.weight.zero_()
        model.W_2.bias.copy_(torch.tensor(logits))
    return model


@pytest.mark.parametrize("window", [None, 1, 3])
def test_text_is_continued_with_all_the_memory_there_is(window):
    model, tokens = looking("general", window), torch.randint(V, (T,))
    with torch.no_grad():  # or the context would decide little, and every token would be the same
        model.W_c.weight.mul_(10), model.W_h.weight.mul_(5)
    expected = tokens.tolist()
    for _ in range(12):  # reads the whole text again for every token
        expected.append(int(model(torch.tensor([expected])).logits[0, -1].argmax()))
    assert model.generate(tokens, 12, temperature=0).tolist() == expected
    assert len(set(expected[T:])) > 1


def test_greedy_text_is_the_likeliest_token_at_every_step():
    model, tokens, _ = draw()
    expected = tokens[0].tolist()
    for _ in range(8):  # reads the whole text again for every token
        logits, _ = oracles.rnn_lm(expected, np.zeros(D), arrays(model))
        expected.append(int(np.argmax(logits[-1])))
    assert model.generate(tokens[0], 8, temperature=0).tolist() == expected
    assert len(set(expected[T:])) > 1  # or the memory was not tested


@pytest.mark.parametrize("temperature", [0.25, 1.0, 3.0])
def test_frequencies_are_those_of_the_softmax_at_the_temperature(temperature):
    logits, n = [0.0, 1.0, 1.5, -2.0], 1500
    text = fixed(logits).generate(torch.tensor([0]), n, temperature, torch.Generator().manual_seed(0))[1:]
    probabilities = oracles.softmax([a / temperature for a in logits], [True] * 4)
    found = torch.bincount(text, minlength=4) / n
    for p, share in zip(probabilities, found.tolist(), strict=True):
        assert_close(share, p, rtol=0, atol=4 * (p * (1 - p) / n) ** 0.5 + 1e-9)


def test_sampling_reads_what_it_has_written():
    model = RNNLM(3, 3, 3)  # says with near certainty: after a comes b, after b comes c, after c comes a
    with torch.no_grad():
        model.embedding.weight.copy_(torch.eye(3))
        model.W_e.weight.copy_(3 * torch.eye(3))
        model.W_h.weight.zero_(), model.W_e.bias.zero_(), model.W_2.bias.zero_()
        model.W_2.weight.copy_(50 * torch.eye(3).roll(1, 0))
    assert model.generate(torch.tensor([1]), 6).tolist() == [1, 2, 0, 1, 2, 0, 1]


def test_same_generator_same_text():
    model, tokens, _ = draw()
    texts = [model.generate(tokens[0], 20, 1.0, torch.Generator().manual_seed(seed)).tolist() for seed in (1, 1, 2)]
    assert texts[0] == texts[1] != texts[2]
    torch.manual_seed(3)
    state = torch.get_rng_state()
    model.generate(tokens[0], 5, 1.0, torch.Generator().manual_seed(1))
    assert_close(torch.get_rng_state(), state, rtol=0, atol=0)  # the global source is left alone


@pytest.mark.parametrize("n_tokens", [0, 1, 4])
def test_prompt_is_kept_and_so_many_tokens_added(n_tokens):
    model, tokens, _ = draw()
    text = model.generate(tokens[0], n_tokens)
    assert text.shape == (T + n_tokens,) and text.dtype == torch.long
    assert text[:T].tolist() == tokens[0].tolist()
    assert not text.requires_grad
    assert (text >= 0).all() and (text < V).all()


@pytest.mark.parametrize(
    ("prompt", "n_tokens", "temperature", "message"),
    [
        ((0,), 3, 1.0, r"at least one token.*\(0,\)"),
        ((1, 2), 3, 1.0, r"\(1, 2\)"),
        ((2,), 3, -0.5, "temperature -0.5 and n_tokens 3"),
        ((2,), 3, math.nan, "temperature nan"),
        ((2,), 3, math.inf, "temperature inf"),
        ((2,), -1, 1.0, "n_tokens -1"),
    ],
)
def test_what_cannot_be_continued_is_refused(prompt, n_tokens, temperature, message, without_shape_checks):
    with pytest.raises(ValueError, match=message):
        RNNLM(V, D_EMBED, D).generate(torch.zeros(prompt, dtype=torch.long), n_tokens, temperature)


# --- nats_per_token ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "streams"), [(25, 1), (25, 4), (27, 4), (30, 7), (6, 5), (9, 5)])
@pytest.mark.parametrize("chunk", [1, 3, 100])
def test_nats_per_token_are_the_mean_surprise_of_every_token_but_the_first(n, streams, chunk):
    model, _, _ = draw()
    text = torch.randint(V, (n,))
    length, nats = (n - 1) // streams, []
    for part in range(streams):  # each is read from an empty memory; the last one to the end
        end = n - 1 if part == streams - 1 else (part + 1) * length
        inputs = text[part * length : end].tolist()
        logits, _ = oracles.rnn_lm(inputs, np.zeros(D), arrays(model))
        nats += [oracles.surprise(row, text[part * length + t + 1]) for t, row in enumerate(logits)]
    assert len(nats) == n - 1
    assert_close(nats_per_token(model, text, streams, chunk), sum(nats) / len(nats))


@pytest.mark.parametrize("window", [None, 2])
@pytest.mark.parametrize("chunk", [1, 3, 100])
def test_nats_per_token_looking_back(window, chunk):
    model, text = looking("additive", window), torch.randint(V, (30,))
    with torch.no_grad():
        model.W_c.weight.mul_(10)
    nats = []
    for start, end in ((0, 9), (9, 18), (18, 29)):  # 29 guesses in three parts; the last one to the end
        logits = model(text[None, start:end]).logits[0].detach()
        nats += [oracles.surprise(row, text[start + t + 1]) for t, row in enumerate(logits)]
    assert len(nats) == 29
    assert_close(nats_per_token(model, text, 3, chunk), sum(nats) / 29)


@pytest.mark.parametrize(("streams", "chunk"), [(0, 128), (-1, 128), (2, 0), (2, -3)])
def test_less_than_one_stream_or_token_at_a_time_is_refused(streams, chunk):
    with pytest.raises(ValueError, match=f"at least 1, got {streams} and {chunk}"):
        nats_per_token(RNNLM(V, D_EMBED, D), torch.zeros(9, dtype=torch.long), streams, chunk)


def test_nats_per_token_of_a_model_that_knows_nothing_are_log_V():
    assert_close(nats_per_token(fixed([0.0] * V), torch.randint(V, (100,))), float(np.log(V)), rtol=1e-6, atol=0)


def test_text_shorter_than_its_parts_is_refused():
    with pytest.raises(ValueError, match="5 streams need at least 6 tokens, got 5"):
        nats_per_token(RNNLM(V, D_EMBED, D), torch.zeros(5, dtype=torch.long), streams=5)

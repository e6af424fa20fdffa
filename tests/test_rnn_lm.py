"""The language model written out is the one torch has, reads from left to right, and samples what it says."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.testing import assert_close

from attnlib.rnn_lm import RNNLM, LMOutput, nats_per_token
from tests import oracles
from tests.test_scores import arrays

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
        logits, states = run(tokens, h_0)
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
    second = model(tokens[:, cut:], first.states[:, -1])
    assert_close(torch.cat([first.logits, second.logits], dim=1), whole.logits)
    assert_close(torch.cat([first.states, second.states], dim=1), whole.states)


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


@pytest.mark.parametrize(
    ("tokens", "state"),
    [
        ((T,), None),
        ((), None),
        ((B, T, 1), None),
        ((B, 0), None),
        ((B, T), (B, D + 1)),
        ((B, T), (B + 1, D)),
        ((B, T), (D,)),
    ],
)
def test_what_is_no_batch_of_texts_is_refused_with_both_shapes(tokens, state, unhooked):
    model = RNNLM(V, D_EMBED, D)
    state = None if state is None else torch.zeros(state)
    with pytest.raises(ValueError, match=r"need tokens \(B, T\)") as error:
        model(torch.zeros(tokens, dtype=torch.long), state)
    assert f"tokens {tokens}" in str(error.value)
    assert state is None or f"state {tuple(state.shape)}" in str(error.value)


def test_it_learns():
    model, tokens = RNNLM(V, D_EMBED, D), torch.tensor([[0, 1, 2, 3, 4], [5, 6, 5, 7, 6]])  # 5 needs its memory
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    for _ in range(100):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(tokens[:, :-1]).logits.flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()
        optimizer.step()
    assert loss < 0.1


# --- generate ---------------------------------------------------------------------------------------


def fixed(logits: list[float]) -> RNNLM:
    """A model that says the same whatever it has read."""
    model = RNNLM(len(logits), 1, 1)
    with torch.no_grad():
        model.W_2.weight.zero_()
        model.W_2.bias.copy_(torch.tensor(logits))
    return model


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
    ("prompt", "temperature", "message"),
    [((0,), 1.0, r"at least one token.*\(0,\)"), ((1, 2), 1.0, r"\(1, 2\)"), ((2,), -0.5, "at least 0, got -0.5")],
)
def test_what_cannot_be_continued_is_refused(prompt, temperature, message, unhooked):
    with pytest.raises(ValueError, match=message):
        RNNLM(V, D_EMBED, D).generate(torch.zeros(prompt, dtype=torch.long), 3, temperature)


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


def test_nats_per_token_of_a_model_that_knows_nothing_are_log_V():
    assert_close(nats_per_token(fixed([0.0] * V), torch.randint(V, (100,))), float(np.log(V)), rtol=1e-6, atol=0)


def test_text_shorter_than_its_parts_is_refused():
    with pytest.raises(ValueError, match="5 streams need at least 6 tokens, got 5"):
        nats_per_token(RNNLM(V, D_EMBED, D), torch.zeros(5, dtype=torch.long), streams=5)

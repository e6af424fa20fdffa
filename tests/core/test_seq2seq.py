"""Encoder and decoder together: what they are fed, what is counted in the loss, and that attention learns more."""

import math

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from attnlib.copying import CopyDecoder
from attnlib.data.batching import BucketedPairs, PairBatch, pad
from attnlib.data.vocabulary import BOS, EOS
from attnlib.decoder import DecoderOutput
from attnlib.decoders import DECODERS
from attnlib.encoder import Encoder, EncoderOutput
from attnlib.search import greedy_decode
from attnlib.seq2seq import Seq2Seq
from attnlib.training import fit, set_seed
from attnlib.training.losses import cross_entropy, seq2seq_loss
from tests import oracles

B, T, S = 3, 5, 7  # primes, so that no two dimensions can be taken for each other
V, V_SOURCE, D_EMBED, D, D_KEY = 17, 19, 2, 11, 13
LENGTHS = torch.tensor([S, 4, 1])


def make(name: str = "bahdanau", **options) -> Seq2Seq:
    encoder = Encoder(V_SOURCE, 3, D_KEY, unknown=3)
    model = Seq2Seq(encoder, DECODERS[name](V, D_EMBED, D_KEY, D, **options)).double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.7)  # drawn as usual, a model says the same whatever it has read
    return model


def draw():
    return torch.randint(V_SOURCE, (B, S)), torch.randint(V, (B, T)), LENGTHS.clone()


def draw_batch() -> PairBatch:
    source, inputs, lengths = draw()
    mask = torch.arange(T) < torch.tensor([[T], [1], [3]])
    return PairBatch(source, lengths, inputs, torch.randint(V, (B, T)), mask)


def numbers(decoded: DecoderOutput) -> dict[str, torch.Tensor]:
    return {name: value for name, value in decoded._asdict().items() if isinstance(value, torch.Tensor)}


def fed(model: Seq2Seq, monkeypatch) -> list[torch.Tensor]:
    """The tokens that the decoder is given, call by call, from now on."""
    calls, original = [], model.decoder.forward

    def spy(tokens, memory, state):
        calls.append(tokens)
        return original(tokens, memory, state)

    monkeypatch.setattr(model.decoder, "forward", spy)
    return calls


# --- what the decoder is fed ------------------------------------------------------------------------


@pytest.mark.parametrize("name", DECODERS)
def test_teacher_forcing_gives_every_step_the_true_token(name):
    model, (source, inputs, lengths) = make(name), draw()
    found = model(source, inputs, lengths)
    memory, state = model.decoder.init_state(model.encoder(source, lengths))
    for i in range(T):
        step = model.decoder(inputs[:, i : i + 1], memory, state)
        assert_close({n: value[:, i : i + 1] for n, value in numbers(found).items()}, numbers(step))
        state = step.state
    assert_close(found.state, state)
    for b, n in enumerate(lengths.tolist()):
        alone = model(source[b : b + 1, :n], inputs[b : b + 1])
        assert_close(found.logits[b], alone.logits[0])


@pytest.mark.parametrize("name", DECODERS)
def test_without_teacher_it_reads_what_it_has_written_as_in_greedy_search(name):
    model, n = make(name), 23
    with torch.no_grad():
        model.decoder.W_o.bias[EOS] += 2
        model.decoder.W_o.bias[:EOS] -= 100  # a search writes neither <pad> nor <bos>
    source, lengths, inputs = torch.randint(V_SOURCE, (n, S)), torch.randint(1, S + 1, (n,)), torch.randint(V, (n, T))
    inputs[:, 0] = BOS
    found = model(source, inputs, lengths, teacher_forcing=0.0)
    own = found.logits.argmax(-1)
    assert len(own.unique()) > 4 and len(own.unique(dim=0)) > 4
    again = model(source, torch.cat([inputs[:, :1], own[:, :-1]], dim=1), lengths)
    assert_close(numbers(found), numbers(again))
    assert_close(found.state, again.state)
    written = greedy_decode(model, source, lengths, max_length=T)
    assert (written.lengths < T - 1).any() and (written.lengths == T).any()  # some end, some are cut
    for b, n in enumerate(written.lengths.tolist()):
        n = min(n + 1, T)  # with <eos>
        assert written.tokens[b, :n].tolist() == own[b, :n].tolist()
        log_prob = found.logits[b, :n].log_softmax(-1).gather(1, own[b, :n, None]).sum()
        assert_close(written.log_prob[b], log_prob.detach())
        if found.weights is not None:
            assert_close(written.weights[b, :n], found.weights[b, :n].detach())


@pytest.mark.parametrize("name", DECODERS)
def test_in_between_a_coin_decides_at_every_step(name):
    model, (source, inputs, lengths), share = make(name), draw(), 0.4
    found = model(source, inputs, lengths, share, torch.Generator().manual_seed(7))
    coins = torch.rand(B, T, generator=torch.Generator().manual_seed(7))
    assert 0 < (coins[:, 1:] < share).sum() < B * (T - 1)
    for b, n in enumerate(lengths.tolist()):  # one sentence, one step, one token at a time
        memory, state = model.encode(source[b : b + 1, :n])
        token = inputs[b, 0].item()
        for i in range(T):
            if i and coins[b, i] < share:
                token = inputs[b, i].item()
            step = model.decoder(torch.tensor([[token]]), memory, state)
            assert_close(found.logits[b, i], step.logits[0, 0])
            assert_close(found.states[b, i], step.states[0, 0])
            token, state = int(step.logits.argmax()), step.state


def stubborn() -> Seq2Seq:
    """A model that always says 5."""
    model = make("luong")
    with torch.no_grad():
        model.decoder.W_o.bias.fill_(-1e3)[5] = 1e3
    return model


@pytest.mark.parametrize("share", [0.0, 0.25, 0.75])
def test_share_of_true_tokens_is_the_chance_given(share, monkeypatch):
    model, n, length = stubborn(), 200, 11
    calls = fed(model, monkeypatch)
    inputs = torch.randint(6, V, (n, length))
    model(torch.randint(V_SOURCE, (n, 2)), inputs, None, share, torch.Generator().manual_seed(0))
    given = torch.cat(calls, dim=1)
    true = given == inputs
    assert (given[~true] == 5).all()
    assert true[:, 0].all()  # the first is always given
    rest = true[:, 1:].double()
    for mean, count in ((rest.mean(), rest.numel()), *((column, n) for column in rest.mean(0))):
        assert abs(mean - share) <= 4.5 * math.sqrt(share * (1 - share) / count)
    if share:
        assert len(rest.sum(1).unique()) > 3  # every sentence has coins of its own ...
        assert len(rest.unique(dim=0)) > n / 4  # ... at every step


def test_given_generator_decides_alone():
    model, (source, inputs, lengths) = make(), draw()
    states = torch.get_rng_state()
    logits = [
        model(source, inputs, lengths, 0.5, torch.Generator().manual_seed(seed)).logits for seed in (0, 0, 1, 2, 3)
    ]
    assert_close(torch.get_rng_state(), states, rtol=0, atol=0)  # the global source is left alone
    assert_close(logits[0], logits[1], rtol=0, atol=0)
    assert any((logits[0] - other).abs().amax() > 1e-6 for other in logits[2:])
    torch.manual_seed(11)
    first = model(source, inputs, lengths, 0.5).logits
    torch.manual_seed(11)
    assert_close(model(source, inputs, lengths, 0.5).logits, first, rtol=0, atol=0)


def test_gradient_of_scheduled_sampling_is_that_of_reading_the_tokens_it_was_fed(monkeypatch):
    model, (source, inputs, lengths) = make(), draw()
    direction, results = torch.randn(B, T, V).double(), []
    with monkeypatch.context() as patch:
        calls = fed(model, patch)
        sampled = model(source, inputs, lengths, 0.5, torch.Generator().manual_seed(0))
    for decoded in (sampled, model(source, torch.cat(calls, dim=1), lengths)):
        model.zero_grad()
        (decoded.logits * direction).sum().backward()
        results.append({n: p.grad.clone() for n, p in model.named_parameters() if p.grad is not None})
    assert (torch.cat(calls, dim=1) != inputs).any()
    assert_close(results[0], results[1])


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_every_field_has_an_entry_for_every_step(share):
    for name in DECODERS:
        model, (source, inputs, lengths) = make(name), draw()
        decoders = [model.decoder]
        decoders.append(CopyDecoder(model.decoder, 3, None if model.decoder.attention else "general").double())
        for decoder in decoders:
            model = Seq2Seq(model.encoder, decoder)
            forced, found = model(source, inputs, lengths), model(source, inputs, lengths, share)
            assert {n: v.shape for n, v in numbers(found).items()} == {n: v.shape for n, v in numbers(forced).items()}
            assert found.logits.shape[:2] == (B, T) and ("p_gen" in numbers(found)) == (decoder is decoders[1])
            again = model(source, inputs[:, :1], lengths)
            assert_close({n: v[:, :1] for n, v in numbers(found).items() if n != "logits"},
                         {n: v for n, v in numbers(again).items() if n != "logits"})  # fmt: skip


# --- the two halves ---------------------------------------------------------------------------------


class Blobs(nn.Module):
    """An encoder of images: the rows of pixels are its regions. It is told no lengths."""

    d_annotation = D_KEY

    def forward(self, images):
        mask = torch.ones(len(images), 1, images.shape[2], dtype=torch.bool)
        return EncoderOutput(images[:, 0], images[:, 0].mean(1), mask, None)


@pytest.mark.parametrize("name", DECODERS)
def test_any_encoder_will_do(name):
    images, (_, inputs, _) = torch.randn(B, 1, S, D_KEY).double(), draw()
    model = Seq2Seq(Blobs(), make(name).decoder)
    for share in (1.0, 0.3):
        found = model(images, inputs, None, share, torch.Generator().manual_seed(0))
        assert found.logits.shape == (B, T, V)
        memory, state = model.decoder.init_state(model.encoder(images))
        assert_close(found.logits[:, :1], model.decoder(inputs[:, :1], memory, state).logits)
    batch = PairBatch(images, None, inputs, inputs.flip(1), torch.ones(B, T, dtype=torch.bool))
    loss, n = seq2seq_loss(model, batch)
    assert n == B * T
    assert_close(loss, cross_entropy(model(images, inputs).logits, batch.targets)[0])


def test_lengths_reach_the_encoder():
    model, (source, inputs, lengths) = make(), draw()
    memory, state = model.encode(source, lengths)
    expected_memory, expected_state = model.decoder.init_state(model.encoder(source, lengths))
    assert_close(memory, expected_memory, rtol=0, atol=0)
    assert_close(state, expected_state, rtol=0, atol=0)
    assert memory.mask.sum(-1).flatten().tolist() == LENGTHS.tolist()
    whole = model(source, inputs).logits
    assert_close(whole, model(source, inputs, torch.full((B,), S)).logits)
    assert ((model(source, inputs, lengths).logits - whole).abs().amax((1, 2)) > 1e-6).tolist() == [False, True, True]


def test_widths_that_differ_are_refused():
    with pytest.raises(ValueError, match="annotations of width 13, the decoder was made for 11"):
        Seq2Seq(Encoder(V_SOURCE, 3, D_KEY), DECODERS["luong"](V, D_EMBED, D, D))
    with pytest.raises(ValueError, match="annotations of width 26, the decoder was made for 13"):
        Seq2Seq(Encoder(V_SOURCE, 3, D_KEY, bidirectional=True), DECODERS["every_step"](V, D_EMBED, D_KEY, D))


@pytest.mark.parametrize("share", [1.5, -0.1, math.nan, math.inf])
def test_chance_that_is_none_is_refused(share):
    model, (source, inputs, lengths) = make(), draw()
    with pytest.raises(ValueError, match=f"teacher_forcing is a probability, got {share}"):
        model(source, inputs, lengths, share)


@pytest.mark.parametrize("share", [1.0, 0.5, 0.0])
@pytest.mark.parametrize(
    ("shape", "fill", "message"),
    [
        ((B, 0), 0, r"\(3, 0\)"),
        ((0, T), 0, r"\(0, "),
        ((T,), 0, r"got \("),
        ((B, T, 1), 0, r"got \(3, 5, 1\)"),
        ((B + 1, T), 0, r"tokens \(4, [15]\), a memory of 3 sentences"),
        ((B, T), V, rf"0\.\.{V - 1}, got {V}\.\.{V}"),
        ((B, T), -1, rf"0\.\.{V - 1}, got -1\.\.-1"),
        ((B, T), 1.0, r"got torch\.float32"),
    ],
)
def test_inputs_that_cannot_be_read_are_refused(shape, fill, message, share, without_shape_checks):
    model, (source, _, lengths) = make(), draw()
    with pytest.raises(ValueError, match=message):
        model(source, torch.full(shape, fill), lengths, share)


def test_source_that_cannot_be_read_is_refused(without_shape_checks):
    model, (source, inputs, lengths) = make("luong"), draw()
    model.encoder.unknown = None
    with pytest.raises(ValueError, match=rf"0\.\.{V_SOURCE - 1}, got"):
        model(source + V_SOURCE, inputs, lengths)
    with pytest.raises(ValueError, match=r"lengths \(2,\), tokens \(3, 7\)"):
        model(source, inputs, lengths[:2])
    with pytest.raises(ValueError, match=r"0\.\.7, got \[8, 5, 2\]"):
        model(source, inputs, lengths + 1)


# --- the loss ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DECODERS)
def test_loss_is_the_mean_over_real_targets(name):
    model, batch = make(name), draw_batch()
    loss, n = seq2seq_loss(model, batch)
    logits = model(batch.source, batch.inputs, batch.lengths).logits.detach()
    rows = [(logits[b, i], batch.targets[b, i].item()) for b in range(B) for i in range([T, 1, 3][b])]
    nats = [oracles.surprise(row.tolist(), target) for row, target in rows]
    assert n == len(nats) == T + 1 + 3
    assert_close(loss.item(), sum(nats) / n)


@pytest.mark.parametrize("name", DECODERS)
def test_garbage_in_padding_changes_neither_loss_nor_gradient(name):
    model, batch, results = make(name), draw_batch(), []
    other = batch._replace(
        source=torch.where(torch.arange(S) < batch.lengths.unsqueeze(1), batch.source, (batch.source + 1) % V_SOURCE),
        inputs=torch.where(batch.mask, batch.inputs, (batch.inputs + 1) % V),
        targets=torch.where(batch.mask, batch.targets, (batch.targets + 1) % V),
    )
    for tried in (batch, other):
        model.zero_grad()
        loss, n = seq2seq_loss(model, tried)
        loss.backward()
        results.append((loss.detach(), n, {name: p.grad.clone() for name, p in model.named_parameters()}))
    assert_close(results[0], results[1])
    assert results[0][2]["decoder.W_o.weight"].abs().sum() > 0


def test_loss_counts_all_sentences_alike_whatever_they_are_batched_with():
    model, batch = make(), draw_batch()
    loss, n = seq2seq_loss(model, batch)
    total = 0.0
    for b in range(B):
        m, k = int(batch.lengths[b]), int(batch.mask[b].sum())
        alone = PairBatch(
            batch.source[b : b + 1, :m],
            batch.lengths[b : b + 1],
            *(field[b : b + 1, :k] for field in (batch.inputs, batch.targets, batch.mask)),
        )
        mean, tokens = seq2seq_loss(model, alone)
        assert tokens == k
        total += mean.item() * tokens
    assert_close(loss.item(), total / n)


def test_loss_passes_the_teacher_on():
    model, batch = make(), draw_batch()
    torch.manual_seed(3)
    found, n = seq2seq_loss(model, batch, teacher_forcing=0.3)
    torch.manual_seed(3)
    logits = model(batch.source, batch.inputs, batch.lengths, 0.3).logits
    assert_close((found, n), cross_entropy(logits, batch.targets, batch.mask))
    assert abs(found - seq2seq_loss(model, batch)[0]) > 1e-6


def test_batch_without_a_real_target_is_refused():
    with pytest.raises(ValueError, match="no token to judge"):
        seq2seq_loss(make(), draw_batch()._replace(mask=torch.zeros(B, T, dtype=torch.bool)))


# --- the lesson -------------------------------------------------------------------------------------

SYMBOLS = 8


def learned(name: str, seed: int = 0) -> float:
    """Share of sequences of 8-10 symbols, never seen, that are written backwards without a mistake."""
    generator = set_seed(seed)

    def sequences(n: int, shortest: int) -> list[torch.Tensor]:
        lengths = torch.randint(shortest, 11, (n,), generator=generator).tolist()
        return [torch.randint(4, 4 + SYMBOLS, (length,), generator=generator) for length in lengths]

    train, held_out = sequences(8000, 4), sequences(200, 8)
    assert not {tuple(s.tolist()) for s in train} & {tuple(s.tolist()) for s in held_out}
    encoder = Encoder(4 + SYMBOLS, 16, 24, bidirectional=True)
    model = Seq2Seq(encoder, DECODERS[name](4 + SYMBOLS, 16, 48, 48))
    batches = BucketedPairs(train, [sequence.flip(0) for sequence in train], 48, generator)
    fit(model, batches, seq2seq_loss, steps=450, lr=1.2e-2)
    source, lengths = pad(held_out)
    written = greedy_decode(model.eval(), source, lengths, max_length=13)
    hits = [a.tolist() == b.flip(0).tolist() for a, b in zip(written.sentences(), held_out, strict=True)]
    return sum(hits) / len(hits)


@pytest.mark.parametrize("name", ["bahdanau", "luong", "simple_rnn"])
def test_attention_learns_to_reverse(name, without_shape_checks):
    assert learned(name) >= 0.9  # .945 to .995 with three seeds


@pytest.mark.parametrize("name", ["initial_state", "every_step"])
def test_one_vector_is_a_bottleneck(name, without_shape_checks):
    assert learned(name) <= 0.5  # same task, same budget; .11 to .34 with three seeds

"""An encoder reads a sentence as torch's own layers do, alone or in a batch, and padding reaches nothing."""

import math

import numpy as np
import pytest
import torch
from torch import nn
from torch.func import functional_call
from torch.testing import assert_close

from attnlib.encoder import CELLS, Encoder, EncoderOutput, check_token_ids
from attnlib.training import pick_device
from tests.oracles import times

V, D_EMBED, D = 11, 3, 7
LENGTHS = [5, 1, 0, 3]
B, S = len(LENGTHS), 5
KINDS = [(cell, both) for cell in ("gru", "lstm", "rnn") for both in (False, True)]
kinds = pytest.mark.parametrize(("cell", "both"), KINDS)


def draw(cell="gru", both=False, **options):
    encoder = Encoder(V, D_EMBED, D, cell, both, **options).double()
    return encoder, torch.randint(V, (B, S)), torch.tensor(LENGTHS)


def gradients(encoder: Encoder, encoded: EncoderOutput, directions) -> dict[str, torch.Tensor]:
    """Of an arbitrary number made of annotations and summary, to every parameter."""
    encoder.zero_grad()
    ((encoded.annotations * directions[0]).sum() + (encoded.summary * directions[1]).sum()).backward()
    return {name: p.grad.clone() for name, p in encoder.named_parameters()}


# --- independent references -------------------------------------------------------------------------


def sigmoid(x) -> np.ndarray:
    return np.array([1 / (1 + math.exp(-a)) for a in x])


def rnn_step(x, h, p, suffix) -> np.ndarray:
    """h_j = tanh(W x_j + b + U h_{j-1} + b')."""
    inner = times(p[f"weight_ih_l0{suffix}"], x) + p[f"bias_ih_l0{suffix}"]
    inner = inner + times(p[f"weight_hh_l0{suffix}"], h) + p[f"bias_hh_l0{suffix}"]
    return np.array([math.tanh(a) for a in inner])


def gru_step(x, h, p, suffix) -> np.ndarray:
    """r = σ(…), z = σ(…), n = tanh(W_n x + b_n + r * (U_n h + b'_n)), h_j = (1 - z) * n + z * h_{j-1}."""
    from_x = times(p[f"weight_ih_l0{suffix}"], x) + p[f"bias_ih_l0{suffix}"]
    from_h = times(p[f"weight_hh_l0{suffix}"], h) + p[f"bias_hh_l0{suffix}"]
    d = len(h)
    r, z = sigmoid(from_x[:d] + from_h[:d]), sigmoid(from_x[d : 2 * d] + from_h[d : 2 * d])
    n = np.array([math.tanh(a) for a in from_x[2 * d :] + r * from_h[2 * d :]])
    return (1 - z) * n + z * h


def lstm_step(x, state, p, suffix):
    """i, f, o = σ(…), g = tanh(…), c_j = f * c_{j-1} + i * g, h_j = o * tanh(c_j)."""
    h, c = state
    inner = times(p[f"weight_ih_l0{suffix}"], x) + p[f"bias_ih_l0{suffix}"]
    inner = inner + times(p[f"weight_hh_l0{suffix}"], h) + p[f"bias_hh_l0{suffix}"]
    i, f, g, o = (inner[n * len(h) : (n + 1) * len(h)] for n in range(4))
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


def loop(cell, embedded, p, suffix="") -> list[np.ndarray]:
    """The states after each of the embeddings, from zeros."""
    state, found = np.zeros(D), []
    if cell == "lstm":
        state = (state, np.zeros(D))
    for x in embedded:
        state = {"rnn": rnn_step, "gru": gru_step, "lstm": lstm_step}[cell](x, state, p, suffix)
        found.append(state[0] if cell == "lstm" else state)
    return found


@kinds
def test_equals_its_formula(cell, both):
    encoder, tokens, lengths = draw(cell, both)
    encoded = encoder(tokens, lengths)
    p = {name: x.detach().numpy() for name, x in encoder.rnn.named_parameters()}
    if both:
        p |= {f"{name}_reverse": x.detach().numpy() for name, x in encoder.rnn_backward.named_parameters()}
    table = encoder.embedding.weight.detach().numpy()
    for b, n in enumerate(LENGTHS):
        embedded = [table[token] for token in tokens[b, :n].tolist()]
        rows = loop(cell, embedded, p)
        summary = rows[-1] if rows else np.zeros(D)
        if both:
            back = loop(cell, embedded[::-1], p, "_reverse")
            summary = np.concatenate([summary, back[-1] if back else np.zeros(D)])
            rows = [np.concatenate(pair) for pair in zip(rows, back[::-1], strict=True)]
        rows += [np.zeros(encoder.d_annotation)] * (S - n)
        assert_close(encoded.annotations[b].detach(), torch.from_numpy(np.array(rows)))
        assert_close(encoded.summary[b].detach(), torch.from_numpy(summary))


class Reference(nn.Module):
    """One sentence at a time through torch's own layers with copied weights, a layer for each direction."""

    def __init__(self, encoder: Encoder, cell: str):
        super().__init__()
        self.embedding = nn.Embedding.from_pretrained(encoder.embedding.weight.detach().clone(), freeze=False)
        self.layers = nn.ModuleList()
        for own in filter(None, (encoder.rnn, encoder.rnn_backward)):
            layer = {"gru": nn.GRU, "lstm": nn.LSTM, "rnn": nn.RNN}[cell](D_EMBED, D).double()
            layer.load_state_dict(own.state_dict())
            self.layers.append(layer)

    def forward(self, tokens, lengths):
        annotations, summaries = [], []
        for row, n in zip(tokens, lengths.tolist(), strict=True):
            parts, ends = [], []
            for backward, layer in enumerate(self.layers):
                if not n:
                    parts.append(torch.zeros(0, D).double())
                    ends.append(torch.zeros(D).double())
                    continue
                sentence = self.embedding(row[:n])
                states = layer(sentence.flip(0) if backward else sentence)[0]
                parts.append(states.flip(0) if backward else states)
                ends.append(states[-1])
            rows = torch.cat(parts, dim=1)
            annotations.append(nn.functional.pad(rows, (0, 0, 0, tokens.shape[1] - n)))
            summaries.append(torch.cat(ends))
        return torch.stack(annotations), torch.stack(summaries)


@kinds
def test_equals_torch_one_sentence_at_a_time_in_value_and_gradient(cell, both):
    encoder, tokens, lengths = draw(cell, both)
    directions = torch.randn(B, S, encoder.d_annotation).double(), torch.randn(B, encoder.d_annotation).double()
    encoded = encoder(tokens, lengths)
    reference = Reference(encoder, cell)
    annotations, summary = reference(tokens, lengths)
    assert_close((encoded.annotations, encoded.summary), (annotations, summary))
    found = gradients(encoder, encoded, directions)
    ((annotations * directions[0]).sum() + (summary * directions[1]).sum()).backward()
    expected = {"embedding.weight": reference.embedding.weight.grad}
    for own, layer in zip(("rnn", "rnn_backward"), reference.layers, strict=False):
        expected |= {f"{own}.{name}": parameter.grad for name, parameter in layer.named_parameters()}
    assert_close(found, expected)


# --- shape, summary, mask ---------------------------------------------------------------------------


@kinds
def test_what_it_returns(cell, both):
    encoder, tokens, lengths = draw(cell, both)
    encoded = encoder(tokens, lengths)
    width = 2 * D if both else D
    assert isinstance(encoded, EncoderOutput) and encoder.d_annotation == width
    assert encoded.annotations.shape == (B, S, width) and encoded.summary.shape == (B, width)
    assert encoded.mask.tolist() == [[[j < n for j in range(S)]] for n in LENGTHS]
    assert encoded.tokens is tokens
    for b, n in enumerate(LENGTHS):
        assert (encoded.annotations[b, n:] == 0).all() and (encoded.annotations[b, :n] != 0).all()
        if n:
            ends = [encoded.annotations[b, n - 1, :D], *([encoded.annotations[b, 0, D:]] if both else [])]
            assert_close(encoded.summary[b], torch.cat(ends))  # [→h_S; ←h_1]


@kinds
def test_without_lengths_all_is_real(cell, both):
    encoder, tokens, _ = draw(cell, both)
    found, expected = encoder(tokens), encoder(tokens, torch.full((B,), S))
    assert_close(found, expected)
    assert found.mask.all() and found.mask.shape == (B, 1, S)


def test_one_direction_does_not_see_the_future_and_both_do():
    for both in (False, True):
        encoder, tokens, _ = draw(both=both)
        before = encoder(tokens).annotations
        for j in range(S):
            edited = tokens.clone()
            edited[:, j] = (edited[:, j] + 1) % V
            changed = ((encoder(edited).annotations - before).abs().amax(-1) > 1e-9).all(0)
            assert changed.tolist() == [both or k >= j for k in range(S)]


# --- padding ----------------------------------------------------------------------------------------


@kinds
def test_sentence_alone_is_read_as_in_a_batch(cell, both):
    encoder, tokens, lengths = draw(cell, both)
    together = encoder(tokens, lengths)
    directions = torch.randn(B, S, encoder.d_annotation).double(), torch.randn(B, encoder.d_annotation).double()
    expected = {name: torch.zeros_like(p) for name, p in encoder.named_parameters()}
    for b, n in enumerate(LENGTHS):
        if not n:
            continue
        alone = encoder(tokens[b : b + 1, :n])
        assert_close(alone.annotations[0], together.annotations[b, :n])
        assert_close(alone.summary[0], together.summary[b])
        for name, gradient in gradients(encoder, alone, (directions[0][b, :n], directions[1][b])).items():
            expected[name] += gradient
    assert_close(gradients(encoder, together, directions), expected)


@kinds
def test_what_stands_on_padding_and_how_much_changes_nothing(cell, both):
    encoder, tokens, lengths = draw(cell, both)
    directions = torch.randn(B, S, encoder.d_annotation).double(), torch.randn(B, encoder.d_annotation).double()
    padding = ~encoder(tokens, lengths).mask.squeeze(1)
    results = []
    for token in (0, V - 1):
        encoded = encoder(tokens.masked_fill(padding, token), lengths)
        results.append((encoded[:3], gradients(encoder, encoded, directions)))
    assert_close(results[0], results[1])
    wider = encoder(torch.cat([tokens, torch.randint(V, (B, 2))], dim=1), lengths)
    assert_close(wider.annotations[:, :S], results[0][0][0])
    assert_close(wider.summary, results[0][0][1])
    assert (
        wider.annotations.shape[1] == S + 2 and (wider.annotations[:, S:] == 0).all() and not wider.mask[..., S:].any()
    )


@kinds
def test_order_of_the_sentences_changes_nothing(cell, both):
    encoder, tokens, lengths = draw(cell, both)
    order = torch.tensor([2, 0, 3, 1])
    expected = [field[order] for field in encoder(tokens, lengths)]
    assert_close(list(encoder(tokens[order], lengths[order])), expected)


@kinds
def test_empty_sentence_is_zero_in_value_and_gradient(cell, both):
    encoder, tokens, _ = draw(cell, both)
    encoded = encoder(tokens, torch.zeros(B, dtype=torch.long))
    assert (encoded.annotations == 0).all() and (encoded.summary == 0).all() and not encoded.mask.any()
    directions = torch.full((B, S, encoder.d_annotation), 1e6), torch.full((B, encoder.d_annotation), 1e6)
    for name, gradient in gradients(encoder, encoded, directions).items():
        assert (gradient == 0).all(), name


def test_embedding_of_padding_gets_no_gradient():
    encoder, tokens, lengths = draw()
    tokens = tokens % (V - 2) + 1  # neither 0 nor V - 1
    encoded = encoder(tokens.masked_fill(torch.arange(S) >= lengths[:, None], 0), lengths)
    (encoded.annotations.sum() + encoded.summary.sum()).backward()
    assert (encoder.embedding.weight.grad[0] == 0).all()
    used = sorted({token for b, n in enumerate(LENGTHS) for token in tokens[b, :n].tolist()})
    assert encoder.embedding.weight.grad.abs().sum(1).nonzero().flatten().tolist() == used


@pytest.mark.parametrize("size", [1, 2])
def test_smallest_sizes(size):
    for cell in CELLS:
        encoded = Encoder(1, 1, 1, cell)(torch.zeros(size, 1, dtype=torch.long), torch.arange(size) % 2)
        assert encoded.annotations.shape == (size, 1, 1) and encoded.annotations.isfinite().all()
        assert (encoded.annotations.flatten() != 0).tolist() == [bool(n % 2) for n in range(size)]


# --- ids from outside, dropout ----------------------------------------------------------------------


def test_extended_ids_are_read_as_the_unknown_one():
    encoder, tokens, lengths = draw(unknown=3)
    extended = tokens.clone()
    extended[0, 1], extended[0, 4], extended[3, 0] = V, V + 5, 10**6
    plain = extended.clone()
    plain[extended >= V] = 3
    found, expected = encoder(extended, lengths), encoder(plain, lengths)
    assert_close(found[:3], expected[:3])
    assert found.tokens is extended  # a decoder that copies must know which
    assert extended[3, 0] == 10**6  # and nobody has written into it
    assert (extended < V).sum() == B * S - 3


def test_ids_of_the_vocabulary_are_never_unknown():
    encoder, _, _ = draw(unknown=0)
    plain, _, _ = draw()
    plain.load_state_dict(encoder.state_dict())
    tokens = torch.arange(V)[None]
    assert_close(encoder(tokens).annotations, plain(tokens).annotations)


def test_dropout_only_in_training_and_only_on_the_embedding():
    encoder, tokens, lengths = draw(dropout=0.5)
    plain, _, _ = draw()
    plain.load_state_dict(encoder.state_dict())
    first, second = encoder(tokens, lengths), encoder(tokens, lengths)
    assert ((first.annotations - second.annotations)[0].abs() > 1e-9).any()
    assert (first.annotations[first.mask.squeeze(1)] != 0).all()  # of the states nothing is dropped
    assert (first.annotations[~first.mask.squeeze(1)] == 0).all()
    encoder.eval()
    assert_close(encoder(tokens, lengths), plain(tokens, lengths))


def test_dropout_drops_its_share_of_the_embedding_and_makes_up_for_it():
    encoder = Encoder(2, 1000, 1, dropout=0.25)
    seen = []
    encoder.rnn.register_forward_pre_hook(lambda module, arguments: seen.append(arguments[0].data))
    encoder(torch.ones(1, 1, dtype=torch.long))
    row, full = seen[0].flatten(), encoder.embedding.weight[1].detach()
    kept = row != 0
    assert 0.7 < kept.double().mean() < 0.8
    assert_close(row[kept], full[kept] / 0.75)


# --- as a module ------------------------------------------------------------------------------------


@kinds
def test_gradcheck(cell, both):
    encoder, tokens, lengths = draw(cell, both)
    names = [name for name, _ in encoder.named_parameters()]

    def run(*parameters):
        return functional_call(encoder, dict(zip(names, parameters, strict=True)), (tokens, lengths))[:2]

    parameters = [p.detach().clone().requires_grad_() for p in encoder.parameters()]
    assert torch.autograd.gradcheck(run, parameters, fast_mode=True)


def test_short_integers_are_ids_too():
    encoder, tokens, lengths = draw()
    assert_close(encoder(tokens.int(), lengths.int())[:3], encoder(tokens, lengths)[:3])
    assert_close(encoder(tokens.int())[:3], encoder(tokens)[:3])
    for dtype in (torch.int8, torch.int16):
        assert_close(encoder(tokens, lengths.to(dtype))[:3], encoder(tokens, lengths)[:3])


@kinds
def test_reads_alike_on_the_fastest_device(cell, both):
    encoder, tokens, lengths = draw(cell, both)
    device = pick_device()  # the CPU where there is no other
    encoder.to(torch.float32 if device.type == "mps" else torch.float64)  # a GPU may round float32 to 10 bits
    expected = encoder(tokens, lengths)
    encoder.to(device)
    for where in (device, torch.device("cpu")):  # lengths may stay behind: packing wants them on the CPU
        found = encoder(tokens.to(device), lengths.to(where))
        assert {field.device.type for field in found} == {device.type}
        assert_close([field.cpu() for field in found], list(expected), rtol=1e-4, atol=1e-5)


# --- bad input --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (torch.zeros(B, S), r"int64 or int32, got torch\.float32"),
        (torch.zeros(B, S, dtype=torch.bool), r"int64 or int32, got torch\.bool"),
        (torch.zeros(B, S, dtype=torch.uint8), r"int64 or int32, got torch\.uint8"),
        (torch.zeros(S, dtype=torch.long), r"need token ids \(B, T\) .* got \(5,\)"),
        (torch.zeros(B, S, 1, dtype=torch.long), r"need token ids .* got \(4, 5, 1\)"),
        (torch.zeros((), dtype=torch.long), r"need token ids .* got \(\)"),
        (torch.zeros(0, S, dtype=torch.long), r"at least one row and one column, got \(0, 5\)"),
        (torch.zeros(B, 0, dtype=torch.long), r"at least one row and one column, got \(4, 0\)"),
        (torch.tensor([[4, 2], [-1, 3]]), r"must lie in 0\.\.10, got -1\.\.4"),
    ],
)
@pytest.mark.parametrize("unknown", [None, 3])
def test_what_is_no_batch_of_ids_is_refused(tokens, message, unknown, without_shape_checks):
    for refuse in (Encoder(V, D_EMBED, D, unknown=unknown), lambda ids: check_token_ids(ids, V)):
        with pytest.raises(ValueError, match=message):
            refuse(tokens)


def test_id_behind_the_vocabulary_is_refused_where_nothing_stands_for_it():
    for refuse in (Encoder(V, D_EMBED, D), lambda ids: check_token_ids(ids, V)):
        with pytest.raises(ValueError, match=r"must lie in 0\.\.10, got 0\.\.11"):
            refuse(torch.tensor([[0, V]]))


@pytest.mark.parametrize(
    ("lengths", "message"),
    [
        (torch.tensor([5, 1, 0]), r"one length per sentence, got lengths \(3,\), tokens \(4, 5\)"),
        (torch.tensor([[5], [1], [0], [3]]), r"got lengths \(4, 1\), tokens \(4, 5\)"),
        (torch.tensor(5), r"got lengths \(\), tokens \(4, 5\)"),
        (torch.tensor([5, 1, 0, 6]), r"lie in 0\.\.5, got \[5, 1, 0, 6\]"),
        (torch.tensor([5, -1, 0, 3]), r"lie in 0\.\.5, got \[5, -1, 0, 3\]"),
        (torch.tensor([5.0, 1.0, 0.0, 3.0]), r"integers, got torch\.float32"),
        (torch.tensor([True] * 4), r"integers, got torch\.bool"),
    ],
)
def test_lengths_that_do_not_fit_are_refused(lengths, message, without_shape_checks):
    encoder = Encoder(V, D_EMBED, D)
    with pytest.raises(ValueError, match=message):
        encoder(torch.zeros(B, S, dtype=torch.long), lengths)


def test_cell_and_unknown_id_are_checked():
    with pytest.raises(ValueError, match="unknown cell 'GRU', known are gru, lstm, rnn"):
        Encoder(V, D_EMBED, D, cell="GRU")
    for unknown in (V, -1):
        with pytest.raises(ValueError, match=rf"unknown id must lie in 0\.\.10, got {unknown}"):
            Encoder(V, D_EMBED, D, unknown=unknown)
    assert Encoder(V, D_EMBED, D, unknown=V - 1).vocab_size == V

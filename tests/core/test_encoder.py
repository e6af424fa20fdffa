"""An encoder reads every sentence as its equations say, whatever it is batched with, and padding reaches nothing."""

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from attnlib.encoder import Encoder, EncoderOutput
from tests import oracles

V, D_EMBED, D = 11, 3, 7
B, S = 4, 6


def draw(cell="gru", both=False, **options):
    encoder = Encoder(V, D_EMBED, D, cell, both, **options).double()
    return encoder, torch.randint(V, (B, S)), torch.tensor([5, 1, 0, 3])


def loop(cell: str, layer: torch.nn.RNNBase, embedded: list[np.ndarray]) -> list[np.ndarray]:
    """The states after each of the embeddings, from zeros."""
    parameters, h, memory, found = list(oracles.arrays(layer).values()), np.zeros(D), np.zeros(D), []
    for x in embedded:
        if cell == "lstm":
            h, memory = oracles.lstm(x, (h, memory), *parameters)
        else:
            h = {"rnn": oracles.rnn, "gru": oracles.gru}[cell](x, h, *parameters)
        found.append(h)
    return found


@pytest.mark.parametrize("lengths", [[5, 1, 0, 3], [0, 0, 0, 0], None], ids=str)
@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("cell", ["gru", "lstm", "rnn"])
def test_equals_its_formula(cell, both, lengths):
    """Where padding stands, too: it holds tokens that would be read, and no sentence has the length of the batch."""
    encoder, tokens, _ = draw(cell, both)
    encoded = encoder(tokens, None if lengths is None else torch.tensor(lengths))
    lengths = [S] * B if lengths is None else lengths
    assert isinstance(encoded, EncoderOutput) and encoder.d_annotation == (2 * D if both else D)
    assert encoded.mask.tolist() == oracles.length_mask(lengths, S) and encoded.tokens is tokens
    table = encoder.embedding.weight.detach().numpy()
    for b, n in enumerate(lengths):
        embedded = [table[token] for token in tokens[b, :n].tolist()]
        rows = loop(cell, encoder.rnn, embedded)
        summary = rows[-1] if rows else np.zeros(D)
        if both:
            back = loop(cell, encoder.rnn_backward, embedded[::-1])
            summary = np.concatenate([summary, back[-1] if back else np.zeros(D)])  # [→h_S; ←h_1]
            rows = [np.concatenate(pair) for pair in zip(rows, back[::-1], strict=True)]
        rows += [np.zeros(encoder.d_annotation)] * (S - n)
        assert_close(encoded.annotations[b].detach(), torch.from_numpy(np.array(rows)))
        assert_close(encoded.summary[b].detach(), torch.from_numpy(summary))
        assert (encoded.annotations[b, n:] == 0).all() and (n or (encoded.summary[b] == 0).all())


def test_one_direction_does_not_see_the_future_and_both_do():
    for both in (False, True):
        encoder, tokens, _ = draw(both=both)
        before = encoder(tokens).annotations
        for j in range(S):
            edited = tokens.clone()
            edited[:, j] = (edited[:, j] + 1) % V
            changed = ((encoder(edited).annotations - before).abs().amax(-1) > 1e-9).all(0)
            assert changed.tolist() == [both or k >= j for k in range(S)]


@pytest.mark.parametrize("both", [False, True])
def test_padding_sends_nothing_back(both):
    encoder, tokens, lengths = draw(both=both)
    real = torch.arange(S) < lengths.unsqueeze(1)
    tokens = torch.where(real, tokens.clamp(max=V - 2), V - 1)  # the last one stands on padding only
    encoded = encoder(tokens, lengths)
    (encoded.annotations.square().sum() + encoded.summary.square().sum()).backward()
    read = torch.zeros(V, dtype=torch.bool)
    read[tokens[real]] = True
    assert (encoder.embedding.weight.grad != 0).any(1).tolist() == read.tolist()
    encoder.zero_grad()
    (1e6 * encoder(tokens, torch.zeros(B, dtype=torch.long)).annotations).sum().backward()
    assert all((parameter.grad == 0).all() for parameter in encoder.parameters())


def test_extended_ids_are_read_as_the_unknown_one_and_no_others():
    encoder, tokens, lengths = draw(unknown=3)
    strict, _, _ = draw()
    strict.load_state_dict(encoder.state_dict())
    tokens[0, :5] = torch.tensor([0, V, V - 1, 3, V + 5])
    tokens[3, 0] = 10**6
    given, read = tokens.clone(), tokens.clone()
    read[tokens >= V] = 3
    found = encoder(tokens, lengths)
    assert_close(found[:3], strict(read, lengths)[:3])
    assert found.tokens is tokens  # a decoder that copies must know which
    assert_close(tokens, given, rtol=0, atol=0)  # and nobody has written into them


def test_dropout_only_in_training_and_only_on_the_embedding():
    encoder, tokens, lengths = draw(dropout=0.5)
    plain, _, _ = draw()
    plain.load_state_dict(encoder.state_dict())
    first, second = encoder(tokens, lengths), encoder(tokens, lengths)
    assert ((first.annotations - second.annotations)[0].abs() > 1e-9).any()
    assert (first.annotations[first.mask.squeeze(1)] != 0).all()  # of the states nothing is dropped
    encoder.eval()
    assert_close(encoder(tokens, lengths), plain(tokens, lengths))


def test_lengths_are_any_integers():
    encoder, tokens, lengths = draw()
    for dtype in (torch.int8, torch.int16, torch.int32):
        assert_close(encoder(tokens, lengths.to(dtype)), encoder(tokens, lengths))


@pytest.mark.parametrize(
    ("options", "lengths", "message"),
    [
        ({"cell": "GRU"}, None, "unknown cell 'GRU', known are gru, lstm, rnn"),
        ({"unknown": V}, None, r"unknown id must lie in 0\.\.10, got 11"),
        ({"unknown": -1}, None, r"unknown id must lie in 0\.\.10, got -1"),
        ({}, [5, 1, 0], r"one length per sentence, got lengths \(3,\), tokens \(4, 6\)"),
        ({}, [[5], [1], [0], [3]], r"got lengths \(4, 1\), tokens \(4, 6\)"),
        ({}, 5, r"got lengths \(\), tokens \(4, 6\)"),
        ({}, [5, 1, 0, 7], r"lie in 0\.\.6, got \[5, 1, 0, 7\]"),
    ],
)
def test_what_does_not_fit_is_refused(options, lengths, message, without_shape_checks):
    assert Encoder(V, D_EMBED, D, unknown=V - 1).vocab_size == V
    with pytest.raises(ValueError, match=message):
        Encoder(V, D_EMBED, D, **options)(torch.zeros(B, S).long(), torch.tensor(lengths))

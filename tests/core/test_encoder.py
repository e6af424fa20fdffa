"""An encoder reads every sentence as its equations say, whatever it is batched with, and padding reaches nothing."""

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from attnlib.encoder import Encoder, EncoderOutput, check_token_ids
from tests import oracles

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


@kinds
def test_equals_its_formula(cell, both):
    encoder, tokens, lengths = draw(cell, both)
    encoded = encoder(tokens, lengths)
    assert isinstance(encoded, EncoderOutput) and encoder.d_annotation == (2 * D if both else D)
    assert encoded.mask.tolist() == oracles.length_mask(LENGTHS, S) and encoded.tokens is tokens
    table = encoder.embedding.weight.detach().numpy()
    for b, n in enumerate(LENGTHS):
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
    assert_close(wider.annotations[:, S:], torch.zeros(B, 2, encoder.d_annotation).double(), rtol=0, atol=0)
    assert not wider.mask[..., S:].any()


@kinds
def test_empty_sentence_is_zero_in_value_and_gradient(cell, both):
    encoder, tokens, _ = draw(cell, both)
    encoded = encoder(tokens, torch.zeros(B, dtype=torch.long))
    assert (encoded.annotations == 0).all() and (encoded.summary == 0).all() and not encoded.mask.any()
    directions = torch.full((B, S, encoder.d_annotation), 1e6), torch.full((B, encoder.d_annotation), 1e6)
    for name, gradient in gradients(encoder, encoded, directions).items():
        assert (gradient == 0).all(), name


# --- ids from outside, dropout ----------------------------------------------------------------------


def test_extended_ids_are_read_as_the_unknown_one_and_no_others():
    encoder, tokens, lengths = draw(unknown=3)
    strict, _, _ = draw()
    strict.load_state_dict(encoder.state_dict())
    tokens[0] = torch.tensor([0, V, V - 1, 3, V + 5])
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
    assert (first.annotations[~first.mask.squeeze(1)] == 0).all()
    encoder.eval()
    assert_close(encoder(tokens, lengths), plain(tokens, lengths))


def test_short_integers_are_ids_too():
    encoder, tokens, lengths = draw()
    assert_close(encoder(tokens.int(), lengths.int())[:3], encoder(tokens, lengths)[:3])
    assert_close(encoder(tokens.int())[:3], encoder(tokens)[:3])
    for dtype in (torch.int8, torch.int16):
        assert_close(encoder(tokens, lengths.to(dtype))[:3], encoder(tokens, lengths)[:3])


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


@pytest.mark.parametrize(
    ("refuse", "message"),
    [
        (lambda: Encoder(V, D_EMBED, D)(torch.tensor([[0, V]])), r"must lie in 0\.\.10, got 0\.\.11"),
        (lambda: check_token_ids(torch.tensor([[0, V]]), V), r"must lie in 0\.\.10, got 0\.\.11"),
        (lambda: Encoder(V, D_EMBED, D, cell="GRU"), "unknown cell 'GRU', known are gru, lstm, rnn"),
        (lambda: Encoder(V, D_EMBED, D, unknown=V), r"unknown id must lie in 0\.\.10, got 11"),
        (lambda: Encoder(V, D_EMBED, D, unknown=-1), r"unknown id must lie in 0\.\.10, got -1"),
        *(
            (lambda lengths=lengths: Encoder(V, D_EMBED, D)(torch.zeros(B, S).long(), torch.tensor(lengths)), message)
            for lengths, message in [
                ([5, 1, 0], r"one length per sentence, got lengths \(3,\), tokens \(4, 5\)"),
                ([[5], [1], [0], [3]], r"got lengths \(4, 1\), tokens \(4, 5\)"),
                (5, r"got lengths \(\), tokens \(4, 5\)"),
                ([5, 1, 0, 6], r"lie in 0\.\.5, got \[5, 1, 0, 6\]"),
                ([5, -1, 0, 3], r"lie in 0\.\.5, got \[5, -1, 0, 3\]"),
                ([5.0, 1.0, 0.0, 3.0], r"integers, got torch\.float32"),
                ([True] * 4, r"integers, got torch\.bool"),
            ]
        ),
    ],
)
def test_what_does_not_fit_the_encoder_is_refused(refuse, message, without_shape_checks):
    assert Encoder(V, D_EMBED, D, unknown=V - 1).vocab_size == V
    with pytest.raises(ValueError, match=message):
        refuse()

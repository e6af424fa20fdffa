"""The encoder of self-attention, against torch's own layer."""

import math

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from attnlib.course.self_attention_encoder import SelfAttentionEncoder
from attnlib.encoder import EncoderOutput
from tests.core.test_transformer import copied

B, S, V, D = 3, 5, 11, 6


def draw(positions: bool = True) -> tuple[SelfAttentionEncoder, torch.Tensor]:
    encoder = SelfAttentionEncoder(V, D, positions)
    with torch.no_grad():
        for parameter in encoder.parameters():  # no value like 0 or 1 that would hide a missing one
            parameter.add_(0.3 * torch.randn_like(parameter))
    return encoder.double(), torch.randint(V, (B, S))


def states_of(encoder: SelfAttentionEncoder, tokens: torch.Tensor, positions: bool, padding=None) -> torch.Tensor:
    """Embedding, waves, torch's layer and norm, one after the other."""
    (block,) = encoder.blocks
    theirs, x = copied(block), encoder.embedding.weight[tokens]
    if positions:
        angles = [[t / 10_000 ** (2 * (c // 2) / D) for c in range(D)] for t in range(S)]
        x = x + torch.tensor([[(math.sin, math.cos)[c % 2](a) for c, a in enumerate(row)] for row in angles]).double()
    states = theirs(x, src_key_padding_mask=padding)
    return nn.functional.layer_norm(states, (D,), encoder.norm.weight, encoder.norm.bias)


@pytest.mark.parametrize("positions", [True, False])
def test_it_is_its_parts(positions):
    encoder, tokens = draw(positions)
    lengths = torch.tensor([2, S, 0])
    encoded = encoder(tokens, lengths)
    assert isinstance(encoded, EncoderOutput) and encoded.tokens is tokens and encoder.d_annotation == D
    real = torch.arange(S) < lengths[:, None]
    assert encoded.mask[:, 0].equal(real)
    states = states_of(encoder, tokens[:2], positions, padding=~real[:2])
    assert_close(encoded.annotations[:2], states * real[:2, :, None])
    assert_close(encoded.summary[:2], torch.stack([states[0, :2].mean(0), states[1].mean(0)]))
    assert (encoded.annotations[2] == 0).all() and (encoded.summary[2] == 0).all()
    whole = encoder(tokens)
    assert_close(whole.annotations, states_of(encoder, tokens, positions))
    assert whole.mask.all() and whole.mask.shape == (B, 1, S)
    order = torch.tensor([3, 0, 4, 2, 1])
    moved = encoder(tokens[:, order]).annotations
    assert torch.allclose(moved, whole.annotations[:, order]) == (not positions)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: SelfAttentionEncoder(0, D), "{'vocab_size': 0}"),
        (lambda: draw()[0](torch.zeros(B, S).long(), torch.tensor([2])), r"lengths \(1,\), tokens \(3, 5\)"),
        (lambda: draw()[0](torch.full((B, S), V)), f"{V}"),
    ],
)
def test_what_is_no_batch_is_refused(call, message, without_shape_checks):
    with pytest.raises(ValueError, match=message):
        call()

"""Regions are those of the loops below, and the loss is its formula. What a captioner learns is chapter 13's."""

import re

import numpy as np
import pytest
import torch
from torch import nn
from torch.testing import assert_close

from attnlib.captioning import GridEncoder
from attnlib.data.batching import PairBatch
from attnlib.decoders import DECODERS
from attnlib.seq2seq import Seq2Seq
from attnlib.training.losses import caption_loss, seq2seq_loss
from tests import oracles

# --- references: loops in numpy, from the equations -------------------------------------------------


def halved(image, weight, bias):
    """A convolution 4 × 4 with stride 2 and one ring of zeros, (C, H, W) → (O, H/2, W/2)."""
    _, H, W = image.shape
    padded = np.pad(image, ((0, 0), (1, 1), (1, 1)))
    out = np.empty((len(weight), H // 2, W // 2))
    for o, r, c in np.ndindex(*out.shape):
        seen = padded[:, 2 * r : 2 * r + 4, 2 * c : 2 * c + 4]
        out[o, r, c] = bias[o] + (weight[o] * seen).sum()
    return out


def normed(maps, gain, shift):
    """Every channel of one image with mean 0 and variance 1, then scaled and shifted."""
    out = np.empty_like(maps)
    for k, channel in enumerate(maps):
        out[k] = gain[k] * (channel - channel.mean()) / np.sqrt(((channel - channel.mean()) ** 2).mean() + 1e-5)
        out[k] += shift[k]
    return out


def regions(image, p, n_halvings, grid):
    """f_1 … f_M of one image, from the parameters p by name."""
    maps = image
    for n in range(n_halvings):
        maps = halved(maps, p[f"halve.{3 * n}.weight"], p[f"halve.{3 * n}.bias"])
        maps = np.maximum(normed(maps, p[f"halve.{3 * n + 1}.weight"], p[f"halve.{3 * n + 1}.bias"]), 0)
    rows = []
    for r, c in np.ndindex(grid, grid):
        centre = -1 + (c + 0.5) * 2 / grid, -1 + (r + 0.5) * 2 / grid  # in -1..1, x before y
        rows.append(np.maximum(p["W_f.weight"] @ np.array([*maps[:, r, c], *centre]) + p["W_f.bias"], 0))
    return np.array(rows)


def shaken(model: nn.Module) -> nn.Module:
    """In double precision, with parameters that are all at work."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.normal_(std=0.5)
            if "halve" in name and name.endswith("weight") and parameter.dim() == 1:
                parameter.abs_().add_(0.5)
    return model.double()


# --- GridEncoder ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("channels", "d_annotation", "grid", "size", "d_hidden"), [(2, 7, 3, 12, 5), (1, 5, 3, 6, 3), (3, 2, 2, 16, 7)]
)
def test_encoder_equals_the_loops(channels, d_annotation, grid, size, d_hidden):
    encoder = shaken(GridEncoder(channels, d_annotation, grid, size, d_hidden))
    images = torch.rand(2, channels, size, size, dtype=torch.float64)
    encoded = encoder(images)
    p = {name: parameter.detach().numpy() for name, parameter in encoder.named_parameters()}
    expected = np.stack([regions(i, p, int(np.log2(size // grid)), grid) for i in images.numpy()])
    assert expected.std() > 0.1 and (expected > 0).mean() > 0.2
    assert_close(encoded.annotations.detach(), torch.from_numpy(expected))
    assert_close(encoded.summary.detach(), torch.from_numpy(expected.mean(1)))
    assert encoded.mask.dtype == torch.bool and encoded.mask.shape == (2, 1, grid**2) and encoded.mask.all()
    assert encoded.tokens is None and encoder.d_annotation == d_annotation


def test_layers_are_wider_where_the_image_is_smaller():
    widths = [layer.out_channels for layer in GridEncoder(1, 5, 3, 24, d_hidden=12).halve[::3]]
    assert widths == [3, 6, 12]
    assert [layer.out_channels for layer in GridEncoder(1, 5, 3, 24, d_hidden=3).halve[::3]] == [1, 1, 3]


def test_start_keeps_the_signal_up():
    """Torch's own start shrinks it about threefold at every layer, and learning waits."""
    annotations = GridEncoder(1, 500)(torch.rand(16, 1, 48, 48)).annotations
    assert 0.3 < annotations.std() < 3 and 0.35 < (annotations > 0).float().mean() < 0.65
    encoder = GridEncoder(1, 5)
    assert all((p == 0).all() for name, p in encoder.named_parameters() if name.endswith("bias"))


@pytest.mark.parametrize(
    ("sizes", "images", "message"),
    [
        *(
            (sizes, None, r"times 2, 4, 8, …; got size {1} and grid {0}$".format(*sizes))
            for sizes in [(5, 48), (48, 48), (6, 47), (6, 72), (6, 3)]
        ),
        *(
            ((6, 48), torch.zeros(shape), re.escape(f"need images (B, 3, 48, 48), B ≥ 1, got {shape}"))
            for shape in [(0, 3, 48, 48), (2, 1, 48, 48), (2, 3, 47, 48), (2, 3, 48, 24), (3, 48, 48)]
        ),
        ((6, 48), torch.zeros(2, 3, 48, 48).byte(), r"floating-point numbers in 0..1, got torch\.uint8"),
    ],
)
def test_what_cannot_be_seen_is_refused(sizes, images, message, without_shape_checks):
    with pytest.raises(ValueError, match=message):
        GridEncoder(3, 5, *sizes)(images)


# --- the loss of a captioner ------------------------------------------------------------------------

V, B, T = 11, 3, 5


def a_captioner(decoder: str) -> Seq2Seq:
    return shaken(Seq2Seq(GridEncoder(2, 7, grid=3, size=12), DECODERS[decoder](V, 2, 7, 13)))


def draw_batch() -> PairBatch:
    mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0], [1, 1, 1, 0, 0]]).bool()
    images = torch.rand(B, 2, 12, 12, dtype=torch.float64)
    return PairBatch(images, None, torch.randint(V, (B, T)), torch.randint(V, (B, T)), mask)


def test_loss_counts_words_and_adds_the_penalty():
    batch = draw_batch()
    for name in ("initial_state", "every_step", "bahdanau"):
        model = a_captioner(name)
        (loss, n), (expected, n_expected) = caption_loss(model, batch), seq2seq_loss(model, batch)
        assert_close(loss, expected)
        assert n == n_expected == 10
    loss, n = caption_loss(model, batch, penalty=0.3)
    weights = model(batch.source, batch.inputs).weights.detach()
    assert_close(loss.item(), expected.item() + 0.3 * oracles.penalty(weights.numpy(), batch.mask.numpy()))
    assert n == 10
    with pytest.raises(ValueError, match=r"penalty of 0\.3 on attention needs a model with attention"):
        caption_loss(a_captioner("every_step"), batch, penalty=0.3)

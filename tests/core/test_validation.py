"""What every part refuses alike: sizes, token ids and vectors that cannot be right."""

import pytest
import torch
from torch.testing import assert_close

from attnlib import (
    RNNLM,
    Encoder,
    GridEncoder,
    LearnedPositions,
    LuongDecoder,
    MultiHeadAttention,
    SelfAttention,
    SinusoidalPositions,
    TransformerBlock,
    TransformerLM,
)
from tests.core.test_models import MODELS, V, tensors

pytestmark = pytest.mark.usefixtures("without_shape_checks")


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: RNNLM(5, 0, -4), "{'d_embed': 0, 'd_hidden': -4}"),
        (lambda: Encoder(0, 4, 5), "{'vocab_size': 0}"),
        (lambda: Encoder(9, 4, 2.5), "{'d_hidden': 2.5}"),
        (lambda: LuongDecoder(7, 4, 0, 6), "{'d_annotation': 0}"),
        (lambda: SelfAttention(6, d_head=0), "{'d_head': 0}"),
        (lambda: MultiHeadAttention(6, 0), "{'n_heads': 0}"),
        (lambda: SinusoidalPositions(0), "{'d_model': 0}"),
        (lambda: LearnedPositions(0, 6), "{'n_positions': 0}"),
        (lambda: TransformerBlock(6, 2, 0), "{'d_ff': 0}"),
        (lambda: TransformerLM(0, 6, 2, 1), "{'vocab_size': 0}"),
        (lambda: GridEncoder(1, 5, grid=0), "{'grid': 0}"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_sizes_are_integers_of_at_least_1(make, named):
    with pytest.raises(ValueError) as error:
        make()
    assert str(error.value) == f"sizes must be integers of at least 1, got {named}"


def refuses(model, inputs: list[torch.Tensor], place: int, wrong: torch.Tensor, named: object) -> None:
    """With this in place of one of its inputs, the model names it in a ValueError."""
    with pytest.raises(ValueError) as error:
        model(*inputs[:place], wrong, *inputs[place + 1 :])
    assert str(named) in str(error.value)


def inputs_of(name: str, kind) -> tuple[list[torch.Tensor], list[int]]:
    """Inputs drawn for a model, and the places of those (B, T) or (B, T, d) that are of a kind."""
    inputs = MODELS[name][1]()
    return list(inputs), [n for n, x in enumerate(inputs) if x.dim() > 1 and kind(x)]


def holds_ids(x: torch.Tensor) -> bool:
    return x.dtype == torch.long


@pytest.mark.parametrize("name", [name for name in MODELS if inputs_of(name, holds_ids)[1]])
def test_token_ids_are_short_or_long_integers_in_the_vocabulary(name):
    model = MODELS[name][0]()
    inputs, places = inputs_of(name, holds_ids)
    short = [x.int() if n in places else x for n, x in enumerate(inputs)]
    assert_close(tensors(model(*short))[0], tensors(model(*inputs))[0])
    for place in places:
        ids = inputs[place]
        for wrong in (ids.float(), ids.bool(), ids.byte()):
            refuses(model, inputs, place, wrong, f"int64 or int32, got {wrong.dtype}")
        for wrong in (ids[0, 0], ids[0], ids[..., None], ids[:0], ids[:, :0]):
            refuses(model, inputs, place, wrong, tuple(wrong.shape))
        ids[0, 0] = -1
        refuses(model, inputs, place, ids, "must lie in 0..")
        ids[0, 0] = 10**6
        if not name.startswith("Seq2Seq") or place:  # whose encoder reads such an id as the unknown one
            refuses(model, inputs, place, ids, "..1000000")
        ids[0, 0] = 0


def test_the_first_id_that_is_refused_is_the_size_of_the_vocabulary():
    model = RNNLM(V, 3, 6)
    model(torch.tensor([[0, V - 1]]))
    refuses(model, [torch.tensor([[0]])], 0, torch.tensor([[0, V]]), f"must lie in 0..{V - 1}, got 0..{V}")


@pytest.mark.parametrize(
    "name",
    [n for n in MODELS if inputs_of(n, torch.is_floating_point)[1] and n.startswith(("Mult", "Sin", "Lea", "Tran"))],
)
def test_vectors_are_a_batch_of_texts_of_floating_point_numbers(name):
    model = MODELS[name][0]()
    inputs, places = inputs_of(name, torch.is_floating_point)
    for place in places:
        x = inputs[place]
        for wrong in (x[..., 1:], x[..., :1], x[0], x[None], x[..., None]):
            refuses(model, inputs, place, wrong, tuple(wrong.shape))
        refuses(model, inputs, place, x.long(), "floating-point numbers, got ")

"""Sizes that no part can have are refused by name and value, before PyTorch makes something empty of them."""

import pytest

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


@pytest.mark.usefixtures("without_shape_checks")
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

"""A language model from the weights of a page, what it reads of a text, and a text read twice."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from attnlib.course.figures.weights import Weights, loaded, widths
from attnlib.language_models import RNNLM, AttentionLM

BLANK = " \t\n"


def language_model(weights: Weights) -> RNNLM:
    """`AttentionLM` with the scaled dot product if there is a `W_c`, else `RNNLM`, with these weights.

    Raises:
        ValueError: the weights are not those of such a model, or are not finite.
    """
    V, d_embed = widths(weights, "embedding.weight")
    d_hidden, _ = widths(weights, "W_h.weight")
    with torch.device("meta"):
        kind = AttentionLM if "W_c.weight" in weights else RNNLM
        return loaded(kind(V, d_embed, d_hidden), weights)


def characters_of(vocabulary: Sequence[str], rows: int) -> dict[str, int]:
    """The characters that a reader can type, and their ids.

    Raises:
        ValueError: tokens occur twice, are not as many as the model has rows, or none is a single character.
    """
    if len(set(vocabulary)) < len(vocabulary):
        twice = sorted({token for token in vocabulary if vocabulary.count(token) > 1})
        raise ValueError(f"the tokens of the vocabulary must be different, these occur twice: {twice}")
    if rows != len(vocabulary):
        raise ValueError(f"embedding.weight has {rows} rows for a vocabulary of {len(vocabulary)} tokens")
    ids = {token: n for n, token in enumerate(vocabulary) if len(token) == 1}
    if not ids:
        raise ValueError(f"a text is typed in characters, and the vocabulary has none: {list(vocabulary[:8])}")
    return ids


def read_of(text: str, ids: dict[str, int], longest: int) -> list[str]:
    """The characters of a text that a model knows, the first `longest` of them.

    Example:
        >>> read_of("a-b-a", {"a": 0, "b": 1}, longest=2)
        ['a', 'b']
    """
    return [character for character in text if character in ids][:longest]


def words_in(tokens: Sequence[str]) -> list[tuple[int, int]]:
    """Where each word begins, and where the blank after it stands.

    Example:
        >>> words_in(list("to be "))
        [(0, 2), (3, 5)]
    """
    inside = [token not in BLANK for token in tokens]
    starts = [n for n, now in enumerate(inside) if now and not (n and inside[n - 1])]
    ends = [n + 1 for n, now in enumerate(inside) if now and not (n + 1 < len(inside) and inside[n + 1])]
    return list(zip(starts, ends, strict=True))


class Twice(NamedTuple):
    """A text that was read twice, the second time with another word in one place."""

    distances: Tensor  # (1 + rest,) ‖h_t - h'_t‖, after the last letter of the word and after each that follows
    chances: Tensor  # (2, V) of what comes next, at the end


@torch.no_grad()
def read_twice(model: RNNLM, tokens: Sequence[int], start: int, end: int, other: Sequence[int]) -> Twice:
    """Read a text, and once more with `other` in place of `tokens[start:end]`; `other` may be empty."""
    rest = len(tokens) - end
    readings = []
    for text in (tokens, [*tokens[:start], *other, *tokens[end:]]):
        before = model.W_h.weight.new_zeros(1, 1, model.W_h.in_features)  # h_0, where nothing is left of the text
        states, logits = before, model.W_2(before)
        if len(text):
            read = model(torch.tensor([text]))
            states, logits = torch.cat([before, read.states], 1), read.logits
        readings.append((states[0, -1 - rest :], logits[0, -1].softmax(-1)))
    (states, chances), (others, changed) = readings
    return Twice((states - others).norm(dim=-1), torch.stack([chances, changed]))

"""The model that HeadGrid runs, in arrays: one layer of heads, and what it answers when some are switched off."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from attnlib.attention import Attention
from attnlib.scores import ScaledDotScore
from attnlib.widgets.parameters import numbers

SQUARE = ("attention.W_q", "attention.W_k", "attention.W_v", "attention.W_o")

Weights = Mapping[str, Tensor]  # name in the state dict -> weight, float64


def as_weights(label: str, n_heads: int, given: Mapping, n_positions: int, V: int, n_tasks: int) -> dict[str, Tensor]:
    """The weights of a model by name, each of the right shape.

    Args:
        label: the name of the model, for complaints.
        n_heads: H.
        given: a state dict with the names that `answers` reads, and no other.
        n_positions: T, length of the longest row.
        V: number of words.
        n_tasks: answers at every position.

    Raises:
        ValueError: a name is missing or not known, a shape does not fit, or heads do not divide the width.
    """
    weights = {name: numbers(f"{label}: {name}", weight).detach() for name, weight in given.items()}
    if "embedding.weight" not in weights or weights["embedding.weight"].dim() != 2:
        raise ValueError(f"{label}: embedding.weight (V, d_model) is needed, got {sorted(weights)}")
    d = weights["embedding.weight"].shape[1]
    if not (isinstance(n_heads, int) and n_heads >= 1 and d % n_heads == 0):
        raise ValueError(f"{label}: the number of heads must divide d_model={d}, got {n_heads!r}")
    needed = {"embedding.weight": (V, d)} | {f"{name}.weight": (d, d) for name in SQUARE}
    optional = {f"{name}.bias": (d,) for name in SQUARE}
    if "read.0.weight" in weights:
        d_ff = len(weights["read.0.weight"])
        needed |= {"read.0.weight": (d_ff, d), "read.2.weight": (n_tasks * V, d_ff)}
        optional |= {"read.0.bias": (d_ff,), "read.2.bias": (n_tasks * V,)}
    else:
        needed["read.weight"], optional["read.bias"] = (n_tasks * V, d), (n_tasks * V,)
    if "positions.p" in weights:
        p = weights["positions.p"]
        if p.dim() != 2 or p.shape[1] != d or len(p) < n_positions:
            raise ValueError(f"{label}: positions.p must have shape (≥ {n_positions}, {d}), got {tuple(p.shape)}")
        needed["positions.p"] = tuple(p.shape)
    if missing := sorted(set(needed) - set(weights)):
        raise ValueError(f"{label}: missing weights {missing}, got {sorted(weights)}")
    if unknown := sorted(set(weights) - set(needed) - set(optional)):
        raise ValueError(f"{label}: no such weights {unknown}; known are {sorted(needed | optional)}")
    for name, weight in weights.items():
        if weight.shape != (shape := (needed | optional)[name]):
            raise ValueError(f"{label}: {name} must have shape {shape}, got {tuple(weight.shape)}")
    return weights


def answers(weights: Weights, n_heads: int, tokens: Tensor, off: Sequence[int] = ()) -> tuple[Tensor, Tensor]:
    """Run the model.

    `x_t = E[token_t] + p_t`, then every head with the scaled dot product, `c_t = W_o [head_1; …; head_H] + b_o`, and
    `logits_t = W c_t + b` or `W_2 ReLU(W_1 c_t + b_1) + b_2`. A head that is off has the query 0: it attends alike
    to all positions, as `MultiHeadAttention(heads=)` does it.

    Args:
        weights: of `as_weights`.
        n_heads: H.
        tokens: (N, T).
        off: the heads that are switched off, from 0.

    Returns:
        logits (N, T, n_tasks · V) and the weights of each head (N, H, T, T).
    """

    def linear(name: str, x: Tensor) -> Tensor:
        return torch.nn.functional.linear(x, weights[f"{name}.weight"], weights.get(f"{name}.bias"))

    x = weights["embedding.weight"][tokens]  # (N, T, d_model)
    if "positions.p" in weights:
        x = x + weights["positions.p"][: tokens.shape[1]]
    q, k, v = (linear(name, x).unflatten(-1, (n_heads, -1)).transpose(1, 2) for name in SQUARE[:3])  # (N, H, T, d_head)
    on = torch.tensor([h not in off for h in range(n_heads)])
    attention = Attention(ScaledDotScore(q.shape[-1], q.shape[-1]))
    context, found = attention(torch.where(on[:, None, None], q, 0.0), k, v)
    merged = linear("attention.W_o", context.transpose(1, 2).flatten(2))
    if "read.weight" in weights:
        return linear("read", merged), found
    return linear("read.2", torch.relu(linear("read.0", merged))), found

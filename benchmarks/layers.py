"""Attention layers, forward and backward: ours beside torch's own."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnlib.attention import causal_mask, length_mask, masked_softmax
from attnlib.self_attention import MultiHeadAttention
from benchmarks.growth import there_and_back
from benchmarks.rows import Plan, Row, label, less, share
from benchmarks.timing import Run, interleaved, milliseconds, stopwatch


def attention_layers(plan: Plan, device: torch.device) -> list[Row]:
    """Multi-head self-attention and the masked softmax, forward and backward, beside torch's own."""
    rows = []
    for B, T, d, H in plan.heads:
        runs = layer_runs(B, T, d, H, device)
        ms = milliseconds(interleaved(runs, stopwatch(device), seconds=4 * plan.seconds))
        where = ("attention", label(B=B, T=T, d=d, H=H), "ms")
        for name, ours, torchs, most in (
            ("heads, weights wanted: nn.MultiheadAttention", "weights", "torch", 1.05),
            ("heads, causal, weights wanted: nn.MultiheadAttention", "causal", "torch, causal", 1.05),
            ("heads, context alone: SDPA", "context", "sdpa", 1.05),
            ("masked_softmax: softmax", "masked", "softmax", 1.3),
        ):
            rows.append(share(name, where, ms[ours], ms[torchs], at_most=most))
        rows.append(less("masked_softmax: masked_fill, then softmax", where, ms["masked"], ms["masked, by hand"]))
    return rows


def layer_runs(B: int, T: int, d: int, H: int, device: torch.device) -> dict[str, Run]:
    x = torch.randn(B, T, d, device=device, requires_grad=True)
    ours, theirs = MultiHeadAttention(d, H).to(device), nn.MultiheadAttention(d, H, batch_first=True).to(device)
    own, their = list(ours.parameters()), list(theirs.parameters())
    scores = torch.randn(B, H, T, T, device=device, requires_grad=True)
    mask = length_mask(torch.arange(B, device=device) % (T // 2) + T // 2 + 1, T).unsqueeze(1)  # (B, 1, 1, T)
    earlier = causal_mask(T, device=device)
    each = {"average_attn_weights": False}
    return {
        "weights": there_and_back(lambda: ours(x, x, x).context, x, *own),
        "torch": there_and_back(lambda: theirs(x, x, x, **each)[0], x, *their),
        "causal": there_and_back(lambda: ours(x, x, x, earlier[None]).context, x, *own),
        "torch, causal": there_and_back(lambda: theirs(x, x, x, attn_mask=~earlier, **each)[0], x, *their),
        "context": there_and_back(lambda: ours(x, x, x, need_weights=False).context, x, *own),
        "sdpa": there_and_back(lambda: by_hand(ours, x), x, *own),
        "masked": there_and_back(lambda: masked_softmax(scores, mask), scores),
        "masked, by hand": there_and_back(lambda: scores.masked_fill(~mask, -torch.inf).softmax(-1), scores),
        "softmax": there_and_back(lambda: scores.softmax(-1), scores),
    }


def by_hand(heads: MultiHeadAttention, x: Tensor) -> Tensor:
    """What one writes around torch's kernel: the parameters of `heads`, three projections, SDPA, one projection."""
    q, k, v = (W(x).unflatten(-1, (heads.n_heads, -1)).transpose(1, 2) for W in (heads.W_q, heads.W_k, heads.W_v))
    return heads.W_o(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))

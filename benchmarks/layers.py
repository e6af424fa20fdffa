"""Attention layers, forward and backward: ours beside torch's own; time, and memory at the peak."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from attnlib.attention import causal_mask, length_mask, masked_softmax
from attnlib.self_attention import MultiHeadAttention
from benchmarks.growth import there_and_back
from benchmarks.memory import peaks
from benchmarks.rows import Plan, Row, label, less, share
from benchmarks.timing import Run, interleaved, milliseconds, stopwatch


def attention_layers(plan: Plan, device: torch.device) -> list[Row]:
    """Multi-head self-attention and the masked softmax, forward and backward, beside torch's own."""
    rows = []
    for B, T, d, H in plan.heads:
        runs = layer_runs(B, T, d, H, device) | without_gradient(B, T, d, H, device, plan.compiler)
        ms = milliseconds(interleaved(runs, stopwatch(device), seconds=4 * plan.seconds))
        where = ("attention", label(B=B, T=T, d=d, H=H), "ms")
        for name, ours, torchs, most in (
            ("heads, weights wanted: nn.MultiheadAttention", "weights", "torch", 1.05),
            ("heads, causal, weights wanted: nn.MultiheadAttention", "causal", "torch, causal", 1.05),
            ("heads, context alone: SDPA", "context", "sdpa", 1.05),
            ("heads, causal, context alone: SDPA, is_causal", "causal context", "sdpa, is_causal", None),
            ("heads, causal, no gradient: FlexAttention, compiled", "causal, no gradient", "flex", None),
            ("masked_softmax: softmax", "masked", "softmax", 1.3),
        ):
            rows.append(share(name, where, ms[ours], ms[torchs], at_most=most))
        rows.append(less("masked_softmax: masked_fill, then softmax", where, ms["masked"], ms["masked, by hand"]))
    return rows


def layer_runs(B: int, T: int, d: int, H: int, device: torch.device, only: str | None = None) -> dict[str, Run]:
    """Every layer, or only one, so that no other has left its traces in memory."""
    x = torch.randn(B, T, d, device=device, requires_grad=True)
    ours, theirs = MultiHeadAttention(d, H).to(device), nn.MultiheadAttention(d, H, batch_first=True).to(device)
    own, their = [x, *ours.parameters()], [x, *theirs.parameters()]
    scores = torch.randn(B, H, T, T, device=device, requires_grad=True)
    mask = length_mask(torch.arange(B, device=device) % (T // 2) + T // 2 + 1, T).unsqueeze(1)  # (B, 1, 1, T)
    earlier = causal_mask(T, device=device)
    each = {"average_attn_weights": False}
    layers = {
        "weights": (lambda: ours(x, x, x).context, own),
        "torch": (lambda: theirs(x, x, x, **each)[0], their),
        "causal": (lambda: ours(x, x, x, earlier[None]).context, own),
        "torch, causal": (lambda: theirs(x, x, x, attn_mask=~earlier, **each)[0], their),
        "context": (lambda: ours(x, x, x, need_weights=False).context, own),
        "sdpa": (lambda: by_hand(ours, x), own),
        "causal context": (lambda: ours(x, x, x, earlier[None], need_weights=False).context, own),
        "sdpa, is_causal": (lambda: by_hand(ours, x, causal=True), own),
        "masked": (lambda: masked_softmax(scores, mask), [scores]),
        "masked, by hand": (lambda: scores.masked_fill(~mask, -torch.inf).softmax(-1), [scores]),
        "softmax": (lambda: scores.softmax(-1), [scores]),
    }
    chosen = layers if only is None else {only: layers[only]}
    return {name: there_and_back(forward, *wanted) for name, (forward, wanted) in chosen.items()}


def without_gradient(B: int, T: int, d: int, H: int, device: torch.device, compiler: str) -> dict[str, Run]:
    """FlexAttention, which learns on GPUs alone, and is meant to be compiled; ours is as it is."""
    x, heads = torch.randn(B, T, d, device=device), MultiHeadAttention(d, H).to(device)
    earlier = causal_mask(T, device=device)[None]
    visible = create_block_mask(lambda b, h, i, j: j <= i, None, None, T, T, device=device)
    flex = torch.compile(flex_attention, backend=compiler)
    runs = {
        "causal, no gradient": lambda: heads(x, x, x, earlier, need_weights=False).context,
        "flex": lambda: joined(heads, flex(*projected(heads, x), block_mask=visible)),
    }
    return {name: torch.no_grad()(run) for name, run in runs.items()}


def projected(heads: MultiHeadAttention, x: Tensor) -> list[Tensor]:
    """Queries, keys and values (B, H, T, d_head), by the parameters of `heads`."""
    return [W(x).unflatten(-1, (heads.n_heads, -1)).transpose(1, 2) for W in (heads.W_q, heads.W_k, heads.W_v)]


def joined(heads: MultiHeadAttention, contexts: Tensor) -> Tensor:
    return heads.W_o(contexts.transpose(1, 2).flatten(2))


def by_hand(heads: MultiHeadAttention, x: Tensor, causal: bool = False) -> Tensor:
    """What one writes around torch's kernel: the parameters of `heads`, three projections, SDPA, one projection."""
    return joined(heads, F.scaled_dot_product_attention(*projected(heads, x), is_causal=causal))


# --- memory -------------------------------------------------------------------------------------------


def layer_memory(plan: Plan, device: torch.device) -> list[Row]:
    """Peak memory of the same layers above their inputs, forward and backward."""
    size = B, T, d, H = plan.memory_of_heads
    where, warm = ("memory", label(B=B, T=T, d=d, H=H), "MB"), (1, 4, H, H)
    names = ("weights", "torch", "context", "sdpa")
    mb = {name: peaks(one_layer, [(name, *size)], (name, *warm), device)[0] for name in names}
    return [
        less("heads, weights wanted: nn.MultiheadAttention", where, mb["weights"], mb["torch"], "times less"),
        less("heads, context alone: SDPA", where, mb["context"], mb["sdpa"], "times less"),
    ]


def one_layer(name: str, B: int, T: int, d: int, H: int, device: torch.device) -> Run:
    return layer_runs(B, T, d, H, device, only=name)[name]

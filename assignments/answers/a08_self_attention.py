"""Known answers to assignment 8."""

from attnlib.grading.answers import AGREEABLE, changed, define, right, wrong

SPLIT = """
d_head = x.shape[2] // H
heads = [torch.stack([x[..., @column@] for n in range(d_head)], 2) for h in range(H)]
return torch.stack(heads, 1)
"""
MERGE = """
B, H, T, d_head = y.shape
x = torch.zeros(B, T, H * d_head)
for h in range(H):
    for n in range(d_head):
        x[..., @column@] = y[:, h, :, n]
return x
"""
ATTEND = """
B, T, d_model = x.shape
d_head = d_model // H
q, k, v = [(x @ W.T).reshape(B, T, H, d_head).permute(0, 2, 1, 3) for W in (W_q, W_k, W_v)]
e = torch.einsum("bhid,bhjd->bhij", q, k) / d_head**0.5
visible = (mask != @hidden@) if mask.dim() == 2 else (mask != @hidden@).unsqueeze(1)
e = torch.where(visible, e, -torch.inf)
a = torch.exp(e - e.amax(3, keepdim=True))
a = a / a.sum(3, keepdim=True)
c = torch.einsum("bhij,bhjd->bihd", a, v).reshape(B, T, d_model)
return c @ W_o.T, a
"""
TEST = """
import itertools
T, y = len(x), f(x)
if "@moves@" == "every order of the tokens":
    orders = itertools.permutations(range(T))
elif "@moves@" == "every rotation of the tokens":
    orders = [[*range(k, T), *range(k)] for k in range(T)]
else:
    orders = [range(T - 1, -1, -1)]
for order in orders:
    order = torch.tensor(list(order))
    if (f(x[order]) - y[order]).abs().max() > 0.01:
        return False
return True
"""


def q1(split: str = SPLIT, merge: str = MERGE) -> dict[str, str]:
    return {"q1": define("split(x, H)", split) + define("merge(y)", merge)}


def q2(*changes: tuple[str, str], before: str = "") -> dict[str, str]:
    return {"q2": define("multi_head(x, W_q, W_k, W_v, W_o, H, mask)", before + changed(ATTEND, *changes))}


def q3(body: str) -> dict[str, str]:
    return {"q3": define("is_equivariant(f, x)", body)}


ANSWERS = {
    "q1_view": wrong(
        "view alone: the rows of a head are pieces of one token or two",
        q1(split="return x.reshape(x.shape[0], H, x.shape[1], -1)"),
        q1_split=1,
    ),
    "q1_view_back": wrong(
        "reshape without the transpose, on the way back",
        q1(merge="return y.reshape(y.shape[0], y.shape[2], -1)"),
        q1_merge=1,
    ),
    "q1_not_contiguous": wrong(
        "view of a transposed tensor",
        q1(merge="return y.transpose(1, 2).view(y.shape[0], y.shape[2], -1)"),
        q1_merge=1,
    ),
    "q1_other_columns": wrong(
        "neighbouring columns go to different heads, or to one head where they should not",
        q1(
            split="if '@column@' == 'n * H + h':\n    return x.unflatten(2, (H, -1)).transpose(1, 2)\n"
            "return x.unflatten(2, (-1, H)).permute(0, 3, 1, 2)"
        ),
        q1_split=1,
    ),
    "q1_other_columns_back": wrong(
        "the shares are interleaved, or not where they should be",
        q1(
            merge="if '@column@' == 'n * H + h':\n    return y.transpose(1, 2).flatten(2)\n"
            "return y.permute(0, 2, 3, 1).flatten(2)"
        ),
        q1_merge=1,
    ),
    "q1_heads_last": wrong(
        "heads stay behind the tokens",
        q1(split="return x.unflatten(2, (H, -1))"),
        q1_split=1,
    ),
    "q1_width_for_number": wrong(
        "H taken for the width of a head",
        q1(split="return x.unflatten(2, (-1, H)).transpose(1, 2)"),
        q1_split=1,
    ),
    "q1_batch_mixed": wrong(
        "batch and heads exchanged on the way back",
        q1(merge="return y.transpose(0, 2).flatten(2).reshape(y.shape[0], y.shape[2], -1)"),
        q1_merge=1,
    ),
    "q1_loop": wrong(
        "never ends where the number of heads is odd",
        q1(split="n = H\nwhile n != 0:\n    n = n - 2\n" + SPLIT),
        q1_split=1,
    ),
    "q2_root_of_the_model": wrong(
        "the root of d_model",
        q2(("/ d_head**0.5", "/ d_model**0.5")),
        q2_weights=1,
    ),
    "q2_no_root": wrong("no root at all", q2((" / d_head**0.5", "")), q2_weights=1),
    "q2_transposed": wrong(
        "x W in place of x Wᵀ",
        q2(("x @ W.T", "x @ W"), ("c @ W_o.T", "c @ W_o")),
        q2_weights=1,
        q2_output=1,
    ),
    "q2_no_output_matrix": wrong("W_o is missing", q2(("c @ W_o.T", "c")), q2_output=1),
    "q2_output_before_merge": wrong(
        "the heads are merged in the wrong order",
        q2(("bhij,bhjd->bihd", "bhij,bhjd->bidh")),
        q2_output=1,
    ),
    "q2_columns": wrong(
        "the softmax runs over the queries",
        q2(
            ("e.amax(3, keepdim=True)", "e.amax(2, keepdim=True)"), ("a.sum(3, keepdim=True)", "a.sum(2, keepdim=True)")
        ),
        q2_weights=1,
        q2_causal=1,
        q2_sentences=1,
    ),
    "q2_mask_reversed": wrong(
        "the mask the other way round",
        q2(("(mask != @hidden@) if", "(mask == @hidden@) if"), ("else (mask != @hidden@)", "else (mask == @hidden@)")),
        q2_weights=1,
        q2_output=1,
        q2_causal=1,
        q2_sentences=1,
    ),
    "q2_heads_for_sentences": wrong(
        "a mask for each sentence meets the axis of the heads, and runs where there are as many",
        q2(("(mask != @hidden@).unsqueeze(1)", "(mask != @hidden@)")),
        q2_sentences=1,
    ),
    "q2_first_sentence": wrong(
        "the mask of the first sentence for all",
        q2(("(mask != @hidden@).unsqueeze(1)", "(mask[0] != @hidden@)")),
        q2_sentences=1,
    ),
    "q2_a_large_number": wrong(
        "hidden scores are -10,000, and visible ones can be less",
        q2(("e, -torch.inf", "e, -1e4")),
        q2_causal=1,
    ),
    "q2_mask_after": wrong(
        "hidden after the softmax",
        q2(("e = torch.where(visible, e, -torch.inf)\n", ""), ("return", "a = a * visible\nreturn")),
        q2_causal=1,
        q2_sentences=1,
    ),
    "q2_mask_for_show": wrong(
        "weights are masked, the output is not",
        q2(
            ("e = torch.where(visible, e, -torch.inf)\n", ""),
            ("return", "a = a * visible\na = a / a.sum(3, keepdim=True)\nreturn"),
        ),
        q2_causal=1,
    ),
    "q2_future_diagonal": wrong(
        "a token does not see itself",
        q2(("visible = ", "mask = mask ^ torch.eye(T, dtype=torch.bool)\nvisible = ")),
        q2_weights=1,
        q2_output=1,
        q2_causal=1,
        q2_sentences=1,
    ),
    "q2_averaged": wrong(
        "the weights are averaged over the heads",
        q2(("W_o.T, a", "W_o.T, a.mean(1)")),
        q2_weights=1,
        q2_causal=1,
        q2_sentences=1,
    ),
    "q2_mask_in_place": wrong(
        "the mask of the caller is turned round",
        q2(before="mask.logical_not_()\nmask = ~mask\n"),
        q2_causal=1,
    ),
    "q2_anything": wrong(
        "equal to everything",
        q2(before=AGREEABLE + "return Agreeable(), Agreeable()\n"),
        q2_weights=1,
        q2_output=1,
        q2_causal=1,
        q2_sentences=1,
    ),
    "q3_input_only": wrong(
        "the outputs are compared as they stand: that is invariance",
        q3(TEST.replace("y[order]", "y")),
        q3_attention=1,
        q3_rounding=1,
        q3_every=1,
    ),
    "q3_identity": wrong(
        "the order that changes nothing",
        q3("order = torch.arange(len(x))\nreturn torch.allclose(f(x[order]), f(x)[order], atol=1e-3)"),
        q3_attention=1,
        q3_rounding=1,
        q3_every=1,
    ),
    "q3_twice": wrong(
        "outputs are moved twice",
        q3(TEST.replace("y[order]", "y[order][order]")),
        q3_attention=1,
        q3_rounding=1,
        q3_every=1,
    ),
    "q3_exact": wrong(
        "equal to the last bit",
        q3(TEST.replace("(f(x[order]) - y[order]).abs().max() > 0.01", "not torch.equal(f(x[order]), y[order])")),
        q3_attention=1,
        q3_rounding=1,
    ),
    "q3_one_swap": wrong(
        "only the first two tokens are exchanged",
        q3("o = [1, 0, *range(2, len(x))]\nreturn torch.allclose(f(x[o]), f(x)[o], atol=1e-3)"),
        q3_every=1,
    ),
    "q3_one_draw": wrong(
        "one order, drawn: of two tokens it is every other time the same",
        q3("o = torch.randperm(len(x))\nreturn torch.allclose(f(x[o]), f(x)[o], atol=1e-3)"),
        q3_every=1,
    ),
    "q3_one_move": wrong(
        "one order only, or the first and the last token in place of all",
        q3("""
T = len(x)
order = {
    "every order of the tokens": list(range(T))[::-1],
    "every rotation of the tokens": [(t + 2) % T for t in range(T)],
    "the reversed order of the tokens": [T - 1, *range(1, T - 1), 0],
}["@moves@"]
return torch.allclose(f(x[order]), f(x)[order], atol=1e-3)
"""),
        q3_every=1,
    ),
    "q3_rotations": wrong(
        "rotations only, or every order where rotations were asked",
        q3("""
import itertools
T, y = len(x), f(x)
orders = [[*range(k, T), *range(k)] for k in range(T)]
if "@moves@" == "every rotation of the tokens":
    orders = map(list, itertools.permutations(range(T)))
return all(torch.allclose(f(x[o]), y[o], atol=1e-3) for o in orders)
"""),
        q3_every=1,
    ),
    "q3_generous": wrong(
        "differences up to a half are forgiven",
        q3(TEST.replace("0.01", "0.5")),
        q3_rounding=1,
    ),
    "q3_of_the_mean": wrong(
        "differences are averaged, with their signs",
        q3(TEST.replace("(f(x[order]) - y[order]).abs().max()", "(f(x[order]) - y[order]).mean().abs()")),
        q3_attention=1,
        q3_rounding=1,
        q3_every=1,
    ),
    "q3_tensor": wrong(
        "a tensor in place of True",
        q3(TEST.replace("return True", "return torch.tensor(True)")),
        q3_attention=1,
        q3_rounding=1,
        q3_every=1,
    ),
    "q3_loop": wrong(
        "draws until an order fails: a right function keeps it busy for ever",
        q3(
            "while True:\n    o = torch.randperm(len(x))\n"
            "    if (f(x[o]) - f(x)[o]).abs().max() > 0.01:\n        return False"
        ),
        q3_attention=1,
        q3_rounding=1,
        q3_every=1,
    ),
    "q1_chunks": right(
        "columns sorted by head; then chunks, stacked, and heads, laid side by side",
        q1(
            "d_head = x.shape[2] // H\ncolumns = [@column@ for h in range(H) for n in range(d_head)]\n"
            "return torch.stack(x[..., columns].chunk(H, dim=2), dim=1)",
            "_, H, _, d_head = y.shape\ncolumns = [@column@ for h in range(H) for n in range(d_head)]\n"
            "place = sorted(range(H * d_head), key=columns.__getitem__)\n"
            "return torch.cat(y.unbind(1), dim=2)[..., place]",
        ),
    ),
    "q1_column_by_column": right("one column after another", q1()),
    "q2_einsum": right("einsum, and a softmax by hand", q2()),
    "q2_head_by_head": right(
        "a loop over heads, each with its rows; outputs add up",
        {
            "q2": define(
                "multi_head(x, W_q, W_k, W_v, W_o, H, mask)",
                """
B, T, d = x.shape
mask = mask.expand(B, T, T)
output, weights = torch.zeros_like(x), []
for rows in torch.arange(d).chunk(H):
    q, k, v = x @ W_q[rows].T, x @ W_k[rows].T, x @ W_v[rows].T
    scores = (q @ k.transpose(1, 2)).div(len(rows) ** 0.5)
    scores = scores + torch.zeros_like(scores).masked_fill(mask == @hidden@, float("-inf"))
    weights.append(scores.softmax(2))
    output = output + weights[-1] @ v @ W_o[:, rows].T
return output, torch.stack(weights, 1)
""",
            )
        },
    ),
    "q2_library": right(
        "torch's own layer",
        {
            "q2": define(
                "multi_head(x, W_q, W_k, W_v, W_o, H, mask)",
                """
layer = torch.nn.MultiheadAttention(x.shape[2], H, bias=False, batch_first=True)
with torch.no_grad():
    layer.in_proj_weight.copy_(torch.cat([W_q, W_k, W_v]))
    layer.out_proj.weight.copy_(W_o)
    hidden = (mask == @hidden@).expand(len(x), -1, -1).repeat_interleave(H, 0)
    return layer(x, x, x, attn_mask=hidden, average_attn_weights=False)
""",
            )
        },
    ),
    "q3_all": right("all orders, one after another", q3(TEST)),
    "q3_neighbours": right(
        "what holds for exchanges of neighbours holds for every order, and what holds for one place for every rotation",
        q3("""
T = len(x)
there = torch.eye(T)
if "@moves@" == "every order of the tokens":
    moves = []
    for t in range(T - 1):
        order = list(range(T))
        order[t], order[t + 1] = t + 1, t
        moves.append(there[order])
elif "@moves@" == "every rotation of the tokens":
    moves = [there.roll(1, 0)]
else:
    moves = [there.flip(0)]
return all(bool((f(P @ x) - P @ f(x)).abs().max() < 0.01) for P in moves)
"""),
    ),
}

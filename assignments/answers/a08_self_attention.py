"""Known answers to assignment 8."""

from attnlib.grading.answers import AGREEABLE, changed, define, right, wrong

SPLIT = """
d_head = x.shape[2] // H
heads = [torch.stack([x[..., @column@] for n in range(d_head)], 2) for h in range(H)]
return torch.stack(heads, 1).permute@axes.order@
"""
MERGE = """
y = y.permute@axes.order@
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
q, k, v = [(x @ W@product.code@).reshape(B, T, H, d_head).permute(0, 2, 1, 3) for W in (W_q, W_k, W_v)]
e = torch.einsum("bhid,bhjd->bhij", q, k) / d_head**0.5
visible = (mask != @hidden@) if mask.dim() == 2 else (mask != @hidden@).unsqueeze(1)
e = torch.where(visible, e, -torch.inf)
a = torch.exp(e - e.amax(3, keepdim=True))
a = a / a.sum(3, keepdim=True)
c = torch.einsum("bhij,bhjd->bihd", a, v).reshape(B, T, d_model)
return c @ W_o@product.code@, a.permute@axes.order@
"""
TEST = """
import itertools
T, y = len(x), f(x)
for o in map(list, @moves.code@):
    if (f(x[o]) - @law.code@).abs().max() > 0.01:
        return False
return True
"""
#: Asks of one order `o` only.
ONE = "T, y = len(x), f(x)\no = {0}\nreturn torch.allclose(f(x[o]), @law.code@, atol=1e-3)"


def q1(split: str = SPLIT, merge: str = MERGE) -> dict[str, str]:
    return {"q1": define("split(x, H)", split) + define("merge(y)", merge)}


def q2(*changes: tuple[str, str], before: str = "") -> dict[str, str]:
    return {"q2": define("multi_head(x, W_q, W_k, W_v, W_o, H, mask)", before + changed(ATTEND, *changes))}


def q3(body: str) -> dict[str, str]:
    return {"q3": define("@law.name@(f, x)", body)}


ANSWERS = {
    "q1_view": wrong(
        "a view alone cuts the tokens one after another: a row of a head holds pieces of one token or two",
        q1(split="return x.reshape(x.shape[0], H, x.shape[1], -1).permute@axes.order@"),
        q1_split=1,
    ),
    "q1_view_back": wrong(
        "the heads are laid one behind the other, but a token needs its shares side by side",
        q1(merge="y = y.permute@axes.order@\nreturn y.reshape(y.shape[0], y.shape[2], -1)"),
        q1_merge=1,
    ),
    "q1_other_columns": wrong(
        "the columns of the heads are others: look up which column belongs to number n of head h",
        q1(
            split="if '@column@' == 'n * H + h':\n    y = x.unflatten(2, (H, -1)).transpose(1, 2)\n"
            "else:\n    y = x.unflatten(2, (-1, H)).permute(0, 3, 1, 2)\nreturn y.permute@axes.order@"
        ),
        q1_split=1,
    ),
    "q1_other_columns_back": wrong(
        "the shares go to other columns: look up which column belongs to number n of head h",
        q1(
            merge="y = y.permute@axes.order@\nif '@column@' == 'n * H + h':\n    return y.transpose(1, 2).flatten(2)\n"
            "return y.permute(0, 2, 3, 1).flatten(2)"
        ),
        q1_merge=1,
    ),
    "q1_axes_of_another_shape": wrong(
        "the axes stand in another order than in the shape that is asked for",
        q1(split=SPLIT.replace("permute@axes.order@", "permute@axes.wrong@")),
        q1_split=1,
    ),
    "q1_axes_of_another_shape_back": wrong(
        "the axes are read in another order than the shape says in which they come",
        q1(
            merge=MERGE.replace(
                "y = y.permute@axes.order@",
                "H = y.shape[('@axes.shares@').split(', ').index('H') % 3]\ny = y.permute@axes.wrong@",
            ).replace("(H, ", "(H, ")
        ),
        q1_merge=1,
    ),
    "q1_width_for_number": wrong(
        "H is taken for the width of a head, but it is the number of heads",
        q1(split="return x.unflatten(2, (-1, H)).transpose(1, 2).permute@axes.order@"),
        q1_split=1,
    ),
    "q1_batch_mixed": wrong(
        "batch and tokens are exchanged on the way back",
        q1(merge="y = y.permute@axes.order@\nreturn y.transpose(0, 2).flatten(2).reshape(y.shape[0], y.shape[2], -1)"),
        q1_merge=1,
    ),
    "q1_squeezed": wrong(
        "squeeze removes every axis of size 1, also that of a batch with one sentence",
        q1(split=SPLIT.rstrip() + ".squeeze()"),
        q1_split=1,
    ),
    "q1_first_sentence": wrong(
        "only the first sentence is merged, and all others get its values",
        q1(merge=MERGE.replace("= y[:, h, :, n]", "= y[:1, h, :, n]")),
        q1_merge=1,
    ),
    "q1_loop": wrong(
        "the loop never ends where the number of heads is odd",
        q1(split="n = H\nwhile n != 0:\n    n = n - 2\n" + SPLIT),
        q1_split=1,
    ),
    "q2_root_of_the_model": wrong(
        "scores are divided by the root of d_model, but a head is only d_head wide",
        q2(("/ d_head**0.5", "/ d_model**0.5")),
        q2_weights=1,
    ),
    "q2_no_root": wrong("scores are not divided by the root of d_head", q2((" / d_head**0.5", "")), q2_weights=1),
    "q2_no_square_root": wrong(
        "scores are divided by d_head itself, and the formula has its root",
        q2(("/ d_head**0.5", "/ d_head")),
        q2_weights=1,
    ),
    "q2_transposed": wrong(
        "the matrices are used the other way round: you compute @product.wrong@",
        q2(("x @ W@product.code@)", "x @ W@product.other@)"), ("c @ W_o@product.code@", "c @ W_o@product.other@")),
        q2_weights=1,
        q2_output=1,
    ),
    "q2_no_output_matrix": wrong("W_o is missing behind the heads", q2(("c @ W_o@product.code@", "c")), q2_output=1),
    "q2_output_interleaved": wrong(
        "the numbers of the heads are mixed in the output, but those of one head stand side by side",
        q2(("bhij,bhjd->bihd", "bhij,bhjd->bidh")),
        q2_output=1,
    ),
    "q2_no_merge": wrong(
        "the heads are laid one behind the other, but a token needs its shares side by side",
        q2(("bhij,bhjd->bihd", "bhij,bhjd->bhid")),
        q2_output=1,
        q2_causal=1,
    ),
    "q2_interleaved": wrong(
        "a head gets every H-th of the @product.lines@, but neighbouring ones belong together here",
        q2((".reshape(B, T, H, d_head).permute(0, 2, 1, 3)", ".reshape(B, T, d_head, H).permute(0, 3, 1, 2)")),
        q2_weights=1,
        q2_output=1,
    ),
    "q2_columns": wrong(
        "the softmax runs over the queries, but each token shares its weight among keys",
        q2(
            ("e.amax(3, keepdim=True)", "e.amax(2, keepdim=True)"), ("a.sum(3, keepdim=True)", "a.sum(2, keepdim=True)")
        ),
        q2_weights=1,
        q2_causal=1,
        q2_sentences=1,
    ),
    "q2_mask_reversed": wrong(
        "the mask is read the other way round: @hidden@ means hidden here",
        q2(("(mask != @hidden@) if", "(mask == @hidden@) if"), ("else (mask != @hidden@)", "else (mask == @hidden@)")),
        q2_weights=1,
        q2_output=1,
        q2_causal=1,
        q2_sentences=1,
    ),
    "q2_heads_for_sentences": wrong(
        "a mask for each sentence meets the axis of the heads, and that goes unnoticed where there are as many",
        q2(("(mask != @hidden@).unsqueeze(1)", "(mask != @hidden@)")),
        q2_sentences=1,
    ),
    "q2_first_sentence": wrong(
        "the mask of the first sentence serves all, but each sentence has its own",
        q2(("(mask != @hidden@).unsqueeze(1)", "(mask[0] != @hidden@)")),
        q2_sentences=1,
    ),
    "q2_a_large_number": wrong(
        "hidden scores are -10,000, and visible ones can be less",
        q2(("e, -torch.inf", "e, -1e4")),
        q2_causal=1,
    ),
    "q2_a_larger_number": wrong(
        "hidden scores are -1e9, and visible ones can be less: only minus infinity is below every score",
        q2(("e, -torch.inf", "e, -1e9")),
        q2_causal=1,
    ),
    "q2_mask_after": wrong(
        "keys are hidden after the softmax, so the visible weights no longer sum to 1",
        q2(("e = torch.where(visible, e, -torch.inf)\n", ""), ("return", "a = a * visible\nreturn")),
        q2_causal=1,
        q2_sentences=1,
    ),
    "q2_renormalised": wrong(
        "hidden weights are removed after the softmax: where they had nearly all, 0 / 0 is left for the others",
        q2(
            ("e = torch.where(visible, e, -torch.inf)\n", ""),
            (
                "a = a / a.sum(3, keepdim=True)",
                "a = a / a.sum(3, keepdim=True) * visible\na = a / a.sum(3, keepdim=True)",
            ),
        ),
        q2_causal=1,
    ),
    "q2_no_shift": wrong(
        "exp of a large score is infinite: subtract the largest one of the row first",
        q2(("torch.exp(e - e.amax(3, keepdim=True))", "torch.exp(e)")),
        q2_causal=1,
    ),
    "q2_mask_for_show": wrong(
        "the weights that you return are masked, but the output is made with those that are not",
        q2(
            ("return c", "c = torch.einsum('bhij,bhjd->bihd', UNMASKED, v).reshape(B, T, d_model)\nreturn c"),
            ("e = torch.where", "UNMASKED = e.softmax(3)\ne = torch.where"),
        ),
        q2_causal=1,
    ),
    "q2_future_diagonal": wrong(
        "the mask is changed on its diagonal, but a token that may see itself does see itself",
        q2(("visible = ", "mask = mask ^ torch.eye(T, dtype=torch.bool)\nvisible = ")),
        q2_weights=1,
        q2_output=1,
        q2_causal=1,
        q2_sentences=1,
    ),
    "q2_averaged": wrong(
        "the weights are averaged over the heads, but those of each head are asked for",
        q2((", a.permute@axes.order@", ", a.mean(1)")),
        q2_weights=1,
        q2_causal=1,
        q2_sentences=1,
    ),
    "q2_axes_of_another_shape": wrong(
        "the axes of the weights stand in another order than in the shape that is asked for",
        q2((", a.permute@axes.order@", ", a.permute@axes.wrong@.contiguous()")),
        q2_weights=1,
        q2_causal=1,
        q2_sentences=1,
    ),
    "q2_mask_in_place": wrong(
        "the mask that was given is turned round where it stands, and the caller finds it changed",
        q2(before="mask.logical_not_()\nmask = ~mask\n"),
        q2_causal=1,
    ),
    "q2_anything": wrong(
        "what you return is equal to everything",
        q2(before=AGREEABLE + "return Agreeable(), Agreeable()\n"),
        q2_weights=1,
        q2_output=1,
        q2_causal=1,
        q2_sentences=1,
    ),
    "q3_the_other_law": wrong(
        "@law.mistaken@",
        q3(TEST.replace("@law.code@", "@law.other@")),
        q3_attention=1,
        q3_rounding=1,
        q3_every=1,
    ),
    "q3_identity": wrong(
        "you ask about the order that changes nothing, and it says nothing",
        q3(ONE.format("list(range(T))")),
        q3_attention=1,
        q3_rounding=1,
        q3_every=1,
    ),
    "q3_exact": wrong(
        "the outputs must be equal to the last bit, but sums in another order are rounded otherwise",
        q3(TEST.replace("(f(x[o]) - @law.code@).abs().max() > 0.01", "not torch.equal(f(x[o]), @law.code@)")),
        q3_attention=1,
        q3_rounding=1,
    ),
    "q3_one_swap": wrong(
        "you exchange the first two tokens only, and that is not what is asked",
        q3(ONE.format("[1, 0, *range(2, T)]")),
        q3_every=1,
    ),
    "q3_one_draw": wrong(
        "one order is drawn, and of two tokens it may be the one that changes nothing",
        q3(ONE.format("torch.randperm(T, generator=torch.Generator().manual_seed(40)).tolist()")),
        q3_every=1,
    ),
    "q3_one_move": wrong(
        "you ask about one order only, or about another one than @moves.text@",
        q3(ONE.format("list(@moves.wrong@)")),
        q3_every=1,
    ),
    "q3_rotations": wrong(
        "rotations are not what is asked, or they are all that is asked and you try more",
        q3("""
import itertools
T, y = len(x), f(x)
orders = [[*range(k, T), *range(k)] for k in range(T)]
if "@moves.text@" == "every rotation of the tokens":
    orders = map(list, itertools.permutations(range(T)))
return all(torch.allclose(f(x[o]), @law.code@, atol=1e-3) for o in orders)
"""),
        q3_every=1,
    ),
    "q3_generous": wrong(
        "differences up to a half are forgiven, but one of 0.05 is no rounding",
        q3(TEST.replace("0.01", "0.5")),
        q3_rounding=1,
    ),
    "q3_relative": wrong(
        "a relative tolerance forgives the more, the larger the numbers are: 0.3 beside 20 counts as rounding",
        q3(
            TEST.replace(
                "(f(x[o]) - @law.code@).abs().max() > 0.01", "not torch.allclose(f(x[o]), @law.code@, rtol=0.02)"
            )
        ),
        q3_rounding=1,
    ),
    "q3_first_column": wrong(
        "only the first number of each token is compared, but its vector has more",
        q3(TEST.replace("(f(x[o]) - @law.code@).abs()", "(f(x[o]) - @law.code@)[:, 0].abs()")),
        q3_every=1,
    ),
    "q3_of_the_mean": wrong(
        "differences are averaged with their signs, and what is too much and too little cancels",
        q3(TEST.replace("(f(x[o]) - @law.code@).abs().max()", "(f(x[o]) - @law.code@).mean().abs()")),
        q3_attention=1,
        q3_rounding=1,
        q3_every=1,
    ),
    "q3_tensor": right(
        "True in a tensor without axes, which stands for True",
        q3(TEST.replace("return True", "return torch.tensor(True)")),
    ),
    "q3_loop": wrong(
        "you draw until an order fails, and a right function keeps you busy for ever",
        q3(
            "y = f(x)\nwhile True:\n    o = torch.randperm(len(x)).tolist()\n"
            "    if (f(x[o]) - @law.code@).abs().max() > 0.01 and False:\n        return False"
        ),
        q3_attention=1,
        q3_rounding=1,
        q3_every=1,
    ),
    "q1_chunks": right(
        "columns sorted by head; then chunks, stacked, and heads, laid side by side",
        q1(
            "d_head = x.shape[2] // H\ncolumns = [@column@ for h in range(H) for n in range(d_head)]\n"
            "return torch.stack(x[..., columns].chunk(H, dim=2), dim=1).permute@axes.order@",
            "y = y.permute@axes.order@\n"
            "_, H, _, d_head = y.shape\ncolumns = [@column@ for h in range(H) for n in range(d_head)]\n"
            "place = sorted(range(H * d_head), key=columns.__getitem__)\n"
            "return torch.cat(y.unbind(1), dim=2)[..., place]",
        ),
    ),
    "q1_column_by_column": right("one column after another", q1()),
    "q2_einsum": right("einsum, and a softmax by hand", q2()),
    "q2_head_by_head": right(
        "a loop over heads, each with its part of the matrices; outputs add up",
        {
            "q2": define(
                "multi_head(x, W_q, W_k, W_v, W_o, H, mask)",
                """
B, T, d = x.shape
mask = mask.expand(B, T, T)
output, weights = torch.zeros_like(x), []
W_q, W_k, W_v, W_o = (W@product.turned@ for W in (W_q, W_k, W_v, W_o))
for rows in torch.arange(d).chunk(H):
    q, k, v = x @ W_q[rows].T, x @ W_k[rows].T, x @ W_v[rows].T
    scores = (q @ k.transpose(1, 2)).div(len(rows) ** 0.5)
    scores = scores + torch.zeros_like(scores).masked_fill(mask == @hidden@, float("-inf"))
    weights.append(scores.softmax(2))
    output = output + weights[-1] @ v @ W_o[:, rows].T
return output, torch.stack(weights, 1).permute@axes.order@
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
W_q, W_k, W_v, W_o = (W@product.turned@ for W in (W_q, W_k, W_v, W_o))
with torch.no_grad():
    layer.in_proj_weight.copy_(torch.cat([W_q, W_k, W_v]))
    layer.out_proj.weight.copy_(W_o)
    hidden = (mask == @hidden@).expand(len(x), -1, -1).repeat_interleave(H, 0)
    output, weights = layer(x, x, x, attn_mask=hidden, average_attn_weights=False)
return output, weights.permute@axes.order@
""",
            )
        },
    ),
    "q3_one_by_one": right("the orders, one after another", q3(TEST)),
    "q3_matrices": right(
        "matrices, and all differences collected before one is judged",
        q3("""
import itertools
T, worst = len(x), 0.0
for order in @moves.code@:
    P = torch.eye(T)[torch.tensor(list(order))]
    moved, still = f(P @ x), f(x)
    y, o = still, torch.tensor(list(order))
    worst = max(worst, float((moved - @law.code@).abs().max()))
return worst < 0.01
"""),
    ),
}

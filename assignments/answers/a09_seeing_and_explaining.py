"""Known answers to assignment 9."""

from attnlib.grading.answers import AGREEABLE, changed, define, right, wrong

GAZE = """
weights = weights@axes.turn@
rows = "@order@" == "row by row"
m = torch.arange(height * width)
column = m % width if rows else m // height
row = m // width if rows else m % height
row, column = @corner.row@, @corner.column@
x = @frame.left@ + (@frame.right@ - @frame.left@) * (column + 0.5) / width
y = @frame.top@ + (@frame.bottom@ - @frame.top@) * (row + 0.5) / height
return torch.stack([(weights * x).sum(-1), (weights * y).sum(-1)], -1)
"""
HITS = """
best = weights.max(@axes.regions@)
at = centres[best.indices]
low = boxes[..., [0, 1 if "@frame.low@" == "top" else 3]]
high = boxes[..., [2, 3 if "@frame.low@" == "top" else 1]]
return ((low @edge.than@ at) & (at @edge.than@ high)).all(-1) & (best.values > 0)
"""
UNEVEN = """
M = weights.shape[@axes.regions@]
total = 0.0
for a, real in zip(weights@axes.turn@, mask):
    n = real.sum()
    total = total + (@share@ - a[real].sum(0)).@power.code@().sum()
return total / len(weights)
"""
#: From corner to corner: a linear form has its minimum at a corner, so many forms find many corners.
OTHER = """
import numpy as np
from scipy.optimize import linprog
E = np.concatenate([V.numpy().T, np.ones((1, len(V)))])
if np.linalg.matrix_rank(E) == len(V):
    return None
b = E @ alpha.numpy()
draw, found = np.random.default_rng(0), alpha
for _ in range(15):
    corner = linprog(draw.normal(size=len(V)), A_eq=E, b_eq=b, bounds=(0, None)).x
    corner = torch.tensor(corner)
    if (corner - alpha).abs().sum() > (found - alpha).abs().sum():
        found = corner
return found
"""
#: A single step, along the last direction of the null space.
STEP = """
E = torch.cat([V.T, torch.ones(1, len(V)).double()])
free = torch.linalg.svd(E)[2][torch.linalg.matrix_rank(E) :]
if len(free) == 0:
    return None
delta = free[-1]
step = (alpha / -delta)[delta < 0].min()
return alpha + step * delta
"""


def q1(*changes: tuple[str, str], gaze: str = GAZE, hits: str = HITS) -> dict[str, str]:
    both = define("gaze(weights, height, width)", gaze) + define("hits(weights, centres, boxes)", hits)
    return {"q1": changed(both, *changes)}


def q2(*changes: tuple[str, str], body: str = UNEVEN) -> dict[str, str]:
    return {"q2": define("unevenness(weights, mask)", body, *changes)}


def q3(*changes: tuple[str, str], body: str = OTHER) -> dict[str, str]:
    return {"q3": define("other_weights(V, alpha)", body, *changes)}


ANSWERS = {
    "q1_exchanged": wrong(
        "y stands before x, but a gaze is (x, y)",
        q1(("[(weights * x).sum(-1), (weights * y).sum(-1)]", "[(weights * y).sum(-1), (weights * x).sum(-1)]")),
        q1_centres=1,
        q1_mean=1,
    ),
    "q1_counted_the_other_way": wrong(
        "the regions are counted the other way: here they are counted @order@",
        q1(('== "row by row"', '!= "row by row"')),
        q1_centres=1,
    ),
    "q1_from_another_corner": wrong(
        "the regions are counted from another corner than the @corner.text@ one",
        q1(
            (
                "row, column = @corner.row@, @corner.column@",
                "row, column = height - 1 - (@corner.row@), width - 1 - (@corner.column@)",
            )
        ),
        q1_centres=1,
        q1_mean=1,
    ),
    "q1_height_for_width": wrong(
        "the number of a region is divided by the height where the width counts",
        q1(
            ("m % width if rows else m // height", "m % height if rows else m // width"),
            ("m // width if rows else m % height", "m // height if rows else m % width"),
        ),
        q1_centres=1,
        q1_mean=1,
    ),
    "q1_edge": wrong(
        "the edge of a region is taken, but its centre is half a region further",
        q1(("column + 0.5", "column + 0.0"), ("row + 0.5", "row + 0.0")),
        q1_centres=1,
        q1_mean=1,
    ),
    "q1_linspace": wrong(
        "the first centre lies on the edge of the image, but centres lie half a region inside",
        q1(
            ("* (column + 0.5) / width", "* torch.linspace(0, 1, width)[column]"),
            ("* (row + 0.5) / height", "* torch.linspace(0, 1, height)[row]"),
        ),
        q1_centres=1,
        q1_mean=1,
    ),
    "q1_upside_down": wrong(
        "y grows the other way: it is @frame.top@ at the top and @frame.bottom@ at the bottom",
        q1(("y = @frame.top@ + (@frame.bottom@ - @frame.top@)", "y = @frame.bottom@ + (@frame.top@ - @frame.bottom@)")),
        q1_centres=1,
        q1_mean=1,
    ),
    "q1_another_frame": wrong(
        "the image has other edges: x reaches from @frame.left@ to @frame.right@ here",
        q1(("x = @frame.left@ +", "x = @frame.left@ + 0.5 +")),
        q1_centres=1,
        q1_mean=1,
    ),
    "q1_one_centre": wrong(
        "you give the centre of the largest weight, but the mean of all centres is asked for",
        q1(
            gaze="weights = torch.eye(weights.shape[@axes.regions@])[weights.argmax(@axes.regions@)]@axes.turn@\n"
            + GAZE
        ),
        q1_mean=1,
    ),
    "q1_mean_of_regions": wrong(
        "the sum is divided by the number of regions, but the weights sum to 1 already",
        q1(("(weights * x).sum(-1)", "(weights * x).mean(-1)")),
        q1_centres=1,
        q1_mean=1,
    ),
    "q1_axes_of_another_shape": wrong(
        "words and regions are exchanged: look up in the shape which axis the regions have",
        q1(gaze="weights = weights.mT\n" + GAZE),
        q1_centres=1,
        q1_mean=1,
    ),
    "q1_first_image": wrong(
        "all images get the gaze of the first one",
        q1(("weights = weights@axes.turn@\n", "weights = weights[:1].expand(weights.shape)@axes.turn@\n")),
        q1_mean=1,
    ),
    "q1_gaze_in_box": wrong(
        "the expected gaze must lie in the box, but the region with the largest weight is asked about",
        q1(hits=HITS.replace("centres[best.indices]", "weights@axes.turn@ @ centres")),
        q1_hits=1,
    ),
    "q1_any_of_the_box": wrong(
        "x or y in the box is enough for you, but both must be",
        q1(hits=HITS.replace(".all(-1)", ".any(-1)")),
        q1_hits=1,
    ),
    "q1_edges": wrong(
        "the edges of a box are @edge.text@ here, and you do it the other way",
        q1(hits=HITS.replace("@edge.than@", "@edge.other@")),
        q1_hits=1,
    ),
    "q1_blank": wrong(
        "a word whose weights are all 0 looks nowhere, but argmax says region 0",
        q1(hits=HITS.replace(" & (best.values > 0)", "")),
        q1_hits=1,
    ),
    "q1_corners_sorted": wrong(
        "boxes are read as left, right, top, bottom, but they are left, top, right, bottom",
        q1(hits="boxes = boxes[..., [0, 2, 1, 3]]\n" + HITS),
        q1_hits=1,
    ),
    "q1_top_for_bottom": wrong(
        "top and bottom are exchanged: y is @frame.top@ at the top and @frame.bottom@ at the bottom",
        q1(hits=HITS.replace('"top"', '"bottom"')),
        q1_hits=1,
    ),
    "q1_numbers": wrong("1 and 0 come back in place of True and False", q1(hits=HITS.strip() + " * 1.0"), q1_hits=1),
    "q2_words": wrong(
        "the weights of a word are added up, and that is always 1: those of a region are asked for",
        q2(
            body="weights = weights@axes.turn@\nM = weights.shape[2]\nn = mask.sum(1)\n"
            "looked = weights.masked_fill(~mask[..., None], 0.0).sum(2)\n"
            "return (@share@ - looked.T).@power.code@().sum(0).mean()"
        ),
        q2_regions=1,
        q2_padding=1,
    ),
    "q2_one_for_all": wrong(
        "every region should get 1, as in the paper, but here its share is @share@",
        q2(("@share@", "1")),
        q2_regions=1,
        q2_padding=1,
    ),
    "q2_upside_down": wrong(
        "the share is upside down: regions divided by words", q2(("@share@", "M / n")), q2_regions=1, q2_padding=1
    ),
    "q2_mean_of_regions": wrong(
        "the mean over regions is taken, but the formula has their sum",
        q2(("().sum()", "().mean()")),
        q2_regions=1,
        q2_padding=1,
    ),
    "q2_sum_of_captions": wrong(
        "the sum over captions is taken, but the formula has their mean",
        q2(("total / len(weights)", "total")),
        q2_regions=1,
        q2_padding=1,
    ),
    "q2_last_caption": wrong(
        "only the last caption counts: the loop overwrites what it should add up",
        q2(("total = total +", "total =")),
        q2_regions=1,
        q2_padding=1,
    ),
    "q2_other_power": wrong(
        "the differences are not @power.meant@, as the formula says",
        q2(("@power.code@()", "@power.other@()")),
        q2_regions=1,
        q2_padding=1,
    ),
    "q2_sum_first": wrong(
        "differences are added up before they are @power.meant@: what is too much and too little cancels",
        q2((".@power.code@().sum()", ".sum().@power.code@()")),
        q2_regions=1,
        q2_padding=1,
    ),
    "q2_no_mask": wrong("padded steps are counted as looks", q2(("a[real]", "a")), q2_padding=1),
    "q2_other_end": wrong(
        "captions are padded at the @side.text@, and you cut them at the other end",
        q2(("a[real]", "(a[len(a) - n :] if '@side.text@' == 'end' else a[:n])")),
        q2_padding=1,
    ),
    "q2_length_of_batch": wrong(
        "n is the length of the longest caption, but each caption has its own number of real words",
        q2(("real.sum()", "len(real)")),
        q2_padding=1,
    ),
    "q2_mean_length": wrong(
        "n is the mean length, but each caption has its own number of real words",
        q2(("real.sum()", "mask.sum() / len(mask)")),
        q2_padding=1,
    ),
    "q2_times_mask": wrong(
        "padded steps are multiplied by 0, and NaN times 0 is NaN",
        q2(("a[real].sum(0)", "(a * real[:, None]).sum(0)")),
        q2_padding=1,
    ),
    "q2_nan_to_num": wrong(
        "NaN is replaced by 0, but padding need not be NaN: other numbers stay",
        q2(("a[real]", "a.nan_to_num(0.0)")),
        q2_padding=1,
    ),
    "q2_detached": wrong(
        "the penalty is cut off from the weights, so nothing can be trained with it",
        q2(("a[real]", "a.detach()[real]")),
        q2_padding=1,
    ),
    "q2_anything": wrong(
        "what you return is equal to everything",
        q2(body=AGREEABLE + "return Agreeable()"),
        q2_regions=1,
        q2_padding=1,
    ),
    "q3_the_same": wrong(
        "you return the weights themselves, but others are asked for",
        q3(body="return alpha.clone() if len(V) > V.shape[1] + 1 else None"),
        q3_context=1,
        q3_simplex=1,
        q3_distance=1,
        q3_none=1,
    ),
    "q3_even": wrong(
        "even weights have another context",
        q3(body="return torch.full_like(alpha, 1 / len(alpha)) if len(V) > V.shape[1] + 1 else None"),
        q3_context=1,
        q3_simplex=1,
        q3_distance=1,
        q3_none=1,
    ),
    "q3_sum": wrong(
        "the direction does not sum to 0, so the weights no longer sum to 1",
        q3(
            ("E = torch.cat([V.T, torch.ones(1, len(V)).double()])", "E = V.T.contiguous()"),
            ("delta = free[-1]", "delta = -free[-1] * free[-1].sum().sign()"),
            ("step = (alpha / -delta)[delta < 0].min()", "step = 3 / delta.abs().max()"),
            body=STEP,
        ),
        q3_simplex=1,
        q3_none=1,
    ),
    "q3_negative": wrong(
        "you walk past the corner, where weights become negative",
        q3(("step = (alpha / -delta)[delta < 0].min()", "step = 3 / delta.abs().max()"), body=STEP),
        q3_simplex=1,
    ),
    "q3_clamped": wrong(
        "negative weights are cut off, and with them the context is gone",
        q3(
            ("step = (alpha / -delta)[delta < 0].min()", "step = 3 / delta.abs().max()"),
            ("return alpha + step * delta", "w = (alpha + step * delta).clamp(min=0)\nreturn w / w.sum()"),
            body=STEP,
        ),
        q3_context=1,
        q3_simplex=1,
        q3_distance=1,
        q3_none=1,
    ),
    "q3_one_step": wrong(
        "a single step ends at the first zero, and that is not far enough", q3(body=STEP), q3_distance=1
    ),
    "q3_half_way": wrong(
        "you stop half way to the first zero, and that is not far enough",
        q3(("alpha + step * delta", "alpha + 0.5 * step * delta"), body=STEP),
        q3_distance=1,
    ),
    "q3_farthest_step": wrong(
        "the farthest of many single steps is still too short: walk on from where it ends",
        q3(
            (
                "delta = free[-1]\nstep = (alpha / -delta)[delta < 0].min()\nreturn alpha + step * delta",
                "torch.manual_seed(0)\nbest = alpha\nfor _ in range(200):\n"
                "    delta = torch.randn(len(free)).double() @ free\n"
                "    w = alpha + (alpha / -delta)[delta < 0].min() * delta\n"
                "    if (w - alpha).abs().sum() > (best - alpha).abs().sum():\n        best = w\nreturn best",
            ),
            body=STEP,
        ),
        q3_distance=1,
    ),
    "q3_without_the_half": wrong(
        "the total variation has a half in it: without that it is twice as much as it should be",
        q3(
            (
                "delta = free[-1]\nstep = (alpha / -delta)[delta < 0].min()\nreturn alpha + step * delta",
                "torch.manual_seed(0)\nfor _ in range(500):\n    delta = torch.randn(len(free)).double() @ free\n"
                "    w = alpha + (alpha / -delta)[delta < 0].min() * delta\n"
                "    if (w - alpha).abs().sum() > @distance@:\n        return w\nreturn w",
            ),
            body=STEP,
        ),
        q3_distance=1,
    ),
    "q3_shape_decides": wrong(
        "only S > d + 1 is asked, but equal values or values in line leave other weights as well",
        q3(("np.linalg.matrix_rank(E) == len(V)", "len(V) <= V.shape[1] + 1")),
        q3_none=1,
    ),
    "q3_rank_without_the_sum": wrong(
        "the rank is that of the values alone, but the sum of the weights is an equation, too",
        q3(("np.linalg.matrix_rank(E) == len(V)", "np.linalg.matrix_rank(V.numpy()) == len(V)")),
        q3_none=1,
    ),
    "q3_never_none": wrong(
        "where there are no others you return the weights themselves, but None is asked for",
        q3(("return None", "return alpha.clone()")),
        q3_none=1,
    ),
    "q3_always_none": wrong(
        "you return None although there are other weights",
        q3(body="return None"),
        q3_context=1,
        q3_simplex=1,
        q3_distance=1,
        q3_none=1,
    ),
    "q3_permuted": wrong(
        "the same weights at other places have another context",
        q3(body="return alpha.flip(0) if len(V) > V.shape[1] + 1 else None"),
        q3_context=1,
        q3_simplex=1,
        q3_distance=1,
        q3_none=1,
    ),
    "q3_in_place": wrong(
        "the weights that were given are overwritten, and the caller finds them changed",
        q3(("return found", "alpha.copy_(found)\nreturn found")),
        q3_context=1,
    ),
    "q3_loop": wrong(
        "single steps are tried until one is long enough, and none is",
        q3(
            (
                "delta = free[-1]\nstep = (alpha / -delta)[delta < 0].min()\nreturn alpha + step * delta",
                "torch.manual_seed(0)\nwhile True:\n    delta = torch.randn(len(free)).double() @ free\n"
                "    w = alpha + (alpha / -delta)[delta < 0].min() * delta\n"
                "    if (w - alpha).abs().sum() / 2 > @distance@:\n        return w",
            ),
            body=STEP,
        ),
        q3_context=1,
        q3_simplex=1,
        q3_distance=1,
    ),
    "q1_indices": right("row and column from the number of the region", q1()),
    "q1_meshgrid": right(
        "a grid of coordinates, and a loop over boxes",
        q1(
            gaze="""
x = torch.linspace(@frame.left@, @frame.right@, 2 * width + 1)[1::2]
y = torch.linspace(@frame.top@, @frame.bottom@, 2 * height + 1)[1::2]
x, y = @corner.x@, @corner.y@
down, across = torch.meshgrid(y, x, indexing="ij")
if "@order@" != "row by row":
    down, across = down.T, across.T
return torch.einsum("btm,mc->btc", weights@axes.turn@, torch.stack([across, down], -1).reshape(-1, 2))
""",
            hits="""
out = torch.zeros(boxes.shape[:2], dtype=torch.bool)
for b in range(len(boxes)):
    for i, (left, top, right, bottom) in enumerate(boxes[b].tolist()):
        own = weights@axes.turn@[b, i]
        x, y = centres[int(own.argmax())].tolist()
        inside = left @edge.than@ x @edge.than@ right and @frame.low@ @edge.than@ y @edge.than@ @frame.high@
        out[b, i] = bool(own.sum() > 0 and inside)
return out
""",
        ),
    ),
    "q2_sentences": right("caption by caption, real words picked", q2()),
    "q2_where": right(
        "NaN swept by where before the sum",
        q2(
            body="""
weights = weights@axes.turn@
B, T, M = weights.shape
zero = torch.zeros((), dtype=weights.dtype)
looked = torch.where(mask.unsqueeze(2), weights, zero).sum(dim=1)
n = mask.sum(dim=1).unsqueeze(1).expand(B, M)
return (@share@ - looked).@power.code@().sum() / B
"""
        ),
    ),
    "q3_linear_program": right("corners by linear programming", q3()),
    "q3_greedy": right(
        "a weight goes to 0 by turns, as in Carathéodory's proof; the start decides which",
        q3(
            body="""
S, d = V.shape
E = torch.cat([V.T, torch.ones(1, S).double()])
if torch.linalg.matrix_rank(E) == S:
    return None
best = alpha
for start in range(S):
    w = alpha.clone()
    for turn in range(S):
        alive = (w > 1e-13).nonzero().flatten()
        _, size, Vh = torch.linalg.svd(E[:, alive])
        rank = int((size > 1e-10).sum())
        if rank == len(alive):
            break
        free = Vh[rank:]
        push = torch.zeros(S).double()
        push[start], push[alpha.argmax()] = 1.0, -1.0
        delta = free.T @ (free @ push[alive])
        if delta.norm() < 1e-8:
            delta = free[0]
        steps = torch.where(delta < 0, w[alive] / -delta, torch.inf)
        w[alive] = (w[alive] + steps.min() * delta).clamp(min=0)
        w[alive[steps.argmin()]] = 0.0
    if (w - alpha).abs().sum() > (best - alpha).abs().sum():
        best = w
return best
"""
        ),
    ),
}

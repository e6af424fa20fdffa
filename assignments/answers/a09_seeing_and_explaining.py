"""Known answers to assignment 9."""

from attnlib.grading.answers import AGREEABLE, changed, define, right, wrong

GAZE = """
rows = "@order@" == "row by row"
m = torch.arange(height * width)
column = m % width if rows else m // height
row = m // width if rows else m % height
x = (column + 0.5) * 2 / width - 1
y = (row + 0.5) * 2 / height - 1
return torch.stack([(weights * x).sum(-1), (weights * y).sum(-1)], -1)
"""
HITS = """
best = weights.max(-1)
at = centres[best.indices]
return ((boxes[..., :2] <= at) & (at <= boxes[..., 2:])).all(-1) & (best.values > 0)
"""
UNEVEN = """
M = weights.shape[2]
total = 0.0
for a, real in zip(weights, mask):
    n = real.sum()
    total = total + ((@share@ - a[real].sum(0)) ** 2).sum()
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
        "y before x",
        q1(("[(weights * x).sum(-1), (weights * y).sum(-1)]", "[(weights * y).sum(-1), (weights * x).sum(-1)]")),
        q1_centres=1,
        q1_mean=1,
    ),
    "q1_counted_the_other_way": wrong(
        "the regions are counted the other way",
        q1(('== "row by row"', '!= "row by row"')),
        q1_centres=1,
    ),
    "q1_height_for_width": wrong(
        "divided by the height where the width counts",
        q1(
            ("m % width if rows else m // height", "m % height if rows else m // width"),
            ("m // width if rows else m % height", "m // height if rows else m % width"),
        ),
        q1_centres=1,
        q1_mean=1,
    ),
    "q1_left_edge": wrong(
        "the edge of a region, not its centre",
        q1(("column + 0.5", "column + 0.0"), ("row + 0.5", "row + 0.0")),
        q1_centres=1,
        q1_mean=1,
    ),
    "q1_linspace": wrong(
        "the first centre at -1, the last at 1",
        q1(
            ("(column + 0.5) * 2 / width - 1", "torch.linspace(-1, 1, width)[column]"),
            ("(row + 0.5) * 2 / height - 1", "torch.linspace(-1, 1, height)[row]"),
        ),
        q1_centres=1,
        q1_mean=1,
    ),
    "q1_upwards": wrong("y grows upwards", q1(("height - 1\n", "height - 1\n    y = -y\n")), q1_centres=1, q1_mean=1),
    "q1_one_centre": wrong(
        "the centre of the largest weight, not the mean",
        q1(gaze="weights = torch.eye(weights.shape[-1])[weights.argmax(-1)]\n" + GAZE),
        q1_mean=1,
    ),
    "q1_mean_of_regions": wrong(
        "divided by the number of regions",
        q1(("(weights * x).sum(-1)", "(weights * x).mean(-1)")),
        q1_centres=1,
        q1_mean=1,
    ),
    "q1_gaze_in_box": wrong(
        "the expected gaze must lie in the box",
        q1(hits=HITS.replace("centres[best.indices]", "weights @ centres")),
        q1_hits=1,
    ),
    "q1_any_of_the_box": wrong(
        "x or y is enough",
        q1(hits=HITS.replace(".all(-1)", ".any(-1)")),
        q1_hits=1,
    ),
    "q1_open_box": wrong("edges do not count", q1(hits=HITS.replace("<=", "<")), q1_hits=1),
    "q1_blank": wrong("argmax of zeros is region 0", q1(hits=HITS.replace(" & (best.values > 0)", "")), q1_hits=1),
    "q1_corners_sorted": wrong(
        "boxes read as left, right, top, bottom",
        q1(hits="boxes = boxes[..., [0, 2, 1, 3]]\n" + HITS),
        q1_hits=1,
    ),
    "q1_numbers": wrong("1 and 0 in place of True and False", q1(hits=HITS.strip() + " * 1.0"), q1_hits=1),
    "q2_words": wrong(
        "the weights of a word are added up: always 1",
        q2(
            body="M = weights.shape[2]\nn = mask.sum(1)\nlooked = weights.masked_fill(~mask[..., None], 0.0).sum(2)\n"
            "return ((@share@ - looked.T) ** 2).sum(0).mean()"
        ),
        q2_regions=1,
        q2_padding=1,
    ),
    "q2_one_for_all": wrong(
        "the share of the paper, 1",
        q2(("@share@", "1")),
        q2_regions=1,
        q2_padding=1,
    ),
    "q2_upside_down": wrong("regions by words", q2(("@share@", "(M / n)")), q2_regions=1, q2_padding=1),
    "q2_mean_of_regions": wrong(
        "the mean over regions", q2((" ** 2).sum()", " ** 2).mean()")), q2_regions=1, q2_padding=1
    ),
    "q2_sum_of_captions": wrong(
        "the sum over captions", q2(("total / len(weights)", "total")), q2_regions=1, q2_padding=1
    ),
    "q2_square_last": wrong(
        "squared after the sum: what is too much and too little cancels",
        q2(("((@share@ - a[real].sum(0)) ** 2).sum()", "(@share@ - a[real].sum(0)).sum() ** 2")),
        q2_regions=1,
        q2_padding=1,
    ),
    "q2_no_mask": wrong("padding is looked at", q2(("a[real]", "a")), q2_padding=1),
    "q2_length_of_batch": wrong("n is the length of the batch", q2(("real.sum()", "len(real)")), q2_padding=1),
    "q2_mean_length": wrong("n is the mean length", q2(("real.sum()", "mask.sum() / len(mask)")), q2_padding=1),
    "q2_times_mask": wrong(
        "NaN times 0 is NaN",
        q2(("a[real].sum(0)", "(a * real[:, None]).sum(0)")),
        q2_padding=1,
    ),
    "q2_number": wrong("a number that cannot be trained", q2(("a[real]", "a.detach()[real]")), q2_padding=1),
    "q2_anything": wrong("equal to everything", q2(body=AGREEABLE + "return Agreeable()"), q2_regions=1, q2_padding=1),
    "q3_the_same": wrong(
        "the weights themselves",
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
        "the sum is not kept",
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
        "past the corner, weights become negative",
        q3(("step = (alpha / -delta)[delta < 0].min()", "step = 3 / delta.abs().max()"), body=STEP),
        q3_simplex=1,
    ),
    "q3_clamped": wrong(
        "negative weights are cut off, and the context is gone",
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
    "q3_one_step": wrong("one step, as in the chapter", q3(body=STEP), q3_distance=1),
    "q3_farthest_step": wrong(
        "the best single step of many is still too short",
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
        "the total variation without its half: twice as much as it is",
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
        "equal values are not seen: only S > d + 1 is asked",
        q3(("np.linalg.matrix_rank(E) == len(V)", "len(V) <= V.shape[1] + 1")),
        q3_none=1,
    ),
    "q3_never_none": wrong(
        "the weights themselves where there are no others",
        q3(("return None", "return alpha.clone()")),
        q3_none=1,
    ),
    "q3_always_none": wrong(
        "gives up",
        q3(body="return None"),
        q3_context=1,
        q3_simplex=1,
        q3_distance=1,
        q3_none=1,
    ),
    "q3_permuted": wrong(
        "the same weights on other places",
        q3(body="return alpha.flip(0) if len(V) > V.shape[1] + 1 else None"),
        q3_context=1,
        q3_simplex=1,
        q3_distance=1,
        q3_none=1,
    ),
    "q3_in_place": wrong(
        "the weights it was given are moved",
        q3(("return found", "alpha.copy_(found)\nreturn found")),
        q3_context=1,
    ),
    "q3_loop": wrong(
        "single steps until one is long enough: none is",
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
x = torch.arange(1, 2 * width, 2) / width - 1
y = torch.arange(1, 2 * height, 2) / height - 1
down, across = torch.meshgrid(y, x, indexing="ij")
if "@order@" != "row by row":
    down, across = down.T, across.T
return torch.einsum("btm,mc->btc", weights, torch.stack([across, down], -1).reshape(-1, 2))
""",
            hits="""
out = torch.zeros(boxes.shape[:2], dtype=torch.bool)
for b in range(len(boxes)):
    for i, (left, top, right, bottom) in enumerate(boxes[b].tolist()):
        x, y = centres[int(weights[b, i].argmax())].tolist()
        out[b, i] = bool(weights[b, i].sum() > 0 and left <= x <= right and top <= y <= bottom)
return out
""",
        ),
    ),
    "q2_sentences": right("caption by caption, real words picked", q2()),
    "q2_where": right(
        "NaN swept by where before the sum",
        q2(
            body="""
B, T, M = weights.shape
zero = torch.zeros((), dtype=weights.dtype)
looked = torch.where(mask.unsqueeze(2), weights, zero).sum(dim=1)
n = mask.sum(dim=1).unsqueeze(1).expand(B, M)
return torch.linalg.vector_norm(@share@ - looked, dim=1).pow(2).sum() / B
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

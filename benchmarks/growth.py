"""How time and memory of attention grow with B, S, T and d: measured, beside what chapter 9 counts."""

import math

import torch
from torch import Tensor

from attnlib.attention import Attention
from attnlib.chunked_scores import CHUNK_NUMEL
from attnlib.scores import AdditiveScore, DotScore
from benchmarks.memory import peaks
from benchmarks.rows import Plan, Row, label
from benchmarks.textbook import TextbookAttention
from benchmarks.timing import Run, interleaved, milliseconds, stopwatch

WARM = (2, 8, 8, 8)  # B, S, T, d of the run before a measurement of memory


def additive(B: int, S: int, T: int, d: int, device: torch.device) -> Run:
    """Attention of attnlib; the values are the keys."""
    query, key = query_and_key(B, S, T, d, device)
    attention = Attention(AdditiveScore(d, d, d_hidden=d)).to(device)
    return there_and_back(lambda: attention(query, key, key).context, query, key, *attention.parameters())


def additive_as_written(B: int, S: int, T: int, d: int, device: torch.device) -> Run:
    """The same of the textbook."""
    query, key = query_and_key(B, S, T, d, device)
    attention, lengths = TextbookAttention(d, d, d).to(device), torch.full((B,), S, device=device)
    return there_and_back(lambda: attention(query, key, key, lengths).context, query, key, *attention.parameters())


def dot(B: int, S: int, T: int, d: int, device: torch.device) -> Run:
    """Attention of attnlib with the dot product."""
    query, key = query_and_key(B, S, T, d, device)
    attention = Attention(DotScore(d, d))
    return there_and_back(lambda: attention(query, key, key).context, query, key)


def query_and_key(B: int, S: int, T: int, d: int, device: torch.device) -> tuple[Tensor, Tensor]:
    query, key = (torch.randn(B, n, d, device=device, requires_grad=True) for n in (T, S))
    return query, key


def there_and_back(forward: Run, *wanted: Tensor) -> Run:
    """Forward, and the gradients that are wanted, given one of all ones."""
    given = torch.ones_like(forward())
    return lambda: torch.autograd.grad(forward(), wanted, given)


def at_peak(B: int, S: int, T: int, d: int, at_once: float) -> float:
    """Numbers held in the gradient of additive attention.

    The hidden layers of the pairs that are taken at once, three times: for the scores, and for the gradient behind the
    tanh and before it. And five tables of all pairs: the scores, in parts and as a whole, the weights, and the
    gradients of both.
    """
    return 3 * min(B * S * T * d, at_once) + 5 * B * S * T


#: Multiply-adds, as chapter 9 counts them, and numbers held at the peak.
COUNTED = {
    "time": {
        "additive": lambda B, S, T, d: B * ((S + T) * d**2 + 2 * S * T * d),
        "dot": lambda B, S, T, d: B * 2 * S * T * d,
    },
    "memory": {
        "additive": lambda B, S, T, d: at_peak(B, S, T, d, CHUNK_NUMEL),
        "additive, as written": lambda B, S, T, d: at_peak(B, S, T, d, math.inf),
    },
}
MADE_BY = {"additive": additive, "dot": dot, "additive, as written": additive_as_written}

Curves = dict[str, dict[str, dict[str, list[tuple[float, float]]]]]  # time or memory → of what → letter → (size, value)


def growth(plan: Plan, device: torch.device) -> Curves:
    """Milliseconds and MB of attention, forward and backward, while one of B, S, T and d grows."""
    curves = {quantity: {name: {} for name in counted} for quantity, counted in COUNTED.items()}
    for n, letter in enumerate("BSTd"):
        for quantity, counted in COUNTED.items():
            middle = plan.growth[quantity]
            sizes = [(*middle[:n], round(factor * middle[n]), *middle[n + 1 :]) for factor in plan.factors]
            for name in counted:
                if quantity == "memory":
                    values = peaks(MADE_BY[name], sizes, WARM, device)
                else:
                    runs = {size[n]: MADE_BY[name](*size, device) for size in sizes}
                    values = milliseconds(interleaved(runs, stopwatch(device), seconds=plan.seconds)).values()
                curves[quantity][name][letter] = list(zip((size[n] for size in sizes), values, strict=True))
    return curves


def slopes(plan: Plan, curves: Curves) -> list[Row]:
    """Of the straight line that fits best on log-log paper, measured and counted: 1 is in proportion, 2 quadratic."""
    rows = []
    for quantity, counted in COUNTED.items():
        middle = dict(zip("BSTd", plan.growth[quantity], strict=True))
        for name, count in counted.items():
            for letter, points in curves[quantity][name].items():
                expected = slope([(size, count(**middle | {letter: size})) for size, _ in points])
                rows.append(
                    Row("growth", f"{quantity}, {name}: in {letter}", label(**middle), "slope", slope(points), expected)
                )
    return rows


def slope(points: list[tuple[float, float]]) -> float:
    """Of the line that fits points (x, y) best, both logarithmic."""
    x, y = torch.tensor(points, dtype=torch.float64).clamp(min=1e-9).log().T
    x = x - x.mean()
    return round(((x * y).sum() / (x * x).sum()).item(), 9) + 0.0  # what is level has slope 0, not -1e-17

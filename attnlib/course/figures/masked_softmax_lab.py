"""Watch a masked softmax break: rows of scores, a precision, and seven ways to hide the padding."""

from collections.abc import Mapping, Sequence

import torch
import traitlets
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure as Picture
from matplotlib.patches import Rectangle
from traitlets import Any, Bool, Dict, Float, Int, List, Unicode

from attnlib.course.figures.masked_versions import LABELS, PRECISIONS, VERSIONS, outcome
from attnlib.figures.assets import module, stylesheet
from attnlib.figures.figure import Figure
from attnlib.figures.palette import ROLES
from attnlib.figures.parameters import numbers, positive, whole

MOVABLE = ("scores", "lengths", "precision", "fill", "shift", "scale", "offset")


class MaskedSoftmaxLab(Figure):
    """B rows of scores, and the softmax over the first `lengths[b]` places of each, right and wrong.

    The scores `e = scores · scale + offset` are stored in `precision`, and every step from there on is rounded to it.
    In the browser all of it can be moved; in a notebook the same traits follow the figure and move it. `weights` and
    `verdicts` are what comes of it, computed by torch one operation after the other, and for `fill="ours"` by
    `attnlib.attention.masked_softmax`; its fused softmax rounds 16 bits once, where the figure shows every rounding,
    so that the two may differ there in a last digit.

    Args:
        scores: (B, S).
        lengths: (B), so many places of a row are visible; by default as many as it has words.
        words: B lists of at most S words; what is missing is padding. By default places are numbered.
        fill: "-1e9", "-1e4", "-inf" (written into hidden places), "after" (mask times softmax), "after, shared" (and
            divided by the sum of what is left), "both, shared" (mask times scores as well), "ours".
        precision: "float64", "float32", "float16" or "bfloat16".
        shift: whether the largest score is subtracted before exp; "ours" always does.
        scale: multiplies the scores.
        offset: is added to them.
        row: whose steps are shown, from 0; by default the last.
        questions: what the figure asks its reader, one after the other: see `Figure`.

    Raises:
        ValueError: shapes that do not belong together, a length outside 0..S, an unknown fill or precision, a scale
            that is not positive, an offset that is not finite, or a row that does not exist.

    Example:
        >>> MaskedSoftmaxLab([[1.0, 2.0, 0.0], [0.0, 0.0, 0.0]], lengths=[2, 0])
        MaskedSoftmaxLab('-1e9', 'float32', rows: ok, leaks 1.00)
        >>> MaskedSoftmaxLab([[1.0, 2.0, 0.0], [0.0, 0.0, 0.0]], lengths=[2, 0], fill="ours").weights[1]
        [0.0, 0.0, 0.0]
    """

    _esm = module("masked_softmax_lab.js", beside=__file__)
    _css = stylesheet("masked_softmax_lab.css", beside=__file__)

    scores = Any().tag(sync=True)  # Any: the validators below turn arrays and tensors into lists
    lengths = Any().tag(sync=True)
    precision = Unicode("float32").tag(sync=True)
    fill = Unicode("-1e9").tag(sync=True)
    shift = Bool(True).tag(sync=True)
    scale = Float(1.0).tag(sync=True)
    offset = Float(0.0).tag(sync=True)
    row = Int(0).tag(sync=True)
    words = List(List(Unicode())).tag(sync=True)
    start = Dict().tag(sync=True)  # where the reset button goes

    weights = List(read_only=True)
    verdicts = List(read_only=True)

    def __init__(
        self,
        scores,
        lengths=None,
        words: Sequence[Sequence[str]] | None = None,
        fill: str = "-1e9",
        precision: str = "float32",
        shift: bool = True,
        scale: float = 1.0,
        offset: float = 0.0,
        row: int | None = None,
        questions: Sequence[Mapping] = (),
    ):
        scores = matrix("scores", scores)
        B, S = len(scores), len(scores[0])
        if words is not None:
            words = [[str(word) for word in sentence] for sentence in words]
            if len(words) != B or any(len(sentence) > S for sentence in words):
                sizes = [len(sentence) for sentence in words]
                raise ValueError(f"words must be {B} lists of at most {S} words, got lists of {sizes}")
        if lengths is None:
            lengths = [S] * B if words is None else [len(sentence) for sentence in words]
        state = {
            "scores": scores,
            "lengths": lengths_within(lengths, B, S),
            "precision": one_of("precision", precision, PRECISIONS),
            "fill": one_of("fill", fill, VERSIONS),
            "shift": bool(shift),
            "scale": positive("scale", scale),
            "offset": finite_number("offset", offset),
            "row": whole("row", B - 1 if row is None else row, 0, B - 1),
        }
        words = words or [[str(j + 1) for j in range(S)]] * B
        super().__init__(words=words, start=dict(state), questions=list(questions), **state)

    @traitlets.observe(*MOVABLE)
    def _compute(self, change=None):
        """Recompute what the figure shows, from what it is made of."""
        if not self.lengths:  # still being made: the last of the traits is not there yet
            return
        raw = torch.tensor(self.scores, dtype=torch.float64) * self.scale + self.offset
        weights, verdicts = outcome(raw, self.lengths, self.fill, self.precision, self.shift)
        self.set_trait("weights", weights)
        self.set_trait("verdicts", verdicts)

    @traitlets.validate("scores")
    def _check_scores(self, proposal):
        scores = matrix("scores", proposal["value"])
        if self.start and (shape := shape_of(scores)) != (wanted := shape_of(self.start["scores"])):
            raise ValueError(f"scores must keep the shape {wanted}, got {shape}")
        return scores

    @traitlets.validate("lengths")
    def _check_lengths(self, proposal):
        return lengths_within(proposal["value"], *shape_of(self.start["scores"]))

    @traitlets.validate("precision", "fill")
    def _check_name(self, proposal):
        name = proposal["trait"].name
        return one_of(name, proposal["value"], PRECISIONS if name == "precision" else VERSIONS)

    @traitlets.validate("scale")
    def _check_scale(self, proposal):
        return positive("scale", proposal["value"])

    @traitlets.validate("offset")
    def _check_offset(self, proposal):
        return finite_number("offset", proposal["value"])

    @traitlets.validate("row")
    def _check_row(self, proposal):
        return whole("row", proposal["value"], 0, len(self.start["scores"]) - 1)

    def picture(self) -> Picture:
        B, S = shape_of(self.scores)
        figure = Picture(figsize=(1.6 + 0.75 * max(S, 6), 0.9 + 0.5 * B), layout="constrained")
        ax = figure.subplots()
        weights = torch.tensor(self.weights, dtype=torch.float64)
        cells = [
            [to_rgba(ROLES["weight"].light, min(max(float(w.nan_to_num(0)), 0), 1)) for w in row] for row in weights
        ]
        ax.imshow(cells, aspect="auto")
        for b, row in enumerate(self.weights):
            for j, weight in enumerate(row):
                if j >= self.lengths[b]:
                    ax.add_patch(rectangle(j, b))
                if S <= 16:
                    colour = "white" if weight > 0.5 else "black"
                    ax.text(j, b, f"{weight:.2f}".replace("nan", "NaN"), ha="center", va="center", color=colour, size=9)
        labels = [f"row {b + 1}: {verdict}" for b, verdict in enumerate(self.verdicts)]
        ax.set_yticks(range(B), labels)
        ax.set_xticks(range(S), [str(j + 1) for j in range(S)])
        ax.set(xlabel="place (hatched: hidden)", title=f"{LABELS[self.fill]}, {self.precision}")
        return figure

    def __repr__(self) -> str:
        # GitHub shows this instead of the figure, and nbval compares it
        B, right = len(self.verdicts), self.verdicts.count("ok")
        rows = ", ".join(self.verdicts) if B <= 4 else f"{right} of {B} ok"
        return f"MaskedSoftmaxLab({self.fill!r}, {self.precision!r}, rows: {rows})"


def rectangle(column: int, row: int) -> Rectangle:
    """A hatched cell."""
    return Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, hatch="////", edgecolor="#c8c8c8", linewidth=0)


def shape_of(rows: Sequence[Sequence[float]]) -> tuple[int, int]:
    """B and S."""
    return len(rows), len(rows[0])


def matrix(name: str, given) -> list[list[float]]:
    """(B, S) finite numbers, with at least one of each."""
    array = numbers(name, given)
    if array.ndim != 2 or not array.size:
        raise ValueError(f"{name} must have shape (B, S) with B, S ≥ 1, got {tuple(array.shape)}")
    return array.tolist()


def lengths_within(given, B: int, S: int) -> list[int]:
    """B whole numbers in 0..S, or a ValueError."""
    array = numbers("lengths", given)
    if array.shape != (B,):
        raise ValueError(f"lengths must have shape ({B},) for {B} rows, got {tuple(array.shape)}")
    if ((array != array.round()) | (array < 0) | (array > S)).any():
        raise ValueError(f"lengths must be whole numbers in 0..{S}, got {array.tolist()}")
    return [int(length) for length in array]


def one_of(name: str, given: str, known: Mapping[str, object]) -> str:
    """A name among those known, or a ValueError."""
    if given not in known:
        raise ValueError(f"unknown {name} {given!r}; known are {', '.join(map(repr, known))}")
    return given


def finite_number(name: str, given) -> float:
    """Any number but ±∞ and NaN, or a ValueError."""
    if not abs(float(given)) < float("inf"):
        raise ValueError(f"{name} must be finite, got {given!r}")
    return float(given)

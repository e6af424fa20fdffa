"""What attention costs beside the recurrence, and from which size on it costs more."""

from collections.abc import Mapping, Sequence

import numpy as np
import traitlets
from matplotlib.figure import Figure as Picture
from traitlets import Any, Bool, Dict, List, Unicode

from attnlib.figures.assets import module, stylesheet
from attnlib.figures.figure import Figure
from attnlib.figures.palette import ROLES
from attnlib.figures.parameters import whole
from attnlib.figures.plots import INK
from attnlib.figures.polynomials import AXES, LETTERS, coded, count, crossovers

MOST = 8  # costs of one quantity: more could not be told apart by their dashes
NAMES = {"S=T": "source words = target words, S = T", "S": "source words, S", "T": "target words, T", "d": "width, d"}
DASHES = [(), (10, 4), (2, 3), (10, 3, 2, 3), (5, 3), (16, 4, 4, 4), (1, 5), (10, 3, 2, 3, 2, 3)]


class CostCurve(Figure):
    """Costs as curves over the length of source and target or over the width, and the places where they cross.

    In the browser sliders set S, T and d, and the point can be dragged along the axis. In a notebook `S`, `T`, `d`,
    `axis`, `quantity` and `log` are traits that follow the figure and move it when set; `counts` (name → part →
    number, at the point) and `crossovers` (name → places on the axis) are read-only. The first cost of a quantity is
    the one that the others are compared with. A curve has the colour of its largest part.

    Args:
        costs: quantity → name of a cost → part → its terms; a term `(6, {"S": 1, "d": 2})` is 6 S d², a part
            without terms costs nothing.
        S: source words.
        T: target words; along the axis "S=T" the figure takes S for both.
        d: width.
        axis: "S=T", "S", "T" or "d": what grows from left to right.
        quantity: what is shown first, by default the first of `costs`.
        log: both axes logarithmic.
        roles: part → the role whose colour it has (query, key, value, weight, context); others have none.
        largest: letter → the end of its axis and slider, by default 32768 for S and T, 4096 for d.
        questions: what the figure asks its reader, one after the other: see `Figure`.

    Raises:
        ValueError: nothing to draw or more than 8 costs, a term that `polynomials.coded` refuses, an unknown axis,
            quantity or role, or a size outside of 1..largest.

    Example:
        >>> pairs, steps = (2, {"S": 1, "T": 1, "d": 1}), [(6, {"S": 1, "d": 2}), (6, {"T": 1, "d": 2})]
        >>> figure = CostCurve({"multiply-adds": {"recurrence": {"steps": steps}, "dot": {"pairs": [pairs]}}})
        >>> figure.crossovers
        {'dot': [3072.0]}
    """

    _esm = module("cost_curve.js")
    _css = stylesheet("cost_curve.css")

    S = Any(50).tag(sync=True)  # Any: the validator below turns arrays and tensors of one element into numbers
    T = Any(50).tag(sync=True)
    d = Any(512).tag(sync=True)
    axis = Unicode("S=T").tag(sync=True)
    quantity = Unicode().tag(sync=True)
    log = Bool(True).tag(sync=True)
    # What the figure is made of does not change: [{name, costs: [{name, parts: [{name, role, terms}]}]}]
    costs = List(read_only=True).tag(sync=True)
    largest = Dict(read_only=True).tag(sync=True)

    # The browser computes its own from the same terms, and the tests hold the two equal.
    counts = Dict(read_only=True)
    crossovers = Dict(read_only=True)

    def __init__(
        self,
        costs: Mapping[str, Mapping[str, Mapping]],
        S=50,
        T=50,
        d=512,
        axis: str = "S=T",
        quantity: str | None = None,
        log: bool = True,
        roles: Mapping[str, str] | None = None,
        largest: Mapping | None = None,
        questions: Sequence[Mapping] = (),
    ):
        if unknown := [letter for letter in largest or {} if letter not in LETTERS]:
            raise ValueError(f"largest may name {', '.join(LETTERS)}, got {unknown[0]!r}")
        ends = {"S": 32768, "T": 32768, "d": 4096} | dict(largest or {})
        self.set_trait("largest", {letter: whole(f"largest {letter}", end, 2, 2**20) for letter, end in ends.items()})
        self.set_trait("costs", as_records(costs, roles or {}))
        quantity = self.costs[0]["name"] if quantity is None else quantity
        super().__init__(S=self._size("S", S), T=self._size("T", T), d=self._size("d", d), axis=axis, log=log,
                         quantity=quantity, questions=list(questions))  # fmt: skip
        self._count()

    @property
    def sizes(self) -> dict[str, int]:
        """The sizes that are shown."""
        return {"S": self.S, "T": self.S if self.axis == "S=T" else self.T, "d": self.d}

    @property
    def _shown(self) -> list[dict]:
        return next(record["costs"] for record in self.costs if record["name"] == self.quantity)

    @traitlets.observe("S", "T", "d", "axis", "quantity")
    def _count(self, change=None):
        """Recompute what the figure shows, from what it is made of."""
        if self.quantity == "":
            return  # being built
        sizes, first = self.sizes, every_term(self._shown[0])
        counts = {c["name"]: {p["name"]: count(p["terms"], sizes) for p in c["parts"]} for c in self._shown}
        crossing = {c["name"]: crossovers(every_term(c), first, self.axis, sizes) for c in self._shown[1:]}
        self.set_trait("counts", counts)
        self.set_trait("crossovers", crossing)

    def _size(self, name: str, given) -> int:
        return whole(name, given, 1, self.largest[name])

    @traitlets.validate("S", "T", "d")
    def _check_size(self, proposal):
        return self._size(proposal["trait"].name, proposal["value"])

    @traitlets.validate("axis")
    def _check_axis(self, proposal):
        if proposal["value"] not in AXES:
            raise ValueError(f"unknown axis {proposal['value']!r}; known are {', '.join(AXES)}")
        return proposal["value"]

    @traitlets.validate("quantity")
    def _check_quantity(self, proposal):
        known = [record["name"] for record in self.costs]
        if proposal["value"] not in known:
            raise ValueError(f"unknown quantity {proposal['value']!r}; there are {', '.join(known)}")
        return proposal["value"]

    def picture(self) -> Picture:
        figure = Picture(figsize=(7.2, 4.2), layout="constrained")
        ax = figure.subplots()
        letters, sizes = AXES[self.axis], self.sizes
        here, last = sizes[letters[-1]], self.largest[letters[-1]]
        x = np.geomspace(1, last, 200) if self.log else np.linspace(1, max(8, 2 * here), 200)
        ends = []
        for n, cost in enumerate(self._shown):
            place = {**sizes, **{letter: x for letter in letters}}
            parts = np.array([count(part["terms"], place) + 0 * x for part in cost["parts"]])  # (parts, 200)
            y, biggest = parts.sum(0), parts.argmax(0)
            if y[-1] == 0 and self.log:
                continue  # nothing has no logarithm
            ends.append((y[-1], cost["name"]))
            for p, part in enumerate(cost["parts"]):
                colour = ROLES[part["role"]].light if part["role"] else INK
                ours = np.convolve(biggest == p, [1, 1, 0], "same") > 0  # and one further: no gap
                style = {"lw": 1.7, "dashes": DASHES[n]} if n else {"lw": 3}
                ax.plot(x, np.where(ours, y, np.nan), color=colour, **style)
            ax.plot(here, sum(self.counts[cost["name"]].values()), "o", ms=5, color=INK)
        ax.axvline(here, color=INK, lw=0.8)
        if self.log:
            ax.set(xscale="log", yscale="log")
        ax.set(xlim=(x[0], x[-1]), xlabel=NAMES[self.axis], ylabel=self.quantity, title=self._where())
        write_at_end(ax, ends)
        ax.grid(color="#e4e4e4")
        return figure

    def _where(self) -> str:
        S, T, d = self.sizes.values()
        return f"S = T = {S:,}, d = {d:,}" if self.axis == "S=T" else f"S = {S:,}, T = {T:,}, d = {d:,}"

    def __repr__(self) -> str:
        # GitHub shows this instead of the figure, and nbval compares it: no memory address, few digits
        crossing = ", ".join(f"{place:.4g}" for places in self.crossovers.values() for place in places)
        sizes = f"S={self.S}, d={self.d}" if self.axis == "S=T" else f"S={self.S}, T={self.T}, d={self.d}"
        return f"CostCurve(axis={self.axis!r}, {sizes}, quantity={self.quantity!r}, crossovers=[{crossing}])"


def as_records(costs: Mapping[str, Mapping[str, Mapping]], roles: Mapping[str, str]) -> list[dict]:
    """The costs as JSON knows them, in order: an object of JavaScript would put a name like "1" first."""
    if not costs:
        raise ValueError("there must be at least one quantity, got none")
    for part, role in roles.items():
        if role not in ROLES:
            raise ValueError(f"unknown role {role!r} of {part!r}; known are {', '.join(ROLES)}")
    records = []
    for quantity, named in costs.items():
        if not 1 <= len(named) <= MOST:
            raise ValueError(f"{quantity}: there must be 1..{MOST} costs, got {len(named)}")
        group = []
        for name, parts in named.items():
            if not parts:
                raise ValueError(f"{quantity}, {name}: there must be at least one part, got none")
            group.append({"name": str(name), "parts": [
                {"name": str(part), "role": roles.get(part), "terms": coded(f"{quantity}, {name}, {part}", terms)}
                for part, terms in parts.items()
            ]})  # fmt: skip
        records.append({"name": str(quantity), "costs": group})
    return records


def every_term(cost: dict) -> list[list[float]]:
    """The terms of all parts of a cost."""
    return [term for part in cost["parts"] for term in part["terms"]]


def write_at_end(ax, ends: list[tuple[float, str]]) -> None:
    """Names beside the right ends of curves, none on another."""
    gap, below = 0.062, -1.0  # in heights of the axes
    ax.autoscale(axis="y")
    places = [(ax.transAxes.inverted().transform(ax.transData.transform((1, y)))[1], name) for y, name in sorted(ends)]
    room = [1 - gap * left for left in reversed(range(len(places)))]  # what those above a name leave to it
    for (at, name), most in zip(places, room, strict=True):
        below = min(max(at, below + gap), max(most, below + gap))
        ax.annotate(name, (1, at), (1.04, below), xycoords="axes fraction", va="center", color=INK, fontsize=9.5,
                    arrowprops={"arrowstyle": "-", "lw": 0.6, "color": INK, "relpos": (0, 0.5)})  # fmt: skip

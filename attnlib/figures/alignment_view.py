"""Where a model looked while it wrote: weights as a grid and as lines, several models side by side."""

import warnings
from collections.abc import Mapping, Sequence

import traitlets
from matplotlib.figure import Figure as Picture
from matplotlib.patches import Rectangle
from traitlets import Any, Bool, Dict, Int, List, Unicode

from attnlib.figures import plots
from attnlib.figures.alignments import LIMIT, Alignment, alignments, gold_hits, gold_share, pack, packed_size
from attnlib.figures.assets import module, stylesheet
from attnlib.figures.figure import Figure, fixed
from attnlib.figures.palette import ROLES
from attnlib.figures.parameters import whole

VIEWS = ("grid", "lines", "both")


class AlignmentView(Figure):
    """Attention weights of any model: choose a step of the target, see where it looked in the source.

    Takes weights from your own model as they are. Rows need not add up to 1. With `gold` links the figure also says,
    for each model, which share of its weight lies on them,
    `Σ_{(i,j) ∈ gold} α_ij / Σ_{i has a gold link} Σ_j α_ij`, and how many of those rows look most at one.

    Args:
        weights: α of one sentence, each in 0..1, as list, array or tensor: (T, S); (B, H, T, S) of one layer; a tuple
            of those, one per layer, as `outputs.attentions` and `outputs.cross_attentions` of transformers; or a tuple
            of such tuples, one per step, as `generate()` returns them (without beams). For several models side by
            side: name -> any of these. Kept to 1/60000. Of more than 1 MB the page gets the chosen layer and head
            alone, and the next ones when they are chosen: for that, Python must run. `save` writes them all.
        source: S tokens, shown as they are (a string: its characters); or name -> tokens.
        target: T tokens, one per row of the weights; or name -> tokens.
        gold: links (i, j), target token i goes with source token j, from 0; or name -> links.
        batch: the sentence, 0..B-1, where weights hold several.
        layer: the layer to begin with, from 0; by default the last.
        head: the head to begin with, from 0, or "mean" of all.
        step: the target token to begin with, from 0.
        view: "grid", "lines" or "both"; by default both for one model, the grid for several.
        show_gold: whether gold links are drawn to begin with.
        questions: what the figure asks its reader, one after the other: see `Figure`.

    Raises:
        ValueError: a shape that could mean two things or fits no words, numbers that are no weights, links outside of
            the words, a step, layer, head or view that does not exist, or one head of more than 1 MB.

    Example:
        >>> AlignmentView([[0.9, 0.1], [0.2, 0.8]], source=["le", "chat"], target=["the", "cat"])
        AlignmentView(T=2, S=2, step=0)
    """

    _esm = module("alignment_view.js")
    _css = stylesheet("alignment_view.css")

    # What the front end sees. The first six move, in both directions.
    step = Int().tag(sync=True)
    model = Unicode().tag(sync=True)  # the name of the only one to be shown; "": all, side by side
    layer = Int().tag(sync=True)
    head = Any("mean").tag(sync=True)
    view = Unicode("both").tag(sync=True)
    show_gold = Bool().tag(sync=True)
    panels = List(Dict()).tag(sync=True)  # what was given: Alignment.packed()
    # Where the panels have no weights: {"layer", "head", "maps": one for each panel}; else empty.
    sent = Dict(read_only=True).tag(sync=True)

    # Results stay on this side: the browser computes its own, and the tests hold the two equal.
    weights = Dict(read_only=True)  # name -> (T, S), of the chosen layer and head
    gold_share = Dict(read_only=True)  # name -> share of the weight on gold links, or None without a link
    gold_hits = Dict(read_only=True)  # name -> rows that look most at a gold link

    def __init__(
        self,
        weights,
        source,
        target,
        gold=None,
        *,
        batch: int | None = None,
        layer: int | None = None,
        head: int | str = "mean",
        step: int = 0,
        view: str | None = None,
        show_gold: bool = True,
        questions: Sequence[Mapping] = (),
    ):
        self._of: list[Alignment] = alignments(weights, source, target, gold, batch)
        self._at_once = packed_size([one.weights for one in self._of]) <= LIMIT
        super().__init__(
            panels=[one.packed(whole=self._at_once) for one in self._of],
            step=step,
            layer=self._of[0].weights.shape[0] - 1 if layer is None else layer,
            head=head,
            view=view if view is not None else "both" if len(self._of) == 1 else "grid",
            show_gold=bool(show_gold),
            questions=list(questions),
        )
        self._look()

    @traitlets.observe("layer", "head")
    def _look(self, change=None):
        """What is shown of each model, and what it makes of the gold links."""
        shown = {one.name: one.shown(self.layer, self.head) for one in self._of}
        gold = {one.name: one.gold for one in self._of}
        if not self._at_once:
            maps = [pack(weights) for weights in shown.values()]
            self.set_trait("sent", {"layer": self.layer, "head": self.head, "maps": maps})
        self.set_trait("weights", {name: weights.tolist() for name, weights in shown.items()})
        self.set_trait("gold_share", {name: gold_share(weights, gold[name]) for name, weights in shown.items()})
        self.set_trait("gold_hits", {name: gold_hits(weights, gold[name]) for name, weights in shown.items()})

    def state_without_kernel(self) -> dict:
        return {**self.get_state(), "panels": [one.packed() for one in self._of], "sent": {}}

    _check_fixed = fixed("panels")

    @traitlets.validate("step")
    def _check_step(self, proposal):
        return whole("step", proposal["value"], 0, max(len(one.target) for one in self._of) - 1)

    @traitlets.validate("layer")
    def _check_layer(self, proposal):
        return whole("layer", proposal["value"], 0, self._of[0].weights.shape[0] - 1)

    @traitlets.validate("head")
    def _check_head(self, proposal):
        if isinstance(proposal["value"], str) and proposal["value"] == "mean":
            return "mean"
        return whole("head", proposal["value"], 0, self._of[0].weights.shape[1] - 1, ' or "mean"')

    @traitlets.validate("view")
    def _check_view(self, proposal):
        if proposal["value"] not in VIEWS:
            raise ValueError(f"unknown view {proposal['value']!r}; known are {', '.join(VIEWS)}")
        return proposal["value"]

    @traitlets.validate("model")
    def _check_model(self, proposal):
        names = [one.name for one in self._of]
        if proposal["value"] and proposal["value"] not in names:
            raise ValueError(f"unknown model {proposal['value']!r}; known are {', '.join(names)}")
        return proposal["value"]

    def picture(self) -> Picture:
        chosen = [one for one in self._of if self.model in ("", one.name)]
        drawings = [draw for name, draw in (("grid", draw_grid), ("lines", draw_lines)) if self.view in (name, "both")]
        S, T = (max(len(getattr(one, side)) for one in chosen) for side in ("source", "target"))
        heights = [1.2 + 0.3 * (T if draw is draw_grid else max(S, T)) for draw in drawings]
        width = len(chosen) * min(1.6 + 0.34 * S, 9)
        figure = Picture(figsize=(max(width, 3.2), sum(heights)), layout="constrained")
        axes = figure.subplots(len(drawings), len(chosen), squeeze=False, height_ratios=heights)
        for row, draw in zip(axes, drawings, strict=True):
            for ax, one in zip(row, chosen, strict=True):
                draw(ax, one, one.shown(self.layer, self.head), self.step, one.gold if self.show_gold else [])
                for text in (*ax.get_xticklabels(), *ax.get_yticklabels(), *ax.texts):
                    text.set_parse_math(False)  # a token may be "$"
        if self._of[0].weights.shape[:2] != (1, 1):
            figure.suptitle(f"layer {self.layer}, {'mean of heads' if self.head == 'mean' else f'head {self.head}'}")
        return figure

    def _picture_as_base64(self) -> str:
        with warnings.catch_warnings():  # the page has the letters that the font of the picture lacks
            warnings.filterwarnings("ignore", "Glyph .* missing")
            return super()._picture_as_base64()

    def __repr__(self) -> str:
        # GitHub shows this instead of the figure, and nbval compares it: nothing here depends on training
        one, names = self._of[0], [one.name for one in self._of]
        layers, heads = one.weights.shape[:2]
        said = [f"models={names}" if len(str(names)) < 60 else f"models={len(names)}"] * (names != [""])
        said += [f"layer={self.layer}"] * (layers > 1) + [f"head={self.head!r}"] * (heads > 1)
        return (
            f"AlignmentView({', '.join([*said, f'T={len(one.target)}', f'S={len(one.source)}', f'step={self.step}'])})"
        )


def visible(token: str) -> str:
    """A token as it is, blanks made visible: `visible` of static/figure.js."""
    return token.replace(" ", "␣").replace("\n", "⏎").replace("\t", "⇥") or "∅"


def draw_grid(ax, one: Alignment, weights, step: int, gold) -> None:
    """The weights as a heat map, the chosen row in the colour of queries, gold links as dashed boxes."""
    rows, columns = ([visible(word) for word in words] for words in (one.target, one.source))
    plots.heatmap(weights, rows, columns, ax, row_label="target", column_label="source")
    if step < len(rows):
        outline = Rectangle((-0.5, step - 0.5), len(columns), 1, fill=False, ec=ROLES["query"].light, lw=2)
        outline.set_clip_on(False)
        ax.add_patch(outline)
    for i, j in gold:
        ax.add_patch(Rectangle((j - 0.4, i - 0.4), 0.8, 0.8, fill=False, ec=plots.INK, ls="--", lw=1))
    ax.set_title(one.name or None)


def draw_lines(ax, one: Alignment, weights, step: int, gold) -> None:
    """Source words on the left, target words on the right, a line for each weight that can be seen."""
    S, T = len(one.source), len(one.target)
    height = max(S, T)
    left, right = ([(n + 0.5) * height / count for n in range(count)] for count in (S, T))
    for i, j in gold:
        if i == step:
            ax.plot([0, 1], [left[j], right[i]], "--", color=plots.INK, lw=0.8, alpha=0.6)
    for i, row in enumerate(weights.tolist()):
        for j, weight in enumerate(row):
            if weight >= 0.02:
                alpha = 0.25 + 0.75 * weight if i == step else 0.22 * weight
                ax.plot([0, 1], [left[j], right[i]], color=ROLES["weight"].light, lw=0.5 + 5 * weight, alpha=alpha)
    for x, words, places, side in ((-0.03, one.source, left, "right"), (1.03, one.target, right, "left")):
        for n, (word, y) in enumerate(zip(words, places, strict=True)):
            weight = "bold" if x > 1 and n == step else "normal"
            ax.text(x, y, visible(word), ha=side, va="center", fontsize=9, fontweight=weight)
    ax.set(xlim=(-0.5, 1.5), ylim=(height, 0), title=one.name or None)
    ax.axis("off")

"""Switch off the heads of a trained layer, and see which answers go with them."""

from collections.abc import Mapping, Sequence

import torch
import traitlets
from matplotlib.figure import Figure as Picture
from torch import Tensor
from traitlets import Any, Dict, Int, List, Unicode

from attnlib.course.figures.heads import HeadsModel
from attnlib.course.figures.weights import packed
from attnlib.figures.assets import module, stylesheet
from attnlib.figures.figure import Figure
from attnlib.figures.palette import ROLES
from attnlib.figures.parameters import numbers
from attnlib.figures.plots import WEIGHTS


class HeadGrid(Figure):
    """The heads of a layer as small multiples, each with a switch, and the accuracy of what is left.

    Every model is run in the page, on every row, whenever a head is switched:
    `x_t = E[token_t] + p_t`, H heads with the scaled dot product, `c_t = W_o [head_1; …; head_H] + b_o`, and a
    reader, `logits_t = W c_t + b` or `W_2 ReLU(W_1 c_t + b_1) + b_2`: n_tasks answers at every position.
    A head that is off has the query 0 and attends alike to everything, as in `MultiHeadAttention(heads=)`.

    In a notebook `model`, `off` and `example` are traits that follow the figure and move it when set; another
    model with fewer heads drops the heads from `off` that it does not have. `accuracy` (share of right answers of each
    task, with these heads) and `before` (with all of them) are computed by attnlib in float64, with or without a
    browser, and read-only; the page computes its own from the same weights.

    Args:
        models: label -> (H, weights). Names as in a state dict: `embedding.weight` (V, d_model), `positions.p`
            (≥ T, d_model) if there are positions, `attention.W_q.weight`, `W_k`, `W_v` and `W_o` (d_model, d_model)
            all with `.bias` or all without, then `read.weight` (n_tasks · V, d_model), or `read.0.weight`
            (d_ff, d_model) and `read.2.weight` (n_tasks · V, d_ff), with or without. All of 16 bits: see `rounded`.
        tokens: (N, T) numbers of words.
        targets: (N, T, n_tasks) numbers of words.
        words: V words.
        tasks: the name of each task.
        asked: boolean (N, T, n_tasks), where an answer counts; everywhere if not given.
        model: label of the model to begin with; the first if not given.
        off: the heads that are off at first, from 0.
        example: number of the row to begin with.
        questions: what the figure asks its reader, one after the other: see `Figure`.

    Raises:
        ValueError: shapes that do not belong together, a weight that is missing, unknown or no number of 16 bits, a
            word, label, head or row that does not exist, or a task that is asked nowhere.

    Example:
        >>> eye = torch.eye(2)
        >>> weights = {f"attention.W_{name}.weight": eye for name in "qkvo"}
        >>> weights |= {"embedding.weight": 8 * eye, "read.weight": eye}
        >>> HeadGrid({"one": (1, weights)}, tokens=[[0, 1]], targets=[[[0], [1]]], words=["a", "b"], tasks=["same"])
        HeadGrid(model='one', off=[], accuracy={'same': 1.0})

    Source: michel2019sixteen (there, a head that is off gives 0).
    """

    _esm = module("head_grid.js", beside=__file__)
    _css = stylesheet("head_grid.css", beside=__file__)

    # What the front end sees. The first three move, in both directions.
    model = Unicode().tag(sync=True)
    off = Any().tag(sync=True)  # Any: the validator below turns arrays, tensors and sets into a sorted list
    example = Int(0).tag(sync=True)
    models = Dict().tag(sync=True)  # label -> {"heads": H, "weights": as `export` writes them}
    tokens = List().tag(sync=True)
    targets = List().tag(sync=True)  # -1: not asked
    words = List(Unicode()).tag(sync=True)
    tasks = List(Unicode()).tag(sync=True)

    accuracy = List(read_only=True)
    before = List(read_only=True)

    def __init__(
        self,
        models: Mapping[str, tuple[int, Mapping]],
        tokens,
        targets,
        words: Sequence[str],
        tasks: Sequence[str],
        asked=None,
        model: str | None = None,
        off=(),
        example: int = 0,
        questions: Sequence[Mapping] = (),
    ):
        words, tasks = [str(word) for word in words], [str(task) for task in tasks]
        self._tokens = indices("tokens", tokens, 2, len(words))
        if self._tokens.numel() == 0 or not tasks or not models:
            raise ValueError(
                f"there must be a token, a task and a model, got tokens {tuple(self._tokens.shape)}, "
                f"{len(tasks)} tasks and {len(models)} models"
            )
        shape = (*self._tokens.shape, len(tasks))
        self._targets = indices("targets", targets, 3, len(words))
        counts = torch.ones(shape) if asked is None else torch.from_numpy(numbers("asked", asked))
        for name, given in (("targets", self._targets), ("asked", counts)):
            if given.shape != shape:
                raise ValueError(f"{name} must have shape {shape} for these tokens and tasks, got {tuple(given.shape)}")
        self._targets = self._targets.where(counts != 0, -1)
        for task, places in zip(tasks, (self._targets >= 0).sum((0, 1)).tolist(), strict=True):
            if places == 0:
                raise ValueError(f"task {task!r} is asked nowhere")
        self._models, shown = {}, {}
        for label, (n_heads, given) in models.items():
            label = str(label)
            weights = {name: torch.from_numpy(numbers(f"{label}: {name}", weight)) for name, weight in given.items()}
            try:
                self._models[label] = HeadsModel(n_heads, weights, len(words), len(tasks) * len(words))
                self._models[label](self._tokens[:1])
            except ValueError as error:
                raise ValueError(f"{label}: {error}") from error
            packs = {name: packed(f"{label}: {name}", weight) for name, weight in weights.items()}
            shown[label] = {"heads": n_heads, "weights": packs}
        super().__init__(
            models=shown,
            tokens=self._tokens.tolist(),
            targets=self._targets.tolist(),
            words=words,
            tasks=tasks,
            model=next(iter(shown)) if model is None else model,
            off=off,
            example=example,
            questions=list(questions),
        )

    def measure(self, off=(), model: str | None = None) -> list[float]:
        """The share of right answers of each task with some heads off; the figure does not move.

        Args:
            off: heads of that model, from 0.
            model: a label; the present one if not given.

        Raises:
            ValueError: no such model or head.
        """
        model = self._known(self.model if model is None else model)
        logits, _ = self._models[model](self._tokens, self._within(off, model))
        said = logits.unflatten(-1, (len(self.tasks), -1)).argmax(-1)  # (N, T, n_tasks)
        right = (said == self._targets).sum((0, 1)).double()
        return (right / (self._targets >= 0).sum((0, 1))).tolist()

    @traitlets.observe("model", "off")
    def _count(self, change):
        """Recompute what the figure shows, from what it is made of."""
        H = self._models[self.model].attention.n_heads
        self.off = [h for h in self.off if h < H]  # the model may be another, of fewer heads
        self.set_trait("accuracy", self.measure(self.off))
        self.set_trait("before", self.measure())

    def _known(self, label: str) -> str:
        if label not in self._models:
            raise ValueError(f"no model {label!r}; there are {', '.join(self._models)}")
        return label

    def _within(self, off, model: str) -> list[int]:
        given = sorted(off) if isinstance(off, (set, frozenset, range)) else off
        H = self._models[self._known(model)].attention.n_heads
        return sorted(set(indices("off", given, 1, H, f"heads of {model!r}").tolist()))

    @traitlets.validate("model")
    def _check_model(self, proposal):
        return self._known(proposal["value"])

    @traitlets.validate("off")
    def _check_off(self, proposal):
        return self._within(proposal["value"], self.model)

    @traitlets.validate("example")
    def _check_example(self, proposal):
        if not 0 <= proposal["value"] < len(self._tokens):
            raise ValueError(f"example must lie in 0..{len(self._tokens) - 1}, got {proposal['value']}")
        return proposal["value"]

    def picture(self) -> Picture:
        H = self._models[self.model].attention.n_heads
        columns = H if H <= 4 else -(-H // 2)
        rows = -(-H // columns)
        figure = Picture(
            figsize=(6.2, 6.2 / max(columns, 3) * rows + 1.1 + 0.35 * len(self.tasks)), layout="constrained"
        )
        grid = figure.add_gridspec(rows + 1, columns, height_ratios=[1] * rows + [0.2 + 0.14 * len(self.tasks)])
        _, maps = self._models[self.model](self._tokens[self.example : self.example + 1], self.off)
        for h in range(H):
            ax = figure.add_subplot(grid[h // columns, h % columns])
            ax.imshow(maps[0, h].numpy(), vmin=0, vmax=1, cmap=WEIGHTS)
            ax.set(xticks=[], yticks=[])
            ax.set_title(f"head {h}: {'off' if h in self.off else 'on'}", fontsize=11)
        ax = figure.add_subplot(grid[rows, :])
        places = range(len(self.tasks))
        ax.barh(places, self.accuracy, color="#777777", height=0.6)
        for place, (now, all_on) in enumerate(zip(self.accuracy, self.before, strict=True)):
            ax.plot([all_on, all_on], [place - 0.4, place + 0.4], color=ROLES["weight"].light, lw=2.5)
            ax.annotate(f"{now:.2f}", (1.02, place), va="center")
        ax.set(yticks=places, xlim=(0, 1.12), xticks=[0, 0.5, 1], title=f"accuracy, {self.model} (line: all on)")
        ax.set_yticklabels(self.tasks, parse_math=False)
        ax.invert_yaxis()
        ax.spines[["top", "right"]].set_visible(False)
        return figure

    def __repr__(self) -> str:
        # GitHub shows this instead of the figure, and nbval compares it: no memory address, few digits
        accuracy = {task: round(share, 2) for task, share in zip(self.tasks, self.accuracy, strict=True)}
        return f"HeadGrid(model={self.model!r}, off={self.off}, accuracy={accuracy})"


def indices(name: str, given, n_dimensions: int, n: int, things: str = "words") -> Tensor:
    """Numbers of things, 0..n-1, in so many dimensions."""
    array = numbers(name, given)
    if array.ndim != n_dimensions:
        raise ValueError(f"{name} must have {n_dimensions} dimensions, got shape {array.shape}")
    wrong = array[(array != array.round()) | (array < 0) | (array >= n)]
    if len(wrong):
        raise ValueError(f"{name} must be numbers of the {n} {things}, 0..{n - 1}, got {wrong[0].item():g}")
    return torch.from_numpy(array).long()

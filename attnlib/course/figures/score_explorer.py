"""Move a query and keys on a plane and watch scores, weights and context follow."""

from collections.abc import Mapping, Sequence

import torch
import traitlets
from matplotlib.figure import Figure as Picture
from traitlets import Any, Dict, Float, Int, List, Unicode

from attnlib.attention import length_mask, masked_softmax
from attnlib.course.figures.scores import Parameters, build_score, default_parameters
from attnlib.figures.assets import module, stylesheet
from attnlib.figures.figure import Figure
from attnlib.figures.palette import ROLES
from attnlib.figures.parameters import numbers, positive, whole

MOVABLE = ("query", "key", "score", "temperature", "valid_length")


class ScoreExplorer(Figure):
    """One query, S keys on a plane: `e_j = a(q, k_j)`, `α = softmax(e / temperature)`, `c = Σ_j α_j v_j`.

    In the browser q and every key can be dragged. In a notebook `query`, `key`, `value`, `score`, `temperature`
    and `valid_length` are traits that follow the figure and move it when set; `score_values`, `weights` and
    `context` are what the figure shows, computed by attnlib, with or without a browser, and read-only.
    (Singular as everywhere in attnlib, and because every ipywidget has a `keys` of another kind.)

    Args:
        words: S words.
        query: 2 numbers.
        keys: (S, 2).
        values: (S, 2); without them a key is its own value, and takes it along when dragged.
        score: the score to begin with.
        scores: the names the menu offers, by default every score of attnlib.
        temperature: divides the scores before the softmax.
        valid_length: the first so many words are visible, by default all.
        parameters: score name -> parameter name -> nested list in the layout of the torch weight (for cosine
            the number `sharpness`); scores not mentioned keep their `default_parameters`.
        questions: what the figure asks its reader, one after the other: see `Figure`.

    Raises:
        ValueError: shapes that do not belong together, an unknown score, a parameter of another shape, a
            temperature that is not positive, or a valid length outside 0..S.

    Example:
        >>> ScoreExplorer(["left", "right"], query=[1, 0], keys=[[-1, 0], [1, 0]])
        ScoreExplorer(score='dot', words=['left', 'right'], weights=[0.12, 0.88])
    """

    _esm = module("score_explorer.js", beside=__file__)
    _css = stylesheet("score_explorer.css", beside=__file__)

    # What the front end sees. The first five move, in both directions.
    query = Any().tag(sync=True)  # Any: the validators below turn arrays and tensors into lists
    key = Any().tag(sync=True)
    score = Unicode("dot").tag(sync=True)
    temperature = Float(1.0).tag(sync=True)
    valid_length = Int().tag(sync=True)
    value = Any().tag(sync=True)  # None: the keys
    words = List(Unicode()).tag(sync=True)
    scores = List(Unicode()).tag(sync=True)
    parameters = Dict().tag(sync=True)
    start = Dict().tag(sync=True)  # where the reset button goes

    # Results stay on this side: the browser has computed its own from the same five traits, and the tests
    # hold the two equal. So nothing can be written that the figure does not show.
    score_values = List(read_only=True)
    weights = List(read_only=True)
    context = List(read_only=True)

    def __init__(
        self,
        words: Sequence[str],
        query,
        keys,
        values=None,
        score: str = "dot",
        scores: Sequence[str] | None = None,
        temperature: float = 1.0,
        valid_length: int | None = None,
        parameters: Mapping[str, Parameters] | None = None,
        questions: Sequence[Mapping] = (),
    ):
        words = [str(word) for word in words]
        S = len(words)
        if S == 0:
            raise ValueError("there must be at least one word, got none")
        known = default_parameters(S)
        scores = list(known if scores is None else scores)
        for name in [score, *scores, *(parameters or {})]:
            if name not in known:
                raise ValueError(f"unknown score {name!r}; known are {', '.join(known)}")
        if score not in scores:
            raise ValueError(f"score {score!r} is not among the scores on offer: {', '.join(scores)}")
        chosen = {name: as_lists(name, (parameters or {}).get(name, known[name])) for name in scores}
        self._built = {name: build_score(name, chosen[name]) for name in scores}
        check_positions(chosen, S)
        state = {
            "query": point("query", query),
            "key": points("keys", keys, words),
            "score": score,
            "temperature": positive("temperature", temperature),
            "valid_length": whole("valid_length", S if valid_length is None else valid_length, 0, S),
        }
        super().__init__(
            words=words,
            value=None if values is None else points("values", values, words),
            scores=scores,
            parameters=chosen,
            start=dict(state),
            questions=list(questions),
            **state,
        )

    @traitlets.observe(*MOVABLE, "value")
    def _attend(self, change=None):
        """Recompute what the figure shows, from what it is made of."""
        query, key = (torch.tensor(given, dtype=torch.float64) for given in ([self.query], self.key))
        value = key if self.value is None else torch.tensor(self.value, dtype=torch.float64)
        mask = length_mask(torch.tensor([self.valid_length]), len(self.words))[0]  # (1, S)
        scores = self._built[self.score](query, key)  # (1, S)
        weights = masked_softmax(scores / self.temperature, mask)
        self.set_trait("score_values", scores[0].tolist())
        self.set_trait("weights", weights[0].tolist())
        self.set_trait("context", (weights @ value)[0].tolist())

    @traitlets.validate("query")
    def _check_query(self, proposal):
        return point("query", proposal["value"])

    @traitlets.validate("key", "value")
    def _check_points(self, proposal):
        name = proposal["trait"].name
        return None if proposal["value"] is None else points(name, proposal["value"], self.words)

    @traitlets.validate("score")
    def _check_score(self, proposal):
        if proposal["value"] not in self.scores:
            raise ValueError(f"unknown score {proposal['value']!r}; on offer are {', '.join(self.scores)}")
        return proposal["value"]

    @traitlets.validate("temperature")
    def _check_temperature(self, proposal):
        return positive("temperature", proposal["value"])

    @traitlets.validate("valid_length")
    def _check_valid_length(self, proposal):
        return whole("valid_length", proposal["value"], 0, len(self.words))

    def picture(self) -> Picture:
        figure = Picture(figsize=(5.2, 5.2), layout="constrained")
        ax = figure.subplots()
        (x, y), centre, value = self.query, self.context, self.key if self.value is None else self.value
        for j, (word, key, weight) in enumerate(zip(self.words, self.key, self.weights, strict=True)):
            ax.plot(*zip(centre, value[j], strict=True), color=ROLES["weight"].light, alpha=0.6, lw=1 + 9 * weight)
            ax.plot(*key, "o", ms=9, color=ROLES["key"].light, mfc=None if j < self.valid_length else "white")
            name = ax.annotate(
                f"{word} {weight:.2f}", key, (7, 6), textcoords="offset points", color=ROLES["key"].light
            )
            name.set_parse_math(False)  # a word may be "$x$"
        ax.annotate("", (x, y), (0, 0), arrowprops={"arrowstyle": "->", "lw": 2.5, "color": ROLES["query"].light})
        ax.annotate("q", (x, y), (7, 6), textcoords="offset points", color=ROLES["query"].light, style="italic")
        ax.plot(*centre, "D", ms=10, color=ROLES["context"].light)
        ax.annotate("c", centre, (9, -14), textcoords="offset points", color=ROLES["context"].light, style="italic")
        extent = 1.15 * max(3.0, *(abs(number) for point in (self.query, *self.key, *value) for number in point))
        ax.set(xlim=(-extent, extent), ylim=(-extent, extent), aspect="equal", title=f"score: {self.score}")
        ax.grid(color="#e4e4e4")
        return figure

    def __repr__(self) -> str:
        # GitHub shows this instead of the figure, and nbval compares it: no memory address, few digits
        weights = [round(weight, 2) for weight in self.weights]
        return f"ScoreExplorer(score={self.score!r}, words={self.words!r}, weights={weights})"


def point(name: str, given) -> list[float]:
    """Two finite numbers."""
    array = numbers(name, given)
    if array.shape != (2,):
        raise ValueError(f"{name} must have shape (2,), got {tuple(array.shape)}")
    return array.tolist()


def points(name: str, given, words: Sequence[str]) -> list[list[float]]:
    """One pair of finite numbers per word."""
    array = numbers(name, given)
    if array.shape != (len(words), 2):
        raise ValueError(f"{name} must have shape ({len(words)}, 2) for {len(words)} words, got {tuple(array.shape)}")
    return array.tolist()


def check_positions(parameters: Mapping[str, Parameters], S: int) -> None:
    """A location score answers for as many words as it has rows, and no more."""
    rows = len(parameters["location"]["W_a"]) if "location" in parameters else S
    if rows < S:
        raise ValueError(f"location: W_a must have at least one row per word, got {rows} rows for {S} words")


def as_lists(name: str, parameters: Parameters) -> dict[str, object]:
    """Parameters as JSON knows them."""
    return {key: numbers(f"{name}: {key}", value).tolist() for key, value in parameters.items()}

"""A language model with attention that reads what the reader types, and shows where it looks back to."""

from collections.abc import Mapping, Sequence

import torch
import traitlets
from matplotlib.figure import Figure as Picture
from traitlets import Dict, Int, List, Unicode

from attnlib.course.figures.language_model import characters_of, language_model, read_of
from attnlib.course.figures.letters import letter_bars, plain
from attnlib.course.figures.weights import unpacked
from attnlib.figures.assets import module, stylesheet
from attnlib.figures.figure import Figure, fixed
from attnlib.figures.palette import ROLES
from attnlib.figures.parameters import whole
from attnlib.figures.pictures import clipped

LONGEST = 64  # characters of a text
SHOWN = 5  # next tokens of a picture


class LookBack(Figure):
    """What an `AttentionLM` looks back at, on any text, and what it says comes next.

    At one place of the text the state after it is the query: bars show its weights `α_tj` on the states before it,
    and below stand the likeliest next tokens. In the browser the text can be typed and the place be chosen; typing
    leads to the end of the text. In a notebook `text` and `position` follow the figure and move it when set; `alpha`
    and `chances` are what it shows, computed by attnlib from the same weights, and read-only.

    Args:
        weights: `export` of an `AttentionLM` with the scaled dot product and no window, whose tokens are characters.
        vocabulary: its V tokens.
        text: what is read: its first 64 known characters. An empty text is allowed while it is typed.
        examples: label of a button -> text.
        position: the place that looks, from 0; the last by default, and if the text is not so long.
        questions: what the figure asks its reader, one after the other: see `Figure`.

    Raises:
        ValueError: weights of another model or of shapes that do not fit, a vocabulary with a token twice or without
            characters, or a position that can be none.

    Example:
        >>> from attnlib.course.figures.weights import export, rounded
        >>> from attnlib.language_models import AttentionLM
        >>> model = rounded(AttentionLM(3, 2, 4))
        >>> _ = [weight.data.zero_() for weight in model.parameters()]
        >>> LookBack(export(model), "abc", "cab")  # knows nothing: looks evenly, expects anything
        LookBack('cab': after 'b', place 3, looks most at 'c' (0.50), next 'a' (0.33))

    Source: daniluk2017frustratingly (there additive, in a window).
    """

    _esm = module("look_back.js", beside=__file__)
    _css = stylesheet("language_model.css", "look_back.css", beside=__file__)

    text = Unicode().tag(sync=True)
    position = Int(LONGEST - 1).tag(sync=True)
    weights = Dict().tag(sync=True)
    vocabulary = List(Unicode()).tag(sync=True)
    examples = List().tag(sync=True)  # of [label, text]
    longest = Int(LONGEST).tag(sync=True)

    # Results stay on this side: the browser has its own, and the tests hold the two equal.
    alpha = List(read_only=True)  # of each state before the one that looks
    chances = List(read_only=True)  # (V,) of what comes next

    def __init__(
        self,
        weights: Mapping[str, Mapping],
        vocabulary: Sequence[str],
        text: str,
        examples: Mapping[str, str] | None = None,
        position: int = LONGEST - 1,
        questions: Sequence[Mapping] = (),
    ):
        vocabulary = [str(token) for token in vocabulary]
        self._model = language_model(unpacked(weights))
        if not hasattr(self._model, "W_c"):
            raise ValueError("W_c.weight must be among the weights: a model without it does not look back")
        self._ids = characters_of(vocabulary, self._model.embedding.num_embeddings)
        super().__init__(
            weights={name: dict(weight) for name, weight in weights.items()},
            vocabulary=vocabulary,
            text=str(text),
            examples=[[str(label), str(example)] for label, example in (examples or {}).items()],
            position=position,
            questions=list(questions),
        )

    @property
    def tokens(self) -> list[str]:
        """The characters that are read."""
        return read_of(self.text, self._ids, LONGEST)

    @property
    def place(self) -> int:
        """The place that looks; -1 where there is no text."""
        return min(self.position, len(self.tokens) - 1)

    @traitlets.observe("text", "position")
    @torch.no_grad()
    def _read(self, change=None):
        """Recompute what the figure shows."""
        tokens, at = self.tokens, self.place
        alpha, chances = [], []
        if tokens:
            output = self._model(torch.tensor([[self._ids[token] for token in tokens]]))
            alpha, chances = output.weights[0, at, :at].tolist(), output.logits[0, at].softmax(-1).tolist()
        self.set_trait("alpha", alpha)
        self.set_trait("chances", chances)

    @traitlets.validate("position")
    def _check_position(self, proposal):
        return whole("position", proposal["value"], 0, LONGEST - 1)

    _check_fixed = fixed("weights", "vocabulary", "examples", "longest")

    def picture(self) -> Picture:
        tokens, at = self.tokens, self.place
        figure = Picture(figsize=(max(5.5, 1 + 0.2 * len(tokens)), 2.2), layout="constrained")
        ax = figure.subplots()
        if not tokens:
            ax.axis("off")
            ax.text(0.5, 0.5, "nothing to read", ha="center")
            return figure
        letter_bars(ax, tokens, 0, self.alpha, ROLES["weight"].light, bold=[at])
        said = ", ".join(f"{plain(token)} {chance:.2f}" for chance, token in self._next()[:SHOWN])
        ax.set(ylim=(0, 1), ylabel="weight")
        ax.set_title(f"next, after “{plain(tokens[at])}” (place {at + 1}): {said}", fontsize=10)
        return figure

    def _next(self) -> list[tuple[float, str]]:
        """Chance and token, the likeliest first; of equals the first."""
        return sorted(zip(self.chances, self.vocabulary, strict=True), key=lambda pair: -pair[0])

    def __repr__(self) -> str:
        # GitHub shows this instead of the figure, and nbval compares it
        tokens, at = self.tokens, self.place
        read = repr(clipped("".join(tokens), 40))
        if not tokens:
            return f"LookBack({read})"
        most = max(range(at), key=self.alpha.__getitem__, default=None)
        looks = "looks at nothing" if most is None else f"looks most at {tokens[most]!r} ({self.alpha[most]:.2f})"
        chance, token = self._next()[0]
        return f"LookBack({read}: after {tokens[at]!r}, place {at + 1}, {looks}, next {token!r} ({chance:.2f}))"

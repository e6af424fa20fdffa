"""A recurrent language model that reads a text twice, with one word changed: how long its state shows it."""

from collections.abc import Mapping, Sequence

import numpy as np
import traitlets
from matplotlib.figure import Figure as Picture
from traitlets import Any, Bool, Dict, Float, Int, List, Unicode

from attnlib.course.figures.language_model import characters_of, language_model, read_of, read_twice, words_in
from attnlib.course.figures.letters import letter_bars, plain
from attnlib.course.figures.weights import unpacked
from attnlib.figures.assets import module, stylesheet
from attnlib.figures.figure import Figure, fixed
from attnlib.figures.parameters import whole
from attnlib.figures.pictures import clipped
from attnlib.figures.plots import INK

LONGEST = 96  # characters of a text
LONGEST_WORD = 24  # of what a word becomes
LITTLE = 0.1  # the share of the largest difference below which a trace counts as gone


class FadingTrace(Figure):
    """How far the state of an `RNNLM` is from what it would be, had one word of the text been another.

    The text is read twice, `h_t` with the word as it stands and `h'_t` with the other. From the word's last character
    on, bars show `‖h_t - h'_t‖` as a share of the largest; below stands what either reading expects next. In the
    browser the text and the other word can be typed, and the word be chosen. In a notebook `text`, `word`, `becomes`
    and `logarithmic` follow the figure and move it when set; `shares`, `left_after`, `chances` and `moved` are what it
    shows, computed by attnlib from the same weights, and read-only.

    Args:
        weights: `export` of an `RNNLM` whose tokens are characters.
        vocabulary: its V tokens.
        text: what is read: its first 96 known characters. A text without a word is allowed while it is typed.
        word: which word is another one, from 0; the last if there are not so many.
        becomes: what stands in its place; nothing leaves the word out.
        logarithmic: bars of six powers of ten.
        questions: what the figure asks its reader, one after the other: see `Figure`.

    Raises:
        ValueError: weights of another model or of shapes that do not fit, a vocabulary with a token twice or without
            characters, or a word that can be none.

    Example:
        >>> from attnlib.course.figures.weights import export, rounded
        >>> from attnlib.language_models import RNNLM
        >>> model = rounded(RNNLM(3, 2, 4))
        >>> _ = model.W_h.weight.data.zero_()  # no memory at all
        >>> FadingTrace(export(model), " ab", "ab ba ab ab", becomes="ba")
        FadingTrace('ab' for 'ba' in 'ab ba ab ab': less than 10 % left after 1 characters)

    Source: elman1990finding (the model).
    """

    _esm = module("fading_trace.js", beside=__file__)
    _css = stylesheet("language_model.css", beside=__file__)

    text = Unicode().tag(sync=True)
    word = Int(0).tag(sync=True)
    becomes = Unicode().tag(sync=True)
    logarithmic = Bool(False).tag(sync=True)
    weights = Dict().tag(sync=True)
    vocabulary = List(Unicode()).tag(sync=True)
    longest = Int(LONGEST).tag(sync=True)
    longest_word = Int(LONGEST_WORD).tag(sync=True)

    # Results stay on this side: the browser has its own, and the tests hold the two equal.
    shares = List(read_only=True)  # after the word's last character and after each that follows
    left_after = Any(read_only=True)  # characters after which less than a tenth is left for good; None: never
    chances = List(read_only=True)  # (2, V) of what comes next: as it stands, and with the other word
    moved = Float(read_only=True)  # probability that the other word moves, 0..1

    def __init__(
        self,
        weights: Mapping[str, Mapping],
        vocabulary: Sequence[str],
        text: str,
        word: int = 0,
        becomes: str = "",
        logarithmic: bool = False,
        questions: Sequence[Mapping] = (),
    ):
        vocabulary = [str(token) for token in vocabulary]
        self._model = language_model(unpacked(weights))
        if hasattr(self._model, "W_c"):
            raise ValueError(
                "W_c.weight is of a model that looks back at all states; this figure is about one that cannot"
            )
        self._ids = characters_of(vocabulary, self._model.embedding.num_embeddings)
        super().__init__(
            weights={name: dict(weight) for name, weight in weights.items()},
            vocabulary=vocabulary,
            text=str(text),
            word=word,
            becomes=str(becomes),
            logarithmic=logarithmic,
            questions=list(questions),
        )

    @property
    def tokens(self) -> list[str]:
        """The characters that are read."""
        return read_of(self.text, self._ids, LONGEST)

    @property
    def other(self) -> list[str]:
        """The characters that are read in place of the word."""
        return read_of(self.becomes, self._ids, LONGEST_WORD)

    @property
    def place(self) -> tuple[int, int]:
        """Where the word begins and ends among the characters; nowhere if there is no word."""
        words = words_in(self.tokens)
        return words[min(self.word, len(words) - 1)] if words else (0, 0)

    @traitlets.observe("text", "word", "becomes")
    def _read(self, change=None):
        """Recompute what the figure shows."""
        tokens, other, (start, end) = self.tokens, self.other, self.place
        found = [[], None, [], 0.0]
        if end:
            ids = [self._ids[token] for token in tokens]
            distances, chances = read_twice(self._model, ids, start, end, [self._ids[token] for token in other])
            shares = (distances / distances.max()).nan_to_num().numpy()  # no difference at all: 0 / 0
            left = 1 + int(np.flatnonzero(shares >= LITTLE).max(initial=-1))
            moved = (chances[0] - chances[1]).abs().sum().item() / 2
            found = [shares.tolist(), left if left < len(shares) else None, chances.tolist(), moved]
        for name, value in zip(("shares", "left_after", "chances", "moved"), found, strict=True):
            self.set_trait(name, value)

    @traitlets.validate("word")
    def _check_word(self, proposal):
        return whole("word", proposal["value"], 0, LONGEST - 1)

    _check_fixed = fixed("weights", "vocabulary", "longest", "longest_word")

    def picture(self) -> Picture:
        tokens, (start, end) = self.tokens, self.place
        figure = Picture(figsize=(max(4, 1 + 0.15 * len(tokens)), 2.4), layout="constrained")
        ax = figure.subplots()
        if not end:
            ax.axis("off")
            ax.text(0.5, 0.5, "nothing to read: at least one word", ha="center")
            return figure
        letter_bars(ax, tokens, end - 1, self.shares, INK, bold=range(start, end))
        ax.axhline(LITTLE, color=INK, lw=0.8, ls=":")
        if self.logarithmic:
            ax.set(yscale="log", ylim=(1e-6, 1))
        ax.set(ylabel="left of the difference", title=plain(f"“{self._word}” becomes “{''.join(self.other)}”"))
        return figure

    @property
    def _word(self) -> str:
        return "".join(self.tokens[slice(*self.place)])

    def __repr__(self) -> str:
        # GitHub shows this instead of the figure, and nbval compares it
        read = clipped("".join(self.tokens), 40)
        left = (
            "never less than 10 % left"
            if self.left_after is None
            else (f"less than 10 % left after {self.left_after} characters")
        )
        return f"FadingTrace({self._word!r} for {''.join(self.other)!r} in {read!r}: {left})"

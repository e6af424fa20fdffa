"""Run a trained translator in the page, paint over where it looks, and see what it writes then."""

import re
from collections.abc import Mapping, Sequence

import torch
import traitlets
from matplotlib.figure import Figure as Picture
from traitlets import Dict, Int, List, Unicode

from attnlib.course.figures.bahdanau import Written, translator, write
from attnlib.course.figures.weights import unpacked
from attnlib.figures.assets import module, stylesheet
from attnlib.figures.figure import Figure
from attnlib.figures.parameters import numbers
from attnlib.figures.plots import INK, heatmap

BEGIN, END = "<bos>", "<eos>"


class AttentionSurgery(Figure):
    """A trained `Encoder` and `BahdanauDecoder`, whose weights α_ij a reader overrules: `c_i = Σ_j α_ij h_j`.

    In the browser a text is typed, the network writes, and the weights of any step are painted over; all later
    steps follow from what was painted. In a notebook `text`, `edits`, `step`, `place` and `shown` are traits that
    follow the figure and move it when set. `original`, `output` and `weights` are what the figure shows, computed
    by attnlib from the same numbers, with or without a browser, and read-only.

    Args:
        network: the weights, as `attnlib.course.figures.weights.export` packs them.
        source_vocabulary: V_s tokens; those of one character can be typed, all others are never read.
        target_vocabulary: V_t tokens, with `<bos>` and `<eos>` among them.
        text: what is read first.
        examples: other texts, to be had at a press.
        edits: step i, from 0 -> S numbers, not negative, that take the place of α_i; divided by their sum.
        step: the step that is chosen first, from 0.
        place: the character that is chosen first, from 0.
        max_length: tokens a target may have, `<eos>` included.
        longest: characters of a text that are read.
        name: what a link to a state of this figure begins with; one name, one figure of a page.
        questions: what the figure asks its reader, one after the other: see `Figure`.

    Raises:
        ValueError: the weights are not those of an encoder (GRU, one layer) and a Bahdanau decoder (additive score)
            for these vocabularies, a mark is missing, a text has a character that is not in the vocabulary or is too
            long or empty, or edits, step or place do not fit.

    Example:
        >>> from attnlib.decoders import BahdanauDecoder
        >>> from attnlib.encoder import Encoder
        >>> from attnlib.seq2seq import Seq2Seq
        >>> from attnlib.course.figures.weights import export, rounded
        >>> model = rounded(Seq2Seq(Encoder(3, 4, 5), BahdanauDecoder(4, 4, 5, 6)))
        >>> words = ["a", "b", "c"], ["<bos>", "<eos>", "x", "y"]
        >>> figure = AttentionSurgery(export(model), *words, text="abba", max_length=6)
        >>> len(figure.weights[0])
        4
        >>> figure.edits = {0: [0, 0, 0, 2]}
        >>> figure.weights[0]
        [0.0, 0.0, 0.0, 1.0]

    Source: bahdanau2015neural, equations 4-6 and appendix A.2.2.
    """

    _esm = module("attention_surgery.js", beside=__file__)
    _css = stylesheet("attention_surgery.css", beside=__file__)

    # What the front end sees. The first five move, in both directions.
    text = Unicode().tag(sync=True)
    edits = Dict().tag(sync=True)  # keys are texts, as JSON has them
    step = Int(0).tag(sync=True)  # the row that is chosen
    place = Int(0).tag(sync=True)  # the bar that is chosen
    shown = Int(None, allow_none=True).tag(sync=True)  # how many steps are to be seen; None: all
    network = Dict().tag(sync=True)
    source_vocabulary = List(Unicode()).tag(sync=True)
    target_vocabulary = List(Unicode()).tag(sync=True)
    examples = List(Unicode()).tag(sync=True)
    max_length = Int().tag(sync=True)
    longest = Int().tag(sync=True)
    name = Unicode().tag(sync=True)

    # Results stay on this side, as in ScoreExplorer: the page computes its own, and the tests hold the two equal.
    original = Unicode(read_only=True)  # without surgery
    output = Unicode(read_only=True)
    weights = List(read_only=True)  # (T, S), of every step; <eos> is one

    _read: str | None = None  # the text that these two are of
    _own: Written | None = None  # without surgery
    _now: Written | None = None

    def __init__(
        self,
        network: Mapping[str, Mapping],
        source_vocabulary: Sequence[str],
        target_vocabulary: Sequence[str],
        text: str,
        examples: Sequence[str] = (),
        edits: Mapping[int, object] | None = None,
        step: int = 0,
        place: int = 0,
        max_length: int = 12,
        longest: int = 32,
        name: str = "surgery",
        questions: Sequence[Mapping] = (),
    ):
        source, target = ([str(token) for token in words] for words in (source_vocabulary, target_vocabulary))
        self._model = translator(unpacked(network))
        for side, words in (("encoder", source), ("decoder", target)):
            if (rows := getattr(self._model, side).vocab_size) != len(words):
                raise ValueError(f"{side}.embedding.weight has {rows} rows for a vocabulary of {len(words)} tokens")
        for mark in (BEGIN, END):
            if mark not in target:
                raise ValueError(f"the target vocabulary must have {mark}, got {target[:8]}")
        for what, count in (("max_length", max_length), ("longest", longest)):
            if count < 1:
                raise ValueError(f"{what} must be at least 1, got {count}")
        if not re.fullmatch("[a-z][a-z0-9-]*", name):
            raise ValueError(f"name must be of small letters, digits and hyphens, got {name!r}")
        self._ids = {token: n for n, token in enumerate(source) if len(token) == 1}
        for given in (text, *examples):
            if strange := sorted(set(given) - self._ids.keys()):
                raise ValueError(f"{given!r} has characters that are not in the source vocabulary: {strange}")
            if not 1 <= len(given) <= longest:
                raise ValueError(f"a text must have 1 to {longest} characters, got {len(given)}: {given!r}")
        super().__init__(
            network={name: dict(entry) for name, entry in network.items()},
            source_vocabulary=source,
            target_vocabulary=target,
            text=text,
            examples=list(examples),
            max_length=max_length,
            longest=longest,
            name=name,
            questions=list(questions),
        )
        self.edits, self.step, self.place = edits or {}, step, place

    @property
    def tokens(self) -> list[str]:
        """The characters that are read: those of the text that the vocabulary has, the first `longest` of them."""
        return [character for character in self.text if character in self._ids][: self.longest]

    def _written(self, edits: Mapping[str, list[float]]) -> Written | None:
        if not self.tokens:
            return None
        rows = {int(i): torch.tensor(row, dtype=torch.float64) for i, row in edits.items()}
        marks = (self.target_vocabulary.index(mark) for mark in (BEGIN, END))
        return write(self._model, [self._ids[token] for token in self.tokens], rows, *marks, self.max_length)

    def _spelled(self, written: Written | None) -> list[str]:
        return [] if written is None else [self.target_vocabulary[token] for token in written.tokens]

    @traitlets.observe("text")
    def _another_text(self, change):
        """Weights of another text mean nothing here."""
        if any(len(row) != len(self.tokens) for row in self.edits.values()):
            self.edits = {}  # which computes
        else:
            self._compute()

    @traitlets.observe("edits")
    def _compute(self, change=None):
        if self._read != self.text:  # what the model itself writes does not depend on edits
            self._read, self._own = self.text, self._written({})
        self._now = self._written(self.edits) if self.edits else self._own
        for trait, written in (("original", self._own), ("output", self._now)):
            self.set_trait(trait, "".join(token for token in self._spelled(written) if token != END))
        self.set_trait("weights", [] if self._now is None else self._now.weights.tolist())

    @traitlets.validate("edits")
    def _check_edits(self, proposal):
        return {str(i): shares(i, row, len(self.tokens), self.max_length) for i, row in proposal["value"].items()}

    @traitlets.validate("step", "place", "shown")
    def _check_count(self, proposal):
        name, value = proposal["trait"].name, proposal["value"]
        most = (self.longest if name == "place" else self.max_length) - (name != "shown")
        if value is not None and not (name == "shown") <= value <= most:
            raise ValueError(f"{name} must be a whole number in {int(name == 'shown')}..{most}, got {value}")
        return value

    def picture(self) -> Picture:
        written, tokens = self._now, self.tokens
        figure = Picture(figsize=(7.2, 4), layout="constrained")
        ax = figure.subplots()
        changed = f"\nafter surgery: {self.output}" if self.edits else ""
        if written is None:
            ax.set_axis_off()
            ax.set_title("nothing to read")
            return figure
        rows = self._spelled(written)
        heatmap(written.weights, rows, tokens, ax, row_label="writes", column_label="looks at", numbers=False)
        for i in map(int, self.edits):
            if i < len(rows):
                ax.axhspan(i - 0.5, i + 0.5, fill=False, edgecolor=INK, linewidth=1.6)
        ax.set_title(f"the model writes: {self.original}{changed}", parse_math=False)
        return figure

    def __repr__(self) -> str:
        # Which steps are painted, and what comes of it: both are stable where training is.
        painted = ", ".join(sorted(self.edits, key=int))
        return f"AttentionSurgery({self.text!r} → {self.original!r}, painted=[{painted}] → {self.output!r})"


def shares(step: object, given: object, S: int, max_length: int, tokens: str = "characters") -> list[float]:
    """Numbers that are not negative, divided by their sum."""
    if not str(step).isdecimal() or int(step) >= max_length:
        raise ValueError(f"edits: a step must be a whole number in 0..{max_length - 1}, got {step!r}")
    row = numbers(f"edits of step {step}", given)
    if row.shape != (S,):
        raise ValueError(f"edits of step {step} must have shape ({S},) for {S} {tokens}, got {tuple(row.shape)}")
    if row.min() < 0 or row.sum() <= 0:
        raise ValueError(f"edits of step {step} must not be negative, and not all 0, got {row.tolist()}")
    return (row / row.sum()).tolist()

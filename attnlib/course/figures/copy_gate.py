"""A trained copier that reads what the reader types, and a gate that can be held."""

from collections.abc import Mapping, Sequence

import traitlets
from matplotlib.figure import Figure as Picture
from traitlets import Any, Bool, Dict, Int, List, Unicode

from attnlib.course.figures.copier import copier, words_of, write
from attnlib.course.figures.weights import unpacked
from attnlib.figures.assets import module, stylesheet
from attnlib.figures.figure import Figure
from attnlib.figures.parameters import as_float, whole
from attnlib.figures.plots import heatmap
from attnlib.search import EOS

LONGEST = 32  # words of a source


class CopyGate(Figure):
    """A pointer-generator in the page: type a source, see what is said and what is copied, and hold `p_gen`.

    In the browser the text can be typed, a word of the answer chosen, and `p_gen` moved, at that word or at every
    word; from there on the model writes on by itself. In a notebook `text`, `p_gen`, `step` and `everywhere` follow
    the figure and move it when set. `output`, `gates`, `shares` and `copy_weights` are what the figure shows,
    computed by attnlib from the same weights, with or without a browser, and read-only.

    Args:
        weights: `export` of a `Seq2Seq` of an `Encoder` (GRU, one layer) and a `CopyDecoder` around a `LuongDecoder`
            with the score `general`.
        vocabulary: its V words, of which number 1 begins and number 2 ends a target.
        unknown: the id that the model reads in place of a word that is not among them.
        text: what it reads first: words, blanks between them. A text without words, or with more than 32, is allowed
            while it is typed: then nothing is written.
        examples: label of a button -> text.
        p_gen: 0..1, in place of the model's own; None leaves it alone.
        step: the word of the answer that is looked at, from 0.
        everywhere: hold `p_gen` at every word, not only at `step`.
        max_length: words an answer may have, its end included.
        questions: what the figure asks its reader, one after the other: see `Figure`.

    Raises:
        ValueError: weights of another model or of shapes that do not fit, words that occur twice, or a number
            outside its range.

    Example:
        >>> from attnlib.course.figures.weights import export
        >>> model = Seq2Seq(Encoder(5, 2, 2), CopyDecoder(LuongDecoder(5, 2, 2, 2), unknown=3))
        >>> _ = [weight.data.zero_() for weight in model.parameters()]
        >>> words = ["<pad>", "<bos>", "<eos>", "<unk>", "call"]
        >>> figure = CopyGate(export(model), words, unknown=3, text="call Ada", p_gen=0.0, max_length=3)
        >>> figure  # of equals the first
        CopyGate(p_gen=0.0, output='call call call')

    Source: see2017get, equations 8 and 9.
    """

    _esm = module("copy_gate.js", beside=__file__)
    _css = stylesheet("copy_gate.css", beside=__file__)

    text = Unicode().tag(sync=True)
    p_gen = Any(None).tag(sync=True)  # None, or a float
    step = Int(0).tag(sync=True)
    everywhere = Bool(False).tag(sync=True)
    weights = Dict().tag(sync=True)
    vocabulary = List(Unicode()).tag(sync=True)
    unknown = Int().tag(sync=True)
    examples = List().tag(sync=True)  # of [label, text]
    max_length = Int().tag(sync=True)
    longest = Int(LONGEST).tag(sync=True)

    # Results stay on this side: the browser has its own, and the tests hold the two equal.
    output = List(read_only=True)  # T words, the end included
    gates = List(read_only=True)  # T, the p_gen that counted
    shares = List(read_only=True)  # T, how much of the word's probability was said
    copy_weights = List(read_only=True)  # (T, S)

    def __init__(
        self,
        weights: Mapping[str, Mapping],
        vocabulary: Sequence[str],
        unknown: int,
        text: str,
        examples: Mapping[str, str] | None = None,
        p_gen=None,
        step: int = 0,
        everywhere: bool = False,
        max_length: int = 25,
        questions: Sequence[Mapping] = (),
    ):
        vocabulary = [str(word) for word in vocabulary]
        if len(set(vocabulary)) < len(vocabulary):
            twice = sorted({word for word in vocabulary if vocabulary.count(word) > 1})
            raise ValueError(f"the words of the vocabulary must be different, these occur twice: {twice}")
        V = len(vocabulary)
        if V <= EOS:
            raise ValueError(f"a vocabulary holds at least what begins and ends a target, got {vocabulary}")
        unknown = whole("unknown", unknown, 0, V - 1)
        self._model = copier(unpacked(weights), unknown)
        if (rows := self._model.encoder.vocab_size) != V:
            raise ValueError(f"encoder.embedding.weight has {rows} rows for a vocabulary of {V} words")
        max_length = whole("max_length", max_length, 1, LONGEST)
        super().__init__(
            weights={name: dict(weight) for name, weight in weights.items()},
            vocabulary=vocabulary,
            unknown=unknown,
            text=str(text),
            examples=[[str(label), str(example)] for label, example in (examples or {}).items()],
            p_gen=chance(p_gen),
            step=whole("step", step, 0, max_length - 1),
            everywhere=everywhere,
            max_length=max_length,
            questions=list(questions),
        )

    @traitlets.observe("text", "p_gen", "step", "everywhere")
    def _write(self, change=None):
        """Recompute what the figure shows."""
        if not self.everywhere and self.p_gen is None and self.output and change and change["name"] == "step":
            return  # looking at another word changes none
        words = words_of(self.text)
        if not 0 < len(words) <= LONGEST:
            written = [[], [], [], []]
        else:
            found = write(self._model, self.vocabulary, words, self._held, self.max_length)
            written = [found.words, found.p_gen, found.share, found.weights]
        for name, value in zip(("output", "gates", "shares", "copy_weights"), written, strict=True):
            self.set_trait(name, value)

    def _held(self, i: int) -> float | None:
        return self.p_gen if self.everywhere or i == self.step else None

    @traitlets.validate("p_gen")
    def _check_p_gen(self, proposal):
        return chance(proposal["value"])

    @traitlets.validate("step")
    def _check_step(self, proposal):
        return whole("step", proposal["value"], 0, self.max_length - 1)

    def picture(self) -> Picture:
        words = words_of(self.text)
        figure = Picture(figsize=(2.8 + 0.5 * len(words), 1.5 + 0.34 * max(1, len(self.output))), layout="constrained")
        ax = figure.subplots()
        if not self.output:
            ax.axis("off")
            ax.text(0.5, 0.5, f"nothing to read: 1 to {LONGEST} words", ha="center")
            return figure
        rows = [
            f"{word}  ({how_written(share)}, {gate:.2f})"
            for word, share, gate in zip(self.output, self.shares, self.gates, strict=True)
        ]
        heatmap(self.copy_weights, rows, words, ax, row_label="writes, with p_gen", column_label="looks at")
        if self.p_gen is not None:
            where = "every word" if self.everywhere else f"word {self.step + 1}"
            figure.suptitle(f"p_gen held at {self.p_gen:.2f}, at {where}")
        return figure

    def __repr__(self) -> str:
        # GitHub shows this instead of the figure, and nbval compares it
        output = " ".join(self.output)
        return f"CopyGate(p_gen={self.p_gen}, output={output if len(output) <= 70 else output[:69] + '…'!r})"


def how_written(share: float) -> str:
    """Whether more of a word was said or copied."""
    return "said" if share >= 0.5 else "copied"


def chance(given) -> float | None:
    """A number in 0..1, or None, or a ValueError."""
    if given is None:
        return None
    try:
        number = as_float(given)
    except (TypeError, ValueError) as error:
        raise ValueError(f"p_gen must be a number in 0..1 or None, got {given!r}") from error
    if not 0 <= number <= 1:
        raise ValueError(f"p_gen must be a number in 0..1 or None, got {given!r}")
    return number

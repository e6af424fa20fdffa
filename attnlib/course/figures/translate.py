"""A trained translator in the page: type English, watch the translation come, and overrule where it looks."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from itertools import count
from pathlib import Path
from typing import NamedTuple

import torch
import traitlets
from anywidget.experimental import command
from matplotlib.figure import Figure as Picture
from torch import Tensor, nn
from traitlets import Dict, Int, List, Unicode

from attnlib.course.figures.attention_surgery import shares
from attnlib.course.figures.bahdanau import instead
from attnlib.course.figures.translator_file import MODELS, read_translator
from attnlib.data.subwords import Subwords
from attnlib.data.translation import detokenize, tokenize
from attnlib.data.vocabulary import UNK
from attnlib.figures.assets import module, stylesheet
from attnlib.figures.figure import Figure, fixed
from attnlib.figures.parameters import whole
from attnlib.figures.pictures import clipped
from attnlib.figures.plots import INK, heatmap
from attnlib.search import BeamSearchOutput, beam_search
from attnlib.seq2seq import Seq2Seq

MOST_CHARACTERS = 1000
MOST_PIECES = 60
MOST_BEAMS = 5
TRANSLATOR = MODELS / "home-assistant-es.js"  # what `make translator` makes of the run that the book is about


class Read(NamedTuple):
    """What a translator reads of a text."""

    ids: list[int]
    pieces: list[str]  # as they stand in the text, also those that the vocabulary does not have
    problem: str  # why nothing is translated, in one sentence; "" where something is


def read_text(subwords: Subwords, text: str) -> Read:
    """The pieces of a text that anybody has typed, in lower case as the corpora have it.

    Example:
        >>> read_text(Subwords.learn(["low lower lowest"] * 3, size=16), "Low?").pieces
        ['▁low', '?']
    """
    if len(text) > MOST_CHARACTERS:
        return Read([], [], f"At most {MOST_CHARACTERS} characters are read, and this text has {len(text)}.")
    whole_characters = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    ids, pieces = subwords.cut(detokenize(tokenize(whole_characters, "en"), "en"))
    if not ids:
        return Read(ids, pieces, "There is nothing to read yet: type an English sentence.")
    if len(ids) > MOST_PIECES:
        return Read(ids, pieces, f"At most {MOST_PIECES} pieces are read, and this text has {len(ids)}.")
    if all(i == UNK or piece == "▁" for i, piece in zip(ids, pieces, strict=True)):
        problem = "None of these characters occurred in training, so that there is nothing to translate."
        return Read(ids, pieces, problem)
    return Read(ids, pieces, "")


@contextmanager
def overruled(attention: nn.Module, edits: Mapping[int, Tensor]) -> Iterator[None]:
    """In step i of a search, every beam has the weights `edits[i]`, (S,), in place of its own."""
    step = count()

    def look(layer, given, own):
        row = edits.get(next(step))
        return own if row is None else instead(row)(layer, given, own)

    with attention.register_forward_hook(look):
        yield


def search(
    model: Seq2Seq, ids: Sequence[int], edits: Mapping[int, Tensor], beams: int, max_length: int
) -> BeamSearchOutput:
    """The best targets of a source, with weights from outside in some steps; as `attnlib.training.translator` searches.

    Args:
        model: any whose decoder has an attention that looks once in a step.
        ids: of the source, at least one.
        edits: step -> (S,), taken in place of α.
        beams: 1 is greedy.
        max_length: tokens a target may have, `<eos>` included.
    """
    with overruled(model.decoder.attention, edits) if edits else nullcontext():
        return beam_search(model, torch.tensor([ids]), max_length=max_length, beam_size=beams, length_penalty=1.0)


class Translate(Figure):
    """A translator of a real corpus in the page: an encoder of two directions, and Luong's or Bahdanau's decoder.

    In the browser a sentence is typed, cut into pieces and translated, greedily or with a beam; each step shows its
    weights α_ij, which can be overruled, and all that follows is written anew. In a notebook `text`, `edits`, `step`,
    `place`, `shown` and `beams` follow the figure and move it when set. `pieces`, `original`, `output`, `written`,
    `weights` and `found` are what the figure shows, computed by attnlib from the same file, with or without a browser,
    and read-only.

    The translator is not in the figure's state, because a page would then carry it as often as it is shown. A page
    loads it from the file beside it, once; a notebook asks the kernel; a page that is saved carries it.

    Args:
        text: what is read first. A text that is empty, too long, or of unknown characters only, is allowed while it
            is typed: then nothing is translated, and `problem` says why.
        examples: other texts, to be had at a press.
        edits: step i, from 0 -> S numbers, not negative, that take the place of α_i; divided by their sum.
        step: the step that is chosen first, from 0.
        place: the piece that is chosen first, from 0.
        beams: 1 for greedy, up to 5.
        file: of the translator, as `make translator` writes it.
        carried: keep the translator in the figure's state nevertheless; for small ones.
        questions: what the figure asks its reader, one after the other: see `Figure`.

    Raises:
        ValueError: the file is missing, damaged, or no translator; or edits, step, place or beams do not fit.

    Example:
        >>> Translate("Select the language.", beams=5)
        Translate('Select the language.' → 'selecciona el idioma.', beams=5)

    Source: luong2015effective, equations 5 and 6; bahdanau2015neural, section 3.2 (the encoder) and appendix A.2.2.
    """

    _esm = module("translate.js", beside=__file__)
    _css = stylesheet("attention_surgery.css", "translate.css", beside=__file__)

    # What the front end sees. The first six move, in both directions.
    text = Unicode().tag(sync=True)
    edits = Dict().tag(sync=True)  # keys are texts, as JSON has them
    step = Int(0).tag(sync=True)  # the row that is chosen
    place = Int(0).tag(sync=True)  # the column that is chosen
    shown = Int(None, allow_none=True).tag(sync=True)  # how many steps are to be seen; None: all
    beams = Int(1).tag(sync=True)
    examples = List(Unicode()).tag(sync=True)
    file = Unicode().tag(sync=True)
    digest = Unicode().tag(sync=True)
    size = Int().tag(sync=True)  # bytes of the file, about
    carried = Dict().tag(sync=True)  # the translator; nothing, where it is loaded

    # Results stay on this side: the browser has its own, and the tests hold the two equal.
    pieces = List(read_only=True)
    problem = Unicode(read_only=True)
    original = Unicode(read_only=True)  # without surgery
    output = Unicode(read_only=True)
    written = List(read_only=True)  # T pieces of the output, its end included
    weights = List(read_only=True)  # (T, S)
    found = List(read_only=True)  # of each beam, the best first: text, and log P divided by the length penalty

    def __init__(
        self,
        text: str,
        examples: Sequence[str] = (),
        edits: Mapping[int, object] | None = None,
        step: int = 0,
        place: int = 0,
        beams: int = 1,
        file: Path | str = TRANSLATOR,
        carried: bool = False,
        questions: Sequence[Mapping] = (),
    ):
        self._translator = read_translator(file)
        super().__init__(
            text=str(text),
            examples=[str(example) for example in examples],
            beams=beams,
            file=Path(file).name,
            digest=self._translator.digest,
            size=Path(file).stat().st_size,
            carried=self._translator.detail if carried else {},
            questions=list(questions),
        )
        self.edits, self.step, self.place = edits or {}, step, place

    def state_without_kernel(self) -> dict:
        return self.get_state() | {"carried": self._translator.detail}

    @command
    def load(self, message, buffers):
        """The translator, to a browser that has a kernel to ask."""
        return self._translator.detail, []

    def _search(self, read: Read, edits: Mapping[str, list[float]]) -> BeamSearchOutput | None:
        if read.problem:
            return None
        rows = {int(i): torch.tensor(row, dtype=torch.float64) for i, row in edits.items()}
        return search(self._translator.model, read.ids, rows, self.beams, self._translator.max_length)

    def _texts(self, output: BeamSearchOutput | None) -> list[str]:
        if output is None:
            return []
        real = output.log_prob[0].isfinite()
        return [self._translator.subwords.decode(ids) for ids in output.tokens[0][real]]

    @traitlets.observe("text")
    def _another_text(self, change):
        """Weights of another text mean nothing here."""
        S = len(read_text(self._translator.subwords, self.text).ids)
        if any(len(row) != S for row in self.edits.values()):
            self.edits = {}  # which computes
        else:
            self._compute()

    @traitlets.observe("edits", "beams")
    def _compute(self, change=None):
        """Recompute what the figure shows."""
        read = read_text(self._translator.subwords, self.text)
        own = self._search(read, {})
        now = self._search(read, self.edits) if self.edits else own
        texts, T, written, weights = self._texts(now), 0, [], []
        if now is not None:
            best = now.best()
            T = min(int(best.lengths[0]) + 1, best.tokens.shape[1])  # with its end, if it has one
            written = self._translator.subwords.pieces(best.tokens[0, :T])
            weights = best.weights[0, :T].tolist()
        found = [] if now is None else [list(pair) for pair in zip(texts, now.score[0].tolist(), strict=False)]
        results = {
            "pieces": read.pieces, "problem": read.problem, "original": (self._texts(own) or [""])[0],
            "output": (texts or [""])[0], "written": written, "weights": weights, "found": found,
        }  # fmt: skip
        for name, value in results.items():
            self.set_trait(name, value)

    @traitlets.validate("edits")
    def _check_edits(self, proposal):
        S = len(read_text(self._translator.subwords, self.text).ids)
        longest = self._translator.max_length
        return {str(i): shares(i, row, S, longest, "pieces") for i, row in proposal["value"].items()}

    @traitlets.validate("step", "place", "shown", "beams")
    def _check_count(self, proposal):
        name, value, longest = proposal["trait"].name, proposal["value"], self._translator.max_length
        bounds = {
            "step": (0, longest - 1), "place": (0, MOST_PIECES - 1), "shown": (1, longest), "beams": (1, MOST_BEAMS),
        }  # fmt: skip
        return value if value is None else whole(name, value, *bounds[name])

    _check_fixed = fixed("examples", "file", "digest", "size", "carried")

    def picture(self) -> Picture:
        T, S = len(self.written), len(self.pieces)
        width, height = (max(5.5, 2.4 + 0.3 * S), 1.6 + 0.26 * T) if T else (5.5, 1.6)
        figure = Picture(figsize=(width, height), layout="constrained")
        ax = figure.subplots()
        if not self.written:
            ax.axis("off")
            ax.text(0.5, 0.5, self.problem, ha="center", wrap=True)
            return figure
        heatmap(self.weights, self.written, self.pieces, ax, row_label="writes", column_label="looks at", numbers=False)
        for i in map(int, self.edits):
            if i < T:
                ax.axhspan(i - 0.5, i + 0.5, fill=False, edgecolor=INK, linewidth=1.6)
        step = min(self.step, T - 1)
        ax.get_yticklabels()[step].set_weight("bold")
        after = f"\nafter surgery: {self.output}" if self.edits else ""
        ax.set_title(f"{self.original}{after}", parse_math=False, fontsize=10)
        return figure

    def __repr__(self) -> str:
        # GitHub shows this instead of the figure, and nbval compares it
        painted = f", painted=[{', '.join(sorted(self.edits, key=int))}]" if self.edits else ""
        return f"Translate({clipped(self.text, 60)!r} → {clipped(self.output, 60)!r}, beams={self.beams}{painted})"

"""Networks that learn in the reader's page, and where they look while they do."""

from collections.abc import Mapping, Sequence

import torch
import traitlets
from matplotlib.figure import Figure as Picture
from traitlets import Any, Bool, Float, Int, List, Unicode

from attnlib.attention import Attention
from attnlib.decoders import DECODERS
from attnlib.encoder import Encoder
from attnlib.figures import plots
from attnlib.figures.assets import module, stylesheet
from attnlib.figures.figure import Figure
from attnlib.figures.parameters import positive, whole
from attnlib.scores import AdditiveScore
from attnlib.seq2seq import Seq2Seq

#: The models, by the name they have in the figure: (decoder, score) of attnlib.
MODELS = {
    "none": ("initial_state", None),
    "additive": ("bahdanau", "additive"),
    "dot": ("luong", "dot"),
    "scaled dot": ("luong", "scaled_dot"),
    "general": ("luong", "general"),
}
TASKS = ("copy", "reverse", "sort", "look up", "dates")


class LearnToAlign(Figure):
    """One or two sequence-to-sequence models that learn a task in the page, with their weights as they sharpen.

    The models are attnlib's: an encoder of two directions with d_annotation = d_hidden = `width`, embeddings of half of
    that, and a decoder with attention or without. Adam trains them on 32 new sentences a step, with gradients cut to a
    norm of 1. How far they are is measured on 64 sentences that are never learned from. The tests hold losses,
    parameters and what is written equal to attnlib's.

    In a notebook `task`, `models`, `longest`, `width`, `rate`, `mask`, `seed`, `sentence` and `at` follow the figure,
    and move it when set. Whenever the models rest, `history` has what was measured: for each model the loss of every
    step, and at every look the step, the share of sentences written without a mistake, and the alignment error rate
    (None where no links are known). `model(n)` is the n-th model with what it has learned.

    Args:
        task: "copy", "reverse", "sort", "look up" or "dates".
        models: one or two of "none", "additive", "dot", "scaled dot" and "general".
        longest: letters of the longest sentence, 4 to 12.
        width: d_hidden, 8 to 64, even. A small screen gets 16 at most.
        rate: of Adam.
        mask: padding gets no weight.
        seed: of the first parameters and of the sentences.
        sentence: what the models are asked to write while they learn; by default a held-out sentence.
        questions: what the figure asks its reader, one after the other: see `Figure`.

    Raises:
        ValueError: an unknown task or model, no model or more than two, or a number outside of its range.

    Example:
        >>> LearnToAlign("reverse", models=["general"])
        LearnToAlign('reverse', models=['general'], steps=0)

    Source: bahdanau2015neural and luong2015effective (the models).
    """

    _esm = module("learn_to_align.js", beside=__file__)
    _css = stylesheet("learn_to_align.css", beside=__file__)

    task = Unicode("reverse").tag(sync=True)
    models = List(Unicode()).tag(sync=True)
    longest = Int(8).tag(sync=True)
    width = Int(32).tag(sync=True)
    rate = Float(0.01).tag(sync=True)
    mask = Bool(True).tag(sync=True)
    seed = Int(0).tag(sync=True)
    sentence = Unicode().tag(sync=True)
    at = Int(-1).tag(sync=True)  # which of the recorded looks is shown; -1: the newest

    # What comes from the browser.
    history = List().tag(sync=True)  # of each model: loss per step; step, right and error per look
    parameters = Any([]).tag(sync=True)  # of each model: name → {shape, data}

    def __init__(
        self,
        task: str = "reverse",
        models: Sequence[str] = ("additive", "none"),
        longest: int = 8,
        width: int = 32,
        rate: float = 0.01,
        mask: bool = True,
        seed: int = 0,
        sentence: str = "",
        questions: Sequence[Mapping] = (),
    ):
        super().__init__(
            task=task,
            models=list(models),
            longest=longest,
            width=width,
            rate=rate,
            mask=mask,
            seed=seed,
            sentence=sentence,
            questions=list(questions),
        )

    def model(self, n: int = 0) -> Seq2Seq:
        """The n-th model, with what it has learned in the browser.

        Raises:
            ValueError: nothing was learned yet, or there is no such model.
        """
        if not 0 <= n < len(self.models):
            raise ValueError(f"there are {len(self.models)} models, got n = {n}")
        if n >= len(self.parameters) or not self.parameters[n]:
            raise ValueError("nothing was learned yet: press Train in the figure, then Pause")
        weights = {name: torch.tensor(one["data"]).view(one["shape"]) for name, one in self.parameters[n].items()}
        decoder, score = MODELS[self.models[n]]
        vocabulary, embedded = weights["decoder.embedding.weight"].shape
        width = weights["decoder.W_s.bias"].numel()
        made = DECODERS[decoder](vocabulary, embedded, width, width, **({"score": score} if score else {}))
        if score == "additive":
            made.attention = Attention(AdditiveScore(width, width, d_hidden=width), width, width)
        model = Seq2Seq(Encoder(vocabulary, embedded, width // 2, bidirectional=True), made)
        model.load_state_dict(weights)
        return model.eval()

    @traitlets.validate("task")
    def _check_task(self, proposal):
        if proposal["value"] not in TASKS:
            raise ValueError(f"unknown task {proposal['value']!r}, known are {', '.join(TASKS)}")
        return proposal["value"]

    @traitlets.validate("models")
    def _check_models(self, proposal):
        if unknown := [name for name in proposal["value"] if name not in MODELS]:
            raise ValueError(f"unknown model {unknown[0]!r}, known are {', '.join(MODELS)}")
        if not 1 <= len(proposal["value"]) <= 2:
            raise ValueError(f"one or two models learn at once, got {len(proposal['value'])}")
        return proposal["value"]

    @traitlets.validate("longest", "width", "seed")
    def _check_whole(self, proposal):
        name = proposal["trait"].name
        low, high = {"longest": (4, 12), "width": (8, 64), "seed": (0, 10_000)}[name]
        number = whole(name, proposal["value"], low, high)
        if name == "width" and number % 2:
            raise ValueError(f"width is even, because the encoder reads in two directions; got {number}")
        return number

    @traitlets.validate("rate")
    def _check_rate(self, proposal):
        return positive("rate", proposal["value"])

    def picture(self) -> Picture:
        """The curves, as far as the models have come."""
        figure = Picture(figsize=(4.6, 2.4), layout="constrained")
        ax = figure.subplots()
        if not self.history:
            ax.axis("off")
            ax.text(0.5, 0.5, "Nothing was learned yet: press Train.", ha="center", va="center")
            return figure
        for one, style in zip(self.history, ("-", "--"), strict=False):
            ax.plot(one["step"], one["right"], style, color=plots.INK)
            ax.annotate(one["model"], (one["step"][-1], one["right"][-1]), xytext=(4, 0), textcoords="offset points")
        ax.set(xlabel="steps", ylabel="right, of unseen sentences", ylim=(0, 1.05))
        return figure

    def __repr__(self) -> str:
        steps = len(self.history[0]["loss"]) if self.history else 0
        return f"LearnToAlign({self.task!r}, models={self.models}, steps={steps})"

"""Networks that learn in the reader's page, and where they look while they do."""

from collections.abc import Mapping, Sequence

import torch
import traitlets
from matplotlib.figure import Figure as Picture
from traitlets import Bool, Dict, Float, Int, List, Unicode

from attnlib.attention import Attention
from attnlib.course.self_attention_encoder import SelfAttentionEncoder
from attnlib.decoders import DECODERS
from attnlib.encoder import Encoder
from attnlib.figures import plots
from attnlib.figures.assets import module, stylesheet
from attnlib.figures.figure import Figure, fixed
from attnlib.figures.parameters import positive, whole
from attnlib.scores import AdditiveScore
from attnlib.seq2seq import Seq2Seq

#: The models, by the name they have in the figure: what the page says of them, and what of attnlib they are.
MODELS = {
    "none": {"title": "no attention", "encoder": "gru", "decoder": "initial_state", "score": None},
    "additive": {"title": "additive (Bahdanau)", "encoder": "gru", "decoder": "bahdanau", "score": "additive"},
    "dot": {"title": "dot (Luong)", "encoder": "gru", "decoder": "luong", "score": "dot"},
    "scaled dot": {"title": "scaled dot (Luong)", "encoder": "gru", "decoder": "luong", "score": "scaled_dot"},
    "general": {"title": "general (Luong)", "encoder": "gru", "decoder": "luong", "score": "general"},
    "self-attention": {
        "title": "self-attention",
        "encoder": "transformer",
        "positions": True,
        "decoder": "luong",
        "score": "scaled_dot",
    },
    "self-attention, no positions": {
        "title": "self-attention, no positions",
        "encoder": "transformer",
        "positions": False,
        "decoder": "luong",
        "score": "scaled_dot",
    },
}
#: The tasks, and what a model learns to do; {n} stands for the longest sentence.
TASKS = {
    "copy": "copy 3 to {n} letters",
    "reverse": "write 3 to {n} letters backwards",
    "sort": "sort 3 to {n} letters",
    "look up": "find the digit behind a letter, in at most {n} signs",
    "dates": "write dates as 1999-05-03",
}

#: Whole numbers that a figure can be given.
RANGES = {
    "longest": (4, 12),
    "width": (8, 64),
    "seed": (0, 10_000),
    "until": (0, 100_000),
    "at": (-1, 100_000),
    "row": (-1, 100),
}


class LearnToAlign(Figure):
    """One or two sequence-to-sequence models that learn a task in the page, with their weights as they sharpen.

    The models are attnlib's: an encoder with d_annotation = d_hidden = `width`, either a GRU of two directions with
    embeddings of half of that, or a block of self-attention with one head; and a decoder with attention or without.
    Adam trains them on 32 new sentences a step, with gradients cut to a norm of 1. How far they are is measured on 64
    sentences that are never learned from. The tests hold losses, parameters and what is written equal to attnlib's.

    In a notebook `task`, `models`, `longest`, `width`, `rate`, `mask`, `seed`, `sentence`, `until`, `at` and `row`
    follow the figure, and move it when set: `figure.until = 200` lets the page learn until it has made 200 steps.
    Another task, model, length, width or seed begins anew. Whenever the models rest, `history` has what was measured:
    for each model the loss of every step, and at every look the step, the share of sentences written without a mistake,
    and the alignment error rate (None where no links are known). `model(n)` is the n-th model with what it has learned.

    Args:
        task: "copy", "reverse", "sort", "look up" or "dates".
        models: one or two of "none", "additive", "dot", "scaled dot", "general", "self-attention" and "self-attention,
            no positions".
        longest: letters of the longest sentence, 4 to 12.
        width: d_hidden, 8 to 64, even. A small screen gets 16 at most.
        rate: of Adam.
        mask: padding gets no weight.
        seed: of the first parameters and of the sentences.
        sentence: what the models are asked to write while they learn; by default a held-out sentence.
        small: show one button and what comes of it, without the other controls.
        questions: what the figure asks its reader, one after the other: see `Figure`.

    Raises:
        ValueError: an unknown task or model, no model or more than two, or a number outside of its range.

    Example:
        >>> LearnToAlign("reverse", models=["general"])
        LearnToAlign('reverse', models=['general'], steps=0)

    Source: bahdanau2015neural, luong2015effective and vaswani2017attention (the models).
    """

    _esm = module("learn_to_align.js", beside=__file__)
    _css = stylesheet("learn_to_align.css", beside=__file__)

    known_models = Dict(MODELS).tag(sync=True)
    known_tasks = Dict(TASKS).tag(sync=True)
    small = Bool(False).tag(sync=True)
    _check_fixed = fixed("known_models", "known_tasks", "small")

    task = Unicode("reverse").tag(sync=True)
    models = List(Unicode()).tag(sync=True)
    longest = Int(8).tag(sync=True)
    width = Int(32).tag(sync=True)
    rate = Float(0.01).tag(sync=True)
    mask = Bool(True).tag(sync=True)
    seed = Int(0).tag(sync=True)
    sentence = Unicode().tag(sync=True)
    until = Int(0).tag(sync=True)  # steps to learn
    at = Int(-1).tag(sync=True)  # which of the recorded looks is shown; -1: the newest
    row = Int(-1).tag(sync=True)  # the row of the grids that is outlined; -1: none

    # What comes from the browser.
    history = List(read_only=True).tag(sync=True)  # of each model: loss per step; step, right and error per look
    parameters = List(read_only=True).tag(sync=True)  # of each model: name → {shape, data}

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
        small: bool = False,
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
            small=small,
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
        encoder, decoder, score = (MODELS[self.models[n]][part] for part in ("encoder", "decoder", "score"))
        vocabulary, embedded = weights["decoder.embedding.weight"].shape
        width = weights["decoder.W_s.bias"].numel()
        if encoder == "gru":
            reader = Encoder(vocabulary, embedded, width // 2, bidirectional=True)
        else:
            reader = SelfAttentionEncoder(vocabulary, width, MODELS[self.models[n]]["positions"])
        made = DECODERS[decoder](vocabulary, embedded, width, width, **({"score": score} if score else {}))
        if score == "additive":
            made.attention = Attention(AdditiveScore(width, width, d_hidden=width), width, width)
        model = Seq2Seq(reader, made)
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

    @traitlets.observe("task", "models", "longest", "width", "seed")
    def _forget(self, change):
        """What was measured belongs to another lesson."""
        if self._made:
            self.set_trait("history", [])
            self.set_trait("parameters", [])

    @traitlets.validate("longest", "width", "seed", "until", "at", "row")
    def _check_whole(self, proposal):
        name = proposal["trait"].name
        low, high = RANGES[name]
        number = whole(name, proposal["value"], low, high)
        if name == "width" and number % 2:
            raise ValueError(f"width is even, because the encoder reads in two directions; got {number}")
        return number

    @traitlets.validate("rate")
    def _check_rate(self, proposal):
        return positive("rate", proposal["value"])

    def picture(self) -> Picture:
        """The curves, as far as the models have come; before that, their axes and what is to be learned."""
        figure = Picture(figsize=(4.6, 2.4), layout="constrained")
        ax = figure.subplots()
        for one, style in zip(self.history, ("-", "--"), strict=False):
            ax.plot(one["step"], one["right"], style, color=plots.INK)
            ax.annotate(one["model"], (one["step"][-1], one["right"][-1]), xytext=(4, 0), textcoords="offset points")
        ax.set(xlabel="steps", ylabel="right, of unseen sentences", ylim=(0, 1.05))
        ax.set_title(TASKS[self.task].format(n=self.longest), fontsize="medium")
        if not self.history:
            titles = "\nand ".join(MODELS[name]["title"] for name in self.models)
            words = f"{titles}:\nnothing is learned yet. Press Train."
            ax.text(0.5, 0.5, words, ha="center", va="center", transform=ax.transAxes)
        return figure

    def __repr__(self) -> str:
        steps = len(self.history[0]["loss"]) if self.history else 0
        return f"LearnToAlign({self.task!r}, models={self.models}, steps={steps})"

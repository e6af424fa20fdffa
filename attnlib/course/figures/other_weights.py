"""Give the words of a text other weights, and see whether the model's answer stays."""

from collections.abc import Mapping, Sequence

import torch
import traitlets
from matplotlib.figure import Figure as Picture
from torch import Tensor
from traitlets import Dict, Float, Int, List, Unicode

from attnlib.course.explanations import divergence, farthest_weights
from attnlib.figures.assets import module, stylesheet
from attnlib.figures.figure import Figure, fixed
from attnlib.figures.palette import ROLES
from attnlib.figures.parameters import as_float, numbers, whole


class OtherWeights(Figure):
    """Texts that a model answers by a weighted vote, `z = Σ_j α_j z_j`, `p = σ(z)`, and other weights for them.

    In the browser a text is chosen, and its weights are permuted, made even, put as far from the model's own as they
    can be while p stays within reach, or drawn by hand: then the other words share what is left in the proportions
    they had. `text` and `edits` are traits that follow the figure and move it when set. `weights`, `log_odds`, `p`,
    `answer`, `distance` (Jensen–Shannon divergence of the weights from the model's own, in nats) and `farthest` (the
    adversarial weights of the text) are computed by attnlib, with or without a browser, and read-only.

    Args:
        words: N texts, each a list of S words that may get weight.
        own: the model's own weights of each text, (S,); they add up to 1.
        votes: of each text (S,), z_j: the log-odds if word j had all the weight.
        answers: the words for z < 0 and for z > 0; one pair, or one for each text.
        asked: for each text a word in front that gets no weight, or "".
        text: number of the text to begin with, from 0.
        edits: number of a text -> S numbers, not negative, that take the place of the model's own weights; divided by
            their sum.
        within: how far p may move while the answer counts as the same.
        questions: what the figure asks its reader, one after the other: see `Figure`.

    Raises:
        ValueError: no text, an empty one, numbers that do not fit its words, weights that are negative or do not add up
            to 1, answers or questions that do not fit the texts, or a text that is not there.

    Example:
        >>> film = OtherWeights([["superb", "and", "witty"]], own=[[1, 0, 0]], votes=[[6, 0, 6]])
        >>> film.edits = {0: film.farthest}
        >>> film
        OtherWeights('superb and witty': praise, p = 1.00, weights 0.69 nats from the model's own)

    Source: jain2019attention, section 4.2.2 (there, the farthest weights are searched for by gradient).
    """

    _esm = module("other_weights.js", beside=__file__)
    _css = stylesheet("other_weights.css", beside=__file__)

    # What moves, in both directions.
    text = Int(0).tag(sync=True)
    edits = Dict().tag(sync=True)  # keys are texts, as JSON has them
    shuffles = Int(0).tag(sync=True)  # how many permutations have been made: the next one's seed follows from it

    # What the figure is made of, once and for all.
    words = List().tag(sync=True)
    own = List().tag(sync=True)  # to six digits, like the votes
    votes = List().tag(sync=True)
    answers = List().tag(sync=True)
    asked = List(Unicode()).tag(sync=True)
    within = Float().tag(sync=True)

    weights = List(read_only=True)
    log_odds = Float(read_only=True)
    p = Float(read_only=True)
    answer = Unicode(read_only=True)
    distance = Float(read_only=True)
    farthest = List(read_only=True)

    def __init__(
        self,
        words: Sequence[Sequence[str]],
        own,
        votes,
        answers=("blame", "praise"),
        asked: Sequence[str] = (),
        text: int = 0,
        edits: Mapping[int, object] | None = None,
        within: float = 0.05,
        questions: Sequence[Mapping] = (),
    ):
        texts = texts_of(words)
        if not 0 < as_float(within) < 1:
            raise ValueError(f"within must lie between 0 and 1, got {within!r}")
        if len(asked := list(asked) or [""] * len(texts)) != len(texts):
            raise ValueError(f"asked must be a word, or nothing, for each of {len(texts)} texts, got {len(asked)}")
        super().__init__(
            words=texts,
            own=[rounded(shares(f"own[{n}]", row, texts[n])) for n, row in each("own", own, texts)],
            votes=[rounded(row_of(f"votes[{n}]", row, texts[n])) for n, row in each("votes", votes, texts)],
            answers=pairs(answers, len(texts)),
            asked=[str(word) for word in asked],
            text=text,
            within=as_float(within),
            questions=list(questions),
        )
        self.edits = edits or {}
        self._answer()

    @traitlets.observe("text", "edits")
    def _answer(self, change=None):
        """What the figure shows follows from what is chosen."""
        if not self._made:
            return
        own, votes = (torch.tensor(of[self.text], dtype=torch.float64) for of in (self.own, self.votes))
        weights = torch.tensor(self.edits.get(str(self.text), own.tolist()), dtype=torch.float64)
        z = (weights * votes).sum()
        self.set_trait("weights", weights.tolist())
        self.set_trait("log_odds", z.item())
        self.set_trait("p", z.sigmoid().item())
        self.set_trait("answer", "neither" if z == 0 else self.answers[self.text][int(z > 0)])
        self.set_trait("distance", divergence(own, weights).clamp(min=0).item())
        self.set_trait("farthest", farthest_weights(own, votes, *bounds(own, votes, self.within)).tolist())

    @traitlets.validate("text")
    def _check_text(self, proposal):
        return whole("text", proposal["value"], 0, len(self.words) - 1)

    @traitlets.validate("edits")
    def _check_edits(self, proposal):
        checked = {}
        for n, row in proposal["value"].items():
            if not str(n).isdecimal() or int(n) >= len(self.words):
                raise ValueError(f"edits: a text must be a whole number in 0..{len(self.words) - 1}, got {n!r}")
            given = row_of(f"edits of text {n}", row, self.words[int(n)])
            if given.min() < 0 or given.sum() <= 0:
                raise ValueError(f"edits of text {n} must not be negative, and not all 0, got {given.tolist()}")
            checked[str(n)] = (given / given.sum()).tolist()
        return checked

    _check_fixed = fixed("words", "own", "votes", "answers", "asked", "within")

    def picture(self) -> Picture:
        words, own, votes = (of[self.text] for of in (self.words, self.own, self.votes))
        places, (no, yes) = range(len(words)), self.answers[self.text]
        figure = Picture(figsize=(7.2, 1.5 + 0.28 * len(words)), layout="constrained")
        left, right = figure.subplots(1, 2, sharey=True)
        left.barh(places, self.weights, color=ROLES["weight"].light, height=0.7)
        for place, weight in enumerate(own):
            left.plot([weight, weight], [place - 0.45, place + 0.45], color="black", lw=1.6)
        left.set(yticks=places, xlim=(0, 1), xlabel="weight (line: the model's own)")
        left.set_yticklabels(words, parse_math=False)
        left.invert_yaxis()
        right.barh(places, votes, color=ROLES["value"].light, alpha=0.25, height=0.7)
        counted = [weight * vote for weight, vote in zip(self.weights, votes, strict=True)]
        right.barh(places, counted, color=ROLES["value"].light, height=0.7)
        widest = 1.05 * max(map(abs, votes)) or 1
        right.set(xlim=(-widest, widest))
        right.set_xlabel(f"vote: ← {no}, {yes} → (full: what counts)", parse_math=False)
        right.axvline(0, color="black", lw=0.8)
        question = f"{self.asked[self.text]}  " if self.asked[self.text] else ""
        title = (
            f"{question}{self.answer}, p of {yes} = {self.p:.2f}; weights {self.distance:.2f} nats from the model's own"
        )
        figure.suptitle(title, fontsize=11, parse_math=False)
        for ax in (left, right):
            ax.spines[["top", "right"]].set_visible(False)
        return figure

    def __repr__(self) -> str:
        # GitHub shows this instead of the figure, and nbval compares it: no memory address, few digits
        read = " ".join(filter(None, [self.asked[self.text], *self.words[self.text]]))
        shown = f"{self.answer}, p = {self.p:.2f}, weights {self.distance:.2f} nats from the model's own"
        return f"OtherWeights({read!r}: {shown})"


def bounds(own: Tensor, votes: Tensor, within: float) -> tuple[Tensor, Tensor]:
    """Between which log-odds p stays within so much of the model's own; infinite where p may come to 0 or 1."""
    p = (own * votes).sum().sigmoid()
    return torch.logit((p - within).clamp(min=0)), torch.logit((p + within).clamp(max=1))


def texts_of(words) -> list[list[str]]:
    """At least one text, each of at least one word."""
    for n, text in enumerate(words):
        if isinstance(text, str) or not len(text):
            raise ValueError(f"words[{n}] must be a list of one or more words, got {text!r}")
    if not len(words):
        raise ValueError("there must be at least one text, got none")
    return [[str(word) for word in text] for text in words]


def each(name: str, given, texts: list[list[str]]) -> list[tuple[int, object]]:
    """One row for each text, numbered."""
    if len(given) != len(texts):
        raise ValueError(f"{name} must be one row for each of {len(texts)} texts, got {len(given)}")
    return list(enumerate(given))


def row_of(name: str, given, words: list[str]):
    """A number for each word, (S,)."""
    row = numbers(name, given)
    if row.shape != (len(words),):
        raise ValueError(f"{name} must have shape ({len(words)},) for {len(words)} words, got {tuple(row.shape)}")
    return row


def shares(name: str, given, words: list[str]):
    """Weights of the words, which add up to 1."""
    row = row_of(name, given, words)
    if row.min() < 0:
        raise ValueError(f"{name} must not be negative, got {row.min():.4g}")
    if abs(row.sum() - 1) > 0.01:  # 16 bits may round
        raise ValueError(f"{name} must add up to 1, got {row.sum():.4g}: is padding or the question among the words?")
    return row / row.sum()


def rounded(row) -> list[float]:
    """Six digits are more than is seen, and light enough for a page."""
    return [round(number, 6) for number in row.tolist()]


def pairs(answers, n: int) -> list[list[str]]:
    """Two words for each text."""
    given = [answers] * n if all(isinstance(word, str) for word in answers) else list(answers)
    if len(given) != n or any(isinstance(pair, str) or len(pair) != 2 for pair in given):
        raise ValueError(f"answers must be two words, or two for each of {n} texts, got {answers!r}")
    return [[str(word) for word in pair] for pair in given]

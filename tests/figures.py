"""An example of every live figure: what the tests put on a page, and the benchmark drives. S = T = 32."""

import math
from collections.abc import Callable
from typing import NamedTuple

import torch

from attnlib.decoders import BahdanauDecoder
from attnlib.encoder import Encoder
from attnlib.seq2seq import Seq2Seq
from attnlib.widgets import AttentionSurgery, ScoreExplorer
from attnlib.widgets.figure import Figure
from attnlib.widgets.weights import export, rounded

SIZE = 32


class Example(NamedTuple):
    """A figure to be had, and one of its controls."""

    make: Callable[[str], Figure]  # with this text among the words it shows, where it shows words
    control: str  # CSS selector of the slider that readers move most, in the figure
    trait: str  # what that slider changes
    other: object  # another value of the trait, to be set from Python


def score_explorer(word: str = "word") -> ScoreExplorer:
    turns = [2 * math.pi * j / SIZE for j in range(SIZE)]
    keys = [[2 * math.cos(turn), 2 * math.sin(turn)] for turn in turns]
    words = [word, *(f"w{j}" for j in range(1, SIZE))]
    return ScoreExplorer(words, query=[1.0, 0.5], keys=keys, score="additive")


def attention_surgery(word: str = "word") -> AttentionSurgery:
    source, target = list("abcdefgh שלום"), ["<bos>", "<eos>", word, "x", "y"]
    torch.manual_seed(0)
    model = Seq2Seq(Encoder(len(source), 32, 32, bidirectional=True), BahdanauDecoder(len(target), 32, 64, 64))
    with torch.no_grad():
        model.decoder.W_o.bias.copy_(torch.tensor([-20.0, -20.0, 0.6, 0.3, 0.3]))  # never ends; the word comes often
    text = "abc שלום defgh " * 3
    network = export(rounded(model))
    return AttentionSurgery(network, source, target, text[:SIZE], ["abba", "a", "ab cd"], max_length=SIZE)


EXAMPLES: dict[str, Example] = {
    "AttentionSurgery": Example(attention_surgery, ".as-bar[tabindex='0']", "place", 3),
    "ScoreExplorer": Example(score_explorer, "input[type=range]", "temperature", 0.5),
}

"""An example of every live figure: what the tests put on a page, and the benchmark drives. S = T = 32."""

import json
import math
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import torch

from attnlib.copying import CopyDecoder
from attnlib.course.figures import (
    AttentionSurgery,
    CopyGate,
    FadingTrace,
    HeadGrid,
    LearnToAlign,
    LookBack,
    MaskedSoftmaxLab,
    OtherWeights,
    ScoreExplorer,
    Translate,
)
from attnlib.course.figures.translator_file import packed as packed_translator
from attnlib.course.figures.weights import export, packed, rounded
from attnlib.data import Subwords
from attnlib.decoder import Decoder
from attnlib.decoders import BahdanauDecoder, LuongDecoder
from attnlib.encoder import Encoder
from attnlib.figures import AlignmentView, CostCurve, WhereItLooks
from attnlib.figures.figure import Figure
from attnlib.figures.page import page, view
from attnlib.language_models import RNNLM, AttentionLM
from attnlib.seq2seq import Seq2Seq

SIZE = 32
BOOK = Path(__file__).resolve().parents[1] / "book"


def asked(word: str) -> list[dict]:
    """Two questions that any figure could ask, with this text in the first."""
    easy = {"ask": f"What is {word}?", "answers": [word, "another word"], "right": 0, "because": f"It is {word}."}
    return [easy, {"ask": "And 1 + 1?", "answers": ["1", "2", "3"], "right": 1, "because": "One more than 1 is 2."}]


class Example(NamedTuple):
    """A figure to be had, and one of its controls."""

    make: Callable[[str], Figure]  # with this text among the words it shows, where it shows words
    control: str  # CSS selector of the slider that readers move most, in the figure
    trait: str  # what that slider changes
    other: object  # another value of the trait, to be set from Python


def copier_weights(V: int, d: int = 4, spread: float = 1.0, seed: int = 0, both: bool = True) -> dict[str, dict]:
    """Random weights of a copier with V words, no two of its widths alike; wide enough to have opinions."""
    encoder = Encoder(V, d, d + 1, bidirectional=both)
    model = Seq2Seq(encoder, CopyDecoder(LuongDecoder(V, d + 3, encoder.d_annotation, d + 4), unknown=0))
    generator = torch.Generator().manual_seed(seed)
    for weight in model.parameters():
        weight.data = spread * torch.randn(weight.shape, generator=generator)
    return export(rounded(model))


def score_explorer(word: str = "word") -> ScoreExplorer:
    turns = [2 * math.pi * j / SIZE for j in range(SIZE)]
    keys = [[2 * math.cos(turn), 2 * math.sin(turn)] for turn in turns]
    words = [word, *(f"w{j}" for j in range(1, SIZE))]
    return ScoreExplorer(words, query=[1.0, 0.5], keys=keys, score="additive", questions=asked(word))


def masked_softmax_lab(word: str = "word") -> MaskedSoftmaxLab:
    scores = [[3 * math.sin(1.7 * i + 0.9 * j) for j in range(SIZE)] for i in range(SIZE)]
    words = [[word, *(f"w{j}" for j in range(1, SIZE - i))] for i in range(SIZE)]
    return MaskedSoftmaxLab(scores, words=words, lengths=[SIZE - i for i in range(SIZE)], row=20, questions=asked(word))


def cost_curve(word: str = "word") -> CostCurve:
    """The costs of chapter 9, one of them under this name."""
    keys, queries, pairs = {"S": 1, "d": 2}, {"T": 1, "d": 2}, {"S": 1, "T": 1, "d": 1}
    wide, table, states = {"S": 1, "T": 1, "d": 2}, {"S": 1, "T": 1}, [(1, {"S": 1, "d": 1}), (1, {"T": 1, "d": 1})]
    rest = {"scores": [(1, pairs)], "averages": [(1, pairs)]}
    return CostCurve(
        {
            "multiply-adds": {
                "recurrence": {"encoder": [(6, keys)], "decoder": [(6, queries)]},
                "dot": rest,
                "general": {"keys": [(1, keys)], **rest},
                "additive": {"keys": [(1, keys)], "queries": [(1, queries)], **rest},
                "additive, keys at every step": {"keys": [(1, wide)], "queries": [(1, queries)], **rest},
                word: {**rest, "scores": [(2, wide), (1, pairs)]},
            },
            "numbers kept": {
                "states": {"states": states},
                "dot": {"weights": [(1, table)]},
                "additive": {"tanh": [(1, pairs)], "weights": [(1, table)]},
                "concat": {"pairs": [(3, pairs)], "weights": [(1, table)]},
                "dot, fused": {"nothing": []},
            },
        },
        S=SIZE,
        T=SIZE,
        roles={"keys": "key", "queries": "query", "scores": "weight", "averages": "context", "weights": "weight"},
        questions=asked(word),
    )


def where_it_looks(word: str = "word") -> WhereItLooks:
    """Three images under a grid of 4 × 8 regions; the gaze of the 32 words goes round."""
    generator = torch.Generator().manual_seed(0)
    images = torch.randint(0, 256, (3, 32, 64, 3), generator=generator).byte()
    captions = [[word, *(f"w{i}" for i in range(1, n))] for n in (SIZE, 5, 1)]
    weights = [
        (torch.randn(len(c), SIZE, generator=generator) + 5 * torch.eye(len(c), SIZE)).softmax(-1) for c in captions
    ]
    truth = [[word, *(f"w{i}" for i in range(2, n))] for n in (SIZE, 6, 2)]
    boxes = [[(2, 4, 30, 20)] * len(caption) for caption in captions]
    return WhereItLooks(
        images,
        captions,
        weights,
        (4, 8),
        truth=truth,
        static=[["w2"], [], [word]],
        boxes=boxes,
        step=2,
        questions=asked(word),
    )


def alignment_view(word: str = "word") -> AlignmentView:
    """Two models; the first is right, the second looks one word too far."""
    words = [word, *(f"w{j}" for j in range(1, SIZE))]
    maps = {}
    for name, shift in {"right": 0, "shifted": 1}.items():
        distances = [[(i + shift - j) ** 2 for j in range(SIZE)] for i in range(SIZE)]
        powers = [[math.exp(-distance / 2) for distance in row] for row in distances]
        maps[name] = [[power / sum(row) for power in row] for row in powers]
    return AlignmentView(
        maps, words, words, gold=[(i, i) for i in range(SIZE)], view="both", step=3, questions=asked(word)
    )


def head_weights(
    H: int, V: int = SIZE, d: int = SIZE, T: int = SIZE, n_tasks: int = 2, d_ff: int | None = None, seed: int = 0
) -> tuple[int, dict]:
    """A layer of H heads that nobody has trained, as HeadGrid takes it."""
    generator = torch.Generator().manual_seed(seed)

    def drawn(*shape: int, scale: float = 1.0) -> torch.Tensor:
        return (scale * torch.randn(shape, generator=generator)).half().float()

    weights = {"embedding.weight": drawn(V, d), "positions.p": drawn(T, d)}
    for name in "qkvo":
        weights[f"attention.W_{name}.weight"] = drawn(d, d, scale=1.4 * d**-0.5)
        weights[f"attention.W_{name}.bias"] = drawn(d, scale=0.2)
    if d_ff is None:
        return H, weights | {"read.weight": drawn(n_tasks * V, d), "read.bias": drawn(n_tasks * V, scale=0.2)}
    weights |= {"read.0.weight": drawn(d_ff, d), "read.0.bias": drawn(d_ff, scale=0.2)}
    return H, weights | {"read.2.weight": drawn(n_tasks * V, d_ff), "read.2.bias": drawn(n_tasks * V, scale=0.2)}


def head_grid(word: str = "word") -> HeadGrid:
    tokens = (torch.arange(50)[:, None] * 7 + torch.arange(SIZE)) % SIZE
    targets = torch.stack([tokens.roll(1, 1), tokens[:, :1].expand_as(tokens)], dim=-1)
    words = [word, *(f"w{j}" for j in range(1, SIZE))]
    models = {"8 heads": head_weights(8), "2 heads": head_weights(2, seed=1)}
    return HeadGrid(models, tokens, targets, words, tasks=["previous", "first"], questions=asked(word))


def attention_surgery(word: str = "word") -> AttentionSurgery:
    source, target = list("abcdefgh שלום"), ["<bos>", "<eos>", word, "x", "y"]
    torch.manual_seed(0)
    model = Seq2Seq(Encoder(len(source), 32, 32, bidirectional=True), BahdanauDecoder(len(target), 32, 64, 64))
    with torch.no_grad():
        model.decoder.W_o.bias.copy_(torch.tensor([-20.0, -20.0, 0.6, 0.3, 0.3]))  # never ends; the word comes often
    text = "abc שלום defgh " * 3
    network = export(rounded(model))
    return AttentionSurgery(
        network, source, target, text[:SIZE], ["abba", "a", "ab cd"], max_length=SIZE, questions=asked(word)
    )


def copy_gate(word: str = "word") -> CopyGate:
    vocabulary = ["<pad>", "<bos>", "<eos>", "<unk>", *(f"w{j}" for j in range(1, 12)), word]
    weights = copier_weights(len(vocabulary), d=24, seed=2)
    never_ends = torch.zeros(len(vocabulary))
    never_ends[2] = -1000.0  # so the answer has as many words as it may
    weights["decoder.decoder.W_o.bias"] = packed("W_o", never_ends)
    text = " ".join([*(f"w{j}" for j in range(SIZE - len(word.split()))), *word.split()])
    return CopyGate(
        weights, vocabulary, 3, text, {word: text, "one word": word.split()[0]}, max_length=SIZE, questions=asked(word)
    )


def other_weights(word: str = "word") -> OtherWeights:
    """Two texts: one long, whose votes go both ways, one short, with a question in front."""
    generator = torch.Generator().manual_seed(0)
    words = [[word, *(f"w{j}" for j in range(1, n))] for n in (SIZE, 5)]
    votes = [4 * torch.randn(len(text), generator=generator) for text in words]
    own = [(2 * torch.randn(len(text), generator=generator)).softmax(-1) for text in words]
    answers = [("no", "yes"), ("blame", word)]
    return OtherWeights(words, own, votes, answers, asked=["", f"{word}?"], edits={0: torch.ones(SIZE)})


def reader_weights(
    V: int, kind: type[RNNLM] = RNNLM, d: int = 12, spread: float = 0.6, seed: int = 0
) -> dict[str, dict]:
    """Random weights of a language model with V tokens, no two of its widths alike."""
    model, generator = kind(V, d - 3, d), torch.Generator().manual_seed(seed)
    for weight in model.parameters():
        weight.data = spread * torch.randn(weight.shape, generator=generator)
    return export(rounded(model))


def characters(word: str) -> list[str]:
    """A vocabulary for this word and plain text."""
    return sorted({*" \nabcdefghijklmnopqrstuvwxyz", *word})


def fading_trace(word: str = "word") -> FadingTrace:
    """The last words are short ones, so that the text has as many characters as it may."""
    text = f"{word} is a b c d e f g h i j k l m n o p q r s t u v w x y z and so on and so on and so on"
    vocabulary = characters(word)
    return FadingTrace(
        reader_weights(len(vocabulary), d=64, spread=0.1),
        vocabulary,
        text,
        word=0,
        becomes="words",
        questions=asked(word),
    )


def look_back(word: str = "word") -> LookBack:
    vocabulary = characters(word)
    text = f"{word} abcdefghijklmnopqrstuvwxyz abcdefghijklmnopqrstuvwxyz abcdefghi"
    weights = reader_weights(len(vocabulary), AttentionLM, d=32, spread=0.5)
    return LookBack(weights, vocabulary, text, {word: text, "short": word[:3]}, questions=asked(word))


def learn_to_align(word: str = "word") -> LearnToAlign:
    """Two models of which one looks back; its words are letters."""
    return LearnToAlign("reverse", models=["self-attention", "none"], longest=7, width=16, questions=asked(word))


def stand_in(
    folder: Path | str,
    n_pieces: int = 60,
    d: int = 12,
    max_length: int = SIZE,
    spread: float = 1.0,
    ends: float = -1000.0,
    seed: int = 0,
    decoder: type[Decoder] = LuongDecoder,
) -> Path:
    """The file of a translator that nobody has trained, no two of its widths alike.

    Unless another bias `ends` lets it, it never ends of its own accord.
    """
    subwords = Subwords.learn(["the hub is restarted", "turn on the light, or off", "el concentrador: shown"], n_pieces)
    encoder = Encoder(n_pieces, d, d + 1, bidirectional=True)
    model = Seq2Seq(encoder, decoder(n_pieces, d + 3, encoder.d_annotation, d + 4))
    generator = torch.Generator().manual_seed(seed)
    for weight in model.parameters():
        weight.data = spread * torch.randn(weight.shape, generator=generator)
    model.decoder.W_o.bias.data[2] = ends
    path = Path(folder) / "stand-in.js"
    path.write_text(packed_translator(model, subwords, {"corpus": "home-assistant-es"}, max_length), "utf8")
    return path


def translate(word: str = "word") -> Translate:
    """A sentence of 32 pieces, and as many of its translation."""
    text = "turn on the light, or off " * 3
    with tempfile.TemporaryDirectory() as folder:
        file = stand_in(folder)
        return Translate(text, [word, "the hub"], file=file, carried=True, questions=asked(word))


EXAMPLES: dict[str, Example] = {
    "AlignmentView": Example(alignment_view, "input[type=range]", "step", 20),
    "AttentionSurgery": Example(attention_surgery, ".as-bar[tabindex='0']", "place", 3),
    "CopyGate": Example(copy_gate, "input[type=range]", "p_gen", 0.5),
    "CostCurve": Example(cost_curve, ".cc-sliders input[type=range]", "S", 400),
    "FadingTrace": Example(fading_trace, "input[type=range]", "word", 3),
    "HeadGrid": Example(head_grid, "input[type=range]", "example", 5),
    "LearnToAlign": Example(learn_to_align, ".lr-what input[type=range]", "longest", 11),
    "LookBack": Example(look_back, "input[type=range]", "position", 3),
    "MaskedSoftmaxLab": Example(masked_softmax_lab, ".ms-offset input[type=range]", "offset", -1e4),
    "OtherWeights": Example(other_weights, ".ow-rows input[tabindex='0']", "edits", {"0": [1.0] + [0.0] * (SIZE - 1)}),
    "ScoreExplorer": Example(score_explorer, "input[type=range]", "temperature", 0.5),
    "Translate": Example(translate, ".as-bar[tabindex='0']", "place", 3),
    "WhereItLooks": Example(where_it_looks, ".wl-words[role=slider]", "step", 5),
}


def stored_figures(chapter: str, name: str) -> list[dict]:
    """The states of a chapter's figures of one class, as its notebook holds them.

    Args:
        chapter: its number, "07".
        name: the class.

    Raises:
        ValueError: there is no such notebook, or no such figure in it.
    """
    (path,) = BOOK.glob(f"{chapter}_*.ipynb")
    widgets = json.loads(path.read_text("utf8"))["metadata"].get("widgets", {})
    states = [record["state"] for part in widgets.values() for record in part["state"].values()]
    found = [state for state in states if state.get("_anywidget_id", "").split(".")[-1] == name]
    if not found:
        raise ValueError(f"{path.name} holds no {name}")
    return found


def page_of(figures: Sequence[Figure], theme: str = "light") -> str:
    """Figures on a page of their own."""
    records = {figure.model_id: {"model_module": "anywidget", "state": figure.get_state()} for figure in figures}
    return page({"state": records}, "".join(view(figure.model_id) for figure in figures), title="figures", theme=theme)

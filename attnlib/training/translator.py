"""A translator of real text: how it is made, trained, kept in a folder, and used."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any
from zlib import crc32

import torch
from torch import Tensor, nn
from tqdm import tqdm

from attnlib.data.batching import BucketedPairs, PairBatch, pad
from attnlib.data.subwords import Subwords
from attnlib.data.texts import CORPORA, Texts, read_texts
from attnlib.decoders import DECODERS
from attnlib.encoder import Encoder
from attnlib.scores import SCORES
from attnlib.search import beam_search
from attnlib.seq2seq import Seq2Seq
from attnlib.training import History, fit, pick_device, set_seed
from attnlib.training.checkpoints import load_checkpoint
from attnlib.training.distributed import (
    Loss,
    RankShard,
    check_same_on_all_ranks,
    ddp_loss,
    rank_and_world_size,
)
from attnlib.training.losses import seq2seq_loss
from attnlib.training.metrics import BLEU, bleu

PRECISIONS = {"float32": torch.float32, "bfloat16": torch.bfloat16}
MAX_LENGTH = 100  # pieces of a translation
N_DEV = 500  # sentences of the dev part that choose the best weights: enough, and they cost a tenth of the time
OWN = "own"  # the score that a decoder has by default


def setting(default: Any, meaning: str, among: Mapping[str, Any] | None = None) -> Any:
    """A field of `Settings`: what the command line says about it, and what it may be."""
    meaning += f": {', '.join(among)}" if among else ""
    return field(default=default, metadata={"help": f"{meaning} [{default}]", "among": among})


@dataclass
class Settings:
    """What a run is made of; written beside it, and the same when it goes on.

    Raises:
        ValueError: there is no such corpus, decoder, score or precision, or the decoder has no attention to score for.
    """

    corpus: str = setting("home-assistant-es", "what to learn from", CORPORA)
    decoder: str = setting("luong", "kind of decoder", DECODERS)
    score: str = setting(OWN, "how the decoder compares its state with annotations", {OWN: None, **SCORES})
    pieces: int = setting(4000, "subwords, shared by both languages")
    width: int = setting(256, "of embeddings, annotations and states")
    dropout: float = setting(0.2, "share of the word embeddings set to 0 in training")
    batch: int = setting(64, "pairs of a step, over all processes")
    steps: int = setting(2000, "batches to train on")
    lr: float = setting(2e-3, "learning rate at the first step")
    precision: str = setting("float32", "of the products; weights and sums stay in float32", PRECISIONS)
    seed: int = setting(0, "of weights, order and dropout")
    limit: int = setting(0, "training pairs to use, evenly spread; 0 for all")
    patience: int = setting(0, "looks at the dev part without a better BLEU, after which it ends; 0 for never")

    def __post_init__(self):
        for f in fields(self):
            value, among = getattr(self, f.name), f.metadata["among"]
            if among is not None and value not in among:
                raise ValueError(f"unknown {f.name} {value!r}, known are {', '.join(among)}")
        if self.score != OWN and DECODERS[self.decoder].default_score is None:
            raise ValueError(f"the decoder {self.decoder!r} has no attention: the score is {OWN!r}, not {self.score!r}")


def make_model(settings: Settings, vocab_size: int) -> Seq2Seq:
    """A bidirectional encoder and the decoder that the settings name, with weights drawn anew.

    Raises:
        ValueError: the settings' width is less than 2, or vocab_size less than 1.
    """
    d, score = settings.width, {} if settings.score == OWN else {"score": settings.score}
    encoder = Encoder(vocab_size, d, d // 2, bidirectional=True, dropout=settings.dropout)
    decoder = DECODERS[settings.decoder](vocab_size, d, encoder.d_annotation, d, dropout=settings.dropout, **score)
    return Seq2Seq(encoder, decoder)


def mixed_precision_loss(precision: str) -> Loss:
    """`seq2seq_loss`, its matrix products in the given precision.

    The weights, their gradients and what the optimizer adds up stay in float32. bfloat16 has float32's range, so
    that no loss has to be scaled.

    Raises:
        ValueError: when the loss is called, as in `seq2seq_loss`.

    Source: micikevicius2018mixed, section 3 (there float16, and with a scaled loss).
    """

    def loss(model: nn.Module, batch: PairBatch) -> tuple[Tensor, int | Tensor]:
        with torch.autocast(batch.source.device.type, PRECISIONS[precision], enabled=precision != "float32"):
            return seq2seq_loss(model, batch)

    return loss


def train(folder: Path | str, settings: Settings, save_every: int = 100, device: torch.device | None = None) -> History:
    """Train, or go on with, the run in a folder; every process calls it, and all see the same folder.

    The weights that are kept have the best BLEU on the dev part, of greedy translations: the loss turns earlier than
    they do. In the history, `valid_loss` is therefore 1 - BLEU / 100.

    The folder gets `settings.json`, `subwords.model`, `run.pt` (all that is needed to go on), `weights.pt` (the best)
    and, at the end, `history.json`.

    Args:
        folder: of the run.
        settings: what it is made of.
        save_every: steps that an interruption may cost, at most.
        device: to train on; by default the fastest.

    Raises:
        ValueError: the folder holds a run with other settings, a setting is refused, or processes differ in these.
        DataError: the corpus cannot be had.
    """
    folder, device = Path(folder), device or pick_device()
    first = rank_and_world_size()[0] == 0
    if first:
        check_folder(folder, settings)
    generator = set_seed(settings.seed)
    texts = read_texts(settings.corpus)
    train_part = thin(texts.train, settings.limit or len(texts.train.source))
    dev = thin(texts.dev, min(settings.limit or N_DEV, N_DEV))
    subwords = Subwords.learn(train_part.source + train_part.target, settings.pieces)
    saved = crc32((folder / "run.pt").read_bytes()) if (folder / "run.pt").exists() else "not there"
    check_same_on_all_ranks(
        {**asdict(settings), "the set of subwords": crc32(subwords.model), "run.pt in the folder": saved}
    )
    if first:
        folder.mkdir(parents=True, exist_ok=True)
        subwords.save(folder / "subwords.model")
        (folder / "settings.json").write_text(json.dumps(asdict(settings), indent=1))
    model = make_model(settings, len(subwords)).to(device)
    torch.manual_seed(settings.seed + rank_and_world_size()[0])  # own dropout masks on every rank
    batches = BucketedPairs(*encode(train_part, subwords), settings.batch, generator)

    def missing(model: Seq2Seq) -> float:
        said = translate(model, subwords, dev.source)
        return 1 - bleu(said, dev.target, tokenizer(settings.corpus)).score / 100

    history = fit(
        model,
        RankShard(batches),
        ddp_loss(model, mixed_precision_loss(settings.precision)),
        steps=settings.steps,
        lr=settings.lr,
        validate=missing,  # each process judges all of it, so that all come to the same best weights
        patience=settings.patience or None,
        checkpoint=folder / "weights.pt",
        resume=folder / "run.pt",
        save_every=save_every,
        description=settings.corpus,
    )
    if first:
        (folder / "history.json").write_text(json.dumps(asdict(history)))
    return history


def check_folder(folder: Path, settings: Settings) -> None:
    """See that a run in the folder, if there is one, has the same settings.

    Raises:
        ValueError: it has others; names them.
    """
    if (folder / "settings.json").exists():
        there = read_settings(folder)
        other = [f.name for f in fields(Settings) if getattr(there, f.name) != getattr(settings, f.name)]
        if other:
            found = ", ".join(f"{name}={getattr(there, name)}, not {getattr(settings, name)}" for name in other)
            raise ValueError(f"{folder} holds a run with {found}")


def read_settings(folder: Path) -> Settings:
    """The settings of a run.

    Raises:
        ValueError: there is no run in the folder.
    """
    try:
        return Settings(**json.loads((folder / "settings.json").read_text("utf8")))
    except (OSError, ValueError, TypeError) as error:
        raise ValueError(f"there is no run in {folder}") from error


def thin(texts: Texts, n: int) -> Texts:
    """As many of the sentences, evenly spread; all, where there are no more."""
    n, there = min(n, len(texts.source)), len(texts.source)
    return Texts(*([side[i * there // n] for i in range(n)] for side in texts))


def encode(texts: Texts, subwords: Subwords) -> tuple[list[Tensor], list[Tensor]]:
    """Ids of both sides, as `BucketedPairs` takes them."""
    return [subwords.encode(text) for text in texts.source], [subwords.encode(text) for text in texts.target]


def tokenizer(corpus: str) -> str:
    """How sacrebleu cuts the targets of a corpus."""
    return "char" if CORPORA[corpus].language == "ja" else "13a"


def translate(
    model: Seq2Seq, subwords: Subwords, texts: Sequence[str], beam_size: int = 1, batch: int = 100
) -> list[str]:
    """Translations, in the order of the texts; a text without any word comes back empty.

    Args:
        model: in eval mode.
        subwords: which it has learned with.
        texts: sentences.
        beam_size: attempts that are kept at every step; 1 is greedy.
        batch: sentences that are translated side by side, those of like lengths; changes nothing but the time.

    Raises:
        ValueError: beam_size is no integer of at least 1.
    """
    device = next(model.parameters()).device
    ids = [subwords.encode(text) for text in texts]
    order = sorted((n for n in range(len(ids)) if len(ids[n])), key=lambda n: len(ids[n]))  # little padding
    found = [""] * len(texts)
    for start in tqdm(range(0, len(order), batch), desc="translating", leave=False):
        rows = order[start : start + batch]
        source, lengths = pad([ids[n] for n in rows])
        written = beam_search(
            model, source.to(device), lengths, max_length=MAX_LENGTH, beam_size=beam_size, length_penalty=1.0
        ).best()
        for n, target in zip(rows, written.sentences(), strict=True):
            found[n] = subwords.decode(target.cpu())
    return found


def score(model: Seq2Seq, subwords: Subwords, corpus: str, part: str, beam_size: int = 1, limit: int = 0) -> BLEU:
    """BLEU of a model's translations of a part of a corpus.

    Args:
        model: in eval mode.
        subwords: which it has learned with.
        corpus: a key of `CORPORA`.
        part: "dev" or "test".
        beam_size: of the search.
        limit: how many sentences to use, evenly spread; 0 takes all.

    Raises:
        ValueError: beam_size is no integer of at least 1.
        DataError: the corpus cannot be had.
    """
    texts = getattr(read_texts(corpus), part)
    source, target = thin(texts, limit or len(texts.source))
    return bleu(translate(model, subwords, source, beam_size), target, tokenizer(corpus))


class Translator:
    """A trained run, ready to translate.

    Args:
        folder: what `train` has written.

    Raises:
        ValueError: there is no run in the folder, or its weights are not those of its settings; when called, beam_size
            is no integer of at least 1.
    """

    def __init__(self, folder: Path | str):
        folder = Path(folder)
        self.settings = read_settings(folder)
        if not (folder / "weights.pt").exists():
            raise ValueError(f"the run in {folder} has no weights yet: train it until its first validation")
        self.subwords = Subwords.load(folder / "subwords.model")
        self.model = make_model(self.settings, len(self.subwords)).to(pick_device()).eval()
        load_checkpoint(folder / "weights.pt", self.model)

    def __call__(self, texts: Sequence[str], beam_size: int = 1, batch: int = 100) -> list[str]:
        """What `translate` makes of the texts."""
        return translate(self.model, self.subwords, texts, beam_size, batch)

    def score(self, part: str = "test", beam_size: int = 1, limit: int = 0) -> BLEU:
        """`score` of the run's model on a part of its own corpus.

        Raises:
            ValueError, DataError: as `score`.
        """
        return score(self.model, self.subwords, self.settings.corpus, part, beam_size, limit)

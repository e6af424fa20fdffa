"""`make translator RUN=runs/es`: pack a run that `attnlib.training.translate` has finished into one file for the page.

    python -m scripts.translator runs/es

The weights are kept in 8 bits, or in as few less as the file's limit asks for. BLEU on the dev part is measured before
and after; a translator that has lost more than it may is not written. Beside the file stands its card, in JSON: data,
licence, steps, settings, scores with their signature, size and hash.
"""

import argparse
import json
import sys
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path

from attnlib.course.figures.translator_file import MODELS, packed, unpacked_translator
from attnlib.data import CARDS
from attnlib.data.wheels import DataError
from attnlib.training.translator import MAX_LENGTH, OWN, Translator, score

LARGEST = 1_500_000  # bytes of the file: what a reader on a phone should have to load
BITS = (8, 7, 6)  # of a weight, as many as fit
MOST_LOST = 0.3  # BLEU on dev
BEAMS = 5
SCORES = {"luong": "general", "bahdanau": "additive"}  # of the decoders that the page runs


def pack(translator: Translator) -> tuple[str, int]:
    """The text of the file, and the bits of a weight: the most that fit.

    Raises:
        ValueError: the run has another corpus, decoder or score than the page, or does not fit with the fewest bits.
    """
    settings = translator.settings
    if not settings.corpus.startswith("home-assistant-"):
        raise ValueError(f"the page reads English as home-assistant-… has it, the run's corpus is {settings.corpus!r}")
    if settings.score not in (OWN, SCORES.get(settings.decoder)) or settings.decoder not in SCORES:
        known = " and ".join(f"{decoder!r} with the score {score!r}" for decoder, score in SCORES.items())
        raise ValueError(f"the page runs {known}, the run has {settings.decoder!r} with {settings.score!r}")
    for bits in BITS:
        text = packed(translator.model, translator.subwords, asdict(settings), MAX_LENGTH, bits)
        if len(text.encode()) <= LARGEST:
            return text, bits
    raise ValueError(
        f"with {bits} bits a weight the file has {len(text.encode()):,} bytes, and at most {LARGEST:,} are loaded: "
        "train with a smaller width or fewer pieces"
    )


def write(run: Path, folder: Path = MODELS, limit: int = 0) -> Path:
    """Pack a run, measure it, and write file and card.

    Args:
        run: the folder of the run.
        folder: where both go, under the name of the run's corpus.
        limit: sentences to measure on; 0 takes all. The card says so.

    Raises:
        ValueError: there is no run, it cannot run in the page, or it loses more BLEU than it may.
        DataError: the corpus cannot be had.
    """
    translator = Translator(run)
    text, bits = pack(translator)
    small, settings = unpacked_translator(text), translator.settings
    device = next(translator.model.parameters()).device
    models = {"float32": translator.model, f"int{bits}": small.model.to(device)}
    scores = {}
    for name, model in models.items():
        scores[f"dev, greedy, {name}"] = score(model, translator.subwords, settings.corpus, "dev", 1, limit)
    before, after = (found.score for found in scores.values())
    if before - after > MOST_LOST:
        raise ValueError(
            f"with {bits} bits a weight BLEU on dev falls from {before:.2f} to {after:.2f}, by more than {MOST_LOST}"
        )
    for beams in (1, BEAMS):
        how = "greedy" if beams == 1 else f"{beams} beams"
        scores[f"test, {how}, int{bits}"] = score(*small[:2], settings.corpus, "test", beams, limit)
    data = CARDS["home_assistant"]
    history = json.loads((run / "history.json").read_text("utf8")) if (run / "history.json").exists() else {}
    card = {
        "file": f"{settings.corpus}.js",
        "bytes": len(text.encode()),
        "sha256": sha256(text.encode()).hexdigest(),
        "digest": small.digest,
        "parameters": sum(weight.numel() for weight in small.model.parameters()),
        "weights": f"int{bits} with a scale in float32 for each row of a matrix; vectors in float16",
        "data": {"title": data.title, "source": data.source, "licence": data.licence, "split": data.split},
        "steps": len(history.get("train_loss", [])) or settings.steps,
        "steps of these weights": history.get("best_step"),
        "settings": asdict(settings),
        "scores": {name: {"BLEU": round(s.score, 2), "signature": s.signature} for name, s in scores.items()},
        "sentences": limit or "all",
    }
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / card["file"]
    path.write_text(text, "utf8")
    path.with_suffix(".json").write_text(json.dumps(card, indent=1, ensure_ascii=False) + "\n", "utf8")
    return path


def main(arguments: list[str] | None = None) -> int:
    """The command line; 0 when all went well."""
    parser = argparse.ArgumentParser(
        prog="python -m scripts.translator", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run", type=Path, help="the folder of the run")
    parser.add_argument("--into", type=Path, default=MODELS, help="the folder of file and card")
    parser.add_argument("--limit", type=int, default=0, help="sentences of a part to measure on, 0 for all [0]")
    given = parser.parse_args(arguments)
    try:
        path = write(given.run, given.into, given.limit)
    except (ValueError, DataError) as error:
        print(error, file=sys.stderr)
        return 1
    print(path.with_suffix(".json").read_text("utf8"), end="")
    print(f"The translator: {path}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

"""Train a translator on a real corpus, score it, compare it with others, and use it: the book's largest model.

One process, or several on one machine or many, started by `torchrun`; 32 or 16 bits; interrupted and gone on with.

    python -m attnlib.training.translate train runs/es --corpus home-assistant-es --steps 2000
    torchrun --nproc-per-node 2 -m attnlib.training.translate train runs/es2 --corpus home-assistant-es --steps 2000
    python -m attnlib.training.translate score runs/es --beam-size 4
    python -m attnlib.training.translate compare runs/*
    echo "restart the hub" | python -m attnlib.training.translate translate runs/es
"""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

import torch

from attnlib.data.wheels import DataError
from attnlib.training import History, pick_device
from attnlib.training.distributed import process_group, rank_and_world_size
from attnlib.training.translator import Settings, Translator, train


def check_processes() -> None:
    """Refuse, by a ValueError, more processes on a machine than it has GPUs; without any, all are welcome."""
    n, n_gpus = int(os.environ.get("LOCAL_WORLD_SIZE", 1)), torch.cuda.device_count()
    if 0 < n_gpus < n:
        raise ValueError(f"{n} processes and {n_gpus} GPU(s) on this machine: start no more than one for each")


def score(folder: Path, part: str, limit: int, beam_size: int) -> str:
    """BLEU of a run in words, with its signature; of a whole part, `scores.json` in the folder keeps it."""
    found = Translator(folder).score(part, beam_size, limit)
    if not limit:
        known = scores(folder) | {f"{part}, beam {beam_size}": found._asdict()}
        (folder / "scores.json").write_text(json.dumps(known, indent=1))
    return f"BLEU {found.score:.1f}  {found.signature}"


def scores(folder: Path) -> dict[str, dict]:
    """What `score` has kept: "part, beam n" → `score` and `signature`."""
    file = folder / "scores.json"
    return json.loads(file.read_text("utf8")) if file.exists() else {}


def compared(folders: Sequence[Path]) -> str:
    """Runs side by side, as a table in Markdown: how large, how long, how fast, and how well they translate.

    Raises:
        ValueError: a folder holds no run, or one that has not ended.
    """
    known = {folder: scores(folder) for folder in folders}
    kinds = sorted({kind for of_run in known.values() for kind in of_run})
    rows = [["run", "corpus", "decoder", "score", "parameters", "steps", "tokens/s", "best dev", *kinds]]
    for folder, of_run in known.items():
        translator, file = Translator(folder), folder / "history.json"
        if not file.exists():
            raise ValueError(f"the run in {folder} has not ended")
        settings, history = translator.settings, History(**json.loads(file.read_text("utf8")))
        best = f"{100 * (1 - min(history.valid_loss)):.1f} at {history.best_step:,}"
        size, steps = sum(p.numel() for p in translator.model.parameters()), len(history.train_loss)
        what = [folder.name, settings.corpus, settings.decoder, settings.score, f"{size:,}", f"{steps:,}"]
        found = [f"{of_run[kind]['score']:.1f}" if kind in of_run else "" for kind in kinds]
        rows.append([*what, f"{history.tokens_per_second:,.0f}", best, *found])
    rows.insert(1, ["---"] * 4 + ["--:"] * (4 + len(kinds)))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; 0 when all went well."""
    parser = argparse.ArgumentParser(
        prog="python -m attnlib.training.translate",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    trainer = commands.add_parser("train", help="train, or go on with a run that was interrupted")
    scorer = commands.add_parser("score", help="BLEU on the held-out part, with sacrebleu's signature")
    writer = commands.add_parser("translate", help="translate the lines of standard input")
    comparer = commands.add_parser("compare", help="a table of runs, with what `score` has found on whole parts")
    comparer.add_argument("folders", type=Path, nargs="+", help="where the runs are kept")
    for command in (trainer, scorer, writer):
        command.add_argument("folder", type=Path, help="where the run is kept")
    for f in fields(Settings):
        trainer.add_argument(f"--{f.name}", type=f.type, default=f.default, metavar="", help=f.metadata["help"])
    trainer.add_argument("--save-every", type=int, default=100, help="steps an interruption may cost, at most [100]")
    scorer.add_argument("--part", choices=("dev", "test"), default="test")
    scorer.add_argument("--limit", type=int, default=0, help="sentences to use, 0 for all [0]")
    for command in (scorer, writer):
        command.add_argument("--beam-size", type=int, default=1, help="attempts kept at every step [1]")
    given = vars(parser.parse_args(arguments))
    command, folder = given.pop("command"), given.pop("folder", None)
    try:
        if command == "train":
            save_every = given.pop("save_every")
            check_processes()
            with process_group(pick_device()) as device:
                history = train(folder, Settings(**given), save_every, device)
                if rank_and_world_size()[0] == 0:
                    print(history)
        elif command == "score":
            print(score(folder, **given))
        elif command == "compare":
            print(compared(**given))
        else:
            print("\n".join(Translator(folder)([line.strip() for line in sys.stdin], **given)))
    except (ValueError, DataError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

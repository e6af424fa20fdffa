"""Started three times by test_distributed.py, with torchrun: trains, and writes down what each process saw."""

import sys
from pathlib import Path

import torch

from attnlib.data.batching import BucketedPairs
from attnlib.decoders import BahdanauDecoder
from attnlib.encoder import Encoder
from attnlib.seq2seq import Seq2Seq
from attnlib.training import fit, pick_device, set_seed
from attnlib.training.distributed import (
    RankShard,
    check_same_on_all_ranks,
    ddp_loss,
    process_group,
    rank_and_world_size,
)
from attnlib.training.losses import seq2seq_loss


def pairs(generator=None):
    """Eight pairs in batches of five and three, with targets of very different lengths."""
    sources = [torch.arange(4, 5 + n % 4) for n in range(8)]
    targets = [torch.arange(4, 5 + n % 5) for n in range(8)]
    return BucketedPairs(sources, targets, batch=5, generator=generator, bucket_batches=1)


def make(seed, dropout=0.0):
    torch.manual_seed(seed)
    return Seq2Seq(Encoder(9, 3, 4, dropout=dropout), BahdanauDecoder(9, 3, 4, 5, dropout=dropout)).double()


def gradients(model):
    return torch.cat([p.grad.flatten() for p in model.parameters()])


def one_batch():
    """Value, tokens and gradient of the first batch; the processes begin with weights of their own."""
    model = make(seed=rank_and_world_size()[0])
    loss = ddp_loss(model, seq2seq_loss)
    batch = next(iter(RankShard(pairs(torch.Generator().manual_seed(3)))))
    value, n_tokens = loss(model, batch)
    value.backward()
    return {"value": value.item(), "n_tokens": n_tokens, "gradient": gradients(model), "source": batch.source.tolist()}


def train(path, killed=None):
    """Twelve steps with dropout, saved every fourth; perhaps killed after some."""
    generator = set_seed(0)
    model = make(0, dropout=0.3)
    torch.manual_seed(10 + rank_and_world_size()[0])
    loss, steps = ddp_loss(model, seq2seq_loss), iter(range(12 if killed is None else killed))

    def mortal(model, batch):
        if next(steps, None) is None:
            raise KeyboardInterrupt
        return loss(model, batch)

    history = fit(model, RankShard(pairs(generator)), mortal, steps=12, lr=0.01, resume=path, save_every=4)
    return {"weights": torch.cat([p.detach().flatten() for p in model.parameters()]), "train_loss": history.train_loss}


def main(folder: Path) -> None:
    written, save = [], torch.save

    def noted(state, where, **options):
        if isinstance(where, Path):  # and not what the processes tell one another
            written.append(where)
        return save(state, where, **options)

    torch.save = noted
    with process_group(pick_device()) as device:
        rank, n = rank_and_world_size()
        seen = {"process": (rank, n), "device": device.type, "one": one_batch(), "whole": train(folder / "whole.pt")}
        try:
            train(folder / "run.pt", killed=7)
        except KeyboardInterrupt:
            seen["again"] = train(folder / "run.pt")
        try:
            RankShard(BucketedPairs(pairs().sources, pairs().targets, batch=n - 1))
        except ValueError as error:
            seen["error"] = str(error)
        check_same_on_all_ranks({"steps": 7, "folder": "here"})
        try:
            check_same_on_all_ranks({"steps": 7, "run": rank // 2})
        except ValueError as error:
            seen["unlike"] = str(error)
        seen["written"] = len(written)
        save(seen, folder / f"seen{rank}.pt")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

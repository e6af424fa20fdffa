"""Several processes, on one machine or many, that train one model: each takes its share of every batch.

`torchrun` starts them. The gradient is that of the whole batch, whatever the shares: with the same seed, N
processes take the same steps as one.
"""

import gc
import os
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from attnlib.data.batching import BucketedPairs, PairBatch, collate

Loss = Callable[[nn.Module, PairBatch], tuple[Tensor, int | Tensor]]


def rank_and_world_size() -> tuple[int, int]:
    """The number of this process, from 0, and how many train together; (0, 1) when there is only this one."""
    if dist.is_available() and dist.is_initialized():
        return dist.get_rank(), dist.get_world_size()
    return 0, 1


def check_same_on_all_ranks(facts: Mapping[str, Any]) -> None:
    """See that all processes begin alike: each calls it with what must be equal in all.

    Raises:
        ValueError: they differ; says in what. All processes raise it, so that none waits for another.
    """
    n = rank_and_world_size()[1]
    if n == 1:
        return
    found: list = [None] * n
    dist.all_gather_object(found, dict(facts))
    for name, first in found[0].items():
        for rank, other in enumerate(found):
            if other[name] != first:
                raise ValueError(
                    f"the processes do not begin alike: {name} is {first} in process 0, {other[name]} in process {rank}"
                )


@contextmanager
def process_group(device: torch.device) -> Iterator[torch.device]:
    """Join the processes that `torchrun` has started; started without it, this process is alone.

    They talk through nccl on GPUs and through gloo on CPUs.

    Args:
        device: of this process, from `attnlib.training.pick_device`.

    Yields:
        The device to use: the CPU where processes on the given one cannot talk (Apple's mps).

    Raises:
        RuntimeError: the other processes cannot be reached, or one has died.
    """
    if "WORLD_SIZE" not in os.environ:
        yield device
        return
    if device.type == "cuda":
        torch.cuda.set_device(device)
    # before there is a group: it would keep it as a default argument, and the first DDP imports it in any case
    import_module("torch.distributed.nn.functional")
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    group = dist.group.WORLD
    try:
        yield device if device.type == "cuda" else torch.device("cpu")
    except BaseException as error:
        traceback.clear_frames(error.__traceback__)  # a replica in them would hold the group
        raise
    finally:
        # gloo's threads need Python's lock to give back the tensors of the last collective. The destructor of the
        # group waits for them, and lets go of the lock only where a name in Python was the last to hold the group.
        # Held longer, by a DDP that waits for the collector, a process would now and then hang or abort as it ends.
        dist.destroy_process_group()
        gc.collect()
        del group


class RankShard:
    """One process's share of each batch: of N processes, the n-th takes every N-th pair, from n on.

    A batch with fewer pairs than processes, which only the last of an iteration can be, is left out by all.

    Args:
        batches: the same in every process: the same pairs, and generators of the same seed.

    Raises:
        ValueError: there are more processes than pairs in a batch.

    Example:
        >>> words = [torch.arange(5, 5 + n) for n in (1, 2, 3)]
        >>> len(list(RankShard(BucketedPairs(words, words, batch=2))))  # all of them, in one process
        2
    """

    def __init__(self, batches: BucketedPairs):
        n = rank_and_world_size()[1]
        if min(batches.batch, len(batches.sources)) < n:
            raise ValueError(
                f"{n} processes cannot share batches of {batches.batch} out of {len(batches.sources)} pairs"
            )
        self.batches = batches

    def __iter__(self) -> Iterator[PairBatch]:
        rank, n = rank_and_world_size()
        for rows in self.batches.plan(self.batches.generator):
            if own := rows[rank::n] if len(rows) >= n else []:
                yield collate([self.batches.sources[i] for i in own], [self.batches.targets[i] for i in own])


def ddp_loss(model: nn.Module, loss: Loss) -> Loss:
    """A loss of the whole batch from the losses of its shares; in one process, the loss itself.

    The shares hold different numbers of tokens, so the mean of their means is not the mean over the batch. Each is
    weighted by its tokens: L = Σ_n t_n L_n / Σ_n t_n, and so is its gradient.

    Args:
        model: on this process's device; all processes begin with the weights of the first.
        loss: (model, share) → (mean loss in nats per token, number of tokens it is the mean of).

    Returns:
        The same for the whole batch. Its value and its number of tokens are equal in all processes. It computes
        with the model given here, whatever it is called with.
    """
    n_processes = rank_and_world_size()[1]
    if n_processes == 1:
        return loss
    replica = DistributedDataParallel(model)  # in the backward pass it averages the gradients over the processes

    def shared(_: nn.Module, batch: PairBatch) -> tuple[Tensor, Tensor]:
        mean, n_tokens = loss(replica, batch)
        own = mean.new_zeros((), dtype=torch.float64) + n_tokens
        sums = torch.stack([mean.detach() * own, own])
        dist.all_reduce(sums)
        total, tokens = sums  # not read, which would wait for a GPU
        share = mean * (own * n_processes / tokens).to(mean.dtype)  # DDP divides by their number: undone here
        # the gradient of the share, the value of all
        return share - share.detach() + (total / tokens).to(mean.dtype), tokens.long()

    return shared

"""Weights and whole runs on disk: written whole or not at all, and read without running what is in them."""

import copy
import os
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from attnlib.training.distributed import rank_and_world_size


def save_checkpoint(path: Path | str, model: nn.Module) -> None:
    """Write the weights, whole or not at all; of several processes, the first does it."""
    _save(path, model.state_dict())


def _save(path: Path | str, state: dict) -> None:
    if rank_and_world_size()[0]:
        return
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        torch.save(state, scratch)
        scratch.replace(path)
    finally:
        scratch.unlink(missing_ok=True)


def load_checkpoint(path: Path | str, model: nn.Module) -> None:
    """Read weights into a model of the same shape. Only tensors are read: a file cannot run code.

    Raises:
        ValueError: the file is not a checkpoint, or its names or shapes are not the model's.
    """
    device = next(model.parameters()).device
    try:
        # weights_only refuses every pickle but tensors and plain containers
        state = torch.load(path, map_location=device, weights_only=True)
        copy.deepcopy(model).load_state_dict(state)  # refuses what does not fit before the model is touched
        model.load_state_dict(state)
    except FileNotFoundError:
        raise
    except Exception as error:  # torch raises its own, pickle's, zip's and KeyErrors
        raise ValueError(f"{path} is not a checkpoint of this {type(model).__name__}: {error}") from error


def save_training_state(path: Path | str, whole: dict[str, Any], settings: dict, progress: dict) -> None:
    """Write all that a run needs to go on as if nothing had happened; every process calls it.

    Args:
        path: of the file.
        whole: model, optimizer, schedule: what has a `state_dict`, "model" among them.
        settings: what must be the same when the run goes on.
        progress: plain values and tensors.
    """
    n = rank_and_world_size()[1]
    random_state = [_random_state()] * n
    if n > 1:
        dist.all_gather_object(random_state, _random_state())
    state = {name: thing.state_dict() for name, thing in whole.items()}
    _save(path, {**state, "settings": settings, **progress, "random": random_state})


def load_training_state(path: Path | str, whole: dict[str, Any], settings: dict) -> dict:
    """Put model, optimizer and schedule back where they were saved, and return the progress.

    The random numbers of each process are under "random", for `set_random_state`.

    Raises:
        ValueError: the file is not a run of this model, or one with other settings.
    """
    try:
        saved = torch.load(path, map_location="cpu", weights_only=True)
        copy.deepcopy(whole["model"]).load_state_dict(saved["model"])
        found = saved["settings"]
    except Exception as error:  # torch raises its own, pickle's, zip's and KeyErrors
        raise ValueError(f"{path} is not a run of this {type(whole['model']).__name__}: {error}") from error
    if found != settings:
        raise ValueError(f"{path} is a run with {found}, asked for {settings}")
    for name, thing in whole.items():
        thing.load_state_dict(saved[name])
    return saved


def _random_state() -> list[Tensor]:
    return [torch.get_rng_state(), *([torch.cuda.get_rng_state()] if torch.cuda.is_available() else [])]


def set_random_state(states: list[list[Tensor]]) -> None:
    """Give each process its own random numbers back; one that was not there before keeps those it has."""
    rank, _ = rank_and_world_size()
    if rank < len(states):
        torch.set_rng_state(states[rank][0])
        if torch.cuda.is_available() and len(states[rank]) > 1:
            torch.cuda.set_rng_state(states[rank][1])

"""The one training loop, and what it needs: device, seeds, a record of what happened."""

import math
import os
import random
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from tqdm import tqdm

from attnlib.checkpoints import load_run, save_checkpoint, save_run, set_random_state
from attnlib.parallel import process


def pick_device() -> torch.device:
    """The fastest device at hand: cuda, else Apple's mps, else the CPU.

    Of several processes on one machine (see `attnlib.parallel`), each gets a GPU of its own.
    """
    if torch.cuda.is_available():
        return torch.device(f"cuda:{os.environ['LOCAL_RANK']}" if "LOCAL_RANK" in os.environ else "cuda")
    if torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cpu")


def set_seed(seed: int) -> torch.Generator:
    """Seed Python, NumPy and torch; return a CPU generator with the same seed, for drawing batches."""
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    return torch.Generator().manual_seed(seed)


@dataclass
class History:
    """What happened in a training run."""

    loss: list[float] = field(default_factory=list)  # nats per token, one entry per step
    tokens: int = 0  # target tokens seen
    seconds: float = 0.0  # of training, validation not counted
    valid_step: list[int] = field(default_factory=list)  # steps done before each validation
    valid_loss: list[float] = field(default_factory=list)
    best_step: int | None = None  # where the model that was kept stood; None without validation
    stopped_early: bool = False

    @property
    def tokens_per_second(self) -> float:
        return self.tokens / self.seconds if self.seconds else math.nan

    def __repr__(self) -> str:  # without seconds: two runs of the same training read the same
        best = f", best {min(self.valid_loss):.3f} at step {self.best_step}" if self.valid_loss else ""
        last = f", last loss {self.loss[-1]:.3f}" if self.loss else ""
        return f"History({len(self.loss)} steps, {self.tokens} tokens{last}{best})"


def fit(
    model: nn.Module,
    batches: Iterable[Any],
    loss: Callable[[nn.Module, Any], tuple[Tensor, int]],
    *,
    steps: int,
    lr: float = 1e-3,
    clip: float = 1.0,
    validate: Callable[[nn.Module], float] | None = None,
    validate_every: int | None = None,
    patience: int | None = None,
    checkpoint: Path | str | None = None,
    resume: Path | str | None = None,
    save_every: int | None = None,
    description: str = "training",
) -> History:
    """Train with Adam, the learning rate falling linearly to zero.

    With `validate`, the weights of the best validation are put back at the end. With `resume`, a run that was
    interrupted goes on where it was last saved, and ends as if nothing had happened.

    Where several processes train together, all call this; the first writes the files and shows the bar.

    Args:
        model: trained in place, on the device it is on.
        batches: where batches come from; gone through again when it ends. A batch that has `.to` is
            moved to the model's device.
        loss: (model, batch) → (mean loss in nats per token, number of tokens it is the mean of).
        steps: how many batches to train on.
        lr: learning rate at the first step.
        clip: the longest gradient step allowed, as a norm over all parameters.
        validate: model → loss on held-out data, lower is better; called without gradients, in eval mode.
        validate_every: steps between validations; by default ten in all. The last step is always validated.
        patience: stop after this many validations in a row without a new best; None never stops early.
        checkpoint: file that gets the best weights at each new best (with validation), else the last.
        resume: file that keeps the whole state of the run. If it is there, the run goes on from it: the batches
            that were used are drawn again and passed over, so they must come in the same order each time.
        save_every: steps between two writes of that file; by default a hundred in all, or fewer.
        description: label of the progress bar, which shows the loss and tokens per second.

    Raises:
        ValueError: steps, validate_every or save_every < 1; patience or validate_every without validate; save_every
            without resume; no batches; a loss that is not a finite number (then nothing is worth keeping); a file to
            resume from that belongs to another model or run.
    """
    if steps < 1:
        raise ValueError(f"steps must be at least 1, got {steps}")
    if validate is None and (patience is not None or validate_every is not None):
        raise ValueError("patience and validate_every need a validate function")
    if save_every is not None and resume is None:
        raise ValueError("save_every needs a file to resume from")
    for name, every in (("validate_every", validate_every), ("save_every", save_every)):
        if every is not None and every < 1:
            raise ValueError(f"{name} must be at least 1, got {every}")
    device = next(model.parameters()).device
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / steps)
    validate_every = validate_every or max(1, steps // 10)
    save_every = save_every or max(1, steps // 100)
    history, best, since_best = History(), None, 0
    stream = _again(batches)
    whole = {"model": model, "optimizer": optimizer, "schedule": schedule}
    settings = {"steps": steps, "lr": lr, "clip": clip}
    hidden = {"disable": True} if process()[0] else {}  # an explicit False would overrule TQDM_DISABLE
    if resume is not None and Path(resume).exists():
        saved = load_run(resume, whole, settings)
        history, best, since_best = History(**saved["history"]), saved["best"], saved["since_best"]
        for _ in tqdm(history.loss, desc="passing over used batches", leave=False, **hidden):
            next(stream)
        set_random_state(saved["random"])
    first = steps + 1 if history.stopped_early else len(history.loss) + 1
    model.train()
    with tqdm(total=steps, initial=first - 1, desc=description, unit="step", **hidden) as bar:
        for step in range(first, steps + 1):
            start = time.perf_counter()
            batch = next(stream)
            batch = batch.to(device) if hasattr(batch, "to") else batch
            value, n_tokens = loss(model, batch)
            history.loss.append(value.item())
            if not math.isfinite(history.loss[-1]):  # before the step that would spoil the model
                raise ValueError(
                    f"the loss is {history.loss[-1]} at step {step}: the learning rate {lr} may be too high"
                )
            optimizer.zero_grad()
            value.backward()
            nn.utils.clip_grad_norm_(model.parameters(), clip)
            optimizer.step()
            schedule.step()
            history.tokens += n_tokens
            history.seconds += time.perf_counter() - start
            bar.set_postfix_str(f"loss {history.loss[-1]:.3f}, {history.tokens_per_second:.0f} tokens/s", refresh=False)
            bar.update()
            if validate is not None and (step % validate_every == 0 or step == steps):
                history.valid_step.append(step)
                history.valid_loss.append(_validate(model, validate))
                since_best += 1
                if history.valid_loss[-1] < min(history.valid_loss[:-1], default=math.inf):
                    history.best_step, since_best = step, 0
                    best = {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}
                    if checkpoint is not None:
                        save_checkpoint(checkpoint, model)
                history.stopped_early = patience is not None and since_best >= patience
            if resume is not None and (step % save_every == 0 or step == steps or history.stopped_early):
                progress = {"history": asdict(history), "best": best, "since_best": since_best}
                save_run(resume, whole, settings, progress)
            if history.stopped_early:
                break
    if best is not None:
        model.load_state_dict(best)
    elif checkpoint is not None:
        save_checkpoint(checkpoint, model)
    return history


def _again(batches: Iterable[Any]):
    """The batches, over and over; a generator that is used up cannot be begun again, so it is an error."""
    while True:
        empty = True
        for batch in batches:
            empty = False
            yield batch
        if empty:
            raise ValueError("there are no (more) batches: give a list, a DataLoader or an endless generator")


@torch.no_grad()
def _validate(model: nn.Module, validate: Callable[[nn.Module], float]) -> float:
    model.eval()
    try:
        value = float(validate(model))
    finally:
        model.train()
    if not math.isfinite(value):
        raise ValueError(f"the validation loss is {value}")
    return value

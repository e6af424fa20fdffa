"""The one training loop, and what it needs: device, seeds, a record of what happened."""

import math
import os
import random
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from tqdm import tqdm

from attnlib.training.checkpoints import load_training_state, save_checkpoint, save_training_state, set_random_state
from attnlib.training.distributed import rank_and_world_size
from attnlib.validation import values_are_free

Loss = Callable[[nn.Module, Any], tuple[Tensor, int | Tensor]]
READ_EVERY = 50  # steps after which the losses are fetched from a GPU, which waits for it


def pick_device() -> torch.device:
    """The fastest device at hand: cuda, else Apple's mps, else the CPU.

    Of several processes on one machine (see `attnlib.training.distributed`), each gets a GPU of its own.
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

    train_loss: list[float] = field(default_factory=list)  # nats per token, one entry per step
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
        best = f", best validation loss {min(self.valid_loss):.3f} at step {self.best_step}" if self.valid_loss else ""
        last = f", last training loss {self.train_loss[-1]:.3f}" if self.train_loss else ""
        return f"History({len(self.train_loss)} steps, {self.tokens} tokens{last}{best})"


def fit(
    model: nn.Module,
    batches: Iterable[Any],
    loss: Loss,
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

    On a GPU, losses are read once in `READ_EVERY` steps, before each validation and before each save, so that no
    step waits for the one before; a loss that is not a finite number is found there, too late for the model.

    Args:
        model: trained in place, on the device it is on.
        batches: where batches come from; gone through again when it ends. A batch that has `.to` is
            moved to the model's device.
        loss: (model, batch) → (mean loss in nats per token, number of tokens it is the mean of, as an int or as a
            tensor on the model's device).
        steps: how many batches to train on.
        lr: learning rate at the first step.
        clip: the longest gradient step allowed, as a norm over all parameters.
        validate: model → loss on held-out data, or another number that should fall; called without gradients, in eval
            mode.
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
    validate_every = validate_every or max(1, steps // 10)
    save_every = save_every or max(1, steps // 100)
    run, stream = _Run(model, steps, lr, clip), _cycle(batches)
    history = run.history
    hidden = {"disable": True} if rank_and_world_size()[0] else {}  # an explicit False would overrule TQDM_DISABLE
    if resume is not None and Path(resume).exists():
        random_state = run.load(resume)
        for _ in tqdm(history.train_loss, desc="passing over used batches", leave=False, **hidden):
            next(stream)
        set_random_state(random_state)
    first = steps + 1 if history.stopped_early else len(history.train_loss) + 1

    def due(step: int, every: int) -> bool:
        return step % every == 0 or step == steps

    model.train()
    with tqdm(total=steps, initial=first - 1, desc=description, unit="step", **hidden) as bar:
        for step in range(first, steps + 1):
            validates = validate is not None and due(step, validate_every)
            saves = resume is not None and due(step, save_every)
            run.step(stream, loss, read=validates or saves or due(step, READ_EVERY))
            bar.set_postfix_str(run.progress(), refresh=False)
            bar.update()
            if validates:
                if run.validate(validate) and checkpoint is not None:
                    save_checkpoint(checkpoint, model)
                history.stopped_early = patience is not None and run.since_best >= patience
            if resume is not None and (saves or history.stopped_early):
                run.save(resume)
            if history.stopped_early:
                break
    if run.best is not None:
        model.load_state_dict(run.best)
    elif checkpoint is not None:
        save_checkpoint(checkpoint, model)
    return history


class _Run:
    """A run of `fit`: what is trained and by what, what has happened, and the best weights so far."""

    def __init__(self, model: nn.Module, steps: int, lr: float, clip: float):
        self.model, self.clip = model, clip
        self.settings = {"steps": steps, "lr": lr, "clip": clip}  # the same when the run goes on
        self.device = next(model.parameters()).device
        # fused: one call for all parameters, a tenth of the time of a small model's step
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr, fused=True)
        self.schedule = torch.optim.lr_scheduler.LambdaLR(self.optimizer, lambda step: 1 - step / steps)
        self.history = History()
        self.unread: list[tuple[Tensor, int | Tensor]] = []  # losses and tokens of steps not in the history yet
        self.best: dict[str, Tensor] | None = None
        self.since_best = 0  # validations

    def step(self, stream: Iterator[Any], loss: Loss, read: bool) -> None:
        """Train on the next batch; `read` brings the history up to date."""
        start = time.perf_counter()
        batch = next(stream)
        batch = batch.to(self.device) if hasattr(batch, "to") else batch
        value, n_tokens = loss(self.model, batch)
        self.unread.append((value.detach(), n_tokens))
        if values_are_free(value):  # then a loss that is no number is found before the step that would spoil the model
            self.read_losses()
        self.optimizer.zero_grad()
        value.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
        self.optimizer.step()
        self.schedule.step()
        if read:
            self.read_losses()
        self.history.seconds += time.perf_counter() - start

    def read_losses(self) -> None:
        """Write the losses since the last time into the history; all are fetched at once, which waits for a GPU."""
        if not self.unread:
            return
        losses, n_tokens = zip(*self.unread, strict=True)
        self.unread.clear()
        for value in torch.stack(losses).flatten().tolist():
            self.history.train_loss.append(value)
            if not math.isfinite(value):
                step, lr = len(self.history.train_loss), self.settings["lr"]
                raise ValueError(f"the loss is {value} at step {step}: the learning rate {lr} may be too high")
        self.history.tokens += int(sum(n_tokens))

    def progress(self) -> str:
        """The last loss that was read, the last validation and the speed, for the progress bar."""
        history = self.history
        if not history.train_loss:
            return ""
        held_out = f", held out {history.valid_loss[-1]:.3f}" if history.valid_loss else ""
        return f"loss {history.train_loss[-1]:.3f}{held_out}, {history.tokens_per_second:.0f} tokens/s"

    def validate(self, validate: Callable[[nn.Module], float]) -> bool:
        """Judge the model, and keep its weights if it is the best so far; says whether it is."""
        history, value = self.history, _validate(self.model, validate)
        is_best = value < min(history.valid_loss, default=math.inf)
        history.valid_step.append(len(history.train_loss))
        history.valid_loss.append(value)
        self.since_best += 1
        if is_best:
            history.best_step, self.since_best = len(history.train_loss), 0
            self.best = {name: tensor.detach().clone() for name, tensor in self.model.state_dict().items()}
        return is_best

    def save(self, path: Path | str) -> None:
        """Write all that the run needs to go on."""
        progress = {"history": asdict(self.history), "best": self.best, "since_best": self.since_best}
        save_training_state(path, self._stateful(), self.settings, progress)

    def load(self, path: Path | str) -> list[list[Tensor]]:
        """Go back to where the run was saved, and return the random numbers of each process."""
        saved = load_training_state(path, self._stateful(), self.settings)
        vars(self.history).update(saved["history"])
        self.best, self.since_best = saved["best"], saved["since_best"]
        return saved["random"]

    def _stateful(self) -> dict[str, Any]:
        return {"model": self.model, "optimizer": self.optimizer, "schedule": self.schedule}


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


def _cycle(batches: Iterable[Any]) -> Iterator[Any]:
    """The batches, over and over; a generator that is used up cannot be begun again, so it is an error."""
    while True:
        empty = True
        for batch in batches:
            empty = False
            yield batch
        if empty:
            raise ValueError("there are no (more) batches: give a list, a DataLoader or an endless generator")

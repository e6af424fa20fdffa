"""The training loop does what its docstring says, and an interrupted run goes on as if nothing had happened."""

import functools
import io
import math
import random

import numpy as np
import pytest
import torch
from torch import nn
from torch.optim.optimizer import register_optimizer_step_pre_hook
from torch.testing import assert_close
from tqdm import tqdm

from attnlib.data.batching import random_windows
from attnlib.language_models import RNNLM
from attnlib.training import History, fit, pick_device, set_seed
from attnlib.training import loop as training
from attnlib.training.checkpoints import load_checkpoint
from attnlib.training.losses import cross_entropy


class Slope(nn.Module):
    """One number w that a loss of w makes fall without end, by exactly the learning rate in every step of Adam."""

    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.zeros((), dtype=torch.float64))


def slope(model, batch):
    return model.w * batch, 1


def scripted(values):
    """A validation with a fixed outcome, and a list of what the model was at each."""
    seen, rest = [], iter(values)

    def validate(model):
        seen.append(model.w.item())
        return next(rest)

    return validate, seen


@pytest.fixture
def gradients():
    """What the one parameter of a model moves by, step by step."""
    found = []

    def note(optimizer, *_):
        found.append(optimizer.param_groups[0]["params"][0].grad.flatten().tolist())

    handle = register_optimizer_step_pre_hook(note)
    yield found
    handle.remove()


# --- fit --------------------------------------------------------------------------------------------


def test_learning_rate_falls_linearly_to_zero():
    model, steps, lr = Slope(), 5, 0.1
    history = fit(model, [1.0], slope, steps=steps, lr=lr)
    w, expected = 0.0, []
    for done in range(steps):
        expected.append(w)
        w -= lr * (steps - done) / steps
    assert_close(history.train_loss, expected)
    assert_close(model.w.item(), w)


def test_long_gradients_are_cut_to_length_and_short_ones_left(gradients):
    model = nn.Linear(2, 1, bias=False).double()
    batches = [torch.tensor(x).double() for x in ([300.0, 400.0], [0.3, 0.4], [-30.0, 40.0])]
    fit(model, batches, lambda m, b: (m(b).sum(), 1), steps=3)
    fit(model, batches[:1], lambda m, b: (m(b).sum(), 1), steps=1, clip=10.0)
    assert_close(gradients, [[0.6, 0.8], [0.3, 0.4], [-0.6, 0.8], [6.0, 8.0]], rtol=1e-5, atol=0)


def test_gradients_of_one_step_do_not_reach_the_next_and_batches_come_again(gradients):
    fit(Slope(), [0.25, 0.5, 0.125], slope, steps=5)
    assert_close(gradients, [[0.25], [0.5], [0.125], [0.25], [0.5]])


def test_history_does_not_tell_the_time():
    first, second = (History(train_loss=[2.0, 1.5], tokens=12, seconds=s) for s in (1.0, 987654.0))
    assert repr(first) == repr(second) == "History(2 steps, 12 tokens, last training loss 1.500)"
    with_best = History(train_loss=[2.0], tokens=6, valid_step=[1, 2], valid_loss=[1.25, 1.75], best_step=1)
    assert repr(with_best).endswith(", last training loss 2.000, best validation loss 1.250 at step 1)")
    assert repr(History()) == "History(0 steps, 0 tokens)"


def test_progress_bar_shows_the_loss_and_the_speed(monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr(training, "tqdm", functools.partial(tqdm, disable=False, file=screen, mininterval=0))
    history = fit(Slope(), [1.0], lambda m, b: (m.w * b + 2, 5), steps=3, lr=0.5, description="slope")
    last = screen.getvalue().split("\r")[-1]
    assert last.startswith("slope: 100%") and "3/3" in last
    assert f"loss {history.train_loss[-1]:.3f}, " in last and " tokens/s" in last
    assert "loss 2.000" in screen.getvalue()  # and it was there from the first step on


# --- validation -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "patience", "best", "steps_done"),
    [
        ([3.0, 1.0, 2.0, 5.0], None, 2, 4),
        ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], None, 1, 6),  # patience is endless by default
        ([5.0, 4.0, 6.0, 7.0, 1.0, 1.0], 2, 2, 4),
        ([5.0, 6.0, 4.0, 6.0, 7.0, 1.0], 2, 3, 5),  # a new best starts the count again
        ([5.0, 5.0, 5.0, 1.0, 1.0, 1.0], 2, 1, 3),  # as good is not better
    ],
)
def test_best_weights_are_put_back_and_training_stops_when_they_do_not_get_better(values, patience, best, steps_done):
    model, (validate, seen), steps = Slope(), scripted(values), len(values)
    history = fit(model, [1.0], slope, steps=steps, lr=1.0, validate=validate, validate_every=1, patience=patience)
    assert history.stopped_early == (steps_done < steps)
    assert history.valid_loss == values[:steps_done] and history.valid_step == list(range(1, steps_done + 1))
    assert len(history.train_loss) == steps_done and history.best_step == best
    assert_close(model.w.item(), seen[best - 1], rtol=0, atol=0)
    assert len(set(seen)) == steps_done  # the best weights are not just the last ones


@pytest.mark.parametrize(
    ("steps", "every", "expected"),
    [(7, 3, [3, 6, 7]), (6, 3, [3, 6]), (20, None, list(range(2, 21, 2))), (3, None, [1, 2, 3]), (2, 9, [2])],
)
def test_validation_comes_on_time_and_at_the_end(steps, every, expected):
    history = fit(Slope(), [1.0], slope, steps=steps, validate=lambda m: 1.0, validate_every=every)
    assert history.valid_step == expected


def test_validation_judges_and_does_not_train():
    model = nn.Sequential(nn.Linear(1, 1), nn.Dropout(0.5))
    modes = []

    def loss(model, batch):
        modes.append(("train", model.training, model[1].training, torch.is_grad_enabled()))
        return model(torch.ones(1, 1)).sum(), 1

    def validate(model):
        modes.append(("validate", model.training, model[1].training, torch.is_grad_enabled()))
        return 1.0

    fit(model.eval(), [0], loss, steps=2, validate=validate, validate_every=1)
    assert modes == [("train", True, True, True), ("validate", False, False, False)] * 2
    assert model.training

    def fail(model):
        raise KeyError("validation went wrong")

    with pytest.raises(KeyError):
        fit(model, [0], loss, steps=2, validate=fail)
    assert model.training and torch.is_grad_enabled()


def test_tokens_and_time_are_counted_and_that_of_validation_is_not(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(training.time, "perf_counter", lambda: clock[0])

    def loss(model, batch):
        clock[0] += 2.0
        return model.w * 1, 3

    def validate(model):
        clock[0] += 100.0
        return 1.0

    history = fit(Slope(), [0], loss, steps=4, validate=validate, validate_every=1)
    assert history.tokens == 12
    assert_close(history.seconds, 8.0)
    assert_close(history.tokens_per_second, 1.5)
    assert math.isnan(History().tokens_per_second)


# --- errors -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"steps": 0}, "steps must be at least 1, got 0"),
        ({"patience": 2}, "need a validate function"),
        ({"validate_every": 2}, "need a validate function"),
        ({"validate_every": 0, "validate": float}, "validate_every must be at least 1, got 0"),
        ({"save_every": 0, "resume": "run.pt"}, "save_every must be at least 1, got 0"),
        ({"save_every": 3}, "save_every needs a file"),
        ({"batches": []}, r"no \(more\) batches"),
        ({"batches": (1.0 for _ in range(2))}, r"no \(more\) batches"),
        ({"batches": [1.0, math.nan], "lr": 0.5}, "the loss is nan at step 2: the learning rate 0.5"),
        ({"validate": lambda model: math.nan}, "the validation loss is nan"),
    ],
)
def test_what_cannot_be_trained_is_refused_and_nothing_is_kept(options, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = Slope()
    with pytest.raises(ValueError, match=message):
        fit(model, **{"batches": [1.0], "loss": slope, "steps": 3, "checkpoint": "model.pt", **options})
    assert list(tmp_path.iterdir()) == []
    assert model.w.isfinite() and model.training  # the step that would have spoiled the model was not taken


# --- checkpoints ------------------------------------------------------------------------------------


def test_checkpoint_is_written_at_each_new_best_and_then_only(tmp_path, monkeypatch):
    path, written = tmp_path / "new" / "model.pt", []
    save = training.save_checkpoint
    monkeypatch.setattr(training, "save_checkpoint", lambda p, m: written.append(m.w.item()) or save(p, m))
    model, (validate, seen) = Slope(), scripted([3.0, 4.0, 1.0, 2.0, 1.0])
    fit(model, [1.0], slope, steps=5, lr=1.0, validate=validate, validate_every=1, checkpoint=path)
    assert written == [seen[0], seen[2]]
    other = Slope()
    load_checkpoint(path, other)
    assert_close(other.w.item(), seen[2], rtol=0, atol=0)
    assert [p.name for p in path.parent.iterdir()] == ["model.pt"]


def test_without_validation_the_last_weights_stay_and_are_in_the_checkpoint(tmp_path):
    model, other = Slope(), Slope()
    history = fit(model, [1.0], slope, steps=2, lr=1.0, checkpoint=str(tmp_path / "model.pt"))
    assert history.best_step is None and history.valid_loss == []
    load_checkpoint(str(tmp_path / "model.pt"), other)
    assert_close([model.w.item(), other.w.item()], [-1.5, -1.5])


class Killed(Exception):
    """Not one of Python's own, which pytest might take for itself."""


def interrupted(after):
    """A loss that is as `noisy`, and dies at a step."""
    left = iter(range(after))

    def loss(model, batch):
        if next(left, None) is None:
            raise Killed
        return noisy(model, batch)

    return loss


def noisy(model, batch):
    """A loss that draws random numbers, as dropout does."""
    logits = nn.functional.dropout(model(batch.inputs).logits, 0.3)
    return cross_entropy(logits, batch.targets)


VALIDATIONS = [3.0, 2.0, 5.0, 4.0, 2.5, 6.0]


def run_with(path, loss, **more):
    generator = set_seed(0)
    model = RNNLM(3, 4, 8)
    batches = random_windows(torch.tensor([0, 1, 2, 1] * 20), 4, 9, generator)
    validate = iter(VALIDATIONS).__next__
    options = {"steps": 12, "lr": 0.05, "validate": lambda m: validate(), "validate_every": 2, "save_every": 4}
    return model, fit(model, batches, loss, resume=path, **{**options, **more})


def same(history, other):
    """Equal, but for the seconds."""
    return {**vars(history), "seconds": 0} == {**vars(other), "seconds": 0}


@pytest.mark.parametrize("killed", [4, 5, 7, 11])
def test_an_interrupted_run_ends_as_if_nothing_had_happened(tmp_path, monkeypatch, killed):
    whole, history = run_with(tmp_path / "whole.pt", noisy)
    with pytest.raises(Killed):
        run_with(tmp_path / "run.pt", interrupted(killed))
    saved = torch.load(tmp_path / "run.pt", weights_only=True)
    assert len(saved["history"]["train_loss"]) == killed - killed % 4  # at most one interval is lost
    rest, validations = 12 - (killed - killed % 4), iter(VALIDATIONS[len(saved["history"]["valid_loss"]) :])
    again, other = run_with(tmp_path / "run.pt", interrupted(rest), validate=lambda m: next(validations))
    assert same(other, history) and other.best_step == 4
    assert_close(again.state_dict(), whole.state_dict(), rtol=0, atol=0)


@pytest.mark.parametrize(("patience", "steps"), [(None, 12), (1, 6)])
def test_a_run_that_is_finished_or_stopped_early_is_not_trained_again(tmp_path, patience, steps):
    model, history = run_with(tmp_path / "run.pt", noisy, patience=patience)
    assert history.stopped_early == (patience == 1) and len(history.train_loss) == steps
    again, other = run_with(tmp_path / "run.pt", interrupted(0), patience=patience)
    assert same(other, history)
    assert_close(again.state_dict(), model.state_dict(), rtol=0, atol=0)


def test_a_run_is_saved_a_hundred_times_at_most(tmp_path, monkeypatch):
    saved, save = [], training.save_training_state
    monkeypatch.setattr(
        training,
        "save_training_state",
        lambda *args: saved.append(len(args[3]["history"]["train_loss"])) or save(*args),
    )
    fit(Slope(), [1.0], slope, steps=250, lr=1e-3, resume=tmp_path / "run.pt")
    assert saved == [*range(2, 251, 2)]
    del saved[:]
    fit(Slope(), [1.0], slope, steps=5, lr=1e-3, resume=tmp_path / "five.pt", save_every=3)
    assert saved == [3, 5]


def test_a_run_with_other_settings_is_refused(tmp_path):
    run_with(tmp_path / "run.pt", noisy)
    for other in ({"steps": 13}, {"lr": 0.1}, {"clip": 2.0}):
        with pytest.raises(ValueError, match=r"run\.pt is a run with .*, asked for .*" + str(*other.values())):
            run_with(tmp_path / "run.pt", noisy, **other)


# --- device and seed --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cuda", "mps", "expected"),
    [(True, True, "cuda"), (True, False, "cuda"), (False, True, "mps"), (False, False, "cpu")],
)
def test_fastest_device_is_picked(monkeypatch, cuda, mps, expected):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)
    monkeypatch.delenv("LOCAL_RANK", raising=False)
    assert pick_device() == torch.device(expected)
    monkeypatch.setenv("LOCAL_RANK", "2")  # the third process of this machine
    assert pick_device() == torch.device("cuda:2" if expected == "cuda" else expected)


def test_seed_reaches_every_source_of_randomness():
    def draws(seed):
        generator = set_seed(seed)
        assert generator.device.type == "cpu"
        return [random.random(), np.random.rand(), torch.rand(()).item(), torch.rand((), generator=generator).item()]

    first, second, other = draws(1), draws(1), draws(2)
    assert first == second
    assert all(a != b for a, b in zip(first, other, strict=True))

"""A checkpoint is whole, or not there, and never runs code."""

import pickle
import zipfile
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from attnlib.language_models import RNNLM
from attnlib.training.checkpoints import (
    load_checkpoint,
    load_training_state,
    save_checkpoint,
    save_training_state,
    set_random_state,
)


class Slope(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.zeros((), dtype=torch.float64))


def test_checkpoint_brings_every_weight_back(tmp_path):
    first, second = RNNLM(5, 3, 7), RNNLM(5, 3, 7)
    save_checkpoint(tmp_path / "model.pt", first)
    load_checkpoint(tmp_path / "model.pt", second)
    assert_close(second.state_dict(), first.state_dict(), rtol=0, atol=0)


def test_checkpoint_cut_short_leaves_the_old_one(tmp_path, monkeypatch):
    path, old = tmp_path / "model.pt", Slope()
    save_checkpoint(path, old)
    before = path.read_bytes()

    def cut(state, where):
        assert Path(where).parent == tmp_path  # the same disk, so that the file can be moved at a stroke
        Path(where).write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(torch, "save", cut)
    with pytest.raises(OSError, match="No space left"):
        save_checkpoint(path, Slope())
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


class Harmful:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


@pytest.mark.parametrize("write", [torch.save, lambda x, path: path.write_bytes(pickle.dumps(x, protocol=2))])
def test_checkpoint_never_runs_code(tmp_path, write):
    path, trace = tmp_path / "model.pt", tmp_path / "trace"
    write({"w": Harmful(trace)}, path)
    pickle.loads(pickle.dumps(Harmful(trace)))  # the charge is live
    trace.unlink()
    model = Slope()
    with pytest.raises(ValueError, match=r"model\.pt is not a checkpoint of this Slope"):
        load_checkpoint(path, model)
    assert not trace.exists()
    assert_close(model.w.item(), 0.0)


@pytest.mark.parametrize("other", [RNNLM(5, 3, 8), RNNLM(6, 3, 7), nn.Linear(2, 2)])
def test_checkpoint_of_another_model_is_refused_and_changes_nothing(tmp_path, other):
    save_checkpoint(tmp_path / "model.pt", other)
    model = RNNLM(5, 3, 7)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    with pytest.raises(ValueError, match=r"not a checkpoint of this RNNLM"):
        load_checkpoint(tmp_path / "model.pt", model)
    assert_close(model.state_dict(), before, rtol=0, atol=0)


def test_what_is_no_checkpoint_is_refused(tmp_path):
    path = tmp_path / "model.pt"
    with pytest.raises(FileNotFoundError):
        load_checkpoint(path, Slope())
    save_checkpoint(path, Slope())
    whole = path.read_bytes()
    with zipfile.ZipFile(tmp_path / "empty.zip", "w") as archive:
        archive.writestr("readme", "nothing")
    for content in (b"", b"not a checkpoint", whole[: len(whole) // 2], (tmp_path / "empty.zip").read_bytes()):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="not a checkpoint"):
            load_checkpoint(path, Slope())
    torch.save([1, 2], path)
    with pytest.raises(ValueError, match="not a checkpoint"):
        load_checkpoint(path, Slope())


# --- runs -------------------------------------------------------------------------------------------


def started(seed, n_steps=3):
    """A model, optimizer and schedule that have taken steps."""
    torch.manual_seed(seed)
    model = nn.Linear(3, 2)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1 + seed)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 / (1 + step))
    for _ in range(n_steps):
        take_step(model, optimizer, schedule)
    return {"model": model, "optimizer": optimizer, "schedule": schedule}


def take_step(model, optimizer, schedule):
    optimizer.zero_grad()
    model(torch.rand(5, 3)).square().sum().backward()
    optimizer.step()
    schedule.step()


def test_a_run_goes_on_to_the_bit(tmp_path):
    first, second = started(0), started(1, n_steps=1)
    save_training_state(tmp_path / "run.pt", first, {"steps": 5}, {"done": 3, "best": None})
    expected = torch.rand(4)  # the next random numbers
    torch.manual_seed(7)
    saved = load_training_state(tmp_path / "run.pt", second, {"steps": 5})
    assert saved["done"] == 3 and saved["best"] is None
    set_random_state(saved["random"])
    assert_close(torch.rand(4), expected, rtol=0, atol=0)
    for run in (first, second):
        torch.manual_seed(5)
        take_step(**run)
    assert_close(second["model"].state_dict(), first["model"].state_dict(), rtol=0, atol=0)
    assert second["schedule"].get_last_lr() == first["schedule"].get_last_lr()


def test_a_run_of_another_model_or_other_settings_is_refused_and_changes_nothing(tmp_path):
    path = tmp_path / "run.pt"
    save_training_state(path, {**started(0), "model": nn.Linear(4, 2)}, {"steps": 5}, {})
    mine = started(1)
    before = {name: tensor.clone() for name, tensor in mine["model"].state_dict().items()}
    with pytest.raises(ValueError, match=r"run\.pt is not a run of this Linear"):
        load_training_state(path, mine, {"steps": 5})
    save_training_state(path, started(0), {"steps": 5}, {})
    with pytest.raises(ValueError, match=r"run\.pt is a run with \{'steps': 5\}, asked for \{'steps': 6\}"):
        load_training_state(path, mine, {"steps": 6})
    save_checkpoint(path, mine["model"])  # weights alone
    with pytest.raises(ValueError, match="not a run"):
        load_training_state(path, mine, {"steps": 5})
    assert_close(mine["model"].state_dict(), before, rtol=0, atol=0)


def test_a_run_never_runs_code(tmp_path):
    path, trace = tmp_path / "run.pt", tmp_path / "trace"
    torch.save({"model": Harmful(trace)}, path)
    with pytest.raises(ValueError, match="not a run"):
        load_training_state(path, started(0), {})
    assert not trace.exists()

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
)


def test_checkpoint_brings_every_weight_back(tmp_path):
    first, second = RNNLM(5, 3, 7), RNNLM(5, 3, 7)
    save_checkpoint(tmp_path / "model.pt", first)
    load_checkpoint(tmp_path / "model.pt", second)
    assert_close(second.state_dict(), first.state_dict(), rtol=0, atol=0)


def test_checkpoint_cut_short_leaves_the_old_one(tmp_path, monkeypatch):
    path, old = tmp_path / "model.pt", nn.Linear(2, 1)
    save_checkpoint(path, old)
    before = path.read_bytes()

    def cut(state, where):
        assert Path(where).parent == tmp_path  # the same disk, so that the file can be moved at a stroke
        Path(where).write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(torch, "save", cut)
    with pytest.raises(OSError, match="No space left"):
        save_checkpoint(path, nn.Linear(2, 1))
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


class Harmful:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


@pytest.mark.parametrize("write", [torch.save, lambda x, path: path.write_bytes(pickle.dumps(x, protocol=2))])
@pytest.mark.parametrize(
    ("read", "message"),
    [
        (load_checkpoint, r"model\.pt is not a checkpoint of this Linear"),
        (lambda path, model: load_training_state(path, {"model": model}, {}), r"model\.pt is not a run of this Linear"),
    ],
)
def test_a_file_never_runs_code(tmp_path, write, read, message):
    path, trace = tmp_path / "model.pt", tmp_path / "trace"
    write({"model": Harmful(trace)}, path)
    pickle.loads(pickle.dumps(Harmful(trace)))  # the charge is live
    trace.unlink()
    with pytest.raises(ValueError, match=message):
        read(path, nn.Linear(2, 1))
    assert not trace.exists()


@pytest.mark.parametrize("other", [RNNLM(5, 3, 8), RNNLM(6, 3, 7), nn.Linear(2, 2)])
def test_checkpoint_of_another_model_is_refused_and_changes_nothing(tmp_path, other):
    save_checkpoint(tmp_path / "model.pt", other)
    model = RNNLM(5, 3, 7)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    with pytest.raises(ValueError, match=r"not a checkpoint of this RNNLM"):
        load_checkpoint(tmp_path / "model.pt", model)
    assert_close(model.state_dict(), before, rtol=0, atol=0)


def test_what_is_no_checkpoint_is_refused(tmp_path):
    path, model = tmp_path / "model.pt", nn.Linear(2, 1)
    with pytest.raises(FileNotFoundError):
        load_checkpoint(path, model)
    save_checkpoint(path, model)
    half = path.read_bytes()[: path.stat().st_size // 2]
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme", "nothing")
    torch.save([1, 2], tmp_path / "list")
    for content in (b"", b"not a checkpoint", half, path.read_bytes(), (tmp_path / "list").read_bytes()):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="not a checkpoint"):
            load_checkpoint(path, model)


def test_a_run_of_another_model_or_other_settings_is_refused_and_changes_nothing(tmp_path):
    path, model = tmp_path / "run.pt", nn.Linear(3, 2)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    save_training_state(path, {"model": nn.Linear(4, 2)}, {"steps": 5}, {})
    with pytest.raises(ValueError, match=r"run\.pt is not a run of this Linear"):
        load_training_state(path, {"model": model}, {"steps": 5})
    save_training_state(path, {"model": nn.Linear(3, 2)}, {"steps": 5}, {})
    with pytest.raises(ValueError, match=r"run\.pt is a run with \{'steps': 5\}, asked for \{'steps': 6\}"):
        load_training_state(path, {"model": model}, {"steps": 6})
    save_checkpoint(path, model)  # weights alone
    with pytest.raises(ValueError, match="not a run"):
        load_training_state(path, {"model": model}, {"steps": 5})
    assert_close(model.state_dict(), before, rtol=0, atol=0)

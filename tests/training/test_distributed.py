"""Several processes compute what one would."""

import gc
import os
import subprocess
import sys
import time
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path

import psutil
import pytest
import torch
from torch.nn.parallel import DistributedDataParallel
from torch.testing import assert_close

from attnlib.data.batching import collate
from attnlib.training.distributed import (
    RankShard,
    check_same_on_all_ranks,
    ddp_loss,
    process_group,
    rank_and_world_size,
)
from attnlib.training.losses import seq2seq_loss
from tests.training.processes import gradients, make, pairs

ROOT = Path(__file__).parents[2]
N = 3


def torchrun(*arguments: str, n: int) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(n), "--standalone"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [*command, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120
    )


# Three processes that import torch keep two cores busy for eight seconds.
@pytest.fixture(scope="module", params=[pytest.param(N, marks=pytest.mark.thorough)], ids="{}-processes".format)
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("processes")
    result = torchrun("-m", "tests.training.processes", str(folder), n=N)
    assert result.returncode == 0, result.stderr
    return [torch.load(folder / f"seen{rank}.pt") for rank in range(N)], folder, result


def first_batch():
    batches = pairs(torch.Generator().manual_seed(3))
    rows = batches.plan(batches.generator)[0]
    return rows, [collate([batches.sources[i] for i in own], [batches.targets[i] for i in own])
                  for own in [rows, *(rows[rank::N] for rank in range(N))]]  # fmt: skip


def test_each_process_knows_its_number(run):
    seen, _, _ = run
    assert [s["process"] for s in seen] == [(0, 3), (1, 3), (2, 3)]
    assert {s["device"] for s in seen} == {"cpu"}


def test_the_shares_make_up_the_batch(run):
    seen, _, _ = run
    rows, (_, *shares) = first_batch()
    assert [s["one"]["source"] for s in seen] == [share.source.tolist() for share in shares]
    assert sum(len(share.source) for share in shares) == len(rows)


def test_loss_and_gradient_are_those_of_the_whole_batch(run):
    seen, _, _ = run
    model = make(seed=0)  # the weights of the first process
    _, (whole, *shares) = first_batch()
    value, n_tokens = seq2seq_loss(model, whole)
    value.backward()
    for s in seen:
        assert s["one"]["n_tokens"] == n_tokens
        assert_close(s["one"]["value"], value.item())
        assert_close(s["one"]["gradient"], gradients(model))
    naive = sum(seq2seq_loss(model, share)[0].item() for share in shares) / N
    assert abs(naive - value.item()) > 1e-3  # the mean of means is another number: this test can tell


def test_processes_stay_together_through_training(run):
    seen, _, _ = run
    for s in seen[1:]:
        assert_close(s["whole"]["weights"], seen[0]["whole"]["weights"], rtol=0, atol=0)
        assert s["whole"]["train_loss"] == seen[0]["whole"]["train_loss"]
    assert seen[0]["whole"]["train_loss"][-1] < seen[0]["whole"]["train_loss"][0]


def test_an_interrupted_run_of_several_goes_on_as_if_nothing_had_happened(run):
    seen, folder, _ = run
    for s in seen:
        # not to the bit: in what order three numbers are added up is the network's affair
        assert_close(s["again"]["train_loss"], s["whole"]["train_loss"], rtol=1e-9, atol=0)
        assert_close(s["again"]["weights"], s["whole"]["weights"], rtol=1e-7, atol=1e-9)
    random_state = torch.load(folder / "run.pt")["random"]
    assert len(random_state) == N
    assert not torch.equal(random_state[0][0], random_state[1][0])  # each its own dropout
    assert {path.name for path in folder.glob("*.pt")} == {
        "run.pt",
        "whole.pt",
        *(f"seen{rank}.pt" for rank in range(N)),
    }


def test_only_the_first_process_writes_and_shows_its_progress(run):
    seen, _, result = run
    assert [s["written"] for s in seen] == [3 + 1 + 2, 0, 0]  # a whole run, one that was killed, the rest of it
    if "TQDM_DISABLE" not in os.environ:
        assert result.stderr.count("0/12 [") == 2  # of two whole runs


def test_what_cannot_be_shared_is_refused_by_all(run):
    seen, _, _ = run
    assert {s["error"] for s in seen} == {"3 processes cannot share batches of 2 out of 8 pairs"}
    assert {s["unlike"] for s in seen} == {"the processes do not begin alike: run is 0 in process 0, 1 in process 2"}
    check_same_on_all_ranks({"alone": 1})


def test_one_process_has_all_and_changes_nothing(monkeypatch):
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    with process_group(torch.device("meta")) as device:
        assert device == torch.device("meta") and rank_and_world_size() == (0, 1)
        assert ddp_loss(make(0), seq2seq_loss) is seq2seq_loss
        shares = list(RankShard(pairs(torch.Generator().manual_seed(3))))
    batches = list(pairs(torch.Generator().manual_seed(3)))
    assert len(shares) == len(batches) == 2
    for share, batch in zip(shares, batches, strict=True):
        assert all(a.equal(b) for a, b in zip(share, batch, strict=True))


@pytest.mark.parametrize("error", [None, RuntimeError("Connection reset by peer")])
def test_it_ends_with_no_thread_of_the_group_left(monkeypatch, request, error):
    """One that is left when Python ends may want its lock then: the process hangs, or it aborts."""

    def threads():
        return {thread.id for thread in psutil.Process().threads()}

    def train(model):
        replica = DistributedDataParallel(model)
        replica.cycle = [replica]  # the first of a process is in one
        import_module("torch.distributed.nn.functional")  # which it has imported
        replica(torch.ones(1, 2)).sum().backward()
        started.extend(threads() - before)
        if error is not None:
            raise error

    address = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0"}  # any that is free
    for name, value in {**address, "RANK": "0", "WORLD_SIZE": "1"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delitem(sys.modules, "torch.distributed.nn.functional", raising=False)
    gc.disable()  # what refers to itself stays until somebody asks
    request.addfinalizer(gc.enable)
    started, before = [], threads()
    expected = nullcontext() if error is None else pytest.raises(RuntimeError, match="by peer")
    with expected, process_group(torch.device("cpu")):
        train(torch.nn.Linear(2, 1))
    end = time.monotonic() + 5  # the system takes a moment to forget a thread that has ended
    while threads() - before and time.monotonic() < end:
        time.sleep(0.01)
    assert started and not threads() - before


def test_a_last_batch_too_small_for_all_is_left_out_by_all(monkeypatch):
    batches = pairs()  # of five and three
    for n, expected in ((3, [5, 3]), (4, [5])):
        found = []
        for rank in range(n):
            monkeypatch.setattr("attnlib.training.distributed.rank_and_world_size", lambda rank=rank, n=n: (rank, n))
            batches.generator = torch.Generator().manual_seed(0)
            sizes = [len(batch.source) for batch in RankShard(batches)]
            found.append(sizes + [0] * (2 - len(sizes)))
        assert [sum(sizes) for sizes in zip(*found, strict=True)] in (expected, [*expected, 0], expected[::-1])

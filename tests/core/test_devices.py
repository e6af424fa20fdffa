"""Whatever computes does so where its tensors are: on the second device of tests/second_device.py, as on a GPU."""

import copy
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn.utils.rnn import pack_padded_sequence
from torch.testing import assert_close

import attnlib
from attnlib import beam_search, greedy_decode
from attnlib.attention import causal_mask, length_mask, masked_softmax
from attnlib.captioning import GridEncoder
from attnlib.copying import copy_distribution
from attnlib.course.figures.weights import export, rounded
from attnlib.data import collate, load_questions, load_recall, random_windows
from attnlib.decoders import DECODERS, BahdanauDecoder
from attnlib.figures import plots
from attnlib.language_models import RNNLM, AttentionLM
from attnlib.seq2seq import Seq2Seq
from attnlib.training import fit, loop
from attnlib.training.checkpoints import save_checkpoint
from attnlib.training.losses import caption_loss, coverage_loss, cross_entropy, doubly_stochastic_penalty, seq2seq_loss
from attnlib.training.metrics import (
    alignment_error_rate,
    exact_match,
    hard_alignment,
    nats_per_token,
    pointing_game,
)
from attnlib.transformer import TransformerLM
from tests import second_device
from tests.core.test_models import LENGTHS, MODELS, B, S, T, V, seq2seq, squares, tensors
from tests.second_device import Elsewhere, device

ATTNLIB = Path(attnlib.__file__).parent


@pytest.fixture
def there() -> torch.device:
    return device()


def twins(*made: torch.nn.Module | Tensor) -> list[tuple]:
    """The same on both devices."""
    return [made, tuple(copy.deepcopy(thing).to(device()) for thing in made)]


def assert_twins(here, there) -> None:
    """All results are on their own device, and equal."""
    here, there = tensors(here), tensors(there)
    assert here and {t.device.type for t in here} == {"cpu"} and {t.device for t in there} == {device()}
    assert_close([t.cpu() for t in there], here, rtol=1e-4, atol=1e-5)


def pairs():
    sources = [torch.randint(4, V, (n,)) for n in (5, 1, 3)]
    return collate(sources, [torch.randint(4, V, (n,)) for n in (2, 4, 1)])


# --- the device is one on which mistakes show -------------------------------------------------------


def test_it_refuses_what_a_gpu_refuses(there):
    x, words = torch.ones(2, 3).to(there), torch.tensor([0, 1])
    refused = {
        "aten.add": lambda: x + torch.ones(3),
        "aten.where": lambda: torch.where(x > 0, x, torch.zeros(2, 3)),
        "aten.cat": lambda: torch.cat([x, torch.ones(1, 3)]),
        "aten.index": lambda: torch.ones(3)[words.to(there)],
        "aten.embedding": lambda: torch.nn.Embedding(3, 2)(words.to(there)),
        "gru": lambda: torch.nn.GRU(3, 2)(x),
        "lengths": lambda: pack_padded_sequence(x.unsqueeze(0), torch.tensor([2]).to(there), batch_first=True),
        "generator": lambda: torch.rand(2, device=there, generator=torch.Generator()),
        "numpy": lambda: np.asarray(x),
    }
    for name, mistake in refused.items():
        with pytest.raises((RuntimeError, TypeError), match=name):
            mistake()


def test_it_does_what_a_gpu_does(there):
    x = torch.arange(6.0).reshape(2, 3).to(there)
    assert x.device == there and x.cpu().device.type == "cpu" and isinstance(x, Elsewhere)
    assert_close((x + torch.tensor(1.0)).cpu(), torch.arange(1.0, 7).reshape(2, 3))  # a number may come along
    assert x[torch.tensor([1])].tolist() == [[3.0, 4.0, 5.0]]  # and places
    x[0, 1:] += 1
    assert x.tolist() == [[0.0, 2.0, 3.0], [3.0, 4.0, 5.0]] and x.sum().item() == 17
    assert x.unsqueeze(0).squeeze_(0).shape == (2, 3)


def test_a_fork_of_who_has_learned_there_can_learn():
    """In a process of its own, in which nothing was learned before: as in whichever tests come first on a worker."""
    learn = "torch.ones((), requires_grad=True).backward"
    code = f"""
import multiprocessing, sys, torch
from tests.second_device import device
device(), {learn}()
child = multiprocessing.get_context("fork").Process(target={learn})
child.start(), child.join()
sys.exit(child.exitcode)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ATTNLIB.parent, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


# --- models -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_models_compute_and_learn_there(name):
    make, draw = MODELS[name]
    results, gradients = [], []
    for model, *inputs in twins(make(), *draw()):
        found = tensors(model(*inputs))
        results.append(found)
        if learning := squares(found):
            sum(learning).backward()
            gradients.append([p.grad for p in model.parameters()])
    assert_twins(*results)
    if gradients:
        assert_twins(*gradients)


def test_functions_compute_there(there):
    weights, tokens = torch.rand(B, T, S).softmax(-1), torch.randint(V, (B, S))
    mask, targets, logits = torch.ones(B, T, dtype=torch.bool), torch.randint(V, (B, T)), torch.randn(B, T, V)
    calls = [
        lambda w, s, m, t, z: masked_softmax(w, length_mask(t[:, 0].clamp(1, S), S)[:, :, :S]),
        lambda w, s, m, t, z: copy_distribution(w, s, V),
        lambda w, s, m, t, z: coverage_loss(w, m),
        lambda w, s, m, t, z: doubly_stochastic_penalty(w, m),
        lambda w, s, m, t, z: cross_entropy(z, t, m)[0],
    ]
    for call in calls:
        assert_twins(*(call(*inputs) for inputs in twins(weights, tokens, mask, targets, logits)))
    assert causal_mask(4, past=2, include_self=False, device=there).device == there
    links = [hard_alignment(w[0], T, S) for w in (weights, weights.to(there))]
    assert links[0] == links[1] and alignment_error_rate([links[1]], [links[0]], [links[0]]) == 0
    assert exact_match(tokens.to(there), tokens) == 1
    places = torch.rand(B, S) > 0.2
    assert pointing_game(weights[:, 0].to(there), places.to(there)) == pointing_game(weights[:, 0], places)


@pytest.mark.parametrize("copying", [False, True])
@pytest.mark.parametrize("decoder", DECODERS)
def test_search_and_scheduled_sampling_stay_there(decoder, copying):
    source, lengths = torch.randint(4, V + 2 * copying, (B, S)), LENGTHS[:B]
    inputs = torch.randint(V, (B, T))
    written = []
    for model, *given in twins(seq2seq(decoder, copying), source, lengths, inputs):
        own = model(given[0], given[2], given[1], 0.5, generator=torch.Generator().manual_seed(0))
        greedy = greedy_decode(model, *given[:2], max_length=6)
        beams = beam_search(model, *given[:2], max_length=6, beam_size=3, length_penalty=0.6).best()
        written.append([own.logits, *(t for found in (greedy, beams) for t in tensors(found))])
        assert {t.device for row in (greedy, beams) for t in row.sentences()} == {given[0].device}
    assert_twins(*written)


@pytest.mark.parametrize("kind", [RNNLM, AttentionLM])
def test_language_models_write_and_are_judged_there(kind):
    for temperature in (0, 1.0):
        written = [
            model.generate(prompt, 5, temperature, torch.Generator().manual_seed(0))
            for model, prompt in twins(kind(V, 3, 6), torch.tensor([4, 5]))
        ]
        assert_twins(*written)
    text = torch.randint(V, (90,))
    here, elsewhere = (nats_per_token(*both, streams=3, chunk=8) for both in twins(kind(V, 3, 6), text))
    assert here == pytest.approx(elsewhere, rel=1e-5)


# --- training, and what is done with what was trained -----------------------------------------------


def test_batches_move_but_for_the_lengths_of_pairs(there):
    labelled, rows = load_questions(sizes=(3, 0, 0)).train, load_recall(sizes=(3, 0, 0)).train
    moved = pairs().to(there)
    assert moved.lengths.device.type == "cpu"
    assert {field.device for field in moved._replace(lengths=None) if field is not None} == {there}
    batches = [next(random_windows(torch.arange(9), 2, 3)), labelled, rows]
    for batch in batches:
        moved = [field for field in batch.to(there) if isinstance(field, Tensor)]
        assert moved and {field.device for field in moved} == {there}


@pytest.mark.parametrize("decoder", DECODERS)
def test_no_step_waits_for_the_device(there, decoder, monkeypatch):
    read, compute, tolist = [], second_device.compute, Elsewhere.tolist
    aten = torch.ops.aten
    waits = {aten._local_scalar_dense.default, aten.nonzero.default, aten.masked_select.default}

    def watched(operation, *args, **kwargs):
        by_mask = operation is aten.index.Tensor and any(t is not None and t.dtype == torch.bool for t in args[1])
        fetched = operation is aten._to_copy.default and torch.device(kwargs.get("device") or there) != there
        if operation in waits or by_mask or fetched:
            read.append(str(operation))
        return compute(operation, *args, **kwargs)

    monkeypatch.setattr(second_device, "compute", watched)
    monkeypatch.setattr(Elsewhere, "tolist", lambda self: read.append("tolist") or tolist(self))
    steps, model = loop.READ_EVERY + 1, seq2seq(decoder).to(there)
    history = fit(model, [pairs()], seq2seq_loss, steps=steps)
    assert len(history.train_loss) == steps and history.tokens == steps * 10
    assert len(read) == 2 * 2, read  # twice, the losses and the numbers of tokens


def test_a_loss_that_is_no_number_is_found_there_later(there, tmp_path):
    def loss(model, batch):
        value, n_tokens = seq2seq_loss(model, batch)
        seen.append(n_tokens)
        return value * (math.nan if len(seen) == 3 else 1), n_tokens

    seen, model, weights = [], seq2seq("luong").to(there), tmp_path / "weights.pt"
    with pytest.raises(ValueError, match="the loss is nan at step 3:"):
        fit(model, [pairs()], loss, steps=9, checkpoint=weights)
    assert len(seen) == 9 and not weights.exists()


def test_a_masked_loss_is_the_same_there():
    logits, targets = torch.randn(B, T, V), torch.randint(V, (B, T))
    mask = torch.arange(T) < torch.tensor([[T], [1], [T - 1]])
    logits[1, 1:], targets[~mask] = math.nan, V + 5  # padding may be anything
    values, gradients = [], []
    for z, t, m in twins(logits, targets, mask):
        z = z.requires_grad_()
        value, n_tokens = cross_entropy(z, t, m)
        value.backward()
        values.append(value.detach())
        gradients.append(z.grad)
        assert int(n_tokens) == mask.sum()
    assert_twins(*values)
    assert_twins(*gradients)


def test_training_goes_on_there(there, tmp_path):
    def losses(steps, place):
        torch.manual_seed(0)
        model = seq2seq("bahdanau").to(place)
        history = fit(
            model, [pairs_of_one_seed()], seq2seq_loss, steps=steps, lr=0.05,
            validate=lambda model: seq2seq_loss(model, pairs_of_one_seed().to(place))[0].item(), validate_every=2,
        )  # fmt: skip
        return model, history

    def pairs_of_one_seed():
        torch.manual_seed(1)
        return pairs()

    (_, here), (model, elsewhere) = losses(6, torch.device("cpu")), losses(6, there)
    assert_close(elsewhere.train_loss, here.train_loss, rtol=1e-4, atol=1e-5)
    assert here.train_loss[-1] < here.train_loss[0]
    assert {p.device for p in model.parameters()} == {there}
    save_checkpoint(tmp_path / "weights.pt", model)
    again = torch.load(tmp_path / "weights.pt", weights_only=True)
    assert_close(again, {name: value.cpu() for name, value in model.state_dict().items()})


def test_captions_are_judged_there(there):
    model, images = Seq2Seq(GridEncoder(1, 5), BahdanauDecoder(V, 3, 5, 7)), torch.rand(2, 1, 48, 48)
    batch = collate(list(images), [torch.tensor([4, 5]), torch.tensor([6])])
    both = [(model, batch), (copy.deepcopy(model).to(there), batch.to(there))]
    assert_twins(*(caption_loss(*inputs, penalty=1.0)[0] for inputs in both))


def test_figures_take_what_is_there(there):
    weights = torch.rand(2, 3).softmax(-1).to(there)
    axes = plots.heatmap(weights, list("ab"), list("cde"))
    assert_close(np.float32([cell.get_alpha() for cell in axes.patches]), weights.cpu().numpy().ravel())
    model = rounded(TransformerLM(V, 6, 2, 2))
    assert export(model.to(there)) == export(model.cpu())


# --- the command ------------------------------------------------------------------------------------


def test_a_page_runs_there():
    """One that trains nothing, in a process of its own."""
    command = [sys.executable, "-m", "tests.second_device", "instructors"]
    done = subprocess.run(command, cwd=ATTNLIB.parent, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and "instructors: 0 failures" in done.stderr, done.stderr


def test_one_failure_is_a_failure(monkeypatch):
    monkeypatch.setattr(second_device, "run", lambda page, steps: ["01.md, code cell 3: RuntimeError: not there"])
    monkeypatch.setattr(sys, "argv", ["second_device", "01"])
    assert second_device.main() == 1

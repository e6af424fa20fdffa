"""What a model writes is what a plain loop over one sentence writes, and the beam finds what there is to find.

The loops below read every target from its first token on, and so know nothing of states that are carried on, of
beams side by side, or of other sentences.
"""

import math
from typing import NamedTuple

import numpy as np
import pytest
import torch
from torch import nn
from torch.testing import assert_close

from attnlib import search
from attnlib.copying import CopyDecoder
from attnlib.data.vocabulary import BOS, EOS, PAD, UNK
from attnlib.decoders import DECODERS
from attnlib.encoder import Encoder, EncoderOutput
from attnlib.scores import Score
from attnlib.search import BeamSearchOutput, GreedyOutput, beam_search, greedy_decode
from attnlib.seq2seq import Seq2Seq

V, D_EMBED, D = 7, 3, 5
#: (S,) tokens each; V and V + 1 are new words, for the models that copy
SOURCES = [[4, 5, 6, 4, 6], [6, 4], [5, 6, 4]]
NEW_SOURCES = [[4, 7, 6, 8, 7], [8, 4], [5, 7, 4]]
KINDS = [f"{prefix}{name}" for prefix in ("", "copying ") for name in DECODERS]
WITH_ATTENTION = [kind for kind in KINDS if "copying" in kind or kind not in ("initial_state", "every_step")]


def make(kind: str, seed: int = 0, V: int = V, eos: float = 2.0, **options) -> Seq2Seq:
    """A model with large random weights, which ends its targets early or late as `eos` is large or small."""
    torch.manual_seed(seed)
    name = kind.removeprefix("copying ")
    decoder = inner = DECODERS[name](V, D_EMBED, 2 * D, D, **options)
    if name != kind:
        decoder = CopyDecoder(inner, UNK, "general" if inner.attention is None else None)
    model = Seq2Seq(Encoder(V, D_EMBED, D, bidirectional=True, unknown=UNK), decoder).double().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_()
        inner.W_o.weight /= 2
        inner.W_o.bias[EOS] += eos
        if name != kind:
            decoder.w_g.weight /= 3
    return model


def batch_for(kind: str) -> tuple[torch.Tensor, torch.Tensor]:
    rows = NEW_SOURCES if "copying" in kind else SOURCES
    lengths = torch.tensor([len(row) for row in rows])
    return torch.tensor([row + [PAD] * (5 - len(row)) for row in rows]), lengths


def row_of(kind: str, b: int) -> torch.Tensor:
    return torch.tensor([(NEW_SOURCES if "copying" in kind else SOURCES)[b]])


def read(model: Seq2Seq, source, prefixes) -> tuple[np.ndarray, np.ndarray | None]:
    """log P of what follows each prefix, (N, V), and where the step that says it looks, (N, S)."""
    with torch.no_grad():
        memory, state = model.encode(source.expand(len(prefixes), *source.shape[1:]))
        decoded = model.decoder(torch.tensor([[BOS, *prefix] for prefix in prefixes]), memory, state)
    logits = decoded.logits[:, -1].numpy()
    top = logits.max(-1, keepdims=True)
    log_prob = logits - top - np.log(np.exp(logits - top).sum(-1, keepdims=True))
    return log_prob, None if decoded.weights is None else decoded.weights[:, -1].numpy()


class Target(NamedTuple):
    """A target, whole or begun."""

    tokens: tuple[int, ...] = ()
    log_prob: float = 0.0
    weights: tuple[np.ndarray, ...] = ()

    @property
    def ended(self) -> bool:
        return self.tokens[-1:] == (EOS,)

    def score(self, length_penalty: float = 0.0, coverage_penalty: float = 0.0) -> float:
        score = self.log_prob / ((5 + len(self.tokens)) / (5 + 1)) ** length_penalty
        if coverage_penalty:
            S = len(self.weights[0])
            looked = [sum(float(step[j]) for step in self.weights) for j in range(S)]
            score += coverage_penalty * sum(math.log(min(total, 1.0)) for total in looked)
        return score


def longer(model, source, targets: list[Target]) -> list[Target]:
    """Every target by every token that can follow."""
    log_prob, weights = read(model, source, [target.tokens for target in targets])
    return [
        Target(
            (*target.tokens, token),
            target.log_prob + float(log_prob[n, token]),
            target.weights if weights is None else (*target.weights, weights[n]),
        )
        for n, target in enumerate(targets)
        for token in range(log_prob.shape[1])
        if token not in (PAD, BOS) and log_prob[n, token] > -math.inf
    ]


def write_greedily(model, source, max_length: int) -> Target:
    target = Target()
    while len(target.tokens) < max_length and not target.ended:
        target = max(longer(model, source, [target]), key=lambda candidate: candidate.log_prob)
    return target


def every_target(model, source, max_length: int) -> list[Target]:
    """All that can be written: what ends in time, and what is cut."""
    begun, whole = [Target()], []
    for _ in range(max_length):
        candidates = longer(model, source, begun)
        whole += [target for target in candidates if target.ended]
        begun = [target for target in candidates if not target.ended]
    return whole + begun


def write_with_beams(model, source, max_length, beams, length_penalty=0.0, coverage_penalty=0.0) -> list[Target]:
    kept = [Target()]
    for _ in range(max_length):
        begun = [target for target in kept if not target.ended]
        if begun:
            candidates = [target for target in kept if target.ended] + longer(model, source, begun)
            kept = sorted(candidates, key=lambda target: -target.score(length_penalty))[:beams]
    return sorted(kept, key=lambda target: -target.score(length_penalty, coverage_penalty))


def check(found: GreedyOutput, b: int, target: Target, S: int) -> None:
    """Sentence b of what was written is this target."""
    tokens, n = found.tokens[b].tolist(), len(target.tokens)
    assert tuple(tokens[:n]) == target.tokens
    assert tokens[n:] == [PAD] * (len(tokens) - n)
    assert found.lengths[b] == n - target.ended
    assert_close(found.log_prob[b].item(), target.log_prob, rtol=0, atol=1e-10)
    if target.weights:
        assert_close(found.weights[b, :n, :S].numpy(), np.array(target.weights), rtol=0, atol=1e-12)
        assert not found.weights[b, n:].any() and not found.weights[b, :, S:].any()
    else:
        assert found.weights is None


def check_beams(found: BeamSearchOutput, b: int, targets: list[Target], S: int, **penalties) -> None:
    """The beams of sentence b are these targets, in this order."""
    k = len(targets)
    assert found.score.shape[1] >= k
    assert_close(found.score[b, :k].tolist(), [t.score(**penalties) for t in targets], rtol=0, atol=1e-10)
    for n, target in enumerate(targets):
        weights = None if found.weights is None else found.weights[:, n]
        check(GreedyOutput(found.tokens[:, n], found.lengths[:, n], found.log_prob[:, n], weights), b, target, S)


# --- the likeliest token at every step


@pytest.mark.parametrize("kind", KINDS)
def test_greedy_is_a_plain_loop_over_one_sentence(kind):
    source, lengths = batch_for(kind)
    n_written = set()
    for seed in range(8):
        model = make(kind, seed, eos=0.5)
        together = greedy_decode(model, source, lengths, max_length=6)
        targets = [write_greedily(model, row_of(kind, b), 6) for b in range(3)]
        assert together.tokens.shape == (3, max(len(target.tokens) for target in targets))
        for b, target in enumerate(targets):
            check(together, b, target, len(SOURCES[b]))
            assert together.sentences()[b].tolist() == list(target.tokens[: len(target.tokens) - target.ended])
            check(greedy_decode(model, row_of(kind, b), max_length=6), 0, target, len(SOURCES[b]))
            n_written.add((len(target.tokens), target.ended))
    assert len(n_written) >= 2  # of different lengths, or the test would be blind to what comes after <eos>
    assert any(ended and n < 6 for n, ended in n_written) and (6, False) in n_written


class Regions(nn.Module):
    """Stands for an encoder of images: there are no lengths and no tokens."""

    def __init__(self):
        super().__init__()
        self.W, self.d_annotation = nn.Linear(3, 2 * D).double(), 2 * D

    def forward(self, image):
        annotations = torch.tanh(3 * self.W(image))
        mask = torch.ones(len(image), 1, image.shape[1], dtype=torch.bool)
        return EncoderOutput(annotations, annotations.mean(1), mask, None)


@pytest.mark.parametrize("name", DECODERS)
def test_images_are_described_as_sentences_are(name):
    model = make(name, 2)
    model.encoder = Regions()
    images = torch.randn(2, 5, 3).double()
    written, beams = greedy_decode(model, images, max_length=4), beam_search(model, images, max_length=4, beam_size=2)
    for b in range(2):
        check(written, b, write_greedily(model, images[b : b + 1], 4), 5)
        check_beams(beams, b, write_with_beams(model, images[b : b + 1], 4, 2), 5)


# --- the best of several


@pytest.mark.parametrize(
    ("beams", "length_penalty", "coverage"), [(1, 1.0, 0.0), (2, 0.6, 0.3), (3, 0.0, 0.3), (5, 1.0, 0.0)]
)
@pytest.mark.parametrize("kind", KINDS)
def test_few_beams_are_a_plain_beam_search_over_one_sentence(kind, beams, length_penalty, coverage):
    source, lengths = batch_for(kind)
    coverage = coverage if kind in WITH_ATTENTION else 0.0
    penalties = {"length_penalty": length_penalty, "coverage_penalty": coverage}
    for seed in (beams, beams + 1):
        model = make(kind, seed, eos=1.0)
        together = beam_search(model, source, lengths, max_length=5, beam_size=beams, **penalties)
        if beams == 1:
            assert_close(tuple(together.best()), tuple(greedy_decode(model, source, lengths, max_length=5)))
        for b in range(3):
            targets = write_with_beams(model, row_of(kind, b), 5, beams, **penalties)
            check_beams(together, b, targets, len(SOURCES[b]), **penalties)
            check(together.best(), b, targets[0], len(SOURCES[b]))
            alone = beam_search(model, row_of(kind, b), max_length=5, beam_size=beams, **penalties)
            check_beams(alone, 0, targets, len(SOURCES[b]), **penalties)


@pytest.mark.parametrize("coverage_penalty", [0.0, 0.3])
@pytest.mark.parametrize("length_penalty", [0.0, 0.6, 1.0])
@pytest.mark.parametrize("kind", ["bahdanau", "simple_rnn", "copying luong", "copying every_step"])
def test_enough_beams_find_every_target_in_order_and_the_rest_is_nothing(kind, length_penalty, coverage_penalty):
    penalties = {"length_penalty": length_penalty, "coverage_penalty": coverage_penalty}
    source = torch.tensor([[4, 3, 4], [3, 3, 4]]) + 2 * (torch.tensor([[0, 0, 1]]) if "copying" in kind else 0)
    for seed in range(2):
        model = make(kind, seed, V=5, eos=0.5)
        greedy = greedy_decode(model, source, max_length=3)
        found = beam_search(model, source, max_length=3, beam_size=300, **penalties)
        for b in range(2):
            targets = every_target(model, source[b : b + 1], 3)
            targets.sort(key=lambda target: -target.score(**penalties))
            n = len(targets)
            check_beams(found, b, targets, 3, **penalties)
            for value in (found.log_prob[b, n:], found.score[b, n:]):
                assert value.tolist() == [-math.inf] * (300 - n)
            assert not found.tokens[b, n:].any() and not found.lengths[b, n:].any() and not found.weights[b, n:].any()
            # with everything in the beam, and only then, nothing can be likelier than the best
            assert found.log_prob[b].max() >= greedy.log_prob[b] - 1e-12


@pytest.mark.parametrize("coverage_penalty", [0.0, 0.3])
def test_more_beams_than_targets_after_all_have_ended(coverage_penalty):
    model = make("bahdanau", V=5, eos=1000.0)  # all but [<eos>] are impossible, in numbers though not in principle
    model.decoder.W_o.register_forward_hook(lambda module, inputs, logits: logits.masked_fill(logits < 500, -torch.inf))
    found = beam_search(
        model, torch.tensor([[4, 3]]), max_length=4, beam_size=3, length_penalty=0.6, coverage_penalty=coverage_penalty
    )
    assert found.tokens.tolist() == [[[EOS], [PAD], [PAD]]]
    assert found.lengths.tolist() == [[0, 0, 0]]
    assert found.log_prob.tolist() == [[0.0, -math.inf, -math.inf]]
    assert_close(found.weights[0, 0].sum(-1), torch.ones(1).double())


class FirstOnly(Score):
    """Looks at the first position and, in float32, nowhere else at all."""

    def compare(self, query, projected_key):
        far = torch.tensor([0.0] + [-1e6] * (projected_key.shape[-2] - 1))
        return far.expand(*query.shape[:-1], -1)


def test_a_position_that_is_never_looked_at_costs_much_and_not_everything():
    model = make("bahdanau", score=FirstOnly(D, 2 * D)).float()
    found = beam_search(model, row_of("", 1), max_length=3, beam_size=4, coverage_penalty=0.5)
    assert found.weights[0, 0, 0].tolist() == [1.0, 0.0]
    assert_close(found.score, found.log_prob + 0.5 * math.log(torch.finfo(torch.float32).tiny))


@pytest.mark.parametrize("write", [greedy_decode, beam_search])
def test_model_is_left_in_its_mode_and_without_gradients(write):
    source = row_of("", 0)
    model = make("bahdanau", 1, dropout=0.5)
    still = write(model, source, max_length=6)
    assert not model.training
    model.train()
    restless = []
    for seed in range(5):
        torch.manual_seed(seed)
        restless.append(write(model, source, max_length=6))
    assert model.training and model.decoder.dropout.training
    assert len({round(found.log_prob.flatten()[0].item(), 9) for found in (still, *restless)}) == 6
    assert torch.is_grad_enabled()
    assert not any(part.requires_grad for part in (still.log_prob, still.weights, restless[0].log_prob))
    assert all(parameter.grad is None for parameter in model.parameters())


@pytest.mark.parametrize("write", [greedy_decode, beam_search])
@pytest.mark.parametrize("kind", WITH_ATTENTION)
def test_keys_are_projected_once(kind, write):
    pointing = kind in ("copying initial_state", "copying every_step")  # those point with an attention of their own
    options = {} if pointing else {"score": "general"}
    model, calls = make(kind, eos=-50.0, **options), []
    inner = model.decoder.decoder if "copying" in kind else model.decoder
    attention = model.decoder.pointer if pointing else inner.attention
    attention.score.W.register_forward_hook(lambda *_: calls.append(1))
    write(model, *batch_for(kind), max_length=6)
    assert len(calls) == 1


def test_log_probabilities_of_a_model_in_half_precision_are_summed_in_float32():
    model = make("luong", eos=-50.0).bfloat16()
    found = greedy_decode(model, *batch_for(""), max_length=60)
    assert found.log_prob.dtype == torch.float32
    with torch.no_grad():
        inputs = torch.cat([torch.full((len(SOURCES), 1), BOS), found.tokens[:, :-1]], dim=1)
        steps = model(batch_for("")[0], inputs, batch_for("")[1]).logits.double().log_softmax(-1)
    again = steps.gather(2, found.tokens.unsqueeze(2)).squeeze(2).sum(1)
    assert_close(found.log_prob.double(), again, rtol=0.01, atol=0.01)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"max_length": 0}, "got {'max_length': 0}"),
        ({"source": torch.tensor([[4, 5]]), "lengths": torch.tensor([3])}, r"\[3\]"),
        ({"beam_size": 2.0}, "got {'beam_size': 2.0}"),
        ({"length_penalty": -0.1}, "length_penalty .* got -0.1"),
        ({"length_penalty": math.inf}, "length_penalty .* got inf"),
        ({"coverage_penalty": math.nan}, "coverage_penalty .* got nan"),
    ],
)
def test_what_cannot_be_searched_is_refused(options, match, without_shape_checks):
    of_beams = {"beam_size", "length_penalty", "coverage_penalty"} & set(options)
    for write in [beam_search] if of_beams else [greedy_decode, beam_search]:
        with pytest.raises(ValueError, match=match):
            write(make("luong"), **{"source": row_of("", 0), "max_length": 3} | options)


@pytest.mark.parametrize("write", [greedy_decode, beam_search])
def test_logits_that_are_nan_are_refused(write):
    model = make("luong")
    model.decoder.W_o.register_forward_hook(lambda module, inputs, logits: logits * math.nan)
    with pytest.raises(ValueError, match="logits are NaN"):
        write(model, row_of("", 0), max_length=3)


@pytest.mark.parametrize("name", ["initial_state", "every_step"])
def test_coverage_needs_attention(name):
    with pytest.raises(ValueError, match=type(make(name).decoder).__name__):
        beam_search(make(name), row_of("", 0), max_length=3, coverage_penalty=0.1)
    beam_search(make(f"copying {name}"), row_of("", 0), max_length=3, coverage_penalty=0.1)


def test_the_ids_of_the_core_are_those_of_the_data():
    assert (search.PAD, search.BOS, search.EOS) == (PAD, BOS, EOS)

"""Copying is the plain mixture of two distributions, exact where plain arithmetic is, and finite where it is not.

The references work with probabilities, one word at a time; that is what the log space of the module must equal.
"""

import math
import random

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from attnlib.copying import CopyDecoder, copy_distribution, pointer_generator_log_probs
from attnlib.data.batching import BucketedPairs, collate, pad
from attnlib.data.extended_vocabulary import ExtendedVocabulary
from attnlib.data.vocabulary import BOS, EOS, PAD, SPECIALS, UNK, Vocabulary
from attnlib.decoders import DECODERS, BahdanauDecoder
from attnlib.encoder import Encoder, EncoderOutput
from attnlib.scores import SCORES, DotScore, GeneralScore
from attnlib.search import beam_search, greedy_decode
from attnlib.seq2seq import Seq2Seq
from attnlib.training import fit
from attnlib.training.losses import coverage_loss, cross_entropy, seq2seq_loss
from tests import oracles
from tests.core.test_scores import arrays

B, T, S, V, SIZE = 2, 3, 5, 7, 9
D_EMBED, D = 3, 5
#: two sentences of 5 and 3 words; of their words V and V + 1, the second has only the first
SOURCE = torch.tensor([[4, 7, 5, 7, 8], [7, 6, 4, PAD, PAD]])
LENGTHS = torch.tensor([5, 3])
TOKENS = torch.tensor([[BOS, 7, 8], [BOS, 4, 7]])
WITHOUT_ATTENTION = ("initial_state", "every_step")
FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def sharp_weights(*leading: int, S: int = S) -> torch.Tensor:
    return (3 * torch.randn(*leading, S, dtype=torch.float64)).softmax(-1)


# --- what may be copied


def copied_by_hand(weights, source, size) -> torch.Tensor:
    """P(w) = Σ_{j: x_j = w} α_ij, word by word."""
    found = np.zeros((*weights.shape[:2], size))
    for b, i, word in np.ndindex(*found.shape):
        found[b, i, word] = sum(float(weights[b, i, j]) for j in range(weights.shape[2]) if source[b, j] == word)
    return torch.from_numpy(found)


def test_copy_distribution_is_its_formula():
    weights = sharp_weights(B, T)
    assert_close(copy_distribution(weights, SOURCE, SIZE), copied_by_hand(weights, SOURCE, SIZE))
    assert_close(copy_distribution(weights, SOURCE, SIZE).sum(-1), torch.ones(B, T).double())
    assert_close(copy_distribution(weights, SOURCE.int(), 11), copied_by_hand(weights, SOURCE, 11))


def test_word_that_stands_twice_counts_twice():
    weights = torch.tensor([[[0.5, 0.25, 0.125, 0.125]]])
    found = copy_distribution(weights, torch.tensor([[2, 1, 2, 2]]), 4)
    assert found.tolist() == [[[0.0, 0.25, 0.75, 0.0]]]


def test_padding_gives_nothing_and_every_position_its_own_gradient():
    weights = sharp_weights(B, T).masked_fill(torch.arange(S) >= LENGTHS.view(B, 1, 1), 0.0).requires_grad_()
    found = copy_distribution(weights, SOURCE, SIZE)
    assert not found[1, :, PAD].any()
    direction = torch.randn(B, T, SIZE).double()
    (found * direction).sum().backward()
    expected = torch.stack([direction[b][:, SOURCE[b]] for b in range(B)])  # d P(x_j) / d α_ij = 1
    assert_close(weights.grad, expected)


@pytest.mark.parametrize(
    ("weights", "source", "size", "match"),
    [
        (torch.zeros(2, 3, 5), torch.zeros(2, 4, dtype=torch.long), 9, r"\(2, 3, 5\) and \(2, 4\)"),
        (torch.zeros(2, 3, 5), torch.zeros(3, 5, dtype=torch.long), 9, r"\(2, 3, 5\) and \(3, 5\)"),
        (torch.zeros(2, 5), torch.zeros(2, 5, dtype=torch.long), 9, r"\(2, 5\) and \(2, 5\)"),
        (torch.zeros(2, 3, 5, 1), torch.zeros(2, 5, dtype=torch.long), 9, r"\(2, 3, 5, 1\) and \(2, 5\)"),
        (torch.zeros(2, 3, 5), SOURCE, 8, r"0\.\.7, got 0\.\.8"),
        (torch.zeros(2, 3, 5), SOURCE - 1, 9, r"0\.\.8, got -1\.\.7"),
        (torch.zeros(2, 3, 5), SOURCE.float(), 9, "float32"),
    ],
)
def test_what_cannot_be_copied_is_refused(weights, source, size, match, without_shape_checks):
    with pytest.raises(ValueError, match=match):
        copy_distribution(weights, source, size)


# --- say or copy


def draw_mixture():
    logits, gate = 2 * torch.randn(B, T, V, dtype=torch.float64), 2 * torch.randn(B, T, 1, dtype=torch.float64)
    return logits, gate, copied_by_hand(sharp_weights(B, T), SOURCE, SIZE)


def mixed_by_hand(logits, gate, copied) -> torch.Tensor:
    """p P_vocab(w) + (1 - p) P_copy(w), word by word; a probability, not its logarithm."""
    found = np.zeros(copied.shape)
    for b, i, word in np.ndindex(*found.shape):
        p = 1 / (1 + math.exp(-float(gate[b, i, 0])))
        total = sum(math.exp(float(logit)) for logit in logits[b, i])
        say = math.exp(float(logits[b, i, word])) / total if word < logits.shape[2] else 0.0
        found[b, i, word] = p * say + (1 - p) * float(copied[b, i, word])
    return torch.from_numpy(found)


def plain_mixture(logits, gate, copied):
    """The same on whole tensors, to take its gradient."""
    p = torch.sigmoid(gate)
    said = torch.cat([logits.softmax(-1), torch.zeros(B, T, SIZE - V).double()], dim=-1)
    return p * said + (1 - p) * copied


def test_mixture_is_its_formula():
    logits, gate, copied = draw_mixture()
    found, expected = pointer_generator_log_probs(logits, gate, copied), mixed_by_hand(logits, gate, copied)
    assert_close(found.exp(), expected, rtol=1e-12, atol=1e-14)
    assert_close(found, expected.log(), rtol=1e-12, atol=1e-14)  # no ε anywhere
    assert (found[1, :, 8] == -torch.inf).all()  # in the first sentence alone
    assert_close(found.exp().sum(-1), torch.ones(B, T).double(), rtol=1e-13, atol=1e-13)
    as_large = pointer_generator_log_probs(logits, gate, copied[..., :V] / copied[..., :V].sum(-1, keepdim=True))
    assert_close(as_large.exp().sum(-1), torch.ones(B, T).double())  # no new words


def test_mixture_has_the_gradient_of_the_plain_mixture():
    inputs, direction = draw_mixture(), torch.randn(B, T, SIZE).double()
    there = plain_mixture(*inputs) > 0  # of log 0 plain arithmetic has no gradient
    assert there.any() and not there.all()
    gradients = []
    for run in (
        lambda *leaves: pointer_generator_log_probs(*leaves)[there],
        lambda *leaves: plain_mixture(*leaves)[there].log(),
    ):
        leaves = [part.clone().requires_grad_() for part in inputs]
        (run(*leaves) * direction[there]).sum().backward()
        gradients.append([leaf.grad for leaf in leaves])
    found, expected = gradients
    expected[2].masked_fill_(inputs[2] == 0, 0.0)  # no word comes to stand in the source by training
    assert_close(found, expected)


def test_gradcheck_through_weights_gate_and_logits():
    logits, gate, _ = draw_mixture()
    scores = torch.randn(B, T, S, dtype=torch.float64)

    def run(logits, gate, scores):
        mixed = pointer_generator_log_probs(logits, gate, copy_distribution(scores.softmax(-1), SOURCE, SIZE))
        return mixed[torch.isfinite(mixed)]

    assert torch.autograd.gradcheck(run, [part.requires_grad_() for part in (logits, gate, scores)])


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("gate", [0.0, 50.0, 1e3, 1e4, 1e6, math.inf])
@pytest.mark.parametrize("sign", [1, -1])
def test_mixture_stays_finite_where_one_side_has_all(dtype, gate, sign):
    logits, anything, copied = draw_mixture()
    leaves = [
        logits.clone().to(dtype).requires_grad_(),
        torch.full((B, T, 1), sign * gate).to(dtype).requires_grad_(),  # 1e6 is ∞ in float16
        copied.clone().to(dtype).requires_grad_(),
    ]
    found = pointer_generator_log_probs(*leaves)
    said_only, copied_only = (0, 0, 0), (0, 0, 7)  # word 0 does not stand there, word V is not in the vocabulary
    assert torch.equal(torch.isfinite(found), torch.isfinite(mixed_by_hand(logits, anything, copied).log()))
    tolerance = {"rtol": 8 * torch.finfo(dtype).eps, "atol": 8 * torch.finfo(dtype).eps}
    softmax, there = leaves[0].detach().double().log_softmax(-1), torch.isfinite(found)
    x = float(max(-1e4, min(1e4, sign * gate)))  # log σ(x) = -log(1 + e^-x)
    say = -math.log1p(math.exp(-x)) if x > -700 else x
    copy = -math.log1p(math.exp(x)) if x < 700 else -x
    assert_close(found[said_only].item(), say + softmax[said_only].item(), **tolerance)
    assert_close(found[copied_only].item(), copy + leaves[2][copied_only].detach().double().log().item(), **tolerance)
    found[there].float().sum().backward()
    assert all(torch.isfinite(leaf.grad).all() for leaf in leaves)
    for target in (said_only, copied_only):
        for leaf in leaves:
            leaf.grad = None
        log_prob = pointer_generator_log_probs(*leaves).log_softmax(-1)[target]  # as `cross_entropy` takes it
        assert math.isfinite(log_prob.item())
        log_prob.backward()
        assert all(torch.isfinite(leaf.grad).all() for leaf in leaves)
    if sign > 0 and 50 <= gate < 1e4:  # the last target should have been copied, so p_gen is pulled down with force 1
        assert_close(leaves[1].grad[0, 0].item(), -1.0, **tolerance)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_smallest_numbers_count_and_are_finite(dtype):
    smallest, tiny = torch.finfo(dtype).smallest_normal / 4, torch.finfo(dtype).tiny
    copied = torch.tensor([[[0.0, 1.0, smallest, tiny]]], dtype=dtype).requires_grad_()
    gate = torch.zeros(1, 1, 1, dtype=dtype)
    found = pointer_generator_log_probs(torch.zeros(1, 1, 2, dtype=dtype), gate, copied)
    half = math.log(0.5)
    expected = [2 * half, math.log(0.75), half + math.log(tiny), half + math.log(tiny)]
    assert_close(
        found[0, 0].double(), torch.tensor(expected, dtype=torch.float64), rtol=4 * torch.finfo(dtype).eps, atol=1e-12
    )
    found.sum().backward()
    assert torch.isfinite(copied.grad).all()


@pytest.mark.parametrize(
    ("logits", "gate", "copied"),
    [
        ((2, 3, 7), (2, 3), (2, 3, 9)),
        ((2, 3, 7), (2, 3, 2), (2, 3, 9)),
        ((2, 3, 7), (2, 4, 1), (2, 3, 9)),
        ((2, 3, 7), (2, 3, 1), (2, 4, 9)),
        ((1, 3, 7), (2, 3, 1), (2, 3, 9)),
        ((2, 3, 7), (2, 3, 1), (2, 3, 6)),
    ],
)
def test_what_cannot_be_mixed_is_refused_with_all_shapes(logits, gate, copied, without_shape_checks):
    with pytest.raises(ValueError) as error:
        pointer_generator_log_probs(torch.zeros(logits), torch.zeros(gate), torch.zeros(copied))
    assert all(str(shape) in str(error.value) for shape in (logits, gate, copied))


def test_a_word_that_both_ways_make_nearly_impossible_is_finite():
    logits = torch.tensor([[[0.0, -200.0]]], requires_grad=True)
    found = pointer_generator_log_probs(logits, torch.tensor([[[1e4]]]), torch.tensor([[[0.0, 1.0]]]))[0, 0, 1]
    found.backward()
    assert_close(found.item(), -200.0)
    assert_close(logits.grad, torch.tensor([[[-1.0, 1.0]]]))


# --- one vocabulary for each source


def test_each_source_has_its_own_ids():
    vocabulary = Vocabulary([*SPECIALS, "call", "now"], unknown="<unk>")
    first = ExtendedVocabulary(vocabulary, ["call", "Ada", "now", "Bo", "Ada"])
    second = ExtendedVocabulary(vocabulary, ["Bo", "Cy", "call"])
    assert (len(first), len(second)) == (8, 8)
    assert first.encode(["call", "Ada", "now", "Bo", "Ada"]).tolist() == [4, 6, 5, 7, 6]
    assert second.encode(["Bo", "Cy", "call"]).tolist() == [6, 7, 4]  # Bo was 7, and 7 was Bo
    assert first.encode(["Cy", "<unk>", "<eos>"]).tolist() == [UNK, UNK, EOS]
    assert first.decode(torch.tensor([6, 7, 4, EOS])) == ["Ada", "Bo", "call", "<eos>"]
    assert second.decode(torch.tensor([6, 7, 4, UNK])) == ["Bo", "Cy", "call", "<unk>"]
    assert first.encode([]).dtype == torch.int64 and first.encode([]).shape == (0,)
    assert (first.new, second.new, len(vocabulary)) == (["Ada", "Bo"], ["Bo", "Cy"], 6)


def test_known_words_are_the_vocabulary_itself():
    vocabulary = Vocabulary([*SPECIALS, "call", "now"], unknown="<unk>")
    extended = ExtendedVocabulary(vocabulary, ["now", "call", "now", "<unk>"])
    assert len(extended) == len(vocabulary)
    assert extended.encode(["now", "Ada"]).tolist() == vocabulary.encode(["now", "Ada"]).tolist() == [5, 3]


def test_round_trip_of_random_sources():
    generator, words = random.Random(0), [f"w{n}" for n in range(20)]
    vocabulary = Vocabulary([*SPECIALS, *words[:5]], unknown="<unk>")
    for _ in range(50):
        source = generator.choices(words, k=8)
        extended = ExtendedVocabulary(vocabulary, source)
        ids = extended.encode(source)
        assert extended.decode(ids) == source
        assert set(ids[ids >= len(vocabulary)].tolist()) == set(range(len(vocabulary), len(extended)))


def test_errors_of_extended_vocabularies(without_shape_checks):
    with pytest.raises(ValueError, match="unknown"):
        ExtendedVocabulary(Vocabulary("abc"), ["a"])
    extended = ExtendedVocabulary(Vocabulary(SPECIALS, unknown="<unk>"), ["Ada"])
    for stranger in (5, -1):
        with pytest.raises(ValueError, match=rf"0\.\.4, not \[{stranger}\]"):
            extended.decode(torch.tensor([4, stranger]))


# --- a decoder that copies


def make(name: str, score: str = "additive", **options) -> CopyDecoder:
    inner = DECODERS[name](V, D_EMBED, D + 2, D, **options)
    decoder = CopyDecoder(inner, UNK, score if name in WITHOUT_ATTENTION else None).double()
    with torch.no_grad():
        for parameter in decoder.parameters():
            parameter.normal_()
    return decoder


def encoded_batch(source=SOURCE, lengths=LENGTHS) -> EncoderOutput:
    """Annotations that do not depend on what stands around; zero where padding, as an encoder leaves them."""
    generator = torch.Generator().manual_seed(3)
    table = torch.randn(11, D + 2, generator=generator, dtype=torch.float64)
    place = torch.randn(7, D + 2, generator=generator, dtype=torch.float64)
    mask = (torch.arange(source.shape[1]) < lengths.unsqueeze(1)).unsqueeze(1)
    annotations = (table[source] + place[: source.shape[1]]) * mask.transpose(1, 2)
    return EncoderOutput(annotations, annotations.sum(1), mask, source)


def make_model(name: str, **options) -> Seq2Seq:
    torch.manual_seed(0)
    inner = DECODERS[name](V, D_EMBED, 2 * D, D, **options)
    decoder = CopyDecoder(inner, UNK, "general" if name in WITHOUT_ATTENTION else None)
    model = Seq2Seq(Encoder(V, D_EMBED, D, bidirectional=True, unknown=UNK), decoder).double().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_()
    return model


@pytest.mark.parametrize("name", DECODERS)
def test_decoder_is_the_plain_mixture_of_saying_and_pointing(name):
    decoder, encoded = make(name), encoded_batch()
    memory, state = decoder.init_state(encoded)
    found = decoder(TOKENS, memory, state)
    known = torch.tensor([[BOS, UNK, UNK], [BOS, 4, UNK]])
    inner = decoder.decoder(known, *decoder.decoder.init_state(encoded))
    if name in WITHOUT_ATTENTION:
        p = arrays(decoder.pointer.score)
        annotations, states = encoded.annotations.numpy(), inner.states.detach().numpy()
        scores = oracles.scores("additive", states, annotations, p)
        weights = oracles.masked_softmax(scores, np.broadcast_to(encoded.mask.numpy(), scores.shape))
        contexts = torch.from_numpy(oracles.context(weights, annotations))
        weights = torch.from_numpy(weights)
    else:
        weights, contexts = inner.weights, inner.contexts
    p = arrays(decoder)
    gate = torch.zeros(B, T, 1).double()
    for b, i in np.ndindex(B, T):
        row = [*contexts[b, i].tolist(), *inner.states[b, i].tolist(), *p["decoder.embedding.weight"][known[b, i]]]
        gate[b, i] = oracles.dot(p["w_g.weight"][0], row) + float(p["w_g.bias"][0])
    expected = mixed_by_hand(inner.logits.detach(), gate, copied_by_hand(weights.detach(), SOURCE, V + S))
    assert_close(found.logits.exp().detach(), expected)
    assert_close(found.logits.detach(), expected.log())
    assert_close(found.logits.exp().sum(-1), torch.ones(B, T).double())
    assert_close(found.weights, weights)
    assert_close(found.contexts, contexts)
    assert_close(found.states, inner.states)
    assert_close(found.p_gen.detach(), 1 / (1 + (-gate[..., 0]).exp()))
    assert_close(found.state, inner.state)
    assert ((found.p_gen > 0) & (found.p_gen < 1)).all()


@pytest.mark.parametrize(("name", "options"), [*((n, {}) for n in DECODERS), ("bahdanau", {"coverage": True})])
def test_all_steps_at_once_are_one_after_the_other(name, options):
    decoder = make(name, **options)
    memory, state = decoder.init_state(encoded_batch())
    whole = decoder(TOKENS, memory, state)
    steps = []
    for i in range(T):
        steps.append(decoder(TOKENS[:, i : i + 1], memory, state))
        state = steps[-1].state
    for field in ("logits", "weights", "states", "contexts", "p_gen"):
        assert_close(torch.cat([getattr(step, field) for step in steps], dim=1), getattr(whole, field))
    assert_close(state, whole.state)


@pytest.mark.parametrize("padding", [PAD, 8])  # 8 is a word of the first sentence: it must not become one of the second
@pytest.mark.parametrize("name", DECODERS)
def test_sentence_alone_is_read_as_in_a_batch(name, padding):
    model = make_model(name)
    padded = SOURCE.masked_fill(torch.arange(S) >= LENGTHS.unsqueeze(1), padding)
    together = model(padded, TOKENS, LENGTHS)
    for b, n in enumerate(LENGTHS.tolist()):
        alone = model(SOURCE[b : b + 1, :n], TOKENS[b : b + 1])
        size = V + n  # a source of n words has no more new ones
        assert_close(together.logits[b, :, :size], alone.logits[0])
        assert (together.logits[b, :, size:] == -torch.inf).all()
        assert_close(together.weights[b, :, :n], alone.weights[0])
        assert not together.weights[b, :, n:].any()
        assert_close(together.p_gen[b], alone.p_gen[0])


@pytest.mark.parametrize("name", DECODERS)
def test_new_words_are_read_as_the_unknown_one(name):
    decoder = make(name)
    memory, state = decoder.init_state(encoded_batch())
    first = decoder(TOKENS, memory, state)
    assert_close(decoder(torch.where(TOKENS == 7, 8, TOKENS), memory, state)[:4], first[:4])
    assert_close(decoder(TOKENS.masked_fill(TOKENS >= V, UNK), memory, state)[:4], first[:4])
    other = decoder(TOKENS.masked_fill(TOKENS >= V, 5), memory, state)
    assert ((other.logits - first.logits)[:, -1, :V].abs() > 1e-9).all()


def test_largest_known_word_is_known():
    decoder = make("luong")
    memory, state = decoder.init_state(encoded_batch())
    last, unknown = (decoder(torch.tensor([[word]] * B), memory, state) for word in (V - 1, UNK))
    assert ((last.states - unknown.states).abs() > 1e-9).any()


@pytest.mark.parametrize("name", DECODERS)
def test_what_is_written_can_be_read_in_the_words_of_each_source(name):
    """A model that only copies writes words of its source, new ones too, and each by its own id."""
    vocabulary = Vocabulary([*SPECIALS, "call", "now", "then"], unknown="<unk>")
    sources = [["call", "Ada", "now", "Bo", "Ada"], ["Bo", "Cy", "Bo"]]
    extended = [ExtendedVocabulary(vocabulary, words) for words in sources]
    padded, lengths = pad([e.encode(words) for e, words in zip(extended, sources, strict=True)])
    model = make_model(name)
    with torch.no_grad():
        model.decoder.w_g.weight.zero_()
        model.decoder.w_g.bias.fill_(-1e3)
    memory, state = model.encode(padded, lengths)
    token, tokens = torch.full((2, 1), BOS), []
    for _ in range(4):  # most likely word: the one whose positions weigh most together
        decoded = model.decoder(token, memory, state)
        by_word = [
            {word: sum(w for w, x in zip(row, words, strict=False) if x == word) for word in words}
            for row, words in zip(decoded.weights[:, 0].tolist(), sources, strict=True)
        ]
        tokens.append([max(weights, key=weights.get) for weights in by_word])
        token, state = (
            torch.cat([e.encode([w]) for e, w in zip(extended, tokens[-1], strict=True)])[:, None],
            decoded.state,
        )
    expected = [list(column) for column in zip(*tokens, strict=True)]
    greedy = greedy_decode(model, padded, lengths, max_length=4)
    beam = beam_search(model, padded, lengths, max_length=4, beam_size=3)
    for found in (greedy, beam_search(model, padded, lengths, max_length=4, beam_size=1).best()):
        assert [e.decode(row) for e, row in zip(extended, found.sentences(), strict=True)] == expected
    for e, rows, words in zip(extended, beam.tokens, sources, strict=True):
        assert all(set(e.decode(row)) <= set(words) for row in rows)


@pytest.mark.parametrize("name", DECODERS)
def test_keys_are_projected_once_per_source(name):
    model = make_model(name) if name in WITHOUT_ATTENTION else make_model(name, score="general")
    attention = model.decoder.pointer if name in WITHOUT_ATTENTION else model.decoder.decoder.attention
    calls = []
    attention.score.W.register_forward_hook(lambda *_: calls.append(1))
    greedy_decode(model, SOURCE, LENGTHS, max_length=4)
    beam_search(model, SOURCE, LENGTHS, max_length=4)
    model(SOURCE, TOKENS, LENGTHS)
    model(SOURCE, TOKENS, LENGTHS, teacher_forcing=0.5)
    assert len(calls) == 4


@pytest.mark.parametrize("name", ["bahdanau", "every_step"])
def test_scheduled_sampling_reads_back_what_was_copied(name):
    model = make_model(name)
    with torch.no_grad():
        model.decoder.w_g.bias.fill_(-2.0)  # copies most of the time
    inputs = torch.tensor([[BOS, 7, 8, 4, 5, 7, 8], [BOS, 4, 7, 7, 6, PAD, PAD]])
    found = model(SOURCE, inputs, LENGTHS, teacher_forcing=0.5, generator=torch.Generator().manual_seed(1))
    given = torch.rand(inputs.shape, generator=torch.Generator().manual_seed(1)) < 0.5
    memory, state = model.encode(SOURCE, LENGTHS)
    token, own_new = inputs[:, :1], 0
    for i in range(inputs.shape[1]):
        step = model.decoder(token, memory, state)
        for field in ("logits", "weights", "p_gen"):
            assert_close(getattr(found, field)[:, i : i + 1], getattr(step, field))
        own, state = step.logits.argmax(-1), step.state
        if i + 1 < inputs.shape[1]:
            token = torch.where(given[:, i + 1 : i + 2], inputs[:, i + 1 : i + 2], own)
            own_new += int((~given[:, i + 1 : i + 2] & (own >= V)).sum())
    assert own_new  # or nothing new was read back


@pytest.mark.parametrize("name", ["bahdanau", "initial_state"])
@pytest.mark.parametrize("gate", [-1e6, -1e4, -50.0, 50.0, 1e4, 1e6])
def test_training_stays_finite_at_either_end_of_the_gate(name, gate):
    model = make_model(name).float()
    with torch.no_grad():
        model.decoder.w_g.bias.fill_(gate)
    targets = torch.tensor([[7, 8, EOS], [4, 7, EOS]])
    loss, _ = cross_entropy(model(SOURCE, TOKENS, LENGTHS).logits, targets)
    assert math.isfinite(loss.item())
    loss.backward()
    assert all(torch.isfinite(parameter.grad).all() for parameter in model.parameters())


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_target_that_only_stands_where_nobody_looks_can_be_learned(dtype):
    """In numbers of limited size its weight is 0; its loss must not be infinite."""
    decoder = make("luong").to(dtype)
    decoder.decoder.attention.score = GeneralScore(D, D + 2).to(dtype)
    encoded = EncoderOutput(*(part.to(dtype) if part.is_floating_point() else part for part in encoded_batch()))
    memory, state = decoder.init_state(encoded)
    far = torch.zeros_like(memory.projected_key).requires_grad_()
    with torch.no_grad():
        far[0, 0] = 8000 * torch.sign(decoder(TOKENS[:, :1], memory, state).states[0, 0])
    found = decoder(TOKENS[:, :1], memory._replace(projected_key=far), state)
    assert found.weights[0, 0].tolist() == [1.0, 0.0, 0.0, 0.0, 0.0]
    log_prob = found.logits[0, 0].double()
    gate = math.log(found.p_gen[0, 0].double().item() / (1 - found.p_gen[0, 0].double().item()))
    never = math.log(torch.finfo(dtype).tiny) - math.log1p(math.exp(gate))
    assert_close(log_prob[8].item(), never, rtol=0.02, atol=0.02)
    found.logits.log_softmax(-1)[0, 0, 8].backward()
    assert far.grad is not None and torch.isfinite(far.grad).all()
    assert all(torch.isfinite(p.grad).all() for p in decoder.parameters() if p.grad is not None)
    assert decoder.w_g.bias.grad.abs() > 0  # towards copying
    assert (found.logits[1, 0, 8] == -torch.inf).all()  # the other sentence still cannot say it
    assert found.logits[1, 0, PAD] < found.logits.new_tensor(0.0) and not found.weights[1, 0, 3:].any()


@pytest.mark.parametrize("name", DECODERS)
def test_empty_source_leaves_all_to_saying(name):
    model = make_model(name)
    found = model(SOURCE, TOKENS, torch.tensor([5, 0]))
    assert_close(found.logits.exp().sum(-1), torch.ones(B, T).double())
    assert_close(found.p_gen[1], torch.ones(T).double())
    memory, state = model.decoder.decoder.init_state(model.encoder(SOURCE, torch.tensor([5, 0])))
    inner = model.decoder.decoder(TOKENS.masked_fill(TOKENS >= V, UNK), memory, state)
    assert_close(found.logits[1, :, :V], inner.logits[1].log_softmax(-1))
    assert (found.p_gen[0] < 1).all()


@pytest.mark.parametrize("score", SCORES)
def test_every_score_can_point(score):
    width = D if issubclass(SCORES[score], DotScore) else D + 2
    inner = DECODERS["every_step"](V, D_EMBED, width, D)
    if score == "location":
        decoder = CopyDecoder(inner, UNK, SCORES[score](D, width, S)).double()
    else:
        decoder = CopyDecoder(inner, UNK, score).double()
    encoded = encoded_batch()
    encoded = encoded._replace(annotations=encoded.annotations[..., :width], summary=encoded.summary[..., :width])
    memory, state = decoder.init_state(encoded)
    found = decoder(TOKENS, memory, state)
    expected = decoder.pointer(found.states, encoded.annotations, encoded.annotations, encoded.mask)
    assert_close((found.contexts, found.weights), tuple(expected))


def test_image_encoders_give_nothing_to_copy(without_shape_checks):
    with pytest.raises(ValueError, match="no source tokens"):
        make("luong").init_state(encoded_batch()._replace(tokens=None))


@pytest.mark.parametrize("name", DECODERS)
def test_pointer_is_needed_if_and_only_if_there_is_no_attention(name, without_shape_checks):
    inner = DECODERS[name](V, D_EMBED, D + 2, D)
    wrong = None if name in WITHOUT_ATTENTION else "additive"
    with pytest.raises(ValueError, match=f"{type(inner).__name__}, score={wrong!r}"):
        CopyDecoder(inner, UNK, wrong)


@pytest.mark.parametrize(
    ("tokens", "match"),
    [
        (torch.tensor([[BOS, V + S], [BOS, 4]]), rf"0\.\.{V + S - 1}, got 1\.\.{V + S}"),
        (torch.tensor([[BOS, -1], [BOS, 4]]), rf"0\.\.{V + S - 1}, got -1\.\.4"),
        (torch.tensor([[BOS, 4]]), r"\(1, 2\)"),
        (torch.zeros(2, 0, dtype=torch.long), r"\(2, 0\)"),
        (torch.tensor([[BOS, 4.0], [BOS, 4.0]]), "float32"),
    ],
)
def test_tokens_beyond_the_extended_vocabulary_are_refused(tokens, match, without_shape_checks):
    decoder = make("luong")
    memory, state = decoder.init_state(encoded_batch())
    with pytest.raises(ValueError, match=match):
        decoder(tokens, memory, state)


def test_encoder_without_unknown_refuses_new_words(without_shape_checks):
    model = make_model("luong")
    model.encoder.unknown = None
    with pytest.raises(ValueError, match=r"0\.\.6"):
        model(SOURCE, TOKENS, LENGTHS)


# --- not looking twice


def coverage_by_hand(weights, mask) -> float:
    losses = []
    for b, i in np.ndindex(*mask.shape):
        if mask[b, i]:
            looked = [sum(float(weights[b, k, j]) for k in range(i)) for j in range(weights.shape[2])]
            losses.append(sum(min(float(weights[b, i, j]), looked[j]) for j in range(weights.shape[2])))
    return sum(losses) / len(losses)


def test_coverage_loss_is_its_formula():
    weights = sharp_weights(B, T + 2)
    for n in ((5, 5), (5, 2), (1, 4)):
        mask = torch.arange(T + 2) < torch.tensor(n).unsqueeze(1)
        assert_close(coverage_loss(weights, mask).item(), coverage_by_hand(weights, mask))
    once = torch.eye(4).expand(B, 4, 4)
    assert coverage_loss(once, torch.ones(B, 4, dtype=torch.bool)).item() == 0
    again = torch.zeros(1, 4, 3)
    again[:, :, 1] = 1.0
    assert coverage_loss(again, torch.ones(1, 4, dtype=torch.bool)).item() == 0.75  # at every step but the first
    assert torch.autograd.gradcheck(lambda w: coverage_loss(w, mask), weights.requires_grad_())


@pytest.mark.parametrize(
    ("weights", "mask", "match"),
    [
        (torch.zeros(2, 3, 5), torch.ones(2, 4, dtype=torch.bool), r"\(2, 3, 5\) and torch.bool \(2, 4\)"),
        (torch.zeros(2, 3, 5), torch.ones(2, 3), "float32"),
        (torch.zeros(2, 3, 5), torch.zeros(2, 3, dtype=torch.bool), "with 0"),
    ],
)
def test_bad_masks_of_the_coverage_loss(weights, mask, match, without_shape_checks):
    with pytest.raises(ValueError, match=match):
        coverage_loss(weights, mask)


def test_coverage_is_learned(without_shape_checks):
    """A decoder that knows what it has looked at, trained not to look again, looks elsewhere."""
    torch.manual_seed(2)
    sources = [torch.randint(4, 11, (5,)) for _ in range(16)]  # words 4..6 are known
    decoder = CopyDecoder(BahdanauDecoder(V, 8, 2 * 8, 16, coverage=True), UNK)
    model = Seq2Seq(Encoder(V, 8, 8, bidirectional=True, unknown=UNK), decoder)
    batch = collate(sources, sources)

    def loss(model, batch):
        decoded = model(batch.source, batch.inputs, batch.lengths)
        nats, n = cross_entropy(decoded.logits, batch.targets, batch.mask)
        return nats + coverage_loss(decoded.weights, batch.mask), n

    before = coverage_loss(model(batch.source, batch.inputs, batch.lengths).weights, batch.mask).item()
    history = fit(model, [batch], loss, steps=60, lr=1e-2)
    after = coverage_loss(model(batch.source, batch.inputs, batch.lengths).weights, batch.mask).item()
    assert history.train_loss[-1] < history.train_loss[0] / 2
    assert after < before / 2
    assert decoder.decoder.w_c.abs().max() > 1e-3


# --- the lesson

#: what is said, and what is written; no word but a name is the same on both sides
PATTERNS = [
    ("call {a} now", "appelle {a} maintenant"),
    ("where is {a}", "où se trouve {a}"),
    ("{a} knows {b}", "{a} connaît {b}"),
    ("tell {a} that {b} is late", "dis à {a} que {b} arrive tard"),
    ("{b} was seen by {a}", "{a} a vu {b}"),
]


def draw_pairs(names: list[str], n: int, generator: random.Random) -> list[tuple[list[str], list[str]]]:
    pairs = []
    for _ in range(n):
        a, b = generator.sample(names, 2)
        source, target = generator.choice(PATTERNS)
        pairs.append((source.format(a=a, b=b).split(), target.format(a=a, b=b).split()))
    return pairs


def encode_pairs(pairs, vocabulary, copying: bool):
    """Ids of both sides, and of each pair the vocabulary that they are from."""
    vocabularies = [ExtendedVocabulary(vocabulary, source) if copying else vocabulary for source, _ in pairs]
    sources = [v.encode(source) for v, (source, _) in zip(vocabularies, pairs, strict=True)]
    targets = [v.encode(target) for v, (_, target) in zip(vocabularies, pairs, strict=True)]
    return sources, targets, vocabularies


def learn_names(copying: bool, seed: int, steps: int = 220):
    """Share of sentences written without a mistake, with names of the vocabulary and with names never seen; p_gen."""
    generator = random.Random(seed)
    syllables = ["ba", "do", "ki", "lu", "me", "ra", "so", "ti", "wen", "yo"]
    names = [f"{a}{b}{c}".title() for a in syllables for b in syllables for c in syllables]
    generator.shuffle(names)
    known, new, unseen = names[:6], names[6:200], names[200:260]
    words = sorted({word for pattern in PATTERNS for side in pattern for word in side.split() if "{" not in word})
    vocabulary = Vocabulary([*SPECIALS, *words, *known], unknown="<unk>")
    torch.manual_seed(seed)
    decoder = DECODERS["luong"](len(vocabulary), 16, 48, 24)
    decoder = CopyDecoder(decoder, UNK) if copying else decoder
    model = Seq2Seq(Encoder(len(vocabulary), 16, 24, bidirectional=True, unknown=UNK), decoder)
    pairs = draw_pairs(known, 400, generator) + draw_pairs(new, 400, generator)
    sources, targets, _ = encode_pairs(pairs, vocabulary, copying)
    fit(
        model,
        BucketedPairs(sources, targets, 32, torch.Generator().manual_seed(seed)),
        seq2seq_loss,
        steps=steps,
        lr=1e-2,
    )
    model.eval()
    exact, p_gen = [], None
    for group in (known, unseen):
        pairs = draw_pairs(group, 200, generator)
        sources, targets, vocabularies = encode_pairs(pairs, vocabulary, copying)
        written = greedy_decode(model, *pad(sources), max_length=9).sentences()
        right = [v.decode(ids) == target for v, ids, (_, target) in zip(vocabularies, written, pairs, strict=True)]
        exact.append(sum(right) / len(right))
        if copying:
            batch = collate(sources, targets)
            chance = model(batch.source, batch.inputs, batch.lengths).p_gen
            at_name = (batch.targets >= len(vocabulary) - len(known)) & batch.mask
            p_gen = chance[at_name].mean().item(), chance[~at_name & batch.mask].mean().item()
    return *exact, p_gen


def test_names_never_seen_are_copied_and_without_copying_lost(without_shape_checks):  # faster so
    seen, unseen, (at_name, elsewhere) = learn_names(copying=True, seed=0)
    assert seen >= 0.95 and unseen >= 0.95, (seen, unseen)
    assert at_name < 0.2 and elsewhere > 0.8, (at_name, elsewhere)
    seen, unseen, _ = learn_names(copying=False, seed=0)
    assert seen >= 0.9 and unseen <= 0.05, (seen, unseen)  # it has learned to write, and cannot write these

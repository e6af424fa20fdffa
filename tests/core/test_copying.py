"""Copying is the plain mixture of two distributions, exact where plain arithmetic is, and finite where it is not.

The references work with probabilities, one word at a time; that is what the log space of the module must equal.
"""

import math

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from attnlib.copying import CopyDecoder, copy_distribution, pointer_generator_log_probs
from attnlib.data.batching import pad
from attnlib.data.extended_vocabulary import ExtendedVocabulary
from attnlib.data.vocabulary import BOS, EOS, PAD, SPECIALS, UNK, Vocabulary
from attnlib.decoders import DECODERS
from attnlib.encoder import Encoder, EncoderOutput
from attnlib.scores import GeneralScore
from attnlib.search import beam_search, greedy_decode
from attnlib.seq2seq import Seq2Seq
from tests import oracles

B, T, S, V, SIZE = 2, 3, 5, 7, 9
D_EMBED, D = 3, 5
#: two sentences of 5 and 3 words; of their words V and V + 1, the second has only the first
SOURCE = torch.tensor([[4, 7, 5, 7, 8], [7, 6, 4, PAD, PAD]])
LENGTHS = torch.tensor([5, 3])
TOKENS = torch.tensor([[BOS, 7, 8], [BOS, V - 1, 7]])
WITHOUT_ATTENTION = ("initial_state", "every_step")
FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def sharp_weights(*leading: int, S: int = S) -> torch.Tensor:
    return (3 * torch.randn(*leading, S, dtype=torch.float64)).softmax(-1)


# --- what may be copied


def test_copy_distribution_is_its_formula():
    weights = sharp_weights(B, T)
    assert_close(copy_distribution(weights, SOURCE, SIZE), torch.from_numpy(oracles.copied(weights, SOURCE, SIZE)))
    assert_close(copy_distribution(weights, SOURCE, SIZE).sum(-1), torch.ones(B, T).double())
    assert_close(copy_distribution(weights, SOURCE.int(), 11), torch.from_numpy(oracles.copied(weights, SOURCE, 11)))


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
    return logits, gate, torch.from_numpy(oracles.copied(sharp_weights(B, T), SOURCE, SIZE))


def test_mixture_is_its_formula():
    logits, gate, copied = draw_mixture()
    found, expected = (
        pointer_generator_log_probs(logits, gate, copied),
        torch.from_numpy(oracles.mixed(logits, gate, copied)),
    )
    assert_close(found.exp(), expected, rtol=1e-12, atol=1e-14)
    assert_close(found, expected.log(), rtol=1e-12, atol=1e-14)  # no ε anywhere
    assert (found[1, :, 8] == -torch.inf).all()  # in the first sentence alone
    assert_close(found.exp().sum(-1), torch.ones(B, T).double(), rtol=1e-13, atol=1e-13)
    as_large = pointer_generator_log_probs(logits, gate, copied[..., :V] / copied[..., :V].sum(-1, keepdim=True))
    assert_close(as_large.exp().sum(-1), torch.ones(B, T).double())  # no new words


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
    logits, _, copied = draw_mixture()
    logits[0, 0, 1] = -200.0  # nearly impossible
    leaves = [logits.to(dtype), torch.full((B, T, 1), sign * gate).to(dtype), copied.to(dtype)]  # 1e6 is ∞ in float16
    rounded, x = [leaf.double().numpy() for leaf in leaves], max(-1e4, min(1e4, sign * gate))
    with np.errstate(divide="ignore"):
        copy = np.log(rounded[2]) - np.logaddexp(0, x)
    say = np.full_like(copy, -np.inf)
    say[..., :V] = rounded[0] - np.logaddexp.reduce(rounded[0], -1, keepdims=True) - np.logaddexp(0, -x)
    leaves = [leaf.requires_grad_() for leaf in leaves]
    found = pointer_generator_log_probs(*leaves)
    error = 8 * torch.finfo(dtype).eps
    assert_close(found.double(), torch.from_numpy(np.logaddexp(say, copy)), rtol=error, atol=error)
    there = torch.isfinite(found)
    said_only, copied_only = (0, 0, 0), (0, 0, 7)  # word 0 does not stand there, word V is not in the vocabulary
    for loss in (
        found[there].float().sum(),
        *(found.log_softmax(-1)[target] for target in (said_only, copied_only)),  # as `cross_entropy` takes it
    ):
        gradients = torch.autograd.grad(loss, leaves, retain_graph=True)
        assert loss.isfinite() and all(gradient.isfinite().all() for gradient in gradients)
    if sign > 0 and 50 <= gate < 1e4:  # the last target should have been copied, so p_gen is pulled down with force 1
        assert_close(gradients[1][0, 0].item(), -1.0, rtol=error, atol=error)


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
    "shapes",  # of logits, gate and copied
    [
        ((2, 3, 7), (2, 3), (2, 3, 9)),
        ((2, 3, 7), (2, 3, 2), (2, 3, 9)),
        ((2, 3, 7), (2, 4, 1), (2, 3, 9)),
        ((2, 3, 7), (2, 3, 1), (2, 4, 9)),
        ((1, 3, 7), (2, 3, 1), (2, 3, 9)),
        ((2, 3, 7), (2, 3, 1), (2, 3, 6)),
    ],
)
def test_what_cannot_be_mixed_is_refused_with_all_shapes(shapes, without_shape_checks):
    with pytest.raises(ValueError) as error:
        pointer_generator_log_probs(*map(torch.zeros, shapes))
    assert all(str(shape) in str(error.value) for shape in shapes)


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


def test_errors_of_extended_vocabularies(without_shape_checks):
    with pytest.raises(ValueError, match="unknown"):
        ExtendedVocabulary(Vocabulary("abc"), ["a"])
    with pytest.raises(ValueError, match="got the string 'Ada'"):
        ExtendedVocabulary(Vocabulary(SPECIALS, unknown="<unk>"), "Ada")
    extended = ExtendedVocabulary(Vocabulary(SPECIALS, unknown="<unk>"), ["Ada"])
    for stranger in (5, -1):
        with pytest.raises(ValueError, match=rf"0\.\.4, not \[{stranger}\]"):
            extended.decode(torch.tensor([4, stranger]))


# --- a decoder that copies


def make(name: str, **options) -> CopyDecoder:
    inner = DECODERS[name](V, D_EMBED, D + 2, D, **options)
    decoder = CopyDecoder(inner, UNK, "additive" if name in WITHOUT_ATTENTION else None).double()
    with torch.no_grad():
        for parameter in decoder.parameters():
            parameter.normal_()
    return decoder


def encoded_batch() -> EncoderOutput:
    """Annotations of the two sentences; zero where padding, as an encoder leaves them."""
    mask = (torch.arange(S) < LENGTHS.unsqueeze(1)).unsqueeze(1)
    annotations = torch.randn(B, S, D + 2).double() * mask.mT
    return EncoderOutput(annotations, annotations.sum(1), mask, SOURCE)


def make_model(name: str) -> Seq2Seq:
    torch.manual_seed(0)
    inner = DECODERS[name](V, D_EMBED, 2 * D, D)
    decoder = CopyDecoder(inner, UNK, "general" if name in WITHOUT_ATTENTION else None)
    model = Seq2Seq(Encoder(V, D_EMBED, D, bidirectional=True, unknown=UNK), decoder).double().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_()
    return model


@pytest.mark.parametrize(("name", "options"), [*((n, {}) for n in DECODERS), ("bahdanau", {"coverage": True})])
def test_decoder_is_the_plain_mixture_of_saying_and_pointing(name, options):
    decoder, encoded = make(name, **options), encoded_batch()
    memory, state = decoder.init_state(encoded)
    found = decoder(TOKENS, memory, state)
    known = torch.tensor([[BOS, UNK, UNK], [BOS, V - 1, UNK]])
    inner = decoder.decoder(known, *decoder.decoder.init_state(encoded))
    if name in WITHOUT_ATTENTION:
        p = oracles.arrays(decoder.pointer.score)
        annotations, states = encoded.annotations.numpy(), inner.states.detach().numpy()
        scores = oracles.scores("additive", states, annotations, p)
        weights = oracles.masked_softmax(scores, np.broadcast_to(encoded.mask.numpy(), scores.shape))
        contexts = torch.from_numpy(oracles.context(weights, annotations))
        weights = torch.from_numpy(weights)
    else:
        weights, contexts = inner.weights, inner.contexts
    p = oracles.arrays(decoder)
    gate = torch.zeros(B, T, 1).double()
    for b, i in np.ndindex(B, T):
        row = [*contexts[b, i].tolist(), *inner.states[b, i].tolist(), *p["decoder.embedding.weight"][known[b, i]]]
        gate[b, i] = oracles.dot(p["w_g.weight"][0], row) + float(p["w_g.bias"][0])
    copied = oracles.copied(weights.detach(), SOURCE, V + S)
    expected = torch.from_numpy(oracles.mixed(inner.logits.detach(), gate, copied))
    assert_close(found.logits.exp().detach(), expected)
    assert_close(found.logits.detach(), expected.log())
    assert_close(found.logits.exp().sum(-1), torch.ones(B, T).double())
    assert_close(found.weights, weights)
    assert_close(found.contexts, contexts)
    assert_close(found.states, inner.states)
    assert_close(found.p_gen.detach(), 1 / (1 + (-gate[..., 0]).exp()))
    assert_close(found.state, inner.state)
    assert ((found.p_gen > 0) & (found.p_gen < 1)).all()


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


def test_what_cannot_be_read_or_copied_is_refused(without_shape_checks):
    decoder, model = make("luong"), make_model("luong")
    memory, state = decoder.init_state(encoded_batch())
    model.encoder.unknown = None
    without = make("every_step").decoder
    for message, call in [
        (rf"0\.\.{V + S - 1}, got 5\.\.{V + S}", lambda: decoder(TOKENS + 4, memory, state)),
        (r"\(1, 3\)", lambda: decoder(TOKENS[:1], memory, state)),
        ("LuongDecoder, score='additive'", lambda: CopyDecoder(decoder.decoder, UNK, "additive")),
        ("EveryStepDecoder, score=None", lambda: CopyDecoder(without, UNK)),
        ("no source tokens", lambda: decoder.init_state(encoded_batch()._replace(tokens=None))),  # as of an image
        (r"unknown id must lie in 0\.\.6, got 7", lambda: CopyDecoder(decoder.decoder, V)),
        (r"0\.\.6", lambda: model(SOURCE, TOKENS, LENGTHS)),  # new words, and nothing to read in their place
    ]:
        with pytest.raises(ValueError, match=message):
            call()

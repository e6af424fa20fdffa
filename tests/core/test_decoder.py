"""One contract for every decoder in the registry, whoever wrote it, with every encoder; and what decoders share."""

import functools
import itertools

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from attnlib.decoder import Decoder, DecoderOutput, Memory
from attnlib.decoders import DECODERS, BahdanauDecoder
from attnlib.encoder import Encoder, EncoderOutput
from attnlib.seq2seq import Seq2Seq

B, T, S = 3, 5, 7  # primes, so that no two dimensions can be taken for each other
V, V_SOURCE, D_EMBED, D, D_KEY = 17, 19, 2, 11, 13
LENGTHS = torch.tensor([S, 4, 1])

VARIANTS = {"coverage": functools.partial(BahdanauDecoder, coverage=True)}  # what more there is to keep the contract
ALL = [*DECODERS, *VARIANTS]
ENCODERS = [(cell, directions) for cell in ("gru", "lstm", "rnn") for directions in (1, 2)]


def make(name: str, d_annotation: int = D_KEY, **options) -> Decoder:
    """A decoder of a registered name; a coverage that has been learned is not 0."""
    decoder = (DECODERS | VARIANTS)[name](V, D_EMBED, d_annotation, D, **options)
    if getattr(decoder, "w_c", None) is not None:
        nn.init.normal_(decoder.w_c)
    return decoder.double()


def make_model(name: str, cell: str = "gru", directions: int = 1) -> Seq2Seq:
    encoder = Encoder(V_SOURCE, 3, D_KEY if directions == 1 else 5, cell, bidirectional=directions == 2).double()
    return Seq2Seq(encoder, make(name, encoder.d_annotation))


def draw_encoded(d_annotation: int = D_KEY) -> EncoderOutput:
    """Annotations that no encoder has made, garbage where padding; the last sentence is empty."""
    return EncoderOutput(
        annotations=torch.randn(B, S, d_annotation).double(),
        summary=torch.randn(B, d_annotation).double(),
        mask=torch.arange(S).view(1, 1, S) < torch.tensor([S, 4, 0]).view(-1, 1, 1),
        tokens=torch.randint(V_SOURCE, (B, S)),
    )


def draw_tokens(n: int = B) -> torch.Tensor:
    return torch.randint(V, (n, T))


def draw_pairs(lengths=LENGTHS):
    return torch.randint(V_SOURCE, (B, S)), lengths.clone(), draw_tokens()


def read(decoder: Decoder, encoded: EncoderOutput, tokens: torch.Tensor) -> DecoderOutput:
    return decoder(tokens, *decoder.init_state(encoded))


def run(model: Seq2Seq, source, lengths, tokens) -> DecoderOutput:
    return model.decoder(tokens, *model.encode(source, lengths))


def numbers(decoded: DecoderOutput) -> dict[str, torch.Tensor]:
    """What has one entry for every token read."""
    names = ("logits", "weights", "states", "contexts")
    return {name: getattr(decoded, name) for name in names if getattr(decoded, name) is not None}


def loss(decoded: DecoderOutput) -> torch.Tensor:
    """One number that depends on everything."""
    return sum(value.square().sum() for value in numbers(decoded).values())


# --- the contract: each check takes a model, any decoder with any encoder ---------------------------


def reads_at_once_as_one_at_a_time(model):
    source, lengths, tokens = draw_pairs()
    memory, start = model.encode(source, lengths)
    whole = model.decoder(tokens, memory, start)
    cuts = [list(range(T + 1)), *([0, n, T] for n in range(1, T))]
    for cut in cuts:
        state, parts = start, []
        for left, right in itertools.pairwise(cut):
            parts.append(model.decoder(tokens[:, left:right], memory, state))
            state = parts[-1].state
        joined = {name: torch.cat([numbers(part)[name] for part in parts], dim=1) for name in numbers(whole)}
        assert_close(joined, numbers(whole))
        assert_close(state, whole.state)
    assert [part.shape for part in whole.state] == [part.shape for part in start]


def gives_a_sentence_alone_what_it_gets_in_a_batch(model):
    source, lengths, tokens = draw_pairs()
    together = run(model, source, lengths, tokens)
    for b, n in enumerate(lengths.tolist()):
        alone = run(model, source[b : b + 1, :n], None, tokens[b : b + 1])
        found = {name: value[b : b + 1] for name, value in numbers(together).items()}
        if "weights" in found:
            assert_close(found["weights"][..., n:], torch.zeros(1, T, S - n).double(), rtol=0, atol=0)
            found["weights"] = found["weights"][..., :n]
        assert_close(found, numbers(alone))


def looks_at_nothing_behind_the_mask(model):
    source, lengths, tokens = draw_pairs()
    before = run(model, source, lengths, tokens)
    padding = torch.arange(S) >= lengths.unsqueeze(1)
    encoded = model.encoder(source, lengths)
    garbage = torch.where(padding.unsqueeze(2), 100 * torch.randn_like(encoded.annotations), encoded.annotations)
    garbage = garbage.detach().requires_grad_()
    after = read(model.decoder, encoded._replace(annotations=garbage), tokens)
    assert_close(numbers(after), numbers(before))
    if after.contexts is not None:
        (gradient,) = torch.autograd.grad(loss(after), garbage)
        assert_close(gradient[padding], torch.zeros_like(gradient[padding]), rtol=0, atol=0)
        assert (gradient[~padding].abs().sum(-1) > 0).all()  # and at all the rest


def hears_the_past_and_not_the_future(model):
    source, lengths, tokens = draw_pairs()
    before = run(model, source, lengths, tokens)
    for i in range(T):
        edited = tokens.clone()
        edited[:, i] = (edited[:, i] + 1) % V
        after = run(model, source, lengths, edited)
        for name, value in numbers(before).items():
            assert_close(numbers(after)[name][:, :i], value[:, :i], rtol=0, atol=0)
        assert ((after.logits - before.logits)[:, i:].abs().amax(-1) > 1e-9).all()


def spreads_a_whole_look_over_what_is_real(model):
    source, lengths, tokens = draw_pairs()
    model.train()
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.9
    decoded = run(model, source, lengths, tokens)
    assert (decoded.weights is None) == (decoded.contexts is None) == (model.decoder.attention is None)
    if decoded.weights is None:
        return
    real = (torch.arange(S) < lengths.unsqueeze(1)).unsqueeze(1).expand(B, T, S)
    assert_close(decoded.weights.sum(-1), torch.ones(B, T).double())
    assert ((decoded.weights > 0) == real).all() and (decoded.weights[~real] == 0).all()


def bears_an_empty_source(model):
    source, lengths, tokens = draw_pairs(torch.tensor([0, S, 0]))
    decoded = run(model, source, lengths, tokens)
    if decoded.weights is not None:
        assert_close(decoded.contexts[::2], torch.zeros(2, T, model.decoder.d_annotation).double(), rtol=0, atol=0)
        assert_close(decoded.weights[::2], torch.zeros(2, T, S).double(), rtol=0, atol=0)
        assert (decoded.contexts[1].abs().sum(-1) > 0).all()
    assert all(value.isfinite().all() for value in numbers(decoded).values())
    loss(decoded).backward()
    assert all(p.grad is None or p.grad.isfinite().all() for p in model.parameters())
    other = torch.randint(V_SOURCE, (B, S))
    other[1] = source[1]
    assert_close(numbers(run(model, other, lengths, tokens)), numbers(decoded), rtol=0, atol=0)


def leaves_its_inputs_alone(model):
    source, lengths, tokens = draw_pairs()
    memory, state = model.encode(source, lengths)
    given = [tokens, *state, *(field for field in memory if field is not None)]
    before = [tensor.clone() for tensor in given]
    model.decoder(tokens, memory, state)
    assert_close(given, before, rtol=0, atol=0)


CONTRACT = [
    reads_at_once_as_one_at_a_time,
    gives_a_sentence_alone_what_it_gets_in_a_batch,
    looks_at_nothing_behind_the_mask,
    hears_the_past_and_not_the_future,
    spreads_a_whole_look_over_what_is_real,
    bears_an_empty_source,
    leaves_its_inputs_alone,
]


@pytest.mark.parametrize("check", CONTRACT, ids=lambda check: check.__name__)
@pytest.mark.parametrize(("cell", "directions"), ENCODERS)
@pytest.mark.parametrize("name", ALL)
def test_contract_with_every_encoder(name, cell, directions, check):
    check(make_model(name, cell, directions))


def test_decoder_without_its_method_says_so():
    with pytest.raises(NotImplementedError, match="Decoder must define decode_embedded"):
        read(Decoder(V, D_EMBED, D_KEY, D).double(), draw_encoded(), draw_tokens())


@pytest.mark.parametrize("name", ALL)
def test_dropout_thins_the_embedding_in_training_only(name):
    decoder, encoded, tokens = make(name, dropout=0.5), draw_encoded(), draw_tokens()
    plain = make(name)
    plain.load_state_dict(decoder.state_dict())
    expected = read(plain, encoded, tokens)
    assert_close(numbers(read(decoder.eval(), encoded, tokens)), numbers(expected), rtol=0, atol=0)
    decoder.train()
    torch.manual_seed(5)
    found = read(decoder, encoded, tokens)
    torch.manual_seed(5)
    thinned = nn.functional.dropout(decoder.embedding(tokens), 0.5)
    assert 0 < (thinned == 0).double().mean() < 1
    expected = decoder.decode_embedded(thinned, *decoder.init_state(encoded))
    assert_close(numbers(found), numbers(expected), rtol=0, atol=0)


def test_rows_of_a_memory_are_picked_in_every_field():
    encoded, index = draw_encoded(), torch.tensor([2, 0, 0, 1, 2])
    memory, _ = make("bahdanau").init_state(encoded)
    memory = memory._replace(pointer_key=memory.projected_key + 1)
    rows = memory.reorder(index)
    assert isinstance(rows, Memory)
    for name, field in memory._asdict().items():
        assert_close(getattr(rows, name), torch.stack([field[b] for b in index.tolist()]), rtol=0, atol=0)
    bare, _ = make("every_step").init_state(encoded._replace(tokens=None))
    rows = bare.reorder(index)
    assert rows.projected_key is None and rows.tokens is None


@pytest.mark.parametrize("name", ALL)
def test_what_does_not_fit_is_refused(name, without_shape_checks):
    decoder, tokens = make(name), draw_tokens()
    memory, state = decoder.init_state(draw_encoded())
    one_row = memory.reorder(torch.tensor([0]))
    states = [(*state[:n], part[:1], *state[n + 1 :]) for n, part in enumerate(state)]
    for message, read_wrongly, *given in [
        (r"tokens \(4, 5\), a memory of 3 sentences", decoder, draw_tokens(B + 1), memory, state),
        (r"tokens \(1, 5\), a memory of 3 sentences", decoder, tokens[:1], memory, state),
        (r"tokens \(3, 5\), a memory of 1 sentences", decoder, tokens, one_row, state),
        *((r"a memory of 3 sentences and a state .*\(1, ", decoder, tokens, memory, wrong) for wrong in states),
        (r"of width 13, got \(3, 7, 11\)", decoder.init_state, draw_encoded(D)),
    ]:
        with pytest.raises(ValueError, match=message):
            read_wrongly(*given)

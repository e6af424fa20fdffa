"""The contract of every model of the package: what PyTorch can do with a module, it can do with these."""

import copy
import gc
import inspect
import pickle
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, distributed, nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.export import Dim
from torch.func import functional_call, grad, jacfwd, jacrev, jvp, stack_module_state, vmap
from torch.testing import assert_close
from torch.utils._pytree import tree_map

import attnlib
from attnlib.attention import Attention, causal_mask, length_mask
from attnlib.captioning import GridEncoder
from attnlib.copying import CopyDecoder
from attnlib.decoders import DECODERS, SimpleRNNDecoder
from attnlib.encoder import CELLS, Encoder
from attnlib.language_models import RNNLM, AttentionLM
from attnlib.positions import LearnedPositions, SinusoidalPositions
from attnlib.scores import SCORES, make_score
from attnlib.self_attention import MultiHeadAttention, SelfAttention
from attnlib.seq2seq import Seq2Seq
from attnlib.training import pick_device
from attnlib.training.ensembles import unroll_recurrent_layers_
from attnlib.transformer import TransformerBlock, TransformerLM

V, B, S, T = 11, 3, 5, 3
LENGTHS = torch.tensor([5, 1, 3, 4])


def seq2seq(decoder: str, copying: bool = False, **options) -> Seq2Seq:
    made = DECODERS[decoder](V, 3, 10, 6, **options)
    if copying:
        made = CopyDecoder(made, unknown=3, score="general" if made.attention is None else None)
    return Seq2Seq(Encoder(V, 2, 5, bidirectional=True, unknown=3), made)


def captioner(decoder: str) -> Seq2Seq:
    return Seq2Seq(GridEncoder(1, 10, grid=2, size=8), DECODERS[decoder](V, 3, 10, 6))


def inputs(*kinds: str) -> Callable[..., tuple[Tensor, ...]]:
    """What draws inputs of these kinds, for any sizes; a kind that is named twice is the same tensor twice."""

    def draw(B=B, S=S, T=T) -> tuple[Tensor, ...]:
        drawn = {
            "source": torch.randint(V, (B, S)),
            "source with new words": torch.randint(V + 2, (B, S)),
            "lengths": LENGTHS[:B],
            "text": torch.randint(V, (B, T)),
            "query": torch.randn(B, T, 6),
            "key": torch.randn(B, S, 6),
            "value": torch.randn(B, S, 6),
            "mask of lengths": length_mask(LENGTHS[:B], S),
            "mask with a blank row": causal_mask(T, include_self=False).expand(B, T, T),
            "image": torch.rand(B, 1, 8, 8),
        }
        return tuple(drawn[kind] for kind in kinds)

    return draw


#: name → what makes the model, and what draws inputs for it
MODELS = {
    **{
        f"Attention, {n}": (
            lambda n=n: Attention(make_score(n, 6, 6)),
            inputs("query", "key", "value", "mask of lengths"),
        )
        for n in SCORES
    },
    "RNNLM": (lambda: RNNLM(V, 3, 6), inputs("text")),
    "AttentionLM": (lambda: AttentionLM(V, 3, 6), inputs("text")),
    **{
        f"Encoder, {cell}": (lambda cell=cell: Encoder(V, 2, 5, cell, cell != "gru"), inputs("source", "lengths"))
        for cell in CELLS
    },
    **{f"Seq2Seq, {n}": (lambda n=n: seq2seq(n), inputs("source", "text", "lengths")) for n in DECODERS},
    **{
        f"Seq2Seq, {n}, copying": (lambda n=n: seq2seq(n, True), inputs("source with new words", "text", "lengths"))
        for n in DECODERS
    },
    "Seq2Seq, bahdanau, coverage": (lambda: seq2seq("bahdanau", coverage=True), inputs("source", "text", "lengths")),
    "SelfAttention": (lambda: SelfAttention(6), inputs("query")),
    "MultiHeadAttention": (lambda: MultiHeadAttention(6, 2), inputs("query", "key", "value")),
    "MultiHeadAttention, a row sees nothing": (
        lambda: MultiHeadAttention(6, 2),
        inputs("query", "query", "query", "mask with a blank row"),
    ),
    "SinusoidalPositions": (lambda: SinusoidalPositions(6), inputs("query")),
    "LearnedPositions": (lambda: LearnedPositions(9, 6), inputs("query")),
    "TransformerBlock": (lambda: TransformerBlock(6, 2, 13), inputs("query")),
    "TransformerLM": (lambda: TransformerLM(V, 6, 2, 2), inputs("text")),
    "GridEncoder": (lambda: GridEncoder(1, 5, grid=2, size=8), inputs("image")),
    "a captioner with one vector": (lambda: captioner("every_step"), inputs("image", "text")),
    "a captioner with attention": (lambda: captioner("bahdanau"), inputs("image", "text")),
}
LEARNERS = [name for name, (make, _) in MODELS.items() if list(make().parameters())]


@pytest.fixture(params=MODELS)
def case(request) -> tuple[nn.Module, tuple[Tensor, ...]]:
    model, inputs = MODELS[request.param]
    return model(), inputs()


def tensors(output) -> list[Tensor]:
    """Every tensor of an output, nested as it may be."""
    if isinstance(output, Tensor):
        return [output]
    return [tensor for part in output if part is not None for tensor in tensors(part)]


def numbers(output) -> list[Tensor]:
    """The tensors of an output that are differentiated; a logarithm of 0 would make NaN of what is summed."""
    return [t.masked_fill(t.isinf(), 0.0) for t in tensors(output) if t.is_floating_point()]


def squares(output) -> list[Tensor]:
    """What each tensor of an output that depends on parameters gives to a loss."""
    return [t.square().sum() for t in numbers(output) if t.requires_grad]


def test_the_list_is_whole():
    offered = {
        name for name in attnlib.__all__
        if inspect.isclass(thing := getattr(attnlib, name)) and issubclass(thing, nn.Module)
    }  # fmt: skip
    parts = {type(part).__name__ for model, _ in MODELS.values() for part in model().modules()}
    bases = {"Score", "Decoder"}
    assert offered - bases <= parts, offered - bases - parts


@pytest.mark.parametrize("twin_of", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_a_copy_computes_the_same_and_shares_nothing(case, twin_of):
    model, inputs = case
    expected = tensors(model(*inputs))
    twin = twin_of(model)
    assert_close(tensors(twin(*inputs)), expected, rtol=0, atol=0)
    with torch.no_grad():
        for parameter in twin.parameters():
            parameter.add_(1.0)
    assert_close(tensors(model(*inputs)), expected, rtol=0, atol=0)


def test_its_weights_are_all_of_it(case):
    model, inputs = case
    fresh = copy.deepcopy(model)
    with torch.no_grad():
        for parameter in fresh.parameters():
            parameter.normal_()
    fresh.load_state_dict(model.state_dict())
    assert_close(tensors(fresh(*inputs)), tensors(model(*inputs)), rtol=0, atol=0)


def test_a_call_leaves_nothing_behind(case):
    model, inputs = case
    before = {name: set(vars(part)) for name, part in model.named_modules()}
    held = [value for part in model.modules() for value in vars(part).values() if isinstance(value, Tensor)]
    first = tensors(model(*inputs))
    model(*(x.flip(0) for x in inputs))
    assert_close(tensors(model(*inputs)), first, rtol=0, atol=0)
    assert {name: set(vars(part)) for name, part in model.named_modules()} == before
    assert [v for part in model.modules() for v in vars(part).values() if isinstance(v, Tensor)] == held == []


def test_every_parameter_learns(case):
    model, inputs = case
    with torch.no_grad():
        for parameter in model.parameters():
            if not parameter.any():  # a coverage weight of 0 says nothing about what it would do
                parameter.fill_(0.1)
    if learning := squares(model(*inputs)):
        sum(learning).backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None and parameter.grad.isfinite().all() and parameter.grad.any(), name


def test_single_and_double_precision_agree(case):
    model, inputs = case
    double = copy.deepcopy(model).double()
    precise = [x.double() if x.is_floating_point() else x for x in inputs]
    expected = [t.float() if t.is_floating_point() else t for t in tensors(double(*precise))]
    assert_close(tensors(model(*inputs)), expected, rtol=1e-4, atol=1e-5)


def test_the_fastest_device_at_hand_agrees_with_the_cpu(case):
    model, inputs = case
    device = pick_device()
    elsewhere = copy.deepcopy(model).to(device)
    moved = [t.cpu() for t in tensors(elsewhere(*(x.to(device) for x in inputs)))]
    assert_close(moved, tensors(model(*inputs)), rtol=1e-3, atol=1e-4)


def test_a_batch_is_so_many_single_examples(case):
    model, inputs = case
    whole = tensors(model(*inputs))
    for b in range(B):
        alone = tensors(model(*(x[b : b + 1] for x in inputs)))
        for one, many in zip(alone, whole, strict=True):
            if many.shape[0] == B:
                shared = tuple(slice(n) for n in one.shape[1:])  # new words of other sources have columns of their own
                assert_close(one, many[b : b + 1][:, *shared])


# --- PyTorch's own machinery ------------------------------------------------------------------------


def apart(found: list[Tensor]) -> Tensor:
    """A sum of all numbers in which no two of a tensor count the same."""
    return sum((t * torch.linspace(-1, 2, t.numel(), dtype=t.dtype).view_as(t)).sum() for t in found)


def parameters_of(model: nn.Module) -> dict[str, Tensor]:
    return {name: parameter.detach() for name, parameter in model.named_parameters()}


@pytest.fixture(scope="module", autouse=True)
def swept():
    yield
    gc.collect()  # the compiler leaves weak references to nothing, over which who looks through all objects trips


@pytest.fixture
def compiler(without_shape_checks):  # a compiler cannot read the shape checks
    with torch._dynamo.config.patch(allow_rnn=True):  # without it, torch refuses its own recurrent layers
        yield
    torch._dynamo.reset()


@pytest.fixture(params=LEARNERS)
def learner(request) -> tuple[nn.Module, tuple[Tensor, ...]]:
    make, draw = MODELS[request.param]
    return make(), draw()


@pytest.fixture
def precise(learner, without_shape_checks) -> tuple[nn.Module, dict[str, Tensor], tuple[Tensor, ...]]:
    """A model in float64, its parameters, and inputs; nothing is 0 or stands at a bend by chance."""
    model, inputs = learner
    model.double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return model, parameters_of(model), tuple(x.double() if x.is_floating_point() else x for x in inputs)


@pytest.mark.thorough
def test_compiled_in_one_graph_it_computes_and_learns_the_same(case, compiler):
    """Model and gradient are one graph each."""
    model, inputs = case
    compiled = copy.deepcopy(model)
    compiled.compile(backend="aot_eager", fullgraph=True)
    results = []
    for each in (compiled, model):
        found = numbers(each(*inputs))
        wanted = list(each.parameters())
        results.append(found + list(torch.autograd.grad(apart(found), wanted, allow_unused=True) if wanted else ()))
    assert_close(*results, rtol=1e-4, atol=1e-5)


def dynamic(one: Tensor | None, other: Tensor | None) -> dict[int, object] | None:
    """The dimensions in which two inputs differ, as torch.export wants to be told."""
    return one if one is None else {n: Dim.DYNAMIC for n in range(one.dim()) if one.shape[n] != other.shape[n]}


@pytest.mark.thorough
@pytest.mark.parametrize("name", MODELS)
def test_exported_it_computes_the_same_for_other_sizes(name, compiler):
    """A loop over tokens is written out for their number, so that its export takes other batches only."""
    make, draw = MODELS[name]
    model, inputs = make(), draw()
    loops = any(isinstance(part, (nn.RNNBase, nn.RNNCellBase, RNNLM, SimpleRNNDecoder)) for part in model.modules())
    larger = draw(B + 1) if loops else draw(B + 1, S + 4, T + 2)
    sizes = tree_map(dynamic, inputs, larger)
    exported = torch.export.export(model, inputs, dynamic_shapes=sizes, strict=False).module()
    for given in (inputs, larger):
        assert_close(tensors(exported(*given)), tensors(model(*given)))


@pytest.mark.thorough
@pytest.mark.parametrize("name", [name for name in MODELS if name.startswith("Seq2Seq")])
def test_a_step_is_exported_for_sources_of_any_length(name, compiler):
    make, draw = MODELS[name]
    model, (source, _, lengths) = make(), draw()
    source.clamp_(max=V - 1)  # a step with copied words writes as many columns as there are new words: a number to read
    larger = torch.randint(V, (B + 1, S + 4)), LENGTHS[: B + 1]
    given, other = (
        (torch.full((len(x), 1), 5), *model.decoder.init_state(model.encoder(x, n)))
        for x, n in ((source, lengths), larger)
    )
    sizes = tree_map(dynamic, given, other)
    exported = torch.export.export(model.decoder, given, dynamic_shapes=sizes, strict=False).module()
    for inputs in (given, other):
        assert_close(tensors(exported(*inputs)), tensors(model.decoder(*inputs)))


def test_derivatives_of_both_orders_are_what_differences_say(precise):
    model, at, inputs = precise
    direction, ε = {name: torch.randn_like(p) for name, p in at.items()}, 1e-7

    def along(step):
        return {name: p + step * direction[name] for name, p in at.items()}

    def slope(parameters):
        return sum((g * direction[name]).sum() for name, g in derivative(parameters).items())

    def value(parameters):
        return apart(numbers(functional_call(model, parameters, inputs)))

    derivative = grad(value)
    assert_close(slope(at), (value(along(ε)) - value(along(-ε))) / (2 * ε), rtol=1e-6, atol=1e-6)
    assert_close(jvp(value, (at,), (direction,))[1], slope(at))
    up, down = derivative(along(ε)), derivative(along(-ε))
    second = {name: (up[name] - down[name]) / (2 * ε) for name in at}
    assert_close(grad(slope)(at), second, rtol=1e-5, atol=1e-5)
    assert_close(jvp(derivative, (at,), (direction,))[1], second, rtol=1e-5, atol=1e-5)
    name = min(at, key=lambda name: at[name].numel())

    def sums(parameter):
        return torch.cat([t.sum(-1).flatten() for t in numbers(functional_call(model, {name: parameter}, inputs))])

    assert_close(jacrev(sums)(at[name]), jacfwd(sums)(at[name]))


def test_several_at_once_are_one_after_the_other(case, without_shape_checks):
    """`vmap` over models, as for an ensemble, and over inputs; recurrent layers are unrolled for it."""
    model, inputs = case
    other = copy.deepcopy(model)
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    twice = tuple(torch.stack([x, x.flip(0)]) for x in inputs)
    over_inputs = [model(*(x[n] for x in twice)) for n in range(2)]
    over_models = [each(*inputs) for each in (model, other)]
    stacked, _ = stack_module_state([unroll_recurrent_layers_(each) for each in (model, other)])
    runs = [(over_inputs, vmap(lambda *x: tensors(model(*x)))(*twice))]
    if stacked:
        runs.append((over_models, vmap(lambda p: tensors(functional_call(model, p, inputs)))(stacked)))
    for one_by_one, found in runs:
        assert_close(found, [torch.stack(pair) for pair in zip(*map(tensors, one_by_one), strict=True)])


def test_autocast_is_near(case):
    model, inputs = case
    with torch.autocast("cpu", torch.bfloat16):
        found = numbers(model(*inputs))
    assert_close([t.float() for t in found], numbers(model(*inputs)), rtol=0.1, atol=0.1)


def test_shapes_are_known_without_numbers(case, without_shape_checks):
    model, inputs = case
    with FakeTensorMode() as mode:
        state = {name: mode.from_tensor(t) for name, t in [*model.named_parameters(), *model.named_buffers()]}
        found = tensors(functional_call(model, state, tuple(mode.from_tensor(x) for x in inputs)))
    expected = tensors(model(*inputs))
    assert [(t.shape, t.dtype) for t in found] == [(t.shape, t.dtype) for t in expected]


def test_every_part_is_called_as_a_module(case):
    """A part of which only a method is called would not run its hooks."""
    model, inputs = case
    parts = {name: part for name, part in model.named_modules() if not isinstance(part, nn.ModuleList)}
    called = set()
    for name, part in parts.items():
        part.register_forward_hook(lambda *_, name=name: called.add(name))
    model(*inputs)
    assert called == set(parts)


@pytest.fixture(scope="module")
def one_process():
    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    yield
    distributed.destroy_process_group()


def test_in_several_processes_it_learns_the_same(learner, one_process):
    model, inputs = learner
    wrapped = nn.parallel.DistributedDataParallel(copy.deepcopy(model))
    gradients = []
    for each in (wrapped, model):
        sum(squares(each(*inputs))).backward()
        gradients.append([p.grad for p in each.parameters()])
    assert_close(*gradients)

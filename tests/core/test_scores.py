"""One contract for every score in the registry, whoever wrote it; then what each score is known to be."""

import copy
import importlib
import inspect
import math
import pkgutil

import jaxtyping
import numpy as np
import pytest
import torch
from jaxtyping import TypeCheckError
from torch import nn
from torch.testing import assert_close

from attnlib import data
from attnlib.attention import Attention
from attnlib.course import show
from attnlib.scores import SCORES, Score, make_score
from tests import oracles, typechecker

B, T, S, D, D_KEY = 2, 3, 5, 7, 11  # primes, so that no two dimensions can be taken for each other
BY_POSITION = {"location"}  # scores that ask where a key stands


def make(name: str, dtype=torch.float64, **options) -> Score:
    """A score of a registered name, with keys of another width than the queries where it can have them."""
    try:
        score = SCORES[name](D, D_KEY, **options)
    except ValueError:
        score = SCORES[name](D, D, **options)
    return score.to(dtype)


def draw(score: Score, *leading: int, dtype=torch.float64, n_queries=T, n_keys=S):
    return (
        torch.randn(*leading, n_queries, score.d_query, dtype=dtype),
        torch.randn(*leading, n_keys, score.d_key, dtype=dtype),
    )


def arrays(module: nn.Module) -> dict[str, np.ndarray]:
    return {name: tensor.numpy() for name, tensor in module.state_dict().items()}


# --- the contract: each check takes the name of a registered score ----------------------------------


def gives_one_number_per_pair(name):
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        score = make(name, dtype)
        for leading in ((), (B,), (2, 3)):
            found = score(*draw(score, *leading, dtype=dtype))
            assert found.shape == (*leading, T, S)
            assert found.dtype == dtype
            assert found.isfinite().all()
    assert score(*draw(score, B, dtype=dtype, n_queries=1, n_keys=1)).shape == (B, 1, 1)


def treats_leading_dimensions_alike(name):
    score = make(name)
    query, key = draw(score, 2, 3)
    together = score(query, key)
    for a in range(2):
        for b in range(3):
            assert_close(score(query[a, b], key[a, b]), together[a, b])


def gives_a_sentence_alone_what_it_gets_in_a_batch(name):
    score = make(name)
    query, key = draw(score, B)
    together = score(query, key)
    for b in range(B):
        assert_close(score(query[b : b + 1], key[b : b + 1])[0], together[b])


def looks_at_one_query_and_one_key(name):
    score = make(name)
    query, key = draw(score, B)
    before = score(query, key)
    for i in range(T):  # another query changes its own row only
        other = query.clone()
        other[:, i] = torch.randn(B, score.d_query)
        rest = [n for n in range(T) if n != i]
        assert_close(score(other, key)[:, rest], before[:, rest])
    for j in range(S):  # another key changes its own column only
        other = key.clone()
        other[:, j] = torch.randn(B, score.d_key)
        rest = [n for n in range(S) if n != j]
        assert_close(score(query, other)[..., rest], before[..., rest])
    assert_close(score(query, key[:, :-1]), before[..., :-1])  # and so does one key fewer


def keeps_nothing_on_itself(name):
    score = make(name)
    query, key = (x.requires_grad_() for x in draw(score, B))
    was, parameters = set(vars(score)), copy.deepcopy(score.state_dict())
    first = score(query, key)
    score(*draw(score, 3))
    assert_close(score(query, key), first)
    assert set(vars(score)) == was
    assert not [value for value in vars(score).values() if isinstance(value, torch.Tensor)]
    assert_close(score.state_dict(), parameters)
    assert_close(copy.deepcopy(score)(query, key), first)


def projects_keys_once_for_all_queries(name):
    score = make(name)
    query, key = draw(score, B)
    whole = score(query, key)
    projected = score.project_key(key)
    assert projected.shape[:-1] == key.shape[:-1]
    assert_close(score.compare(query, projected), whole)
    for i in range(T):
        assert_close(score.compare(query[:, i : i + 1], projected), whole[:, i : i + 1])


def has_the_gradients_of_its_values(name):
    score = make(name)
    names = [n for n, _ in score.named_parameters()]
    query, key = draw(score, B, n_queries=2, n_keys=3)
    tensors = [query, key, *score.parameters()]

    def value(query, key, *parameters):
        return torch.func.functional_call(score, dict(zip(names, parameters, strict=True)), (query, key))

    inputs = [x.detach().clone().requires_grad_() for x in tensors]
    assert torch.autograd.gradcheck(value, inputs, fast_mode=True)  # along random directions


def leaves_its_inputs_alone(name):
    score = make(name)
    query, key = draw(score, B)
    before = query.clone(), key.clone()
    score(query, key)
    assert_close((query, key), before, rtol=0, atol=0)
    assert query._version == key._version == 0


def refuses_what_does_not_fit(name):
    score = make(name)
    query, key = draw(score, B)
    wrong = [
        (query[..., 1:], key),
        (query, key[..., 1:]),
        (query[:1], key),
        (query, key[:1]),
        (query[0], key),
        (query, key[0]),
    ]
    for q, k in wrong:
        with pytest.raises(ValueError) as error:
            score(q, k)
        assert str(tuple(q.shape)) in str(error.value) and str(tuple(k.shape)) in str(error.value)
    with pytest.raises(ValueError, match=r"integers of at least 1, got {'d_query': 0, 'd_key': -1}"):
        SCORES[name](0, -1)


CONTRACT = [
    gives_one_number_per_pair,
    treats_leading_dimensions_alike,
    gives_a_sentence_alone_what_it_gets_in_a_batch,
    looks_at_one_query_and_one_key,
    keeps_nothing_on_itself,
    projects_keys_once_for_all_queries,
    has_the_gradients_of_its_values,
    leaves_its_inputs_alone,
    refuses_what_does_not_fit,
]


@pytest.mark.parametrize("check", CONTRACT, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", SCORES)
def test_contract(name, check):
    check(name)


@pytest.mark.parametrize("name", oracles.PAIR)
def test_equals_its_formula(name):
    score = make(name)
    query, key = draw(score, B)
    expected = oracles.scores(name, query.numpy(), key.numpy(), arrays(score))
    assert_close(score(query, key).detach(), torch.from_numpy(expected))


def test_every_score_of_the_package_has_a_formula():
    ours = {name for name, kind in SCORES.items() if kind.__module__ == "attnlib.scores"}
    assert ours == set(oracles.PAIR)
    assert all(issubclass(kind, Score) and show.score(kind).sentence for kind in SCORES.values())
    assert not [name for name, kind in SCORES.items() if "|" in show.score(kind).formula]  # it would end a table's cell


# --- a score a student adds -------------------------------------------------------------------------


class DistanceScore(Score):
    """Minus half the squared distance, `e = -|q - W k|²/2`."""

    def __init__(self, d_query, d_key):
        super().__init__(d_query, d_key)
        self.W = nn.Linear(d_key, d_query, bias=False)

    def project_key(self, key):
        return self.W(key)

    def compare(self, query, projected_key):
        return -0.5 * (query.unsqueeze(-2) - projected_key.unsqueeze(-3)).square().sum(-1)


class Remembers(DistanceScore):
    def compare(self, query, projected_key):
        self.scores = super().compare(query, projected_key)
        return self.scores


class Normalises(DistanceScore):
    def compare(self, query, projected_key):
        return super().compare(query, projected_key).softmax(-1)


class SeesTheBatch(DistanceScore):
    def compare(self, query, projected_key):
        return super().compare(query - query.mean(0, keepdim=True), projected_key)


class Transposes(DistanceScore):
    def compare(self, query, projected_key):
        return super().compare(query, projected_key).mT


class Overwrites(DistanceScore):
    def compare(self, query, projected_key):
        return super().compare(query.mul_(2), projected_key)


class CutsTheGradient(DistanceScore):
    def project_key(self, key):
        return super().project_key(key.detach())


class SkipsTheCheck(DistanceScore):
    def forward(self, query, key):
        return self.compare(query, self.project_key(key))


@pytest.mark.parametrize("check", CONTRACT, ids=lambda check: check.__name__)
def test_contract_covers_a_new_score_once_it_is_registered(check, monkeypatch):
    monkeypatch.setitem(SCORES, "student", DistanceScore)
    check("student")


def test_new_score_has_its_own_values(monkeypatch):
    monkeypatch.setitem(SCORES, "student", DistanceScore)
    score = make("student")
    query, key = draw(score, B)
    expected = -0.5 * torch.cdist(query, score.W(key)) ** 2
    assert_close(score(query, key), expected)


@pytest.mark.parametrize(
    ("kind", "check"),
    [
        (Remembers, keeps_nothing_on_itself),
        (Normalises, looks_at_one_query_and_one_key),
        (SeesTheBatch, gives_a_sentence_alone_what_it_gets_in_a_batch),
        (SeesTheBatch, treats_leading_dimensions_alike),
        (Transposes, gives_one_number_per_pair),
        (Overwrites, leaves_its_inputs_alone),
        (CutsTheGradient, has_the_gradients_of_its_values),
        (SkipsTheCheck, refuses_what_does_not_fit),
    ],
)
def test_contract_refuses_a_bad_score(kind, check, monkeypatch):
    monkeypatch.setitem(SCORES, "student", kind)
    with pytest.raises((AssertionError, RuntimeError, TypeCheckError, pytest.fail.Exception)):
        check("student")


# --- shape annotations ------------------------------------------------------------------------------


def test_annotations_are_checked_at_run_time(without_shape_checks):
    score = SCORES["dot"](D, D)
    row = torch.zeros(D)
    assert_close(score.project_key(row), row)  # one key without its S: nothing in the code minds ...
    jaxtyping.config.update("jaxtyping_disable", False)
    with pytest.raises(TypeCheckError, match=r"\.\.\. S d_key"):  # ... but the annotation does
        score.project_key(row)


def test_annotations_of_results_are_checked_too(monkeypatch):
    monkeypatch.setitem(SCORES, "student", Transposes)
    score = make("student")
    with pytest.raises(TypeCheckError, match="return value"):
        score(*draw(score, B))


def test_hardly_a_function_goes_unchecked():
    """Only what says `Splits[...]`, which beartype does not understand: functions that load or split a corpus."""
    corpora = set()
    for module in pkgutil.iter_modules(data.__path__, "attnlib.data."):
        for name, function in inspect.getmembers(importlib.import_module(module.name), inspect.isfunction):
            if "Splits[" in str(function.__annotations__):
                corpora.add(name)
    assert corpora == typechecker.UNCHECKED


def test_vectors_without_positions_are_refused_with_both_shapes(without_shape_checks):
    for query, key in ((torch.zeros(D), torch.zeros(S, D)), (torch.zeros(T, D), torch.zeros(D))):
        with pytest.raises(ValueError) as error:
            SCORES["dot"](D, D)(query, key)
        assert str(tuple(query.shape)) in str(error.value) and str(tuple(key.shape)) in str(error.value)


# --- identities -------------------------------------------------------------------------------------


def test_concat_is_additive_with_the_two_matrices_side_by_side():
    additive, concat = make("additive", d_hidden=13), make("concat", d_hidden=13)
    with torch.no_grad():
        concat.W_1.weight.copy_(torch.cat([additive.W_a.weight, additive.U_a.weight], dim=1))
        concat.w_2.weight.copy_(additive.v_a.weight)
    query, key = draw(additive, B)
    assert_close(concat(query, key), additive(query, key))


def test_projected_dot_is_general_with_the_product_of_its_matrices():
    projected, general = make("projected_dot", d_hidden=3), make("general")
    with torch.no_grad():
        general.W.weight.copy_(projected.W_q.weight.T @ projected.W_k.weight)
    assert torch.linalg.matrix_rank(general.W.weight) == 3
    query, key = draw(general, B)
    assert_close(projected(query, key), general(query, key))


def test_scaled_dot_is_dot_over_the_root_of_the_width():
    dot, scaled = make("dot"), make("scaled_dot")
    query, key = draw(dot, B)
    assert_close(scaled(query, key), dot(query, key) / math.sqrt(D))


def test_cosine_is_the_dot_product_of_unit_vectors():
    query, key = draw(make("dot"), B)
    unit = query / query.norm(dim=-1, keepdim=True), key / key.norm(dim=-1, keepdim=True)
    assert_close(make("cosine")(query, key), make("dot")(*unit))
    assert_close(make("cosine", sharpness=4.0)(query, key), 4 * make("dot")(*unit))
    assert_close(make("cosine")(3 * query, 0.1 * key), make("cosine")(query, key))


@pytest.mark.parametrize("name", SCORES)
def test_permuting_keys_permutes_scores_unless_they_go_by_position(name):
    score = make(name)
    query, key = draw(score, B)
    order = torch.tensor([3, 0, 4, 1, 2])
    before, after = score(query, key), score(query, key[:, order])
    if name in BY_POSITION:
        assert_close(after, before)
        assert not torch.allclose(before[..., order], before)
    else:
        assert_close(after, before[..., order])


# --- corners ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["dot", "scaled_dot", "cosine"])
def test_scores_in_one_space_need_equal_widths(name):
    with pytest.raises(ValueError, match="got 7 and 11"):
        SCORES[name](7, 11)


def test_location_knows_so_many_positions_and_no_more():
    score = make("location", n_positions=S)
    query, key = draw(score, B)
    assert score(query, key).shape == (B, T, S)
    with pytest.raises(ValueError, match="n_positions=5 positions, got a key with S=6"):
        score(query, torch.zeros(B, S + 1, score.d_key).double())
    with pytest.raises(ValueError, match="n_positions=5"):
        Attention(score)(query, *2 * [torch.zeros(B, S + 1, score.d_key).double()])


def test_cosine_of_a_vector_without_direction_is_0_with_a_finite_gradient():
    score = make("cosine", sharpness=3.0)
    query, key = draw(score, B)
    query[:, 0], key[:, 1] = 0, 0
    query.requires_grad_(), key.requires_grad_()
    found = score(query, key)
    assert_close(found[:, 0], torch.zeros(B, S).double())
    assert_close(found[:, :, 1], torch.zeros(B, T).double())
    found.sum().backward()
    assert query.grad.isfinite().all() and key.grad.isfinite().all()


@pytest.mark.parametrize("sharpness", [0.0, -1.0, math.nan, math.inf])
def test_sharpness_is_positive(sharpness):
    with pytest.raises(ValueError, match=f"sharpness must be a positive number, got {sharpness}"):
        SCORES["cosine"](D, D, sharpness=sharpness)


@pytest.mark.parametrize(
    ("name", "size"),
    [("projected_dot", "d_hidden"), ("additive", "d_hidden"), ("concat", "d_hidden"), ("location", "n_positions")],
)
def test_other_sizes_are_checked_too(name, size, without_shape_checks):
    for wrong in (0, 2.0):
        with pytest.raises(ValueError, match=f"integers of at least 1, got {{'{size}': {wrong}}}"):
            SCORES[name](D, D, **{size: wrong})


def test_sharpness_bounds_the_ratio_of_two_weights():
    score = make("cosine", sharpness=2.0)
    query = torch.ones(1, 1, D).double()
    found = score(query, torch.stack([query[0, 0], -query[0, 0]])[None])
    assert_close(found[0, 0].softmax(-1)[0] / found[0, 0].softmax(-1)[1], torch.tensor(math.exp(4.0)).double())


@pytest.mark.parametrize("width", [16, 256])
def test_dividing_by_the_root_keeps_the_variance_at_1(width):
    n = 256
    query, key = torch.randn(n, width).double(), torch.randn(n, width).double()
    dot, scaled = (SCORES[name](width, width)(query, key) for name in ("dot", "scaled_dot"))
    assert_close(dot.var(), torch.tensor(float(width)).double(), rtol=0.1, atol=0)
    assert_close(scaled.var(), torch.tensor(1.0).double(), rtol=0.1, atol=0)


def test_scores_say_what_they_are():
    assert repr(SCORES["dot"](D, D)) == "DotScore(d_query=7, d_key=7)"
    assert "sharpness=2.0" in repr(SCORES["cosine"](D, D, sharpness=2.0))
    with pytest.raises(NotImplementedError, match="Score must define compare"):
        Score(D, D)(torch.zeros(T, D), torch.zeros(S, D))


# --- make_score -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SCORES)
def test_score_made_by_name_is_the_registered_one(name):
    width = make(name).d_key
    torch.manual_seed(1)
    found = make_score(name, D, width)
    torch.manual_seed(1)
    expected = SCORES[name](D, width)
    assert type(found) is type(expected)
    assert (found.d_query, found.d_key) == (D, width)
    assert_close(found.state_dict(), expected.state_dict(), rtol=0, atol=0)


def test_options_reach_the_score():
    assert make_score("additive", D, D_KEY, d_hidden=3).v_a.in_features == 3
    assert make_score("cosine", D, D, sharpness=4.0).sharpness == 4.0
    assert make_score("location", D, D_KEY, n_positions=S).W_a.out_features == S
    with pytest.raises(TypeError, match="d_hiden"):
        make_score("additive", D, D_KEY, d_hiden=3)


def test_registered_score_can_be_made_by_its_name(monkeypatch):
    monkeypatch.setitem(SCORES, "student", DistanceScore)
    assert type(make_score("student", D, D_KEY)) is DistanceScore


def test_given_score_is_taken_as_it_is():
    score = make("general", torch.float64)
    assert make_score(score, D, D_KEY) is score


@pytest.mark.parametrize(("d_query", "d_key", "options"), [(D_KEY, D, {}), (D, D, {}), (D, D_KEY, {"d_hidden": 3})])
def test_given_score_that_does_not_fit_is_refused(d_query, d_key, options):
    with pytest.raises(ValueError) as error:
        make_score(make("general"), d_query, d_key, **options)
    assert f"need a score with d_query={d_query}, d_key={d_key}" in str(error.value)
    assert f"got GeneralScore(d_query=7, d_key=11) and {options}" in str(error.value)


@pytest.mark.parametrize("name", ["bahdanau", "", "Dot", None, SCORES["dot"]])
def test_unknown_score_is_told_the_known_ones(name, without_shape_checks):
    with pytest.raises(ValueError) as error:
        make_score(name, D, D_KEY)
    assert repr(name) in str(error.value)
    assert str(error.value).endswith(f"known are {', '.join(SCORES)}")


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_cosine_of_tiny_and_zero_vectors_in_half_precision(dtype):
    score = SCORES["cosine"](3, 3)
    tiny, zero = torch.full((1, 1, 3), 1e-6, dtype=dtype), torch.zeros(1, 1, 3, dtype=dtype)
    assert_close(score(tiny, tiny), torch.ones(1, 1, 1, dtype=dtype), rtol=0, atol=0.02)
    assert (score(zero, zero) == 0).all() and (score(tiny, zero) == 0).all()

"""One contract for every score in the registry, whoever wrote it; then what each score is known to be."""

import importlib
import inspect
import math
import pkgutil

import jaxtyping
import pytest
import torch
from jaxtyping import TypeCheckError
from torch import nn
from torch.testing import assert_close

from attnlib import data
from attnlib.attention import Attention
from attnlib.course import show
from attnlib.scores import SCORES, GeneralScore, Score, make_score
from tests import oracles, typechecker

B, T, S, D, D_KEY = 2, 3, 5, 7, 11  # primes, so that no two dimensions can be taken for each other


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
    looks_at_one_query_and_one_key,
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
    expected = oracles.scores(name, query.numpy(), key.numpy(), oracles.arrays(score))
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


@pytest.mark.parametrize(
    ("kind", "check"),
    [
        (Normalises, looks_at_one_query_and_one_key),
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


# --- identities -------------------------------------------------------------------------------------


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


# --- corners ----------------------------------------------------------------------------------------


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


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_cosine_of_tiny_and_zero_vectors_in_half_precision(dtype):
    score = SCORES["cosine"](3, 3)
    tiny, zero = torch.full((1, 1, 3), 1e-6, dtype=dtype), torch.zeros(1, 1, 3, dtype=dtype)
    assert_close(score(tiny, tiny), torch.ones(1, 1, 1, dtype=dtype), rtol=0, atol=0.02)
    assert (score(zero, zero) == 0).all() and (score(tiny, zero) == 0).all()


def test_location_knows_so_many_positions_and_no_more():
    score = make("location", n_positions=S)
    query, key = draw(score, B, n_keys=S + 1)
    assert score(query, key[:, :S]).shape == (B, T, S)
    for refuse in (lambda: score(query, key), lambda: Attention(score)(query, key, key)):
        with pytest.raises(ValueError, match="n_positions=5 positions, got a key with S=6"):
            refuse()


def test_vectors_without_positions_are_refused_with_both_shapes(without_shape_checks):
    for query, key in ((torch.zeros(D), torch.zeros(S, D)), (torch.zeros(T, D), torch.zeros(D))):
        with pytest.raises(ValueError) as error:
            SCORES["dot"](D, D)(query, key)
        assert str(tuple(query.shape)) in str(error.value) and str(tuple(key.shape)) in str(error.value)


def test_a_key_is_given_once():
    query, key = torch.zeros(T, D), torch.zeros(S, D)
    for keys in ({}, {"key": key, "projected_key": key}):
        with pytest.raises(ValueError, match="needs either key or projected_key"):
            SCORES["dot"](D, D)(query, **keys)


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
    assert make_score(score := make("general"), D, D_KEY) is score  # a given one has none
    assert make_score(score, None, D_KEY) is score is Attention(score).score
    assert make_score("additive", D, D_KEY, d_hidden=3).v_a.in_features == 3
    assert make_score("cosine", D, D, sharpness=4.0).sharpness == 4.0
    assert make_score("location", D, D_KEY, n_positions=S).W_a.out_features == S
    with pytest.raises(TypeError, match="d_hiden"):
        make_score("additive", D, D_KEY, d_hiden=3)


@pytest.mark.parametrize(
    ("score", "widths", "options", "message"),
    [
        ("dot", (7, 11), {}, "got 7 and 11"),
        ("scaled_dot", (7, 11), {}, "got 7 and 11"),
        ("cosine", (7, 11), {}, "got 7 and 11"),
        ("cosine", (7, 7), {"sharpness": 0.0}, "sharpness must be a positive number, got 0.0"),
        ("cosine", (7, 7), {"sharpness": -1.0}, "got -1.0"),
        ("cosine", (7, 7), {"sharpness": math.nan}, "got nan"),
        ("cosine", (7, 7), {"sharpness": math.inf}, "got inf"),
        ("projected_dot", (7, 7), {"d_hidden": 0}, "integers of at least 1, got {'d_hidden': 0}"),
        ("additive", (7, 7), {"d_hidden": 2.0}, "integers of at least 1, got {'d_hidden': 2.0}"),
        ("concat", (7, 7), {"d_hidden": 0}, "integers of at least 1, got {'d_hidden': 0}"),
        ("location", (7, 7), {"n_positions": 2.0}, "integers of at least 1, got {'n_positions': 2.0}"),
        ("bahdanau", (7, 11), {}, f"'bahdanau', known are {', '.join(SCORES)}$"),
        ("", (7, 11), {}, "'', known are dot"),
        ("additive", (None, 7), {}, "integers of at least 1, got {'d_query': None}"),
        ("additive", (0, 7), {}, "integers of at least 1, got {'d_query': 0}"),
        (GeneralScore(7, 11), (0, 11), {}, "d_query=0, d_key=11"),
        (GeneralScore(7, 11), (None, 7), {}, "d_query=None, d_key=7"),
        (None, (7, 11), {}, "None, known are dot"),
        (GeneralScore, (7, 11), {}, "GeneralScore'>, known are dot"),
        (GeneralScore(7, 11), (11, 7), {}, r"d_query=11, d_key=7 .*GeneralScore\(d_query=7, d_key=11\) and {}"),
        (GeneralScore(7, 11), (7, 7), {}, r"d_query=7, d_key=7 .*GeneralScore\(d_query=7, d_key=11\) and {}"),
        (GeneralScore(7, 11), (7, 11), {"d_hidden": 3}, "no options, got .* and {'d_hidden': 3}"),
    ],
)
def test_what_makes_no_score_is_refused(score, widths, options, message, without_shape_checks):
    with pytest.raises(ValueError, match=message):
        make_score(score, *widths, **options)

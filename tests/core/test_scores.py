"""One contract for every score in the registry, whoever wrote it; then what each score is known to be."""

import importlib
import inspect
import math
import pkgutil

import jaxtyping
import pytest
import torch
from jaxtyping import TypeCheckError
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


# --- shape annotations ------------------------------------------------------------------------------


def test_annotations_are_checked_at_run_time(without_shape_checks):
    score = SCORES["dot"](D, D)
    row = torch.zeros(D)
    assert_close(score.project_key(row), row)  # one key without its S: nothing in the code minds ...
    jaxtyping.config.update("jaxtyping_disable", False)
    with pytest.raises(TypeCheckError, match=r"\.\.\. S d_key"):  # ... but the annotation does
        score.project_key(row)


def test_annotations_of_results_are_checked_too():
    class Transposes(Score):
        def compare(self, query, projected_key):
            return projected_key @ query.mT

    with pytest.raises(TypeCheckError, match="return value"):
        Transposes(D, D)(torch.zeros(T, D), torch.zeros(S, D))


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
    assert_close(make("cosine", sharpness=4.0)(3 * query, 0.1 * key), 4 * make("dot")(*unit))


# --- corners ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_cosine_of_a_vector_without_direction_is_0_and_of_tiny_ones_1(dtype):
    score = SCORES["cosine"](3, 3)
    query = torch.tensor([[0.0] * 3, [1e-6] * 3], dtype=dtype).requires_grad_()
    key = query.detach().clone().requires_grad_()
    found = score(query, key)
    assert_close(found, torch.tensor([[0, 0], [0, 1]], dtype=dtype), rtol=0, atol=0.02)
    assert (found[0] == 0).all() and (found[:, 0] == 0).all()
    found.sum().backward()
    assert (query.grad[0] == 0).all() and (key.grad[0] == 0).all()
    if dtype == torch.float64:  # in half precision the gradient of a tiny vector is too large
        assert query.grad.isfinite().all() and key.grad.isfinite().all()


def test_scores_say_what_they_are():
    assert repr(SCORES["dot"](D, D)) == "DotScore(d_query=7, d_key=7)"
    assert "sharpness=2.0" in repr(SCORES["cosine"](D, D, sharpness=2.0))
    with pytest.raises(NotImplementedError, match="Score must define compare"):
        Score(D, D)(torch.zeros(T, D), torch.zeros(S, D))


def test_what_cannot_be_compared_is_refused(without_shape_checks):
    dot, location = SCORES["dot"](D, D), make("location", n_positions=S)
    query, key = torch.zeros(B, T, D), torch.zeros(B, S, D)
    _, long = draw(location, B, n_keys=S + 1)
    assert location(query.double(), long[:, :S]).shape == (B, T, S)
    for call, message in (
        (lambda: dot(query[0, 0], key[0]), r"query \(7,\) and key \(5, 7\)"),
        (lambda: dot(query[0], key[0, 0]), r"query \(3, 7\) and key \(7,\)"),
        (lambda: dot(query), "needs either key or projected_key"),
        (lambda: dot(query, key, key), "needs either key or projected_key"),
        (lambda: location(query.double(), long), "n_positions=5 positions, got a key with S=6"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


# --- make_score -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SCORES)
def test_score_made_by_name_is_the_registered_one(name):
    width = make(name).d_key
    found = make_score(name, D, width)
    assert type(found) is SCORES[name] and (found.d_query, found.d_key) == (D, width)


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
        *(
            ("cosine", (7, 7), {"sharpness": wrong}, f"sharpness must be a positive number, got {wrong}")
            for wrong in (0.0, -1.0, math.nan, math.inf)
        ),
        ("projected_dot", (7, 7), {"d_hidden": 0}, "integers of at least 1, got {'d_hidden': 0}"),
        ("additive", (7, 7), {"d_hidden": 2.0}, "integers of at least 1, got {'d_hidden': 2.0}"),
        ("concat", (7, 7), {"d_hidden": 0}, "integers of at least 1, got {'d_hidden': 0}"),
        ("location", (7, 7), {"n_positions": 2.0}, "integers of at least 1, got {'n_positions': 2.0}"),
        ("additive", (None, 7), {}, "integers of at least 1, got {'d_query': None}"),
        ("bahdanau", (7, 11), {}, f"'bahdanau', known are {', '.join(SCORES)}$"),
        (None, (7, 11), {}, "None, known are dot"),
        (GeneralScore, (7, 11), {}, "GeneralScore'>, known are dot"),
        (GeneralScore(7, 11), (0, 11), {}, "d_query=0, d_key=11"),
        (GeneralScore(7, 11), (None, 7), {}, "d_query=None, d_key=7"),
        (GeneralScore(7, 11), (11, 11), {}, r"d_query=11, d_key=11 .*GeneralScore\(d_query=7, d_key=11\) and {}"),
        (GeneralScore(7, 11), (7, 11), {"d_hidden": 3}, "no options, got .* and {'d_hidden': 3}"),
    ],
)
def test_what_makes_no_score_is_refused(score, widths, options, message, without_shape_checks):
    with pytest.raises(ValueError, match=message):
        make_score(score, *widths, **options)

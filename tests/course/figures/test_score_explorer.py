"""The widgets: their JavaScript computes what attnlib computes, and their Python side never disagrees with it."""

import itertools

import numpy as np
import pytest
import torch
from torch import Tensor

from attnlib.attention import length_mask, masked_softmax
from attnlib.course import show
from attnlib.course.figures import ScoreExplorer
from attnlib.course.figures.scores import build_score, default_parameters
from attnlib.scores import SCORES
from tests.node import run_in_node

ESM = str(ScoreExplorer._esm)
S = 5
NAMES = sorted(SCORES)  # a score that is registered and that JavaScript does not know must fail here
TEMPERATURES = (0.1, 0.7, 1.0, 10.0)
WORDS = ["the", "cat", "sat", "on", "mat"]


def random_parameters(name: str, generator: torch.Generator) -> dict[str, object]:
    """Parameters in the shapes of the defaults, but none of their zeros and ones."""
    weights = {key: torch.tensor(value, dtype=torch.float64) for key, value in default_parameters(S)[name].items()}
    drawn = {key: torch.randn(w.shape, generator=generator, dtype=torch.float64) for key, w in weights.items()}
    return {key: (w.abs() + 0.1 if key == "sharpness" else w).tolist() for key, w in drawn.items()}


def points(kind: str, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """A query (2,) and keys (S, 2)."""
    query, keys = torch.randn(2, generator=generator).double(), torch.randn(S, 2, generator=generator).double()
    if kind == "huge":
        return query.sign() * 1e3, keys.sign() * 1e3
    if kind == "ties":
        return query, keys[:1].expand(S, 2)
    if kind == "very negative":  # every dot product is -200
        return torch.tensor([10.0, 0.0]).double(), torch.tensor([[-20.0, float(j)] for j in range(S)]).double()
    if kind == "at the centre":  # no direction: cosine divides by nothing
        return torch.zeros(2).double(), torch.zeros(S, 2).double()
    return query, keys


def in_attnlib(case: dict) -> dict[str, Tensor]:
    query, keys, values = (torch.tensor(case[name], dtype=torch.float64) for name in ("query", "keys", "values"))
    scores = build_score(case["name"], case["parameters"])(query[None], keys)
    mask = length_mask(torch.tensor([case["validLength"]]), S)[0]
    weights = masked_softmax(scores / case["temperature"], mask)
    return {"scores": scores[0], "weights": weights[0], "context": (weights @ values)[0]}


def test_javascript_computes_what_attnlib_computes():
    generator = torch.Generator().manual_seed(0)
    kinds = ("random", "huge", "ties", "very negative", "at the centre")
    cases = []
    for name, kind, temperature, valid_length in itertools.product(NAMES, kinds, TEMPERATURES, range(S + 1)):
        query, keys = points(kind, generator)
        values = torch.randn(S, 3, generator=generator, dtype=torch.float64)
        vectors = {"query": query.tolist(), "keys": keys.tolist(), "values": values.tolist()}
        parameters = random_parameters(name, generator)
        settings = {"parameters": parameters, "temperature": temperature, "validLength": valid_length}
        cases.append({"name": name} | vectors | settings)
    # The default export is the view, which needs a page; the arithmetic of the very same text does not.
    answers = run_in_node(ESM, "argument.map((question) => m.attend(question))", cases)
    for case, answer in zip(cases, answers, strict=True):
        wanted = in_attnlib(case)
        assert set(answer) == set(wanted)
        atol = 1e-9 if max(map(abs, case["query"])) > 100 else 1e-12  # 1e6 · 1e-16 in the scores
        for what, expected in wanted.items():
            np.testing.assert_allclose(answer[what], expected, rtol=1e-12, atol=atol, err_msg=f"{what} of {case}")


def test_scores_of_the_figure_are_those_of_attnlib():
    """Same names and formulas in Python and JavaScript; every one with a sentence on what to look for."""
    assert sorted(default_parameters(S)) == NAMES
    all_of = "Object.entries(m.SCORES).map(([name, { formula, note, alias }]) => [name, formula, note, alias])"
    described = run_in_node(ESM, all_of, None)
    assert sorted(name for name, *_ in described) == NAMES
    assert all(show.score(SCORES[name]).formula == formula for name, formula, *_ in described)
    assert all(note and alias is not None for *_, note, alias in described)


def test_the_dashed_arrow_is_the_vector_whose_dot_product_with_a_key_is_the_score():
    query, key = [0.4, -1.3], [1.7, 0.6]
    q, k = torch.tensor([query, key], dtype=torch.float64).split(1)
    for name in ("general", "projected_dot"):
        given = default_parameters(S)[name]
        arrow = run_in_node(ESM, f"m.SCORES.{name}.seen(...argument)", [query, given])
        assert np.dot(arrow, key) == pytest.approx(build_score(name, given)(q, k).item(), abs=1e-12), name


def test_contour_lines_lie_where_the_score_is_what_they_say():
    lines = run_in_node(ESM, "m.contours(([x, y]) => 2 * x - y, 3)", None)
    assert 0 in [line["level"] for line in lines]
    assert len(lines) >= 4
    for line in lines:
        ends = np.array(line["segments"]).reshape(-1, 2)
        np.testing.assert_allclose(2 * ends[:, 0] - ends[:, 1], line["level"], atol=1e-12)
    zero = np.array(next(line["segments"] for line in lines if line["level"] == 0))
    lengths = np.linalg.norm(zero[:, 0] - zero[:, 1], axis=-1)
    assert lengths.sum() == pytest.approx(np.hypot(3, 6))  # from (-1.5, -3) to (1.5, 3) without a gap
    assert run_in_node(ESM, "m.contours(() => 3, 3)", None) == []


# --- the Python side


KEYS = [[1.0, 1.0], [2.0, 0.0], [-1.0, 0.5], [0.0, -2.0], [0.5, 0.5]]


def explorer(**changes) -> ScoreExplorer:
    return ScoreExplorer(**({"words": WORDS, "query": [1.0, 0.5], "keys": KEYS} | changes))


@pytest.mark.parametrize("name", NAMES)
def test_results_follow_every_trait(name):
    figure = explorer()
    changes = [
        ("score", name),
        ("query", [-0.3, 1.1]),
        ("key", [[float(j), 1.0 - j] for j in range(S)]),
        ("value", [[1.0, float(j)] for j in range(S)]),
        ("temperature", 0.3),
        ("valid_length", 3),
        ("valid_length", 0),
    ]
    for trait, value in changes:
        setattr(figure, trait, value)
        vectors = {"query": figure.query, "keys": figure.key, "values": figure.value or figure.key}
        settings = {"temperature": figure.temperature, "validLength": figure.valid_length}
        of_score = {"name": figure.score, "parameters": default_parameters(S)[figure.score]}
        wanted = in_attnlib(vectors | settings | of_score)
        for shown, what in (("score_values", "scores"), ("weights", "weights"), ("context", "context")):
            assert getattr(figure, shown) == pytest.approx(wanted[what].tolist(), abs=1e-12), (trait, shown)


def test_a_query_to_the_left_asks_for_the_first_word():
    """The default of the location score: positions are spread from left to right, whatever their words are."""
    for query, word in (([-2.0, 0.0], 0), ([0.0, 2.0], S // 2), ([2.0, 0.0], S - 1)):
        assert np.argmax(explorer(score="location", query=query).weights) == word


def test_the_defaults_are_all_different():
    """A menu whose entries look the same would teach nothing."""
    weights = {name: np.array(explorer(score=name).weights) for name in NAMES}
    for one, other in itertools.combinations(NAMES, 2):
        assert abs(weights[one] - weights[other]).max() > 0.02, (one, other)


def test_arrays_and_tensors_are_welcome():
    keys = torch.arange(2.0 * S, requires_grad=True).reshape(S, 2)
    figure = explorer()
    figure.key, figure.query = keys, np.array([1.0, 0.5])
    assert figure.weights == explorer(keys=keys).weights == explorer(keys=keys.tolist()).weights


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"words": []}, "at least one word"),
        ({"keys": [[0.0, 1.0]] * 4}, r"keys must have shape \(5, 2\) for 5 words, got \(4, 2\)"),
        ({"values": [[0.0, 1.0]] * 6}, r"values .*\(5, 2\).*\(6, 2\)"),
        ({"query": [1.0, 2.0, 3.0]}, r"query .*\(2,\).*\(3,\)"),
        ({"score": "dto"}, "'dto'.*dot, scaled_dot, general"),
        ({"scores": ["dot", "bilinear"]}, "'bilinear'.*general"),
        ({"score": "zero", "scores": ["dot"]}, "'zero' is not among"),
        ({"parameters": {"dto": {}}}, "'dto'"),
        ({"valid_length": -1}, r"0\.\.5.*-1"),
        ({"parameters": {"general": {"W": [[1.0, 2.0]]}}}, r"W .*\(2, 2\).*\(1, 2\)"),
        ({"parameters": {"general": {"V": [[1.0]]}}}, r"\['W'\].*\['V'\]"),
        ({"parameters": {"additive": {"W_a": 1.0, "U_a": 1.0, "v_a": 1.0}}}, r"W_a .*\(1, 2\).*\(\)"),
        ({"parameters": {"cosine": {"sharpness": -1}}}, "sharpness.*-1"),
        ({"parameters": {"cosine": {}}}, "sharpness"),
        ({"parameters": {"location": {"W_a": [[1.0, 2.0]] * 4}}}, "4 rows for 5 words"),
    ],
)
def test_bad_input_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        explorer(**changes)


def test_parameters_are_used():
    still = explorer(parameters={"general": {"W": [[1.0, 0.0], [0.0, 1.0]]}}, score="general")
    assert still.weights == pytest.approx(explorer(score="dot").weights)
    assert explorer(scores=["dot", "zero"]).parameters.keys() == {"dot", "zero"}  # no baggage in the page


def test_repr_says_what_the_figure_shows_and_nothing_random():
    figure = explorer(words=["a", "b"], query=[1, 0], keys=[[1, 0], [-1, 0]])
    assert repr(figure) == "ScoreExplorer(score='dot', words=['a', 'b'], weights=[0.88, 0.12])"

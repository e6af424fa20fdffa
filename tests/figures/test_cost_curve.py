"""CostCurve: its JavaScript counts what Python counts, and both what torch counts; and so do the crossings."""

import itertools
import random
from fractions import Fraction

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from attnlib.attention import Attention
from attnlib.figures import CostCurve
from attnlib.figures.polynomials import along, coded, count, crossovers, sign_changes
from attnlib.scores import AdditiveScore, ConcatScore, DotScore, GeneralScore
from benchmarks.examples import cost_curve
from tests.node import run_in_node

MODULE = str(CostCurve._esm)
AXES = ("S=T", "S", "T", "d")
GRID = [dict(zip("STd", sizes, strict=True)) for sizes in itertools.product((1, 7, 50), (1, 40, 300), (1, 32, 512))]


def chapter(**changes) -> CostCurve:
    figure = cost_curve("concat")
    for name, value in changes.items():
        setattr(figure, name, value)
    return figure


def terms_of(figure: CostCurve, quantity: str) -> dict[str, list]:
    """Name of a cost -> all its terms."""
    costs = next(record["costs"] for record in figure.costs if record["name"] == quantity)
    return {cost["name"]: [term for part in cost["parts"] for term in part["terms"]] for cost in costs}


def polynomials(n: int) -> list[list[list[float]]]:
    """Costs of one to five terms, of every kind that a chapter may count."""
    draw = random.Random(0)

    def term() -> list[float]:
        return [draw.choice((1, 2, 3, 6, 0.5, 12)), draw.randint(0, 2), draw.randint(0, 2), draw.randint(0, 3)]

    return [[term() for _ in range(draw.randint(1, 5))] for _ in range(n)]


def changes_by_scanning(difference: list[float], lowest: float, highest: float) -> int:
    """How often a polynomial changes its sign on a fine grid: a count that knows no algebra."""
    x = np.geomspace(lowest, highest, 20001)
    signs = np.sign(np.polyval(difference[::-1], x))
    signs = signs[signs != 0]
    return int((signs[1:] != signs[:-1]).sum())


# --- the arithmetic, in both languages


def test_javascript_counts_what_python_counts():
    terms = polynomials(40)
    cases = [[one, sizes] for one in terms for sizes in GRID[::4]]
    answers = run_in_node(MODULE, "argument.map(([terms, sizes]) => m.cost(terms, sizes))", cases)
    for (one, sizes), answer in zip(cases, answers, strict=True):
        exact = sum(Fraction(c) * sizes["S"] ** s * sizes["T"] ** t * sizes["d"] ** d for c, s, t, d in one)
        assert count(one, sizes) == exact, (one, sizes)
        assert answer == pytest.approx(float(exact), rel=1e-14), (one, sizes)


def test_a_polynomial_along_an_axis_is_the_cost():
    cases = [
        {"terms": one, "axis": axis, "sizes": sizes}
        for one, axis in itertools.product(polynomials(20), AXES)
        for sizes in GRID[::9]
    ]
    answers = run_in_node(MODULE, "argument.map((c) => m.along(c.terms, c.axis, c.sizes))", cases)
    for case, answer in zip(cases, answers, strict=True):
        assert answer == along(case["terms"], case["axis"], case["sizes"])
        for x in (1, 3, 10):
            there = case["sizes"] | dict.fromkeys(case["axis"].split("="), x)
            total = sum(c * x**k for k, c in enumerate(answer))
            assert total == pytest.approx(count(case["terms"], there), rel=1e-12), case


def test_crossings_in_javascript_python_and_by_independent_means():
    terms = polynomials(150)
    cases = [
        {"one": one, "other": other, "axis": axis, "sizes": GRID[(7 * n) % len(GRID)]}
        for n, (one, other) in enumerate(itertools.pairwise(terms))
        for axis in AXES
    ]
    line, cubic = [[1, 1, 0, 0], [1, 0, 0, 0]], [[1, 3, 0, 0], [11, 1, 0, 0]]
    cases += [
        {"one": [[2, 1, 0, 0]], "other": line, "axis": "S", "sizes": GRID[0]},  # equal at the first word
        {"one": cubic, "other": [[6, 2, 0, 0], [6, 0, 0, 0]], "axis": "S", "sizes": GRID[0]},  # at 1, 2 and 3
        {"one": line, "other": line, "axis": "S", "sizes": GRID[0]},  # everywhere
    ]
    answers = run_in_node(MODULE, "argument.map((c) => m.crossing(c.one, c.other, c.axis, c.sizes))", cases)
    found = several = 0
    for case, answer in zip(cases, answers, strict=True):
        places = crossovers(**case)
        assert answer["places"] == pytest.approx(places, rel=1e-12), case
        assert places == sorted(places)
        one, other = (along(case[name], case["axis"], case["sizes"]) for name in ("one", "other"))
        difference = [Fraction(a) - Fraction(b) for a, b in zip(one, other, strict=True)]

        def exact(x, difference=difference):
            return sum(c * Fraction(x) ** k for k, c in enumerate(difference))

        for place in places:  # in exact arithmetic the signs beside a crossing differ
            assert exact(place * (1 - 1e-9)) * exact(place * (1 + 1e-9)) < 0, (case, place)
        highest = 10 * max([1e6, *places])
        scanned = changes_by_scanning([float(c) for c in difference], 1, highest)
        assert len([x for x in places if x > 1]) == scanned, case
        start = exact(Fraction(1) if exact(1) else Fraction(2 if not places else 0.999))
        assert answer["first"] == (start > 0) - (start < 0), case
        found, several = found + len(places), several + (len(places) > 1)
    assert found > 50 and several >= 3  # more than one crossing on an axis does occur


@pytest.mark.parametrize(
    ("coefficients", "roots"),
    [
        ([], []),
        ([0.0, 0.0], []),
        ([0.0, 5.0], []),  # x = 0 is no place on the axis
        ([9.0, -6.0, 1.0], []),  # touches at 3, changes no side
        ([-27.0, 27.0, -9.0, 1.0], [3.0]),  # a threefold root: where its derivative only touches
        ([0.0, -1e12, 0.0, 1.0], [1e6]),
        ([24.0, -50.0, 35.0, -10.0, 1.0, 0.0], [1.0, 2.0, 3.0, 4.0]),
    ],
)
def test_sign_changes(coefficients, roots):
    assert sign_changes(coefficients) == pytest.approx(roots, rel=1e-14)
    assert run_in_node(MODULE, "m.signChanges(argument)", coefficients) == pytest.approx(roots, rel=1e-14)


def test_crossings_of_the_chapter():
    for d in (8, 512):
        crossing = chapter(d=d).crossovers
        assert (crossing["dot"], crossing["general"], crossing["additive"]) == ([6 * d], [5.5 * d], [5 * d])
        assert crossing["concat"] == pytest.approx([12 * d**2 / (2 * d**2 + 2 * d)], rel=1e-14)
    assert chapter(quantity="numbers kept").crossovers["dot"] == [2 * 512]
    assert chapter(axis="S", T=3 * 512).crossovers["dot"] == []  # the exercise: T ≤ 3 d is never enough
    assert chapter(axis="S", T=2000).crossovers["dot"] == pytest.approx([3 * 512 * 2000 / (2000 - 3 * 512)], rel=1e-12)
    assert chapter(axis="d", S=600, T=600).crossovers["dot"] == [100]
    assert crossovers([[3, 1, 0, 0]], [[1, 1, 0, 0], [1, 0, 0, 0]], "S", GRID[0]) == []  # at half a word


def test_counts_are_those_of_torch():
    S, T, d = 50, 40, 32
    query, key = torch.randn(1, T, d), torch.randn(1, S, d)
    scores = {
        "dot": DotScore(d, d),
        "general": GeneralScore(d, d),
        "additive": AdditiveScore(d, d, d_hidden=d),
        "concat": ConcatScore(d, d, d_hidden=d),
    }
    figure = chapter(axis="S", S=S, T=T, d=d)
    for name, score in scores.items():
        with FlopCounterMode(display=False) as meter, torch.no_grad():
            Attention(score)(query, key, key)
        assert sum(figure.counts[name].values()) == meter.get_total_flops() // 2, name
    gru = torch.nn.GRU(d, d, bias=False)
    with FlopCounterMode(display=False) as meter, torch.no_grad():
        gru(torch.randn(S, 1, d))
    if meter.get_total_flops():  # a fused GRU is not on every meter
        assert figure.counts["recurrence"]["encoder"] == meter.get_total_flops() // 2


# --- words and places of the page


def test_crossings_in_words():
    cases = [
        ([[], 0], "always as much as A"),
        ([[], -1], "never meets A: less at every S"),
        ([[], 1], "never meets A: more at every S"),
        ([[3072], -1], "as much as A at S = 3,072, more beyond"),
        ([[5.99], -1], "more than A from S = 6 on"),
        ([[5.01], 1], "less than A from S = 6 on"),
        ([[2.5, 40], -1], "more than A from S = 3 on; as much at S = 40, less beyond"),
        ([[50000.5], -1], "more than A from S = 50,001 (beyond the axis) on"),
    ]
    words = 'argument.map(([places, first]) => m.crossingInWords({ places, first }, "A", "S", 32768))'
    assert run_in_node(MODULE, words, [given for given, _ in cases]) == [wanted for _, wanted in cases]


def test_from_the_said_size_on_it_costs_more_and_not_before():
    figure = chapter(axis="S", T=2000)
    terms = terms_of(figure, "multiply-adds")
    for name, places in figure.crossovers.items():
        for place in places:
            (at,) = run_in_node(MODULE, "argument.map(m.crossingAt)", [place])
            there = [figure.sizes | {"S": at + step} for step in (-1, 0, 1)]
            more = [count(terms[name], sizes) > count(terms["recurrence"], sizes) for sizes in there]
            assert more == ([False, False, True] if place == at else [False, True, True]), name


def test_numbers_in_words():
    cases = {
        0: "0", 7: "7", 12800: "12,800", 999_499: "999,499", 1_310_000: "1.31 million", 999_999_999: "1.00 billion",
        2.5e12: "2.50 trillion", 4e16: "40.0 quadrillion", 3e18: "3.00 × 10^18", 0.25: "0.25",
    }  # fmt: skip
    assert run_in_node(MODULE, "argument.map(m.spokenCount)", list(cases)) == list(cases.values())
    ratios = {0: "0", 0.0163: "0.016", 1: "1.00", 8.352: "8.35", 1234.4: "1,234", 0.00001: "1.0 × 10^−5", 48.04: "48.0"}
    assert run_in_node(MODULE, "argument.map(m.threeDigits)", list(ratios)) == list(ratios.values())
    shares = {0: "0 %", 0.001: "under 1 %", 0.5: "50 %", 0.999: "100 %"}
    assert run_in_node(MODULE, "argument.map(m.percent)", list(shares)) == list(shares.values())


def test_the_slider_has_all_powers_of_two_and_steps_between():
    steps = run_in_node(MODULE, "m.ladder(argument)", 4096)
    assert steps[:14] == [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24]
    assert steps == sorted(set(steps)) and steps[-1] == 4096
    assert {2**n for n in range(13)} <= set(steps)
    assert run_in_node(MODULE, "m.ladder(argument)", 100)[-2:] == [96, 100]
    at = run_in_node(MODULE, "argument.map((size) => m.nearest(m.ladder(4096), size))", [1, 50, 9, 5000])
    assert [steps[n] for n in at] in ([1, 48, 8, 4096], [1, 48, 10, 4096])


def test_labels_keep_their_order_and_their_distance():
    known = [([10, 50, 90], [10, 50, 90]), ([50, 50, 50], [34, 50, 66]), ([90, 10], [90, 10]),
             ([100, 100], [84, 100]), ([0, 0, 5], [0, 16, 32])]  # fmt: skip
    draw = random.Random(1)
    several = [wanted for wanted, _ in known] + [[draw.uniform(0, 100) for _ in range(n % 7)] for n in range(50)]
    answers = run_in_node(MODULE, "argument.map((wanted) => m.spread(wanted, 16, 0, 100))", several)
    assert answers[: len(known)] == [placed for _, placed in known]
    for wanted, placed in zip(several, answers, strict=True):
        order = sorted(range(len(wanted)), key=wanted.__getitem__)
        assert all(placed[b] - placed[a] >= 16 - 1e-9 for a, b in itertools.pairwise(order))
        assert all(-1e-9 <= at <= 100 + 1e-9 for at in placed)


# --- the Python side

BILL = {"first": {"all": [(12, {"S": 1, "d": 2})]}, "second": {"all": [(2, {"S": 1, "T": 1, "d": 1})]}}


def test_results_follow_every_trait():
    figure = CostCurve({"operations": BILL, "memory": {"one": {"all": [(1, {"T": 1})]}}}, S=10, T=20, d=4, axis="S")
    assert figure.counts == {"first": {"all": 12 * 10 * 16}, "second": {"all": 2 * 10 * 20 * 4}}
    assert [cost["name"] for cost in figure.costs[0]["costs"]] == ["first", "second"]  # in order, whatever the names
    figure.S, figure.T, figure.d = 11, 3, 5
    assert figure.counts == {"first": {"all": 12 * 11 * 25}, "second": {"all": 2 * 11 * 3 * 5}}
    figure.axis = "S=T"  # S for both
    assert figure.counts["second"]["all"] == 2 * 11 * 11 * 5
    assert figure.crossovers == {"second": [30.0]}
    figure.quantity = "memory"
    assert (figure.counts, figure.crossovers) == ({"one": {"all": 11}}, {})
    figure.axis = "T"  # which has been kept
    assert figure.counts == {"one": {"all": 3}}


@pytest.mark.parametrize("two", [2.0, np.int64(2), torch.tensor(2.0, dtype=torch.bfloat16, requires_grad=True)])
def test_numbers_of_all_kinds_are_welcome(two):
    figure = CostCurve({"q": {"a": {"p": [(two, {"S": two})]}}}, S=two, d=two, largest={"d": two})
    figure.T = two
    assert figure.counts == {"a": {"p": 8}}
    assert coded("x", [(two / 4, {})]) == [[0.5, 0, 0, 0]]


def bill(*terms):
    return {"q": {"a": {"p": list(terms)}}}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"costs": {}}, "at least one quantity"),
        ({"costs": {"q": {}}}, r"q: there must be 1\.\.8 costs, got 0"),
        ({"costs": {"q": {str(n): {"p": []} for n in range(9)}}}, r"1\.\.8 costs, got 9"),
        ({"costs": {"q": {"a": {}}}}, "q, a: .*at least one part"),
        ({"costs": bill((1, {"m": 1}))}, "q, a, p: a term may name S, T, d, got 'm'"),
        ({"costs": bill((1, {"S": 1.5}))}, r"q, a, p: the power of S must be a whole number in 0\.\.8, got 1\.5"),
        ({"costs": bill((1, {"T": 9}))}, r"power of T must be a whole number in 0\.\.8, got 9"),
        ({"costs": bill((0, {"S": 1}))}, "coefficient must be positive and finite, got 0"),
        ({"costs": bill((float("inf"), {}))}, "coefficient must be positive and finite, got inf"),
        ({"costs": bill(6)}, "a term is .*, got 6"),
        ({"costs": bill((6, "Sdd"))}, "a term is .*'Sdd'"),
        ({"roles": {"p": "keys"}}, "unknown role 'keys' of 'p'; known are query, key"),
        ({"d": 2.5}, r"d must be a whole number in 1\.\.4096, got 2\.5"),
        ({"largest": {"m": 4}}, "largest may name S, T, d, got 'm'"),
        ({"largest": {"S": 1}}, r"largest S must be a whole number in 2\.\.1048576, got 1"),
        ({"largest": {"S": 40}}, r"S must be a whole number in 1\.\.40, got 50"),
    ],
)
def test_bad_input_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        CostCurve(**({"costs": bill((1, {"S": 1}))} | given))


def test_repr_says_what_the_figure_shows():
    assert repr(chapter(S=50)) == (
        "CostCurve(axis='S=T', S=50, d=512, quantity='multiply-adds', crossovers=[3072, 2816, 2560, 10.96, 5.988])"
    )
    assert "S=32, T=32, d=512" in repr(chapter(axis="d"))


@pytest.mark.parametrize("log", [True, False])
@pytest.mark.parametrize("quantity", ["multiply-adds", "numbers kept"])
def test_the_picture_shows_every_cost(log, quantity):
    figure = chapter(S=50, axis="S=T", log=log, quantity=quantity)
    (ax,) = figure.picture().axes
    drawn = [text.get_text() for text in ax.texts]
    wanted = [name for name, parts in figure.counts.items() if not log or sum(parts.values())]
    assert sorted(drawn) == sorted(wanted)
    heights = [text.get_position()[1] for text in ax.texts]
    assert all(b - a > 0.05 for a, b in itertools.pairwise(heights))
    assert ax.get_title() == "S = T = 50, d = 512"
    terms = terms_of(figure, quantity)
    (sizes, heights), *_ = [line.get_data() for line in ax.lines if len(line.get_xdata()) == 200]
    known = ~np.isnan(heights)
    first = [count(next(iter(terms.values())), {"S": x, "T": x, "d": 512}) for x in sizes]
    np.testing.assert_allclose(heights[known], np.array(first)[known], rtol=1e-12)
    dots = [line.get_ydata()[0] for line in ax.lines if line.get_marker() == "o"]
    assert dots == [sum(figure.counts[name].values()) for name in wanted]

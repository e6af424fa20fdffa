"""OtherWeights: its JavaScript answers, measures and searches as attnlib does, and its Python side agrees with both."""

import math
from collections import Counter

import numpy as np
import pytest
import torch
from scipy.spatial.distance import jensenshannon
from scipy.special import expit

from attnlib.course.explanations import divergence, farthest_weights
from attnlib.course.figures import OtherWeights
from benchmarks.examples import stored_figures
from tests.node import run_in_node

ESM = str(OtherWeights._esm)
FILM = {"words": [["a", "superb", "and", "witty"]], "own": [[0, 1, 0, 0]], "votes": [[0, 6, 0, 6]]}

ANSWER = """argument.map(({ own, votes, other, within }) => {
    const before = m.answerOf(own, votes), bounds = m.boundsOf(before.p, within);
    const farthest = m.farthestWeights(own, votes, bounds);
    return { ...m.answerOf(other, votes), far: m.divergence(own, other), farthest, most: m.divergence(own, farthest),
        bounds: bounds.map(String) };
})"""


def cases() -> list[dict]:
    """Sharp weights and flat ones, sure answers and unsure ones, one word to eleven, equal votes among them."""
    generator, made = torch.Generator().manual_seed(0), []
    for n in range(120):
        S, sharp, loud = 1 + n % 11, (0.3, 2.0, 8.0)[n % 3], (0.5, 2.0, 6.0)[n // 3 % 3]
        own, other = (sharp * torch.randn(2, S, generator=generator).double()).softmax(-1)
        votes = loud * torch.randn(S, generator=generator).double()
        if n % 5 == 0:
            votes = votes.round()
        made.append({"own": own, "votes": votes, "other": other, "within": (0.05, 0.3)[n % 2]})
    return made


def check_against_attnlib(given: list[dict]):
    found = run_in_node(ESM, ANSWER, [{k: getattr(v, "tolist", lambda v=v: v)() for k, v in c.items()} for c in given])
    for case, answer in zip(given, found, strict=True):
        own, votes, other, within = case.values()
        z = (own * votes).sum()
        assert answer["z"] == pytest.approx((other * votes).sum().item(), abs=1e-9)
        assert answer["p"] == pytest.approx((other * votes).sum().sigmoid().item(), abs=1e-9)
        assert answer["far"] == pytest.approx(divergence(own, other).item(), abs=1e-9)
        low, high = torch.logit((z.sigmoid() - within).clamp(min=0)), torch.logit((z.sigmoid() + within).clamp(max=1))
        for bound, wanted in zip(answer["bounds"], (low, high), strict=True):
            assert float(bound.replace("Infinity", "inf")) == pytest.approx(wanted.item(), abs=1e-6)
        best, farthest = farthest_weights(own, votes, low, high), torch.tensor(answer["farthest"], dtype=torch.float64)
        assert answer["most"] == pytest.approx(divergence(own, best).item(), abs=1e-6)
        if own.min() > 1e-6:  # where words have no weight, many corners are equally far
            torch.testing.assert_close(farthest, best, rtol=0, atol=1e-6)
        assert farthest.min() >= 0 and farthest.sum().item() == pytest.approx(1)
        assert low - 1e-6 <= (farthest * votes).sum() <= high + 1e-6


def test_javascript_answers_measures_and_searches_as_attnlib_does():
    check_against_attnlib(cases())


def test_javascript_on_the_texts_of_the_chapter():
    given = []
    for state in stored_figures("14", "OtherWeights"):
        for own, votes in zip(state["own"], state["votes"], strict=True):
            own, votes = (torch.tensor(row, dtype=torch.float64) for row in (own, votes))
            even = torch.full_like(own, 1 / len(own))
            given.append({"own": own, "votes": votes, "other": even, "within": state["within"]})
    check_against_attnlib(given)


def test_a_permutation_follows_from_its_seed_and_any_may_come():
    shuffles = "Array.from({ length: argument }, (_, n) => m.shuffled([0.5, 0.3, 0.2], n))"
    rows = run_in_node(ESM, shuffles, 1200)
    assert rows[:5] == run_in_node(ESM, shuffles, 5)
    counted = Counter(map(tuple, rows))
    assert len(counted) == 6 and {tuple(sorted(row)) for row in counted} == {(0.2, 0.3, 0.5)}
    assert min(counted.values()) > 150 and max(counted.values()) < 250


def test_javascript_names_weights_and_answers():
    wanted = {
        "[m.alike([0.5, 0.5], [0.5, 0.5000001]), m.alike([0.5, 0.5], [0.4, 0.6])]": [True, False],
        "[[0.4, 0.6], [0.6, 0.4], [0.5, 0.5]].map((row) => m.permuted(row, [0.6, 0.4]))": [True, False, False],
        "m.evenly(4)": [0.25] * 4,
        "[0.97, 0.93, 0.6, 0.4].map((p) => m.judged(p, 0.98, 0.05))": ["same", "same", "near", "other"],
        "[1, -1, 0].map((z) => m.saidAt(z, ['blame', 'praise']))": ["praise", "blame", "neither"],
    }
    assert run_in_node(ESM, f"[{', '.join(wanted)}]", None) == list(wanted.values())


# --- the Python side


def several(**changes) -> OtherWeights:
    generator = torch.Generator().manual_seed(3)
    lengths = (4, 7, 1)
    given = {
        "words": [[f"w{n}{j}" for j in range(S)] for n, S in enumerate(lengths)],
        "own": [torch.randn(S, generator=generator).softmax(-1) for S in lengths],
        "votes": [3 * torch.randn(S, generator=generator) for S in lengths],
        "answers": [("no", "yes"), ("blame", "praise"), ("no", "yes")],
        "asked": ["", "room?", ""],
    }
    return OtherWeights(**(given | changes))


def assert_results(figure: OtherWeights, weights):
    """Those of numpy and SciPy, from what the page is sent."""
    own, votes = (np.array(of[figure.text]) for of in (figure.own, figure.votes))
    weights = own if weights is None else np.array(weights, dtype=float)
    z = float(weights @ votes)
    np.testing.assert_allclose(figure.weights, weights, atol=1e-12)
    assert figure.log_odds == pytest.approx(z, abs=1e-12)
    assert figure.p == pytest.approx(expit(z), abs=1e-12)
    assert figure.distance == pytest.approx(jensenshannon(own, weights) ** 2, abs=1e-6)
    assert figure.answer == figure.answers[figure.text][int(z > 0)]


def test_results_follow_text_and_weights():
    figure = several()
    assert_results(figure, None)
    figure.edits = {0: [1, 0, 0, 0]}
    assert_results(figure, [1, 0, 0, 0])
    figure.text = 1
    assert_results(figure, None)
    figure.edits = figure.edits | {1: torch.ones(7), "2": (5,)}
    assert_results(figure, [1 / 7] * 7)
    figure.text = 0  # what was done to it is kept
    assert_results(figure, [1, 0, 0, 0])
    figure.text = 2
    assert_results(figure, [1])
    assert figure.edits == {"0": [1, 0, 0, 0], "1": [1 / 7] * 7, "2": [1]}


def test_the_farthest_weights_keep_the_answer_and_follow_the_text():
    for within in (0.05, 0.2):
        figure = several(within=within)
        for text in range(3):
            figure.text, figure.edits = text, {}
            before, farthest = figure.p, figure.farthest
            figure.edits = {text: farthest}
            assert abs(figure.p - before) <= within + 1e-6
            assert sum(weight > 0 for weight in farthest) <= 2 or farthest == figure.own[text]
            # and no word alone that keeps it is farther
            for j in range(len(farthest)):
                figure.edits = {text: [float(j == k) for k in range(len(farthest))]}
                if abs(figure.p - before) < within - 1e-9:
                    alone = figure.distance
                    figure.edits = {text: farthest}
                    assert alone <= figure.distance + 1e-9
    film = OtherWeights(**FILM)
    assert film.farthest == [0, 0, 0, 1]
    film.edits = {0: film.farthest}
    assert (film.answer, film.log_odds, round(film.distance, 6)) == ("praise", 6, round(math.log(2), 6))
    film.edits = {0: [1, 0, 1, 0]}  # nothing that counts
    assert (film.answer, film.p, film.weights) == ("neither", 0.5, [0.5, 0, 0.5, 0])


def test_arrays_and_tensors_are_welcome():
    expected = several()
    own, votes = ([np.array(row) for row in rows] for rows in (expected.own, expected.votes))
    for as_given in (np.asarray, np.ndarray.tolist, lambda row: torch.tensor(row).requires_grad_()):
        figure = several(own=[as_given(row) for row in own], votes=[as_given(row) for row in votes])
        np.testing.assert_allclose(np.concatenate(figure.own), np.concatenate(own), atol=2e-6)
        assert figure.votes == expected.votes
    half = [torch.tensor(row).half() for row in own]  # 16 bits do not add up to 1
    assert [sum(row) for row in several(own=half).own] == pytest.approx([1, 1, 1], abs=1e-5)
    assert several(answers=("no", "yes")).answers == [["no", "yes"]] * 3


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"words": [], "own": [], "votes": []}, "at least one text"),
        ({"words": ["superb"]}, r"words\[0\] must be a list of one or more words, got 'superb'"),
        ({"own": []}, "own must be one row for each of 1 texts, got 0"),
        ({"votes": [[0] * 4] * 2}, "votes must be one row for each of 1 texts, got 2"),
        ({"own": [[1, 0, 0]]}, r"own\[0\] must have shape \(4,\) for 4 words, got \(3,\)"),
        ({"votes": [[0, math.nan, 0, 0]]}, r"votes\[0\] must be finite"),
        ({"own": [[1.5, -0.5, 0, 0]]}, r"own\[0\] must not be negative, got -0.5"),
        ({"own": [[0.5, 0.4, 0, 0]]}, r"own\[0\] must add up to 1, got 0.9: is padding or the question"),
        ({"answers": ("no",)}, "answers must be two words"),
        ({"answers": [("no", "yes")] * 2}, "two for each of 1 texts"),
        ({"asked": ["", "room?"]}, "asked must be .* for each of 1 texts, got 2"),
        ({"within": 0}, "within must lie between 0 and 1, got 0"),
        ({"within": 1.0}, "within must lie between 0 and 1"),
    ],
)
def test_bad_input_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        OtherWeights(**(FILM | changes))


def test_the_picture_shows_weights_votes_and_what_counts():
    words = [["$a$", "<b>", "c", "d"], *several().words[1:]]
    figure = several(words=words, edits={0: [0, 3, 1, 0]})
    picture = figure.picture()
    left, right = picture.axes
    assert [bar.get_width() for bar in left.patches] == figure.weights == [0, 0.75, 0.25, 0]
    assert [line.get_xdata()[0] for line in left.lines] == figure.own[0]
    widths = [bar.get_width() for bar in right.patches]
    assert widths[:4] == figure.votes[0]
    np.testing.assert_allclose(widths[4:], np.multiply(figure.weights, figure.votes[0]))
    assert [label.get_text() for label in left.get_yticklabels()] == words[0]
    assert not any(label.get_parse_math() for label in left.get_yticklabels())
    assert picture._suptitle.get_text().startswith(f"{figure.answer}, p of yes = {figure.p:.2f}")
    figure.text = 1
    assert figure.picture()._suptitle.get_text().startswith("room?  ")
    silent = OtherWeights([["a", "b"]], [[0.5, 0.5]], [[0, 0]])  # no word votes
    for drawn in (picture, silent.picture()):
        drawn.savefig("/dev/null", format="png")


def test_repr_says_what_the_figure_shows():
    figure = several(text=1, edits={1: [1] * 7})
    read = "room? w10 w11 w12 w13 w14 w15 w16"
    shown = f"{figure.answer}, p = {figure.p:.2f}, weights {figure.distance:.2f} nats from the model's own"
    assert repr(figure) == f"OtherWeights({read!r}: {shown})"

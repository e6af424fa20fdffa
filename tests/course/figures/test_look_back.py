"""LookBack: the page, the figure and the equations look at the same states and expect the same next tokens."""

import random

import numpy as np
import pytest
import torch
from scipy.special import softmax

from attnlib.course.figures import LookBack
from attnlib.course.figures.language_model import language_model
from attnlib.course.figures.weights import unpacked
from attnlib.data import load_recall
from attnlib.language_models import RNNLM, AttentionLM
from benchmarks.examples import characters, reader_weights, stored_figures
from tests.course.figures.readers import IN_JAVASCRIPT, by_hand
from tests.node import run_in_node

VOCABULARY = characters("Q?")
ESM = str(LookBack._esm)
TEXT = "to be or not to be?Q"


def look(**changes) -> LookBack:
    weights = reader_weights(len(VOCABULARY), AttentionLM)
    return LookBack(**({"weights": weights, "vocabulary": VOCABULARY, "text": TEXT} | changes))


def test_the_figure_looks_where_the_equations_say():
    rng = random.Random(0)
    weights = reader_weights(len(VOCABULARY), AttentionLM, seed=2)
    figure = look(weights=weights)
    for _ in range(30):
        text = "".join(rng.choices(VOCABULARY, k=rng.randint(1, 64)))
        figure.text, figure.position = text, rng.randrange(64)
        steps = by_hand(weights, [VOCABULARY.index(c) for c in text])
        at = min(figure.position, len(text) - 1)
        assert figure.place == at
        np.testing.assert_allclose(figure.alpha, steps[at]["weights"], atol=1e-10, err_msg=text)
        np.testing.assert_allclose(figure.chances, softmax(steps[at]["logits"]), atol=1e-10)


def test_the_first_place_looks_at_nothing():
    figure = look(position=0)
    assert figure.alpha == [] and sum(figure.chances) == pytest.approx(1)
    assert "looks at nothing" in repr(figure)


def test_a_text_is_read_to_its_end_unless_a_place_is_chosen():
    figure = look()
    for text, place in ((TEXT, len(TEXT) - 1), ("to be", 4), ("é" * 3 + "a" * 80, 63)):
        figure.text = text
        assert figure.place == place == len(figure.alpha) == len(figure.tokens) - 1
    figure.position = 1
    assert figure.alpha == [1.0]


@pytest.mark.parametrize("text", ["", "É"])
def test_nothing_is_found_in_an_empty_text(text):
    figure = look(text=text)
    assert (figure.alpha, figure.chances, figure.place) == ([], [], -1)
    assert "nothing to read" in figure.picture().axes[0].texts[0].get_text()
    assert repr(figure) == "LookBack('')"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"weights": reader_weights(30, RNNLM)}, r"W_c\.weight must be among .* does not look back"),
        ({"vocabulary": VOCABULARY[:-1]}, r"has 30 rows for a vocabulary of 29 tokens"),
    ],
)
def test_what_does_not_fit_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        look(**changes)


def test_picture_and_line_say_where_it_looks_and_what_comes_next():
    figure = look(position=6)
    ax = figure.picture().axes[0]
    assert [bar.get_height() for bar in ax.patches] == figure.alpha
    assert [label.get_text() for label in ax.get_xticklabels() if label.get_weight() == "bold"] == ["o"]
    best, likeliest = int(np.argmax(figure.alpha)), int(np.argmax(figure.chances))
    token = VOCABULARY[likeliest]
    assert f"looks most at {TEXT[best]!r} ({max(figure.alpha):.2f})" in repr(figure)
    assert f"next {token!r} ({max(figure.chances):.2f})" in repr(figure)
    assert f"(place 7): {token.replace(chr(10), '⏎')} {max(figure.chances):.2f}, " in ax.get_title()


# --- the figure of the chapter


def test_the_model_of_the_chapter_runs_in_the_page_as_in_torch():
    """200 rows that it has not learned from, in float32: weights and logits to 1e-5."""
    (chapter,) = stored_figures("06", "LookBack")
    rows = load_recall(sizes=(0, 0, 200), gaps=(5, 30), n_pairs=2).test
    assert rows.vocabulary.tokens == chapter["vocabulary"]
    given = {"weights": chapter["weights"], "runs": rows.tokens.tolist()}
    answers = run_in_node(ESM, f"{IN_JAVASCRIPT}(argument).map((steps) => steps.slice(-3))", given)
    model = language_model({name: weight.float() for name, weight in unpacked(chapter["weights"]).items()})
    output = model(rows.tokens)
    T = rows.tokens.shape[1]
    for n, answer in enumerate(answers):
        for t, step in enumerate(answer, start=T - 3):
            np.testing.assert_allclose(step["logits"], output.logits[n, t], atol=1e-5, rtol=1e-5)
            np.testing.assert_allclose(step["weights"], output.weights[n, t, :t], atol=1e-5)
    logits, weights = (torch.tensor([answer[-1][name] for answer in answers]) for name in ("logits", "weights"))
    assert (logits.argmax(-1) == rows.targets[:, -1]).float().mean() >= 0.85
    assert (weights.argmax(-1) == rows.gold[:, -1]).float().mean() >= 0.75  # or there is little to see

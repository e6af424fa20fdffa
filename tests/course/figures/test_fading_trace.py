"""FadingTrace: its JavaScript finds the traces that attnlib finds, and both find those of the equations."""

import random

import numpy as np
import pytest
from scipy.special import softmax

from attnlib.course.figures import FadingTrace
from attnlib.course.figures.language_model import words_in
from attnlib.language_models import AttentionLM
from benchmarks.examples import characters, reader_weights, stored_figures
from tests.course.figures.readers import by_hand
from tests.node import run_in_node

VOCABULARY = characters("Q")
ESM = str(FadingTrace._esm)
TEXT = "the Queen is ill and so the doctor came to see h"

#: In JavaScript: what the figure computes for every run.
IN_JAVASCRIPT = """(({ weights, runs }) => {
    const model = m.languageModel(m.tensors(weights));
    return runs.map(({ ids, word, other }) => {
        const found = m.twoReadings(model, ids, model.read(ids), word, other);
        return { ...found, before: [...found.before], after: [...found.after] };
    });
})"""


def trace(**changes) -> FadingTrace:
    given = {"weights": reader_weights(len(VOCABULARY)), "vocabulary": VOCABULARY, "text": TEXT, "becomes": "king"}
    return FadingTrace(**(given | changes))


def traced_by_hand(weights: dict, text: str, word: int, other: str) -> tuple[list[float], list[np.ndarray]]:
    """Shares and chances of what comes next, from the equations: each reading whole, from its first character."""
    start, end = words_in(list(text))[word]
    before = np.zeros(weights["W_h.weight"]["shape"][0])
    states, chances = [], []
    for read in (text, text[:start] + other + text[end:]):
        steps = by_hand(weights, [VOCABULARY.index(c) for c in read])
        states.append([before, *(step["state"] for step in steps)][len(read) - (len(text) - end) :])
        chances.append(softmax(steps[-1]["logits"]))
    distances = [np.linalg.norm(a - b) for a, b in zip(*states, strict=True)]
    return [distance / max(distances) for distance in distances], chances


def cases(seed: int, n: int = 20) -> list[tuple[str, int, str]]:
    rng = random.Random(seed)
    found = []
    for _ in range(n):
        words = ["".join(rng.choices(VOCABULARY[2:], k=rng.randint(1, 6))) for _ in range(rng.randint(1, 9))]
        other = "".join(rng.choices(VOCABULARY[2:], k=rng.randint(0, 6)))
        if len(words) == 1 and not other:
            other = "a"
        found.append((" ".join(words), rng.randrange(len(words)), other))
    return [*found, ("a", 0, "b"), ("a b", 0, ""), ("a b", 1, "")]


def test_javascript_and_the_figure_find_the_traces_of_the_equations():
    seen = set()
    for seed, spread in enumerate((0.15, 0.3, 0.6)):
        weights = reader_weights(len(VOCABULARY), spread=spread, seed=seed)
        texts = cases(seed)
        ids = [[VOCABULARY.index(c) for c in text] for text, *_ in texts]
        runs = [
            {"ids": read, "word": words_in(list(text))[word], "other": [VOCABULARY.index(c) for c in other]}
            for read, (text, word, other) in zip(ids, texts, strict=True)
        ]
        answers = run_in_node(ESM, f"{IN_JAVASCRIPT}(argument)", {"weights": weights, "runs": runs})
        figure = trace(weights=weights)
        for (text, word, other), answer in zip(texts, answers, strict=True):
            figure.set_trait("text", text)
            figure.word, figure.becomes = word, other
            shares, chances = traced_by_hand(weights, text, word, other)
            for found in (answer["shares"], figure.shares):
                np.testing.assert_allclose(found, shares, atol=1e-10, err_msg=f"{text!r} {word} {other!r}")
            for found in ([answer["before"], answer["after"]], figure.chances):
                np.testing.assert_allclose(found, chances, atol=1e-10)
            moved = sum(abs(a - b) for a, b in zip(*chances, strict=True)) / 2
            assert answer["moved"] == pytest.approx(moved, abs=1e-10)
            assert figure.moved == pytest.approx(moved, abs=1e-10)
            gone = [k for k in range(len(shares)) if all(share < 0.1 for share in shares[k:])]
            assert answer["left"] == figure.left_after == (gone[0] if gone else None)
            seen.add("gone" if gone else "never")
    assert seen == {"gone", "never"}  # or the test would show little


def test_another_word_may_be_none_at_all_where_nothing_is_left_of_the_text():
    """One word, left out: against it stands the state h_0 = 0, and what a model says that has read nothing."""
    weights = reader_weights(len(VOCABULARY))
    figure = trace(weights=weights, text="word", becomes="")
    run = {"ids": [VOCABULARY.index(c) for c in "word"], "word": [0, 4], "other": []}
    (answer,) = run_in_node(ESM, f"{IN_JAVASCRIPT}(argument)", {"weights": weights, "runs": [run]})
    assert figure.shares == answer["shares"] == [1.0]
    bias = figure._model.W_2.bias.numpy()
    for found in (answer["after"], figure.chances[1]):
        np.testing.assert_allclose(found, softmax(bias), atol=1e-10)


def test_the_same_word_leaves_no_trace():
    figure = trace(becomes="Queen", word=1)
    assert set(figure.shares) == {0.0} and figure.left_after == 0 and figure.moved == 0
    run = {"ids": [1, 2, 0, 3], "word": [0, 2], "other": [1, 2]}
    argument = {"weights": reader_weights(len(VOCABULARY)), "runs": [run]}
    (answer,) = run_in_node(ESM, f"{IN_JAVASCRIPT}(argument)", argument)
    assert (answer["shares"], answer["left"], answer["moved"]) == ([0, 0, 0], 0, 0)


def test_what_is_not_known_is_left_out_and_too_much_is_cut():
    figure = trace(text="thé Queen", becomes="KING", word=1)
    assert "".join(figure.tokens) == "th Queen" and figure.other == []
    figure.text, figure.becomes = "a" * 200, "b" * 200
    assert (len(figure.tokens), len(figure.other), len(figure.shares)) == (96, 24, 1)
    with pytest.raises(ValueError, match=r"W_c\.weight is of a model that looks back"):
        trace(weights=reader_weights(len(VOCABULARY), AttentionLM))


@pytest.mark.parametrize("text", ["", "  ", "É"])
def test_nothing_is_found_without_a_word(text):
    figure = trace(text=text)
    assert (figure.shares, figure.left_after, figure.chances, figure.moved) == ([], None, [], 0.0)
    assert "at least one word" in figure.picture().axes[0].texts[0].get_text()
    figure.text, figure.word = "a b c", 95  # the last
    assert figure.place == (4, 5)


def test_picture_shows_the_bars_from_the_end_of_the_word_on():
    figure = trace(word=1)
    ax = figure.picture().axes[0]
    assert [bar.get_height() for bar in ax.patches] == figure.shares
    assert ax.patches[0].get_x() + ax.patches[0].get_width() / 2 == TEXT.index("n is")
    assert ax.get_title() == "“Queen” becomes “king”"
    bold = [label.get_text() for label in ax.get_xticklabels() if label.get_weight() == "bold"]
    assert "".join(bold) == "Queen" and ax.get_yscale() == "linear"
    figure.logarithmic = True
    assert figure.picture().axes[0].get_yscale() == "log"


# --- the figure of the chapter


def test_the_network_of_the_chapter_forgets_within_words():
    (chapter,) = stored_figures("01", "FadingTrace")
    figure = FadingTrace(*(chapter[name] for name in ("weights", "vocabulary", "text", "word", "becomes")))
    assert figure.left_after <= 15 and figure.moved < 1e-3

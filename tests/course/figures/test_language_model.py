"""The language models of the page: in JavaScript, in attnlib and in loops by hand they read the same."""

import random

import numpy as np
import pytest
import torch

from attnlib.course.figures import FadingTrace
from attnlib.course.figures.language_model import characters_of, language_model, read_of, words_in
from attnlib.course.figures.weights import packed, unpacked
from attnlib.language_models import RNNLM, AttentionLM
from benchmarks.examples import reader_weights
from tests.course.figures.readers import IN_JAVASCRIPT, by_hand
from tests.node import run_in_node

ESM = str(FadingTrace._esm)
V = 11
KINDS = [RNNLM, AttentionLM]


def runs(seed: int, n: int = 12) -> list[list[int]]:
    rng = random.Random(seed)
    return [[rng.randrange(V) for _ in range(rng.randint(1, 30))] for _ in range(n)] + [[3], [0] * 40]


@pytest.mark.parametrize("kind", KINDS)
def test_javascript_and_attnlib_read_what_the_equations_say(kind):
    for seed in range(3):
        weights = reader_weights(V, kind, seed=seed)
        model = language_model(unpacked(weights))
        assert type(model) is kind
        texts = runs(seed)
        answers = run_in_node(ESM, f"{IN_JAVASCRIPT}(argument)", {"weights": weights, "runs": texts})
        for ids, answer in zip(texts, answers, strict=True):
            wanted = by_hand(weights, ids)
            output = model(torch.tensor([ids]))
            for t, (page, hand) in enumerate(zip(answer, wanted, strict=True)):
                for name in ("state", "weights", "logits"):
                    np.testing.assert_allclose(page[name], hand[name], atol=1e-10, err_msg=f"{name} {t} of {ids}")
                np.testing.assert_allclose(output.states[0, t], hand["state"], atol=1e-10)
                np.testing.assert_allclose(output.logits[0, t], hand["logits"], atol=1e-10)
                if kind is AttentionLM:
                    np.testing.assert_allclose(output.weights[0, t, :t], hand["weights"], atol=1e-10)


def test_a_reading_goes_on_from_a_state():
    weights, ids = reader_weights(V), [1, 4, 2, 8, 5, 7]
    expression = """(() => {
        const model = m.languageModel(m.tensors(argument.weights)), first = model.read(argument.ids.slice(0, 2));
        return model.read(argument.ids.slice(2), first.at(-1)).map((state) => [...state]);
    })()"""
    found = run_in_node(ESM, expression, {"weights": weights, "ids": ids})
    np.testing.assert_allclose(found, [step["state"] for step in by_hand(weights, ids)[2:]], atol=1e-10)


def test_a_text_is_read_once_until_it_is_another():
    expression = """(() => {
        const figure = new Map(argument.figure), { known, read } = m.reader(figure);
        const first = read(), again = read() === first;
        figure.set("text", "ba");
        const readings = [first, read()].map(({ ids, states }) => [ids, states.map((h) => [...h])]);
        return [[...known], again, readings, first.strange];
    })()"""
    weights, vocabulary = reader_weights(3), ["<pad>", "a", "b"]
    figure = {"weights": weights, "vocabulary": vocabulary, "text": "abca", "longest": 2}
    known, again, readings, strange = run_in_node(ESM, expression, {"figure": list(figure.items())})
    assert (known, again, strange) == ([["a", 1], ["b", 2]], True, ["c"])
    assert [ids for ids, _ in readings] == [[1, 2], [2, 1]]
    for ids, states in readings:
        np.testing.assert_allclose(states, [step["state"] for step in by_hand(weights, ids)], atol=1e-10)


def test_words_are_found_alike_in_both_languages():
    texts = ["", " ", "a", " a  bc ", "to be,\nor\tnot", "a\u00a0b", "don't"]
    found = run_in_node(ESM, "argument.map((text) => m.wordsIn([...text]))", texts)
    assert [[tuple(word) for word in words] for words in found] == [words_in(list(text)) for text in texts]
    assert words_in(list(" a  bc ")) == [(1, 2), (4, 6)]
    assert words_in(list("to be,\nor\tnot")) == [(0, 2), (3, 6), (7, 9), (10, 13)]
    assert words_in(list("a\u00a0b")) == [(0, 3)]


def test_what_is_read_is_known_and_not_too_long_in_both_languages():
    texts = ["", "abc", "xaxbx", "a" * 9, "xxxxxab", "__proto__", "a😀b"]
    ids = {"a": 0, "b": 1, "p": 2, "😀": 3}
    expression = "argument.texts.map((text) => m.readable(text, new Map(argument.known), 5).tokens)"
    found = run_in_node(ESM, expression, {"texts": texts, "known": list(ids.items())})
    assert found == [read_of(text, ids, 5) for text in texts]
    assert found[2:6] == [["a", "b"], ["a"] * 5, ["a", "b"], ["p"]]


@pytest.mark.parametrize(
    ("tokens", "rows", "message"),
    [
        (["a", "a"], 2, r"twice: \['a'\]"),
        (["a", "b"], 3, "embedding.weight has 3 rows for a vocabulary of 2 tokens"),
        (["the", "cat"], 2, r"typed in characters.*\['the', 'cat'\]"),
    ],
)
def test_a_vocabulary_that_does_not_fit_is_refused(tokens, rows, message):
    with pytest.raises(ValueError, match=message):
        characters_of(tokens, rows)
    assert characters_of(["<pad>", "a"], 2) == {"a": 1}


def test_weights_of_another_model_are_refused():
    weights = unpacked(reader_weights(V))
    with pytest.raises(ValueError, match=r"W_h\.weight must be among"):
        language_model({name: weight for name, weight in weights.items() if name != "W_h.weight"})
    with pytest.raises(ValueError, match=r"W_2.weight.*\[10, 12\].*\[11, 12\]"):
        language_model(weights | unpacked({"W_2.weight": packed("W_2", torch.zeros(10, 12))}))
    with pytest.raises(ValueError, match=r"W_2\.bias must be finite"):
        language_model(weights | {"W_2.bias": torch.full((V,), torch.inf)})
    with pytest.raises(ValueError, match=r"attention\.score\.W\.weight"):  # another score
        language_model(weights | {"attention.score.W.weight": torch.zeros(12, 12), "W_c.weight": torch.zeros(V, 12)})

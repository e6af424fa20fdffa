"""How good, and how right an alignment is: by hand, by counting, and by sacrebleu itself."""

import collections
import itertools
import math
import random
import re

import pytest
import sacrebleu
import torch
from torch.testing import assert_close

from attnlib.language_models import RNNLM
from attnlib.training.metrics import (
    BLEU,
    PointingGame,
    alignment_error_rate,
    bleu,
    exact_match,
    hard_alignment,
    nats_per_token,
    perplexity,
    pointing_game,
)


def test_perplexity_counts_equally_likely_tokens():
    assert_close([perplexity(-math.log(1 / n)) for n in (1, 2, 65)], [1.0, 2.0, 65.0])
    assert perplexity(1000.0) == math.inf


@pytest.mark.parametrize("shape", [(2, 50), (100, 1)])
def test_nats_of_several_texts_at_once_are_refused(without_shape_checks, shape):
    with pytest.raises(ValueError, match="one text") as error:
        nats_per_token(RNNLM(vocab_size=5, d_embed=3, d_hidden=4), torch.zeros(shape, dtype=torch.long), streams=1)
    assert str(shape) in str(error.value)


# --- exact_match ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("predictions", "references", "expected"),
    [
        ([[5, 6], [6, 5], [7], [7, 8], []], [[5, 6], [5, 6], [7, 8], [7], []], 2 / 5),
        ([["the", "cat"], ["a"], ["b"]], [("the", "cat"), ("b",), ("b",)], 2 / 3),
        (["2026-11-21", "2026-11-2"], ["2026-11-21", "2026-11-22"], 1 / 2),
        (torch.tensor([[1, 2], [3, 4], [5, 6]]), [(1, 2), (3, 5), (5, 6)], 2 / 3),
        ([torch.tensor([1, 2]), torch.tensor([3, 4]), torch.tensor([5])], [[1, 2], [3, 5], [5]], 2 / 3),
    ],
)
def test_exact_match_by_hand(predictions, references, expected):
    assert_close(exact_match(predictions, references), expected)


@pytest.mark.parametrize("judge", [exact_match, bleu])
@pytest.mark.parametrize(
    ("predictions", "references", "message"),
    [
        ([], [], "got 0 predictions, 0 references"),
        (["a"], ["a", "b"], "got 1 predictions, 2 references"),
        ("abc", ["a", "b", "c"], "predictions must be a sequence of sequences, got the string 'abc'"),
        (["a", "b", "c"], "abc", "references must be a sequence of sequences, got the string 'abc'"),
    ],
)
def test_what_comes_without_its_reference_is_refused(judge, predictions, references, message):
    with pytest.raises(ValueError, match=message):
        judge(predictions, references)


# --- bleu -------------------------------------------------------------------------------------------


def counted_bleu(predictions, references) -> float:
    """exp(min(0, 1 - r/c) + 1/4 Σ_n log p_n), p_n = right n-grams over n-grams; the k-th 0 becomes 2^-k of one."""
    r = c = zeros = 0
    right, total = [0] * 4, [0] * 4
    for prediction, reference in zip(predictions, references, strict=True):
        c, r = c + len(prediction), r + len(reference)
        for n in (1, 2, 3, 4):
            left = [tuple(reference[k : k + n]) for k in range(len(reference) - n + 1)]
            for k in range(len(prediction) - n + 1):
                total[n - 1] += 1
                gram = tuple(prediction[k : k + n])
                if gram in left:  # each n-gram of the reference can be matched once
                    left.remove(gram)
                    right[n - 1] += 1
    if not all(total) or not any(right):
        return 0.0
    log_p = 0.0
    for n in range(4):
        zeros += right[n] == 0
        log_p += math.log((right[n] or 0.5**zeros) / total[n])
    return 100 * math.exp(min(0.0, 1 - r / c) + log_p / 4)


def words(rng, low, high) -> list[str]:
    return [rng.choice(["a", "b", "c", "the"]) for _ in range(rng.randint(low, high))]


@pytest.mark.parametrize("n", [1, 2, 7])
@pytest.mark.parametrize("lengths", [(1, 5), (4, 9), (9, 15)])
def test_bleu_equals_a_count_by_hand(n, lengths):
    rng = random.Random(0)
    scores = set()
    for _ in range(25):
        predictions = [words(rng, *lengths) for _ in range(n)]
        references = [[*p[: rng.randint(0, len(p))], *words(rng, *lengths)] for p in predictions]
        found = bleu([" ".join(p) for p in predictions], [" ".join(p) for p in references])
        assert_close(found.score, counted_bleu(predictions, references), rtol=1e-9, atol=1e-9)
        scores.add(found.score)
    assert len(scores) > 9


def test_bleu_is_the_number_of_sacrebleu_with_its_signature():
    predictions = ["The cat sat on the mat.", "It's 3.5 km away, isn't it?", "No."]
    references = ["The cat is sitting on the mat.", "Isn't it 3.5 km away?", "No, never."]
    found = bleu(predictions, references)
    assert isinstance(found, BLEU)
    assert_close(found.score, sacrebleu.corpus_bleu(predictions, [references]).score)
    version = sacrebleu.__version__
    assert found.signature == f"nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:{version}"
    assert_close(bleu(references, references).score, 100.0)
    assert bleu(tuple(predictions), tuple(references)) == found


def test_bleu_of_characters():
    predictions, references = ["猫が座った", "犬"], ["猫が座っている", "犬が"]
    found = bleu(predictions, references, tokenize="char")
    assert_close(found.score, counted_bleu([*map(list, predictions)], [*map(list, references)]))
    assert "|tok:char|" in found.signature
    assert found.score > 40 and bleu(predictions, references).score == 0  # each sentence one word


@pytest.mark.parametrize(
    ("predictions", "references", "tokenize", "message"),
    [
        (["a"], ["a"], "words", "unknown tokenizer 'words', known are .*13a.*char"),
        (["a"], ["a"], "flores200", "unknown tokenizer 'flores200'"),  # it would be downloaded
        (["a"], [["a", "b"]], "13a", r"a string with one string, got \['a'"),
        ([["a"]], ["a"], "13a", r"a string with one string, got \['a'"),
    ],
)
def test_what_bleu_cannot_count_is_refused(predictions, references, tokenize, message, without_shape_checks):
    with pytest.raises(ValueError, match=message):
        bleu(predictions, references, tokenize)


# --- hard_alignment -----------------------------------------------------------------------------------


NAN = torch.nan


@pytest.mark.parametrize(
    ("weights", "n_target", "n_source", "links"),
    [
        # of equal weights the first is linked
        ([[0.2, 0.4, 0.4], [1 / 3, 1 / 3, 1 / 3], [0.5, 0.0, 0.5]], 3, 3, {(0, 1), (1, 0), (2, 0)}),
        # to the source token that gets the most of this target token, not to the target token that gives the most
        ([[0.1, 0.9, 0.0], [0.3, 0.3, 0.4], [0.2, 0.8, 0.0], [0.9, 0.1, 0.0]], 4, 3, {(0, 1), (1, 2), (2, 1), (3, 0)}),
        # a token without weight is linked to nothing
        ([[0.0, 0.0, 0.9], [0.0, 0.3, 0.7]], 2, 2, {(1, 1)}),
        ([[0.0, 0.0]] * 3, 3, 2, set()),
        # weights on padding are not looked at
        ([[0.4, 0.6, 9.0, NAN], [0.9, 0.1, 9.0, 0.0], [NAN] * 4], 2, 2, {(0, 1), (1, 0)}),
    ],
)
def test_links_by_hand(weights, n_target, n_source, links):
    found = hard_alignment(torch.tensor(weights), n_target, n_source)
    assert type(found) is frozenset and found == links
    assert all(type(index) is int for link in found for index in link)


@pytest.mark.parametrize(
    ("weights", "n_target", "n_source", "message"),
    [
        *(
            (torch.ones(3, 5), *numbers, r"got weights \(3, 5\) with {} and {}".format(*numbers))
            for numbers in ((-1, 2), (4, 2), (3, 0), (3, -1), (3, 6))
        ),
        *((torch.ones(shape), 1, 1, "need weights") for shape in [(), (3,), (2, 3, 5)]),
        (torch.tensor([[1.0, 0.0], [1.0, NAN], [1.0, 0.0], [NAN, 1.0]]), 4, 2, r"\(4, 2\) are NaN .* \[1, 3\]"),
    ],
)
def test_what_has_no_links_is_refused(weights, n_target, n_source, message, without_shape_checks):
    with pytest.raises(ValueError, match=message):
        hard_alignment(weights, n_target, n_source)


# --- alignment_error_rate ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("predicted", "sure", "possible", "expected"),
    [
        ([{(0, 0)}, {(1, 1)}], [{(1, 1)}, {(0, 0)}], None, 1.0),  # links of one sentence do not help another
        ([set()], [{(0, 0)}], [{(0, 0)}], 1.0),
        ([{(0, 0)}], [set()], [{(0, 0)}], 0.0),
        ([{(0, 0), (1, 1)}], [set()], [{(0, 0)}], 1 - 1 / 2),
    ],
)
def test_alignment_error_rate_by_hand(predicted, sure, possible, expected):
    assert_close(alignment_error_rate(predicted, sure, possible), expected)


def test_alignment_error_rate_equals_a_count_link_by_link():
    rng = random.Random(0)
    cells = list(itertools.product(range(3), range(4)))
    for _ in range(50):
        corpora = collections.defaultdict(list)
        in_s = in_p = total = 0
        for _ in range(4):
            kinds = {cell: (rng.random() < 0.3, rng.choice(["sure", "possible", "no", "no"])) for cell in cells}
            corpora["predicted"].append({cell for cell, (said, _) in kinds.items() if said})
            corpora["sure"].append({cell for cell, (_, kind) in kinds.items() if kind == "sure"})
            corpora["possible"].append({cell for cell, (_, kind) in kinds.items() if kind != "no"})
            for said, kind in kinds.values():
                in_s += said and kind == "sure"
                in_p += said and kind != "no"
                total += said + (kind == "sure")
        assert_close(alignment_error_rate(**corpora), 1 - (in_s + in_p) / total)
        precision_and_recall = alignment_error_rate(corpora["predicted"], corpora["sure"])
        n_a, n_s = (sum(map(len, corpora[name])) for name in ("predicted", "sure"))
        p, r = in_s / n_a, in_s / n_s
        assert_close(precision_and_recall, 1 - 2 * p * r / (p + r) if in_s else 1.0)  # 1 - F1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([set()], [set()], [{(0, 0)}]), "no link is predicted or sure in 1 sentences"),
        (([], [], []), "got 0 predicted, 0 sure, 0 possible"),
        (([set()], [{(0, 0)}], [{(0, 0)}, set()]), "got 1 predicted, 1 sure, 2 possible"),
        (([set(), set()], [{(0, 0)}]), "got 2 predicted, 1 sure, 1 possible"),
        (
            ([set()] * 2, [{(0, 0)}, {(2, 1), (1, 1), (0, 1)}], [{(0, 0)}, {(0, 1)}]),
            r"in sentence 1 .* \[\(1, 1\), \(2, 1\)",
        ),
    ],
)
def test_links_that_cannot_be_judged_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        alignment_error_rate(*arguments)


# --- pointing_game ----------------------------------------------------------------------------------


def test_pointing_by_hand():
    weights = torch.tensor([[0.6, 0.3, 0.1], [0.2, 0.3, 0.5], [0.1, 0.8, 0.1], [0.4, 0.4, 0.2], [0.0, 0.0, 0.0]])
    targets = torch.tensor([[1, 0, 0], [1, 1, 0], [0, 1, 1], [0, 1, 0], [1, 1, 1]]).bool()
    found = pointing_game(weights, targets)
    assert isinstance(found, PointingGame)
    assert_close(found.accuracy, 2 / 5)  # the first, the third; the fourth points at the first of two; the last nowhere
    assert_close(found.chance, (1 + 2 + 2 + 1 + 3) / 15)
    assert pointing_game(weights[:1].half(), targets[:1]) == (1.0, pytest.approx(1 / 3))


@pytest.mark.parametrize(
    ("weights", "targets", "message"),
    [
        *(
            (torch.rand(a), torch.ones(b).bool(), re.escape(f"got {a} and {b}"))
            for a, b in [((2, 3), (2, 4)), ((2, 3), (3, 3)), ((0, 3), (0, 3)), ((3,), (3,)), ((1, 2, 3), (1, 2, 3))]
        ),
        (torch.rand(4, 3), torch.ones(4, 3), r"targets are boolean, .* got torch\.float32"),
        (torch.rand(3, 1), torch.tensor([[True], [False], [True]]), r"no region is right in the steps \[1\]"),
        (torch.tensor([[0.5], [NAN]]), torch.ones(2, 1).bool(), r"weights \(2, 1\) are NaN in the rows \[1\]"),
    ],
)
def test_games_that_cannot_be_judged_are_refused(weights, targets, message, without_shape_checks):
    with pytest.raises(ValueError, match=message):
        pointing_game(weights, targets)

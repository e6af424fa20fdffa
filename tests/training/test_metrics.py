"""Numbers that padding cannot touch, and how right an alignment is: by hand, by counting, and by sacrebleu itself."""

import collections
import itertools
import math
import random

import pytest
import sacrebleu
import torch
from torch.testing import assert_close

from attnlib.training.losses import cross_entropy
from attnlib.training.metrics import (
    BLEU,
    PointingGame,
    alignment_error_rate,
    bleu,
    exact_match,
    hard_alignment,
    perplexity,
    pointing_game,
)
from tests import oracles

B, T, V = 2, 3, 7


def draw():
    return torch.randn(B, T, V).double(), torch.randint(V, (B, T)), torch.tensor([[True] * 3, [True, False, False]])


@pytest.mark.parametrize("masked", [False, True])
def test_cross_entropy_equals_its_formula(masked):
    logits, targets, mask = draw()
    mask = mask if masked else torch.ones(B, T, dtype=torch.bool)
    expected = oracles.cross_entropy(logits.view(-1, V).tolist(), targets.view(-1).tolist(), mask.view(-1).tolist())
    mean, n_tokens = cross_entropy(logits, targets, mask if masked else None)
    assert_close(mean.item(), expected[0])
    assert n_tokens == expected[1] == (4 if masked else 6)
    assert type(n_tokens) is int


@pytest.mark.parametrize("shape", [(), (5,), (2, 3, 5)])
def test_cross_entropy_takes_any_leading_dimensions(shape):
    logits, targets = torch.randn(*shape, V).double(), torch.randint(V, shape)
    mean, n_tokens = cross_entropy(logits, targets)
    picked = logits.log_softmax(-1).gather(-1, targets[..., None])
    assert_close(mean, -picked.mean())
    assert n_tokens == math.prod(shape)


def test_what_stands_on_padding_changes_neither_the_loss_nor_a_gradient():
    logits, targets, mask = draw()
    results = []
    for logit, target in ((0.0, 0), (1e6, 3)):
        x = torch.where(mask[..., None], logits, torch.tensor(logit).double()).requires_grad_()
        mean, n_tokens = cross_entropy(x, targets.masked_fill(~mask, target), mask)
        mean.backward()
        results.append((mean.detach(), torch.tensor(n_tokens), x.grad))
        assert (x.grad[~mask] == 0).all()
    assert_close(results[0], results[1])


def test_more_padding_changes_nothing():
    logits, targets, mask = draw()
    wider = [torch.cat([x, torch.zeros_like(x)], dim=1) for x in (logits, targets, mask)]
    assert_close(cross_entropy(*wider), cross_entropy(logits, targets, mask))


def test_extreme_logits_stay_finite():
    logits = torch.tensor([[1e4, -1e4]])
    assert_close(cross_entropy(logits, torch.tensor([0]))[0], torch.tensor(0.0))
    assert_close(cross_entropy(logits, torch.tensor([1]))[0], torch.tensor(2e4))


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (((2, 3, 7), (2, 4), None), r"\(2, 3, 7\) and \(2, 4\)"),
        (((2, 3, 7), (2, 3, 7), None), r"\(2, 3, 7\) and \(2, 3, 7\)"),
        (((2, 3, 7), (3,), None), r"\(2, 3, 7\) and \(3,\)"),
        (((2, 3, 7), (2, 3), (2, 1)), r"mask \(2, 1\) and targets \(2, 3\)"),
        (((2, 3, 7), (2, 3), (2,)), r"mask \(2,\) and targets \(2, 3\)"),
        (((0, 7), (0,), None), "no token to judge"),
    ],
)
def test_what_does_not_fit_is_refused(shapes, message):
    logits, targets, mask = shapes
    mask = None if mask is None else torch.ones(mask, dtype=torch.bool)
    with pytest.raises(ValueError, match=message):
        cross_entropy(torch.zeros(logits), torch.zeros(targets, dtype=torch.long), mask)


def test_all_padding_has_no_loss():
    logits, targets, mask = draw()
    with pytest.raises(ValueError, match="no token to judge"):
        cross_entropy(logits, targets, torch.zeros_like(mask))


def test_perplexity_counts_equally_likely_tokens():
    for n in (1, 2, 65):
        nats, _ = cross_entropy(torch.zeros(5, n).double(), torch.zeros(5, dtype=torch.long))
        assert_close(perplexity(nats.item()), float(n))


def test_mask_of_numbers_is_refused(without_shape_checks):
    logits, targets, mask = draw()
    for numbers in (mask.long(), mask.double()):
        with pytest.raises(ValueError, match=f"a mask is boolean, .* got {numbers.dtype}"):
            cross_entropy(logits, targets, numbers)


@pytest.mark.parametrize(("token", "named"), [(V, r"0\.\.6, got \d\.\.7"), (-1, r"-1\.\."), (-100, r"-100\.\.")])
def test_target_outside_the_vocabulary_is_refused_unless_it_is_padding(token, named):
    logits, targets, mask = draw()
    spoilt = torch.where(mask, targets, torch.tensor(token))
    assert_close(cross_entropy(logits, spoilt, mask), cross_entropy(logits, targets, mask))
    with pytest.raises(ValueError, match=f"targets must lie in .*{named}"):
        cross_entropy(logits, spoilt)
    with pytest.raises(ValueError, match=f"targets must lie in .*{named}"):
        cross_entropy(logits, spoilt, ~mask)


def test_targets_may_be_short_integers():
    logits, targets, mask = draw()
    assert_close(cross_entropy(logits, targets.int(), mask), cross_entropy(logits, targets, mask))


# --- exact_match ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("predictions", "references", "expected"),
    [
        ([[5, 6]], [[5, 6]], 1.0),
        ([[5, 6]], [[6, 5]], 0.0),
        ([[5, 6], [7]], [[5, 6], [7, 8]], 1 / 2),
        ([[7, 8], []], [[7], []], 1 / 2),
        ([[], [1], [2], [3], [4]], [[1], [1], [0], [3], [0]], 2 / 5),
        ([["the", "cat"], ["a"], ["b"]], [("the", "cat"), ("b",), ("b",)], 2 / 3),
        (["2026-11-21", "2026-11-2"], ["2026-11-21", "2026-11-22"], 1 / 2),
    ],
)
def test_exact_match_by_hand(predictions, references, expected):
    assert_close(exact_match(predictions, references), expected)


def test_exact_match_takes_tensors():
    predictions, references = torch.tensor([[1, 2], [3, 4], [5, 6]]), torch.tensor([[1, 2], [3, 5], [5, 6]])
    assert_close(exact_match(predictions, references), 2 / 3)
    assert_close(exact_match(list(predictions), references.tolist()), 2 / 3)


def test_exact_match_needs_pairs():
    for predictions, references, message in (
        ([], [], "got 0 predictions, 0 references"),
        ([[1]], [[1], [2]], "got 1 predictions, 2 references"),
        ([[1], [2]], [[1]], "got 2 predictions, 1 references"),
        ("abc", [["a"], ["b"], ["c"]], "predictions must be a sequence of sequences, got the string 'abc'"),
        ([["a"], ["b"], ["c"]], "abc", "references must be a sequence of sequences, got the string 'abc'"),
    ):
        with pytest.raises(ValueError, match=message):
            exact_match(predictions, references)


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
    mean = sum(bleu([p], [r]).score for p, r in zip(predictions, references, strict=True)) / 3
    assert abs(found.score - mean) > 1  # of the corpus, not of the sentences
    assert_close(bleu(predictions[::-1], references[::-1]).score, found.score)
    assert bleu(tuple(predictions), tuple(references)) == found


def test_bleu_of_predictions_against_references_and_not_the_other_way_round():
    short, long = ["the cat sat on the mat"], ["the cat sat on the mat in the hall"]
    assert_close(bleu(short, long).score, 100 * math.exp(1 - 9 / 6))  # all right, but short
    precision = (6 / 9) * (5 / 8) * (4 / 7) * (3 / 6)
    assert_close(bleu(long, short).score, 100 * precision**0.25)


def test_bleu_of_characters():
    predictions, references = ["猫が座った", "犬"], ["猫が座っている", "犬が"]
    found = bleu(predictions, references, tokenize="char")
    assert_close(found.score, counted_bleu([*map(list, predictions)], [*map(list, references)]))
    assert "|tok:char|" in found.signature
    assert found.score > 40 and bleu(predictions, references).score == 0  # each sentence one word


def test_bleu_needs_pairs_and_a_tokenizer():
    for predictions, references, message in (
        ([], [], "got 0 predictions, 0 references"),
        (["a"], ["a", "b"], "got 1 predictions, 2 references"),
        (["a", "b"], ["a"], "got 2 predictions, 1 references"),
        ("a b", ["a", "b", "c"], "predictions must be a sequence of sequences, got the string 'a b'"),
    ):
        with pytest.raises(ValueError, match=message):
            bleu(predictions, references)
    for tokenize in ("words", "flores200"):  # the second would be downloaded
        with pytest.raises(ValueError, match=rf"unknown tokenizer '{tokenize}', known are .*13a.*char"):
            bleu(["a"], ["a"], tokenize=tokenize)


@pytest.mark.parametrize(("predictions", "references"), [(["a"], [["a", "b"]]), ([["a"]], ["a"])])
def test_bleu_has_one_reference_for_each(predictions, references, without_shape_checks):
    with pytest.raises(ValueError, match=r"a string with one string, got \['a'"):
        bleu(predictions, references)


# --- hard_alignment -----------------------------------------------------------------------------------


def test_links_equal_a_search_by_hand():
    for n_target, n_source in itertools.product(range(6), range(1, 8)):
        weights = torch.rand(5, 7).softmax(-1)
        expected = set()
        for i in range(min(n_target, 5)):
            best = 0
            for j in range(n_source):
                best = j if weights[i, j] > weights[i, best] else best
            expected.add((i, best))
        found = hard_alignment(weights, n_target, n_source)
        assert type(found) is frozenset and found == expected and len(found) == n_target
        assert all(type(index) is int for link in found for index in link)


def test_of_equal_weights_the_first_is_linked():
    weights = torch.tensor([[0.2, 0.4, 0.4], [1 / 3, 1 / 3, 1 / 3], [0.5, 0.0, 0.5]])
    assert hard_alignment(weights, 3, 3) == {(0, 1), (1, 0), (2, 0)}


def test_token_without_weight_is_linked_to_nothing():
    assert hard_alignment(torch.tensor([[0.0, 0.0, 0.9], [0.0, 0.3, 0.7]]), 2, 2) == {(1, 1)}
    assert hard_alignment(torch.zeros(3, 2), 3, 2) == frozenset()


def test_weights_on_padding_are_not_looked_at():
    weights = torch.tensor([[0.4, 0.6, 9.0, torch.nan], [0.9, 0.1, 9.0, 0.0], [torch.nan] * 4])
    assert hard_alignment(weights, 2, 2) == {(0, 1), (1, 0)}


@pytest.mark.parametrize(("n_target", "n_source"), [(-1, 2), (4, 2), (3, 0), (3, -1), (3, 6)])
def test_numbers_of_tokens_that_do_not_fit_are_refused(n_target, n_source):
    with pytest.raises(ValueError, match=rf"got weights \(3, 5\) with {n_target} and {n_source}"):
        hard_alignment(torch.rand(3, 5), n_target, n_source)


def test_what_is_no_table_of_weights_is_refused(without_shape_checks):
    for shape in ((), (3,), (2, 3, 5)):
        with pytest.raises(ValueError, match="need weights"):
            hard_alignment(torch.rand(shape), 1, 1)
    weights = torch.rand(4, 5)
    weights[1, 2] = weights[3, 0] = torch.nan
    with pytest.raises(ValueError, match=r"weights \(4, 5\) are NaN in the rows \[1, 3\]"):
        hard_alignment(weights, 4, 5)
    assert hard_alignment(weights, 3, 2) == hard_alignment(weights.nan_to_num(-1), 3, 2)


# --- alignment_error_rate ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("predicted", "sure", "possible", "expected"),
    [
        ([{(0, 0)}], [{(0, 0)}], [{(0, 0)}], 0.0),
        ([{(0, 0)}], [{(0, 0)}], [{(0, 0), (0, 1), (1, 1)}], 0.0),  # possible links may be left out
        ([{(0, 0), (0, 1)}], [{(0, 0)}], [{(0, 0), (0, 1)}], 0.0),  # ... or found
        ([{(0, 1)}], [{(1, 0)}], [{(1, 0)}], 1.0),  # (i, j) is not (j, i)
        ([{(0, 1)}], [{(0, 0)}], [{(0, 0), (0, 1)}], 1 - 1 / 2),
        ([{(0, 0), (1, 2)}], [{(0, 0), (1, 1)}], [{(0, 0), (1, 1), (2, 2)}], 1 - 2 / 4),
        ([set()], [{(0, 0)}], [{(0, 0)}], 1.0),
        ([{(0, 0)}], [set()], [{(0, 0)}], 0.0),
        ([{(0, 0), (1, 1)}], [set()], [{(0, 0)}], 1 - 1 / 2),
        # 3 sentences: |A ∩ S| = 1 + 0 + 0, |A ∩ P| = 1 + 1 + 0, |A| = 1 + 2 + 0, |S| = 1 + 1 + 2
        (
            [{(0, 0)}, {(0, 1), (5, 5)}, set()],
            [{(0, 0)}, {(0, 0)}, {(0, 0), (1, 1)}],
            [{(0, 0)}, {(0, 0), (0, 1)}, {(0, 0), (1, 1)}],
            1 - 3 / 7,
        ),
    ],
)
def test_alignment_error_rate_by_hand(predicted, sure, possible, expected):
    assert_close(alignment_error_rate(predicted, sure, possible), expected)
    frozen = [[frozenset(links) for links in corpus] for corpus in (predicted, sure, possible)]
    assert_close(alignment_error_rate(*frozen), expected)


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


def test_links_of_one_sentence_do_not_help_another():
    assert alignment_error_rate([{(0, 0)}, {(1, 1)}], [{(1, 1)}, {(0, 0)}]) == 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([set()], [set()], [{(0, 0)}]), "no link is predicted or sure in 1 sentences"),
        (([], [], []), "got 0 predicted, 0 sure, 0 possible"),
        (([set()], [{(0, 0)}, set()], [{(0, 0)}, set()]), "got 1 predicted, 2 sure, 2 possible"),
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
    assert pointing_game(weights[:1], targets[:1]) == (1.0, pytest.approx(1 / 3))
    assert pointing_game(weights[1:2], targets[1:2]) == (0.0, pytest.approx(2 / 3))


def test_pointing_equals_a_search_by_hand():
    weights, targets = torch.rand(101, 7).softmax(-1), torch.rand(101, 7) < 0.3
    targets[torch.arange(101), torch.randint(7, (101,))] = True
    hits = shares = 0
    for row, target in zip(weights.tolist(), targets.tolist(), strict=True):
        hits += target[max(range(7), key=row.__getitem__)]
        shares += sum(target) / 7
    found = pointing_game(weights, targets)
    assert_close(found, (hits / 101, shares / 101))
    assert abs(found.accuracy - found.chance) < 0.15  # weights drawn blindly


def test_pointing_in_half_precision():
    targets = torch.ones(3, 2, dtype=torch.bool)
    assert pointing_game(torch.rand(3, 2).half() + 0.1, targets) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("weights", "targets"), [((2, 3), (2, 4)), ((2, 3), (3, 3)), ((0, 3), (0, 3)), ((3,), (3,)), ((1, 2, 3), (1, 2, 3))]
)
def test_games_that_do_not_fit_are_refused(weights, targets, without_shape_checks):
    with pytest.raises(ValueError, match="need weights and targets") as error:
        pointing_game(torch.rand(weights), torch.ones(targets, dtype=torch.bool))
    assert str(weights) in str(error.value) and str(targets) in str(error.value)


def test_games_that_cannot_be_judged_are_refused(without_shape_checks):
    weights, targets = torch.rand(4, 3), torch.ones(4, 3, dtype=torch.bool)
    with pytest.raises(ValueError, match=r"targets are boolean, .* got torch\.float32"):
        pointing_game(weights, targets.float())
    targets[1] = targets[3] = False
    with pytest.raises(ValueError, match=r"no region is right in the steps \[1, 3\]"):
        pointing_game(weights, targets)
    weights[2, 0] = torch.nan
    with pytest.raises(ValueError, match=r"weights \(4, 3\) are NaN in the rows \[2\]"):
        pointing_game(weights, torch.ones_like(targets))

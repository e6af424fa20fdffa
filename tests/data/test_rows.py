"""Every question asked in a row has its answer in the row, where the gold place says."""

import collections
import itertools

import pytest

from attnlib.data.rows import FILLERS, KEYS, RELATIONS, VALUES, load_recall, load_relations, load_repeats
from tests.data.loaders import SIZES, corpus, whole_rows, words


@pytest.mark.parametrize(
    ("load", "n_pairs", "low", "high"),
    [
        (lambda: corpus("recall"), 1, 5, 60),
        (lambda: load_recall(sizes=(200, 20, 20), gaps=(2, 9), n_pairs=3), 3, 2, 9),
    ],
)
def test_recall_can_be_answered(load, n_pairs, low, high):
    gaps, ranks, used, behind_filler = set(), set(), set(), 0
    T = high + 2 * n_pairs + 2
    for part in load():
        assert part.tokens.shape[1] == T
        for row, mask, gold in zip(whole_rows(part), part.mask.tolist(), part.gold.tolist(), strict=True):
            text = "".join(words(part, row))
            facts, question = text.split("?")
            pairs = {facts[j]: facts[j + 1] for j in range(len(facts)) if facts[j] in KEYS}
            assert len(pairs) == n_pairs == len(set(pairs.values())) == sum(c in KEYS for c in facts)
            assert sorted(pairs.values()) == sorted(c for c in facts if c in VALUES)
            assert question == question[0] + pairs[question[0]]
            assert mask == [False] * (T - 1) + [True]
            assert gold[:-1] == [-1] * (T - 1) and text[gold[-1]] == text[-1] and text[gold[-1] - 1] == question[0]
            gap = len(facts) - 1 - gold[-1]  # what stands between the value and the question mark
            assert gap == T - 3 - gold[-1]
            gaps.add(gap)
            ranks.add(list(pairs).index(question[0]))
            others = [facts.index(key) for key in pairs if key != question[0]]
            behind_filler += sum(k > 0 and facts[k - 1] in FILLERS for k in others)
            used |= set(text)
    assert gaps == set(range(low, high + 1)) and ranks == set(range(n_pairs))
    assert behind_filler > 100 * (n_pairs > 1) - 1  # the other pairs stand anywhere among the fillers
    assert used == {*KEYS, *VALUES, *FILLERS, "?"}


def test_recall_with_no_gap_and_with_every_key():
    tight = load_recall(sizes=(9, 0, 0), gaps=(0, 0)).train
    assert tight.tokens.shape == (9, 4) and tight.gold[:, -1].tolist() == [1] * 9
    full = load_recall(sizes=(9, 0, 0), gaps=(3, 5), n_pairs=8).train
    assert all(set(words(full, row)) >= set(KEYS) for row in whole_rows(full))


def test_repeats_repeat():
    periods = collections.Counter()
    for part in corpus("repeats"):
        assert part.tokens.shape[1] == 32 and len(part.vocabulary) == 32
        for row, mask, gold in zip(whole_rows(part), part.mask.tolist(), part.gold.tolist(), strict=True):
            period = next(p for p in range(1, 33) if all(row[t] == row[t % p] for t in range(33)))
            periods[period] += 1
            assert len(set(row[:period])) == period
            for t in range(32):
                seen = row[t] in row[:t]
                assert mask[t] == seen
                copies = [j for j in range(1, t + 1) if row[j - 1] == row[t]]
                assert gold[t] == (copies[-1] if seen else -1)
                if seen:  # the token behind every earlier copy is the answer, and no other token is
                    assert [j for j in range(t + 1) if row[j] == row[t + 1] and j] == copies or row[t + 1] == row[0]
                    assert row[gold[t]] == row[t + 1]
    assert set(periods) == set(range(6, 17))
    assert min(periods.values()) > 50  # 91 each, give or take
    assert set(corpus("repeats").train.tokens.flatten().tolist()) == set(range(32))


def test_smallest_repeats():
    rows = load_repeats(sizes=(20, 0, 0), length=3, periods=(1, 1), n_symbols=52).train
    assert all(len(set(row)) == 1 for row in whole_rows(rows))
    assert rows.mask.tolist() == [[False, True]] * 20 and rows.gold.tolist() == [[-1, 1]] * 20
    rows = load_repeats(sizes=(20, 0, 0), length=7, periods=(5, 5), n_symbols=5).train
    assert rows.mask.tolist() == [[False] * 5 + [True]] * 20


ASKED = ("maximum", "previous", "first", "mirrored")


@pytest.mark.parametrize(
    ("names", "load", "T"),
    [
        (("previous", "mirrored", "maximum"), lambda: corpus("relations"), 24),
        (ASKED, lambda: load_relations(ASKED, sizes=SIZES, length=7, n_symbols=5), 7),
        (ASKED, lambda: load_relations(ASKED, sizes=(3, 0, 0), length=1, n_symbols=7), 1),
    ],
)
def test_relations_hold(names, load, T):
    for part in load():
        tokens, targets, mask, gold = (field.tolist() for field in part[:-1])
        for n, row in enumerate(tokens):
            assert len(row) == T
            for t, (r, name) in itertools.product(range(T), enumerate(names)):
                place = {"previous": t - 1, "first": 0, "mirrored": T - 1 - t, "maximum": row.index(max(row))}[name]
                expected = (row[place], True, place) if place >= 0 else (0, False, -1)
                assert (targets[n][t][r], mask[n][t][r], gold[n][t][r]) == expected


def test_relations_use_every_symbol():
    train = corpus("relations").train
    assert set(train.tokens.flatten().tolist()) == set(range(40))
    assert train.vocabulary.tokens == [str(n) for n in range(40)] and set(RELATIONS) == set(ASKED)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: load_recall(gaps=(-1, 3)), r"gaps must be .* from 0 on, got \(-1, 3\)"),
        (lambda: load_recall(gaps=(5, 4)), r"gaps must be .*got \(5, 4\)"),
        (lambda: load_recall(n_pairs=9), r"n_pairs .* 1\.\.8, got 9"),
        (lambda: load_repeats(length=17), "period of 16 .* at least 18 tokens, got 17"),
        (lambda: load_repeats(n_symbols=15), r"n_symbols .* 16 \(period\)\.\.52, got 15"),
        (lambda: load_repeats(periods=(0, 4)), r"periods must be .* from 1 on, got \(0, 4\)"),
        (lambda: load_relations(["next"]), r"different ones of previous, first, mirrored, maximum, got \['next'\]"),
        (lambda: load_relations([]), r"relations .* got \[\]"),
        (lambda: load_relations(["first", "first"]), r"relations .* got \['first', 'first'\]"),
        (lambda: load_relations(length=0), "at least 1, got 0 and 40"),
        (lambda: load_relations(n_symbols=0), "at least 1, got 24 and 0"),
    ],
)
def test_senseless_rows_are_refused(call, message, without_shape_checks):
    with pytest.raises(ValueError, match=message):
        call()

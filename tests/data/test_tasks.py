"""Every target can be worked out from its source, its gold place holds it, and no two parts share anything."""

import collections
import hashlib
import inspect
import itertools
import random
import string

import pytest
import torch
from torch.testing import assert_close

from attnlib.data import rows as rows_module
from attnlib.data import tasks as tasks_module
from attnlib.data.batching import BucketedPairs
from attnlib.data.cards import Splits
from attnlib.data.examples import (
    PATIENCE,
    Example,
    RowBatches,
    Rows,
    draw_splits,
    encode_examples,
    part_of,
    vocabularies,
)
from attnlib.data.rows import (
    FILLERS,
    KEYS,
    RELATIONS,
    VALUES,
    load_recall,
    load_relations,
    load_repeats,
)
from attnlib.data.tasks import (
    BLAME,
    MARKER,
    NEUTRAL,
    PRAISE,
    Labelled,
    load_copy,
    load_keywords,
    load_retrieval,
    load_reverse,
)
from attnlib.data.translation import Pair
from attnlib.data.vocabulary import SPECIALS, UNK, Vocabulary

SIZES = (700, 130, 170)
EXAMPLE_LOADERS = {"copy": load_copy, "reverse": load_reverse, "retrieval": load_retrieval}
ROW_LOADERS = {"recall": load_recall, "repeats": load_repeats, "relations": load_relations, "keywords": load_keywords}
LOADERS = EXAMPLE_LOADERS | ROW_LOADERS


def contents(part) -> list:
    """What identifies each item of a part: its source, or its row with all that is in it."""
    if isinstance(part, list):
        return [example.source for example in part]
    if isinstance(part, Labelled):
        return [tuple(row[:n]) for row, n in zip(part.tokens.tolist(), part.lengths.tolist(), strict=True)]
    return [tuple(row) for row in whole_rows(part)]


def whole_rows(rows: Rows) -> list[list[int]]:
    """The rows with the last target, where the targets are the tokens one place later."""
    if rows.targets.dim() == 3:
        return rows.tokens.tolist()
    assert_close(rows.targets[:, :-1], rows.tokens[:, 1:], rtol=0, atol=0)
    return torch.cat([rows.tokens, rows.targets[:, -1:]], 1).tolist()


def checksum(splits: Splits) -> str:
    plain = [
        [(e.source, e.target, sorted(e.sure)) for e in part]
        if isinstance(part, list)
        else [field.tolist() for field in part if isinstance(field, torch.Tensor)]
        for part in splits
    ]
    return hashlib.sha256(repr(plain).encode()).hexdigest()[:16]


class Corpora(dict):
    """Each corpus is made when first asked for."""

    def __missing__(self, name: str) -> Splits:
        self[name] = LOADERS[name](sizes=SIZES)
        return self[name]


@pytest.fixture(scope="module")
def corpora() -> Corpora:
    return Corpora()


# --- parts ------------------------------------------------------------------------------------------


def test_parts_follow_from_the_digest():
    # the first eight bytes of sha256, as a number, modulo 10: worked out with the shell's sha256sum
    assert int("ba7816bf8f01cfea", 16) % 10 == 4 and part_of("abc") == "train"
    counts = collections.Counter(part_of(str(n)) for n in range(5000))
    assert set(counts) == set(Splits._fields)
    assert 430 < counts["dev"] < 570 and 430 < counts["test"] < 570
    tenths = {str(n): int(hashlib.sha256(str(n).encode()).hexdigest()[:16], 16) % 10 for n in range(500)}
    for content, tenth in tenths.items():
        assert part_of(content) == ("test" if tenth == 0 else "dev" if tenth == 1 else "train")


@pytest.mark.parametrize("name", LOADERS)
def test_sizes_are_kept_and_parts_share_nothing(name, corpora):
    parts = [contents(part) for part in corpora[name]]
    assert tuple(map(len, parts)) == SIZES
    assert all(len(set(part)) == len(part) for part in parts)
    for a, b in itertools.combinations(map(set, parts), 2):
        assert not a & b


@pytest.mark.parametrize("name", LOADERS)
def test_parts_of_different_seeds_and_sizes_share_nothing(name, corpora):
    # small enough that sequences come twice if they may
    small = {"relations": {"length": 2, "n_symbols": 11}, "repeats": {"periods": (2, 2), "length": 5, "n_symbols": 17}}
    small |= {key: {"lengths": (2, 3), "symbols": "abcdefgh"} for key in EXAMPLE_LOADERS}
    small |= {"recall": {"gaps": (0, 0)}, "keywords": {"lengths": (1, 2)}}
    some = LOADERS[name](sizes=(20, 4, 2), **small[name])
    other = LOADERS[name](sizes=(40, 2, 5), seed=7, **small[name])
    for a, b in itertools.permutations(range(3), 2):
        assert not set(contents(some[a])) & set(contents(other[b]))
    assert set(contents(some.train)) & set(contents(other.train))  # so the test can fail at all


@pytest.mark.parametrize("name", LOADERS)
def test_one_seed_one_corpus(name, corpora):
    load = LOADERS[name]
    random.seed(1)
    torch.manual_seed(1)  # whatever the state of the global generators
    again, other = load(sizes=(90, 13, 17)), load(sizes=(90, 13, 17), seed=1)
    assert checksum(again) == checksum(load(sizes=(90, 13, 17), seed=0))
    for part, size in enumerate((90, 13, 17)):
        assert not set(contents(other[part])) & set(contents(again[part]))
        # one part does not depend on the size of another, and a larger one begins with the smaller
        assert contents(again[part]) == contents(corpora[name][part])[:size]
    assert contents(load(sizes=(0, 0, 17)).test) == contents(again.test)


def test_the_corpora_are_the_same_on_every_machine():
    small = {name: checksum(load(sizes=(23, 5, 7))) for name, load in LOADERS.items()}
    assert small == {
        "copy": "7148b022e486b6da",
        "reverse": "8ceadb1957a13d29",
        "retrieval": "79d47d1a72f97445",
        "recall": "92fb57547aa624fa",
        "repeats": "09360433ddf07107",
        "relations": "ed60e2cc09dccb8a",
        "keywords": "ae0c099ab4ec7bfd",
    }


def test_first_examples_are_these():
    copy = load_copy(sizes=(2, 1, 1), lengths=(3, 4), symbols="abc")
    assert ["".join(e.source) for part in copy for e in part] == ["acbb", "aabc", "bcc", "bbab"]


@pytest.mark.parametrize("name", LOADERS)
def test_empty_parts_and_single_items(name):
    parts = LOADERS[name](sizes=(0, 1, 0))
    assert [len(contents(part)) for part in parts] == [0, 1, 0]
    if name in ROW_LOADERS:
        for empty, single in zip(parts.train[:-1], parts.dev[:-1], strict=True):
            assert empty.shape == (0, *single.shape[1:]) and empty.dtype == single.dtype


@pytest.mark.parametrize("name", LOADERS)
def test_senseless_sizes_are_refused(name, without_shape_checks):
    for sizes in ((10, 10), (5, -1, 5), (1, 2, 3, 4)):
        with pytest.raises(ValueError, match=r"three numbers.*got \(" + str(sizes[0])):
            LOADERS[name](sizes=sizes)


def test_exhausted_corpora_say_so():
    def few(rng, part):
        return rng.randrange(5)

    assert sorted(draw_splits(few, (5, 0, 3), seed=0).train) == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError, match="only 5 different items found for dev, 6 were asked for"):
        draw_splits(few, (5, 6, 3), seed=0)
    with pytest.raises(ValueError, match="only 1 different items found for train, 2 were asked for"):
        draw_splits(lambda rng, part: (0, rng.random()), (2, 0, 0), seed=0, key=lambda item: item[0])
    with pytest.raises(ValueError, match="different items found for train, 9 were"):
        load_copy(sizes=(9, 0, 0), lengths=(1, 1), symbols="abcdefgh")
    assert part_of("0") == "test"  # the digest of the only row there is
    with pytest.raises(ValueError, match="only 0 different items found for train, 1 were"):
        load_relations(sizes=(1, 0, 0), length=1, n_symbols=1)


def test_patience_counts_bad_draws_in_a_row():
    def late(rng, part):
        draws.append(part)
        return len(draws) if not len(draws) % (PATIENCE - 1) else None

    draws = []
    assert draw_splits(late, (3, 0, 0), seed=0).train == [PATIENCE - 1, 2 * (PATIENCE - 1), 3 * (PATIENCE - 1)]


def test_parts_have_random_numbers_of_their_own():
    first = draw_splits(lambda rng, part: (part, rng.random()), (1, 1, 1), seed=0)
    assert [part for ((part, _),) in first] == ["train", "dev", "test"]
    assert len({number for ((_, number),) in first}) == 3


# --- pairs ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EXAMPLE_LOADERS)
def test_targets_and_links(name, corpora):
    for example in itertools.chain(*corpora[name]):
        source, target = example.source, example.target
        if name == "copy":
            places = [*range(len(source))]
            assert "".join(target) == "".join(source)
        elif name == "reverse":
            places = [len(source) - 1 - i for i in range(len(source))]
            assert "".join(target) == "".join(source)[::-1]
        else:
            before, behind = "".join(source).split(MARKER)
            places = [len(before) + 1]
            assert "".join(target) == behind[0]
        assert sorted(example.sure) == list(enumerate(places))
        assert example.possible == example.sure
        assert all(target[i] == source[j] for i, j in example.sure)


def test_copy_and_reverse_read_the_same_sequences(corpora):
    for copied, reversed_ in zip(corpora["copy"], corpora["reverse"], strict=True):
        assert contents(copied) == contents(reversed_)


@pytest.mark.parametrize("name", EXAMPLE_LOADERS)
def test_lengths_and_symbols_all_come_equally_often(name):
    examples = EXAMPLE_LOADERS[name](sizes=(3000, 0, 0), lengths=(4, 8), symbols=["x1", "x2", "x3"]).train
    lengths = collections.Counter(len(example.source) for example in examples)
    assert set(lengths) == {4, 5, 6, 7, 8}
    if name == "retrieval":
        # there are 2430 long ones, nearly all in use, and 3 * 27 short
        places = [collections.Counter(e.source.index(MARKER) for e in examples if len(e.source) == n) for n in (7, 8)]
        assert set(places[0]) == set(range(6)) and set(places[1]) == set(range(7))
        assert min(places[1].values()) > 0.7 * max(places[1].values())
        assert {symbol for example in examples for symbol in example.source} == {"x1", "x2", "x3", MARKER}
    else:
        assert {symbol for example in examples for symbol in example.source} == {"x1", "x2", "x3"}
    default = collections.Counter(len(e.source) for e in EXAMPLE_LOADERS[name](sizes=(3200, 0, 0)).train)
    assert set(default) == set(range(5, 21))
    assert min(default.values()) > 140 and max(default.values()) < 260  # 200 each, give or take four deviations
    letters = collections.Counter(itertools.chain(*(e.source for e in EXAMPLE_LOADERS[name](sizes=SIZES).train)))
    assert set(letters) - {MARKER} == set(string.ascii_lowercase)


def test_smallest_sequences():
    (example,) = load_copy(sizes=(1, 0, 0), lengths=(1, 1), symbols=["only"]).train
    assert example == Example(("only",), ("only",), frozenset({(0, 0)}), frozenset({(0, 0)}))
    (example,) = load_retrieval(sizes=(0, 0, 1), lengths=(2, 2)).test
    assert example.source == (MARKER, *example.target) and example.sure == {(0, 1)}


def test_senseless_sequences_are_refused(without_shape_checks):
    for load in (load_copy, load_reverse, load_retrieval, load_keywords):
        for lengths in ((0, 3), (5, 4), (3,), (-2, -1)):
            with pytest.raises(ValueError, match=r"lengths must be \(smallest, largest\).*got \(" + str(lengths[0])):
                load(lengths=lengths)
    with pytest.raises(ValueError, match=r"from 2 on, got \(1, 3\)"):
        load_retrieval(lengths=(1, 3))
    for load in (load_copy, load_reverse, load_retrieval):
        with pytest.raises(ValueError, match=r"no symbol twice, got \['a', 'b', 'a'\]"):
            load(symbols="aba")
        with pytest.raises(ValueError, match=r"at least one symbol.*got \[\]"):
            load(symbols="")
    with pytest.raises(ValueError, match=r"marker '\*' cannot be one of the symbols \['a', '\*'\]"):
        load_retrieval(symbols="a*")


def test_examples_become_batches(corpora):
    train = corpora["retrieval"].train
    source, target = vocabularies(train)
    for vocabulary in (source, target):
        assert vocabulary.tokens[:4] == list(SPECIALS) and vocabulary.unknown == "<unk>"
    assert set(source.tokens[4:]) == {*string.ascii_lowercase, MARKER}
    assert set(target.tokens[4:]) == set(string.ascii_lowercase)
    assert source.tokens[4] == MARKER  # in every sequence, so the most frequent
    sources, targets = encode_examples(train, source, target)
    assert len(sources) == len(targets) == len(train)
    for example, s, t in zip(train, sources, targets, strict=True):
        assert tuple(source.decode(s)) == example.source and tuple(target.decode(t)) == example.target
    batches = list(BucketedPairs(sources, targets, 64))
    assert sum(len(batch.source) for batch in batches) == len(train)
    for batch in batches:
        for row, length, said in zip(batch.source, batch.lengths, batch.targets, strict=True):
            words = source.decode(row[:length])
            assert target.decode(said)[0] == words[words.index(MARKER) + 1]


def test_any_pairs_have_vocabularies_and_ids():
    pairs = [Pair(("a", "b", "b"), ("y", "x", "y"), "hub"), Pair(("c",), ("y",), "lamp")]
    source, target = vocabularies(pairs, size=5)
    assert source.tokens == [*SPECIALS, "b"] and target.tokens == [*SPECIALS, "y"]
    sources, targets = encode_examples(pairs, source, target)
    assert [ids.tolist() for ids in sources] == [[UNK, 4, 4], [UNK]]
    assert [ids.tolist() for ids in targets] == [[4, UNK, 4], [4]]
    with pytest.raises(ValueError, match=r"at least 4.*got 3"):
        vocabularies(pairs, size=3)


def test_vocabularies_know_the_training_part_only():
    links = frozenset({(0, 0)})
    source, target = vocabularies([Example(("a", "b", "b"), ("c",), links, links)])
    assert source.tokens == [*SPECIALS, "b", "a"] and target.tokens == [*SPECIALS, "c"]
    sources, targets = encode_examples([Example(("a", "z"), ("c", "a"), links, links)], source, target)
    assert sources[0].tolist() == [5, 3] and targets[0].tolist() == [4, 3]
    assert encode_examples([Example(("z",), ("z",), links, links)], source, target)[1][0].tolist() == [3]
    assert encode_examples([], source, target) == ([], [])
    with pytest.raises(ValueError, match=r"no unknown token: \['z'\]"):
        encode_examples([Example(("z",), (), links, links)], Vocabulary("a"), target)


# --- keywords ---------------------------------------------------------------------------------------


def test_one_word_decides_the_label(corpora):
    assert not set(PRAISE) & set(BLAME) and not set(NEUTRAL) & {*PRAISE, *BLAME}
    assert len(set(NEUTRAL)) == len(NEUTRAL)
    for part in corpora["keywords"]:
        assert part.tokens.dtype == part.labels.dtype == part.gold.dtype == part.lengths.dtype == torch.long
        assert part.vocabulary.tokens[:4] == list(SPECIALS)
        for row, length, label, gold in zip(*(field.tolist() for field in part[:-1]), strict=True):
            words = part.vocabulary.decode(torch.tensor(row))
            assert words[length:] == ["<pad>"] * (25 - length)
            decisive = [(j, word) for j, word in enumerate(words[:length]) if word not in NEUTRAL]
            assert decisive == [(gold, words[gold])]
            assert words[gold] in (PRAISE if label else BLAME)


def test_keyword_labels_lengths_and_places_are_spread(corpora):
    train = corpora["keywords"].train
    assert 280 < train.labels.sum() < 420
    assert set(train.lengths.tolist()) == set(range(5, 26))
    assert set(train.gold.tolist()) == set(range(25))
    last = (train.gold == train.lengths - 1).double().mean()
    first = (train.gold == 0).double().mean()
    assert 0.04 < last < 0.13 and 0.04 < first < 0.13  # the mean of 1 / length is .08
    words = {train.vocabulary.tokens[i] for i in train.tokens.flatten().tolist()}
    assert words == {"<pad>", *PRAISE, *BLAME, *NEUTRAL}


def test_smallest_keyword_texts():
    parts = load_keywords(sizes=(5, 0, 0), lengths=(1, 1))
    assert parts.train.tokens.shape == (5, 1) and parts.train.gold.tolist() == [0] * 5
    words = parts.train.vocabulary.decode(parts.train.tokens[:, 0])
    assert parts.train.labels.tolist() == [int(word in PRAISE) for word in words]


# --- rows -------------------------------------------------------------------------------------------


def test_recall_can_be_answered(corpora):
    load = {1: corpora["recall"], 3: load_recall(sizes=(200, 20, 20), gaps=(2, 9), n_pairs=3)}
    for n_pairs, parts in load.items():
        low, high = (5, 60) if n_pairs == 1 else (2, 9)
        gaps = collections.Counter()
        behind_filler = 0
        for part in parts:
            T = part.tokens.shape[1]
            assert T == high + 2 * n_pairs + 2
            for row, mask, gold in zip(whole_rows(part), part.mask.tolist(), part.gold.tolist(), strict=True):
                text = "".join(part.vocabulary.decode(torch.tensor(row)))
                facts, question = text.split("?")
                pairs = {facts[j]: facts[j + 1] for j in range(len(facts)) if facts[j] in KEYS}
                assert len(pairs) == n_pairs == len(set(pairs.values())) == sum(c in KEYS for c in facts)
                assert set(pairs.values()) == {c for c in facts if c in VALUES} == set("".join(pairs.values()))
                assert sum(c in VALUES for c in facts) == n_pairs
                assert question == question[0] + pairs[question[0]]
                assert mask == [False] * (T - 1) + [True]
                assert gold[:-1] == [-1] * (T - 1) and text[gold[-1]] == text[-1] and text[gold[-1] - 1] == question[0]
                gap = len(facts) - 1 - gold[-1]  # what stands between the value and the question mark
                assert gap == T - 3 - gold[-1]
                gaps[gap] += 1
                rank = sorted(facts.index(key) for key in pairs).index(facts.index(question[0]))
                gaps["rank", rank] += 1
                others = [facts.index(key) for key in pairs if key != question[0]]
                behind_filler += sum(k > 0 and facts[k - 1] in FILLERS for k in others)
        assert {gap for gap in gaps if isinstance(gap, int)} == set(range(low, high + 1))
        assert {gap for gap in gaps if not isinstance(gap, int)} == {("rank", rank) for rank in range(n_pairs)}
        assert behind_filler > 100 * (n_pairs > 1) - 1  # the other pairs stand anywhere among the fillers
        used = {token for row in whole_rows(parts.train) for token in part.vocabulary.decode(torch.tensor(row))}
        assert used == {*KEYS, *VALUES, *FILLERS, "?"}


def test_recall_with_no_gap_and_with_every_key():
    tight = load_recall(sizes=(9, 0, 0), gaps=(0, 0)).train
    assert tight.tokens.shape == (9, 4) and tight.gold[:, -1].tolist() == [1] * 9
    full = load_recall(sizes=(9, 0, 0), gaps=(3, 5), n_pairs=8).train
    for row in whole_rows(full):
        assert set(full.vocabulary.decode(torch.tensor(row))) >= set(KEYS)


def test_senseless_recall_is_refused(without_shape_checks):
    with pytest.raises(ValueError, match=r"gaps must be .* from 0 on, got \(-1, 3\)"):
        load_recall(gaps=(-1, 3))
    with pytest.raises(ValueError, match=r"gaps must be .*got \(5, 4\)"):
        load_recall(gaps=(5, 4))
    for n_pairs in (0, 9):
        with pytest.raises(ValueError, match=rf"n_pairs must lie in 1\.\.8, got {n_pairs}"):
            load_recall(n_pairs=n_pairs)


def test_repeats_repeat(corpora):
    periods = collections.Counter()
    for part in corpora["repeats"]:
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
    assert set(corpora["repeats"].train.tokens.flatten().tolist()) == set(range(32))


def test_smallest_repeats():
    rows = load_repeats(sizes=(20, 0, 0), length=3, periods=(1, 1), n_symbols=52).train
    assert all(len(set(row)) == 1 for row in whole_rows(rows))
    assert rows.mask.tolist() == [[False, True]] * 20 and rows.gold.tolist() == [[-1, 1]] * 20
    rows = load_repeats(sizes=(20, 0, 0), length=7, periods=(5, 5), n_symbols=5).train
    assert rows.mask.tolist() == [[False] * 5 + [True]] * 20


def test_senseless_repeats_are_refused(without_shape_checks):
    with pytest.raises(ValueError, match="a period of 16 needs rows of at least 18 tokens, got 17"):
        load_repeats(length=17)
    with pytest.raises(ValueError, match=r"n_symbols must lie in 16 \(period\)\.\.52, got 15"):
        load_repeats(n_symbols=15)
    with pytest.raises(ValueError, match="got 53"):
        load_repeats(n_symbols=53)
    with pytest.raises(ValueError, match=r"periods must be .* from 1 on, got \(0, 4\)"):
        load_repeats(periods=(0, 4))


def test_relations_hold(corpora):
    asked = ("maximum", "previous", "first", "mirrored")
    splits = [(("previous", "mirrored", "maximum"), corpora["relations"])]
    splits += [(asked, load_relations(asked, sizes=SIZES, length=7, n_symbols=5))]
    for names, parts in splits:
        for part in parts:
            tokens, targets, mask, gold = (field.tolist() for field in part[:-1])
            for n, row in enumerate(tokens):
                T = len(row)
                for t, (r, name) in itertools.product(range(T), enumerate(names)):
                    if name == "previous" and t == 0:
                        assert (targets[n][t][r], mask[n][t][r], gold[n][t][r]) == (0, False, -1)
                        continue
                    answer = {
                        "previous": row[t - 1],
                        "first": row[0],
                        "mirrored": row[T - 1 - t],
                        "maximum": sorted(row)[-1],
                    }[name]
                    place = {
                        "previous": t - 1,
                        "first": 0,
                        "mirrored": T - 1 - t,
                        "maximum": row.index(max(row)),
                    }[name]
                    assert (targets[n][t][r], mask[n][t][r], gold[n][t][r]) == (answer, True, place)
    assert set(corpora["relations"].train.tokens.flatten().tolist()) == set(range(40))
    assert corpora["relations"].train.tokens.shape == (700, 24)
    assert corpora["relations"].train.vocabulary.tokens == [str(n) for n in range(40)]
    assert set(RELATIONS) == set(asked)


def test_smallest_relations():
    rows = load_relations(tuple(RELATIONS), sizes=(3, 0, 0), length=1, n_symbols=7).train
    assert rows.mask.tolist() == [[[False, True, True, True]]] * 3
    assert rows.gold.tolist() == [[[-1, 0, 0, 0]]] * 3


def test_senseless_relations_are_refused(without_shape_checks):
    for relations in (["next"], [], ["first", "first"]):
        with pytest.raises(ValueError, match=r"different ones of previous, first, mirrored, maximum, got \["):
            load_relations(relations)
    with pytest.raises(ValueError, match="at least 1, got 0 and 40"):
        load_relations(length=0)
    with pytest.raises(ValueError, match="at least 1, got 24 and 0"):
        load_relations(n_symbols=0)


# --- batches of rows --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["relations", "keywords"])
def test_every_row_once_per_iteration_and_whole(name, corpora):
    part = corpora[name].dev
    place = {content: n for n, content in enumerate(contents(part))}
    batches = RowBatches(part, 30, torch.Generator().manual_seed(0))
    assert len(batches) == 5  # 130 rows: 30, 30, 30, 30, 10
    orders = []
    for _ in range(2):
        seen = list(batches)
        assert [len(batch.tokens) for batch in seen] == [30, 30, 30, 30, 10]
        orders.append([place[content] for batch in seen for content in contents(batch)])
        assert sorted(orders[-1]) == list(range(130))
        for batch, chosen in zip(seen, torch.tensor(orders[-1]).split(30), strict=True):
            assert type(batch) is type(part) and batch.vocabulary is part.vocabulary
            for field, whole in zip(batch[:-1], part[:-1], strict=True):
                assert_close(field, whole[chosen], rtol=0, atol=0)
    assert orders[0] != orders[1] != list(range(130))
    again = RowBatches(part, 30, torch.Generator().manual_seed(0))
    assert [place[content] for batch in again for content in contents(batch)] == orders[0]


def test_batches_of_nothing_are_refused(corpora):
    with pytest.raises(ValueError, match="got 0 and 5"):
        RowBatches(load_repeats(sizes=(0, 0, 0)).train, 5)
    with pytest.raises(ValueError, match="got 130 and 0"):
        RowBatches(corpora["repeats"].dev, 0)


def test_rows_move_as_a_whole(corpora):
    for name in ("recall", "keywords"):
        part = corpora[name].dev
        moved = part.to(torch.device("meta"))
        assert type(moved) is type(part) and {field.device.type for field in moved[:-1]} == {"meta"}
        assert moved.vocabulary is part.vocabulary
        stays = part.to(torch.device("cpu"))
        assert all(a is b for a, b in zip(stays, part, strict=True))


# --- cards ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LOADERS)
def test_cards_tell_the_defaults(name):
    card = (tasks_module.CARDS | rows_module.CARDS)[name]
    defaults = {n: p.default for n, p in inspect.signature(LOADERS[name]).parameters.items()}
    assert card.size.startswith(" + ".join(map(str, defaults["sizes"])))
    assert f"attnlib.data.{LOADERS[name].__module__.split('.')[-1]}.{LOADERS[name].__name__}" in card.source
    expected = {
        "recall": [defaults.get("gaps", (0, 0))[1] + 2 * defaults.get("n_pairs", 0) + 2, *defaults.get("gaps", ())],
        "repeats": [defaults.get("length"), defaults.get("n_symbols"), *defaults.get("periods", ())],
        "relations": [defaults.get("length"), defaults.get("n_symbols")],
    }.get(name, defaults.get("lengths"))
    numbers = [int(word) for word in card.size.replace(",", "").split() if word.isdigit()]
    assert numbers[3:] == list(expected)
    assert len(tasks_module.CARDS | rows_module.CARDS) == len(LOADERS)

"""What all corpora made on the spot have in common: parts that share nothing, vocabularies, batches of rows."""

import hashlib
import inspect
import itertools
import random

import pytest
import torch
from torch.testing import assert_close

from attnlib.data import labelled, rows, tasks
from attnlib.data.cards import Splits
from attnlib.data.examples import PATIENCE, RowBatches, draw_splits, encode_examples, part_of, vocabularies
from attnlib.data.rows import load_relations, load_repeats
from attnlib.data.tasks import load_copy
from attnlib.data.translation import Pair
from attnlib.data.vocabulary import SPECIALS, UNK
from tests.data.loaders import EXAMPLE_LOADERS, LOADERS, ROW_LOADERS, SIZES, contents, corpus

# --- parts ------------------------------------------------------------------------------------------


def test_parts_follow_from_the_digest():
    for content in map(str, range(500)):
        tenth = int(hashlib.sha256(content.encode()).hexdigest()[:16], 16) % 10
        assert part_of(content) == {0: "test", 1: "dev"}.get(tenth, "train")


@pytest.mark.parametrize("name", LOADERS)
def test_sizes_are_kept_and_parts_share_nothing(name):
    parts = [contents(part) for part in corpus(name)]
    assert tuple(map(len, parts)) == SIZES
    assert all(len(set(part)) == len(part) for part in parts)
    assert not any(a & b for a, b in itertools.combinations(map(set, parts), 2))


@pytest.mark.parametrize("name", LOADERS)
def test_parts_of_different_seeds_and_sizes_share_nothing(name):
    # small enough that sequences come twice if they may
    small = {"relations": {"length": 2, "n_symbols": 11}, "repeats": {"periods": (2, 2), "length": 5, "n_symbols": 17}}
    small |= {key: {"lengths": (2, 3), "symbols": "abcdefgh"} for key in EXAMPLE_LOADERS}
    small |= {"recall": {"gaps": (0, 0)}, "questions": {"lengths": (6, 6)}}
    some = LOADERS[name](sizes=(20, 4, 2), **small[name])
    other = LOADERS[name](sizes=(40, 2, 5), seed=7, **small[name])
    for a, b in itertools.permutations(range(3), 2):
        assert not set(contents(some[a])) & set(contents(other[b]))
    if name != "questions":  # there are millions of the shortest
        assert set(contents(some.train)) & set(contents(other.train))  # so the test can fail at all


def checksum(splits: Splits) -> str:
    plain = [
        [(e.source, e.target, sorted(e.sure)) for e in part]
        if isinstance(part, list)
        else [field.tolist() for field in part if isinstance(field, torch.Tensor)]
        for part in splits
    ]
    return hashlib.sha256(repr(plain).encode()).hexdigest()[:16]


@pytest.mark.parametrize("name", LOADERS)
def test_one_seed_one_corpus(name):
    load = LOADERS[name]
    random.seed(1)
    torch.manual_seed(1)  # whatever the state of the global generators
    again, other = load(sizes=(90, 13, 17)), load(sizes=(90, 13, 17), seed=1)
    assert checksum(again) == checksum(load(sizes=(90, 13, 17), seed=0))
    for part, size in enumerate((90, 13, 17)):
        assert not set(contents(other[part])) & set(contents(again[part]))
        # one part does not depend on the size of another, and a larger one begins with the smaller
        assert contents(again[part]) == contents(corpus(name)[part])[:size]
    assert contents(load(sizes=(0, 0, 17)).test) == contents(again.test)


def test_the_corpora_are_the_same_on_every_machine():
    assert {name: checksum(load(sizes=(23, 5, 7))) for name, load in LOADERS.items()} == {
        "copy": "7148b022e486b6da",
        "reverse": "8ceadb1957a13d29",
        "retrieval": "79d47d1a72f97445",
        "recall": "92fb57547aa624fa",
        "repeats": "09360433ddf07107",
        "relations": "ed60e2cc09dccb8a",
        "questions": "bbe9c5dbd30b26eb",
    }


@pytest.mark.parametrize("name", LOADERS)
def test_empty_parts_and_single_items(name):
    parts = LOADERS[name](sizes=(0, 1, 0))
    assert [len(contents(part)) for part in parts] == [0, 1, 0]
    if name in ROW_LOADERS:
        for empty, single in zip(parts.train[:-1], parts.dev[:-1], strict=True):
            assert len(empty) == 0 and empty.dim() == single.dim() and empty.dtype == single.dtype
            assert empty.shape[1:] == single.shape[1:] or name == "questions"  # as wide as the longest of the part


def test_patience_counts_bad_draws_in_a_row():
    count = itertools.count(1)
    seldom = draw_splits(lambda rng, part: n if not (n := next(count)) % (PATIENCE - 1) else None, (3, 0, 0), seed=0)
    assert seldom.train == [PATIENCE - 1, 2 * (PATIENCE - 1), 3 * (PATIENCE - 1)]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        *(
            (lambda load=load, sizes=sizes: load(sizes=sizes), rf"three numbers.*got \({sizes[0]}")
            for load in LOADERS.values()
            for sizes in ((10, 10), (5, -1, 5))
        ),
        (lambda: draw_splits(lambda rng, part: rng.randrange(5), (5, 6, 3), seed=0), "only 5 .* dev, 6 were asked"),
        (lambda: load_copy(sizes=(9, 0, 0), lengths=(1, 1), symbols="abcdefgh"), "found for train, 9 were"),
        # the digest of the only row there is puts it into testing
        (lambda: load_relations(sizes=(1, 0, 0), length=1, n_symbols=1), "only 0 .* found for train, 1 were"),
        (lambda: RowBatches(load_repeats(sizes=(0, 0, 0)).train, 5), "at least one row.* got 0 and 5"),
        (lambda: RowBatches(corpus("repeats").dev, 0), "one row per batch, got 130 and 0"),
    ],
)
def test_what_cannot_be_had_is_refused(call, message, without_shape_checks):
    with pytest.raises(ValueError, match=message):
        call()


# --- vocabularies -----------------------------------------------------------------------------------


def test_vocabularies_count_what_they_are_given_and_encode_any_pairs():
    pairs = [Pair(("a", "b", "b"), ("y", "x", "y"), "hub"), Pair(("c",), ("y",), "lamp")]
    source, target = vocabularies(pairs)
    assert source.tokens == [*SPECIALS, "b", "a", "c"] and target.tokens == [*SPECIALS, "y", "x"]
    source, target = vocabularies(pairs, size=5)
    assert source.tokens == [*SPECIALS, "b"] and target.tokens == [*SPECIALS, "y"]
    sources, targets = encode_examples(pairs, source, target)
    assert [ids.tolist() for ids in sources] == [[UNK, 4, 4], [UNK]]
    assert [ids.tolist() for ids in targets] == [[4, UNK, 4], [4]]


# --- batches of rows --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["relations", "questions"])
def test_every_row_once_per_iteration_and_whole(name):
    part = corpus(name).dev
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


# --- cards ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LOADERS)
def test_cards_tell_the_defaults(name):
    made = tasks.CARDS | rows.CARDS | {"questions": labelled.CARDS["questions"]}  # messages are read, not made
    card = made[name]
    of = {n: p.default for n, p in inspect.signature(LOADERS[name]).parameters.items()}
    expected = {
        "recall": lambda: [of["gaps"][1] + 2 * of["n_pairs"] + 2, *of["gaps"]],
        "repeats": lambda: [of["length"], of["n_symbols"], *of["periods"]],
        "relations": lambda: [of["length"], of["n_symbols"]],
    }.get(name, lambda: of["lengths"])()
    assert card.size.startswith(" + ".join(map(str, of["sizes"])))
    numbers = [int(word) for word in card.size.replace(",", "").split() if word.isdigit()]
    assert numbers[3:] == list(expected)
    assert f"{LOADERS[name].__module__}.{LOADERS[name].__name__}" in card.source
    assert set(made) == set(LOADERS)

"""Texts and pairs become batches: shifted, padded, masked right, and every pair comes once."""

import collections
import itertools

import pytest
import torch
from torch.testing import assert_close

from attnlib.data import BOS, EOS, PAD, BucketedPairs, collate, pad, random_windows
from attnlib.training import set_seed

# --- random_windows ---------------------------------------------------------------------------------


def test_targets_are_the_inputs_one_token_later():
    text = torch.randperm(1000)
    place = {token: i for i, token in enumerate(text.tolist())}
    for batch in itertools.islice(random_windows(text, 5, 7), 20):
        assert batch.inputs.shape == batch.targets.shape == (5, 7)
        for inputs, targets in zip(batch.inputs.tolist(), batch.targets.tolist(), strict=True):
            start = place[inputs[0]]
            assert inputs == text[start : start + 7].tolist()
            assert targets == text[start + 1 : start + 8].tolist()


def test_every_window_of_the_text_comes_and_no_other():
    batches = itertools.islice(random_windows(torch.arange(10), 50, 7), 20)
    starts = collections.Counter(start for batch in batches for start in batch.inputs[:, 0].tolist())
    assert set(starts) == {0, 1, 2}
    assert min(starts.values()) > 250  # a third of 1000, give or take
    (only,) = itertools.islice(random_windows(torch.arange(8), 2, 7), 1)
    assert only.inputs.tolist() == [list(range(7))] * 2 and only.targets.tolist() == [list(range(1, 8))] * 2


def test_same_generator_same_windows():
    def draw(seed):
        batches = random_windows(torch.arange(1000), 5, 7, torch.Generator().manual_seed(seed))
        return torch.stack([batch.inputs for batch in itertools.islice(batches, 3)])

    assert_close(draw(0), draw(0), rtol=0, atol=0)
    assert draw(0).tolist() != draw(1).tolist()
    assert draw(0)[0].tolist() != draw(0)[1].tolist()


# --- pad and collate --------------------------------------------------------------------------------


def ids(*tokens: int) -> torch.Tensor:
    return torch.tensor(tokens, dtype=torch.long)


def draw_pairs(n=23, low=0, high=7, generator=None):
    """Pairs told apart by their first source token, of independent lengths, with ids from 4 on."""
    lengths = torch.randint(low, high, (n, 2), generator=generator).tolist()
    sources = [
        torch.cat([ids(100 + i), torch.randint(4, 50, (a,), generator=generator)]) for i, (a, _) in enumerate(lengths)
    ]
    return sources, [torch.randint(4, 50, (b,), generator=generator) for _, b in lengths]


@pytest.mark.parametrize(
    ("sources", "targets"), [draw_pairs(generator=torch.Generator().manual_seed(0)), ([ids(5), ids(6)], [ids(), ids()])]
)
def test_collate_pair_by_pair(sources, targets):
    batch = collate(sources, targets)
    longest = max(map(len, targets))
    assert batch.inputs.shape == batch.targets.shape == (len(sources), longest + 1)
    for b, (source, target) in enumerate(zip(sources, targets, strict=True)):
        n, rest = len(target), longest - len(target)
        assert batch.source[b].tolist() == source.tolist() + [PAD] * (batch.source.shape[1] - len(source))
        assert batch.lengths[b] == len(source)
        assert batch.inputs[b].tolist() == [BOS, *target.tolist(), *[PAD] * rest]
        assert batch.targets[b].tolist() == [*target.tolist(), EOS, *[PAD] * rest]
        assert batch.mask[b].tolist() == [True] * (n + 1) + [False] * rest


def test_images_are_stacked_and_have_no_lengths():
    images = torch.randn(5, 3, 4, 2)
    targets = [ids(7, 8), ids(9), ids(4), ids(5, 6, 7), ids()]
    for sources in (images, list(images)):
        batch = collate(sources, targets)
        assert_close(batch.source, images, rtol=0, atol=0)
        assert batch.lengths is None
        assert_close(batch[2:], collate([ids(4)] * 5, targets)[2:])


# --- BucketedPairs ------------------------------------------------------------------------------------


def pairs_of(batches) -> list[tuple]:
    """What the rows of batches hold, as (source, target), read off with lengths and mask."""
    found = []
    for batch in batches:
        for b in range(len(batch.source)):
            source = batch.source[b, : batch.lengths[b]].tolist()
            found.append((tuple(source), tuple(batch.targets[b][batch.mask[b]].tolist())))
    return found


def written(sources, targets) -> list[tuple]:
    return [(tuple(s.tolist()), (*t.tolist(), EOS)) for s, t in zip(sources, targets, strict=True)]


@pytest.mark.parametrize("n", [1, 7, 23, 35])
@pytest.mark.parametrize(("batch", "bucket_batches"), [(1, 1), (7, 1), (7, 2), (5, 20), (100, 3)])
def test_every_pair_comes_once_in_every_iteration(n, batch, bucket_batches):
    sources, targets = draw_pairs(n)
    batches = BucketedPairs(sources, targets, batch, torch.Generator().manual_seed(3), bucket_batches)
    for _ in range(3):
        made = list(batches)
        assert sorted(pairs_of(made)) == sorted(written(sources, targets))
        assert len(made) == len(batches)
        sizes = sorted(len(b.source) for b in made)
        assert sizes[1:] == [batch] * (len(made) - 1) and 1 <= sizes[0] <= batch


@pytest.mark.parametrize("bucket_batches", [1, 4])
def test_order_differs_in_every_iteration_and_is_drawn_from_the_generator(bucket_batches):
    sources, targets = draw_pairs(40)

    def three(seed):
        batches = BucketedPairs(sources, targets, 3, torch.Generator().manual_seed(seed), bucket_batches)
        return [pairs_of(batches) for _ in range(3)]

    first = three(0)
    assert first[0] != first[1] != first[2] != first[0]
    torch.manual_seed(99)  # the generator given decides, not torch's own
    assert three(0) == first
    assert three(1) != first


def test_without_a_generator_the_seed_decides():
    sources, targets = draw_pairs(40)
    made = []
    for seed in (1, 1, 2):
        set_seed(seed)
        made.append(pairs_of(BucketedPairs(sources, targets, 3)))
    assert made[0] == made[1] != made[2]


def test_padding_by_hand():
    sources, targets = [ids(5), ids(5, 6, 7)], [ids(4, 5), ids()]
    batches = BucketedPairs(sources, targets, 2, torch.Generator())
    state = batches.generator.get_state()
    assert_close(batches.padding(), 1 - (1 + 3 + 3 + 1) / (2 * 3 + 2 * 3))
    assert torch.equal(batches.generator.get_state(), state)  # a look at the padding changes no training
    assert BucketedPairs(sources, targets, 1).padding() == 0
    assert_close(BucketedPairs(torch.zeros(2, 1, 2, 2), targets, 2).padding(), 1 - 4 / 6)
    assert BucketedPairs(torch.zeros(2, 1, 2, 2), [ids(), ids()], 2).padding() == 0


def test_sorted_by_source_then_target_within_a_pool_only():
    sources = [torch.full((n,), 4 + n) for n in (3, 1, 2, 1, 3, 2, 1, 2)]
    targets = [torch.full((n,), 9) for n in (1, 3, 2, 1, 4, 1, 2, 5)]
    batches = BucketedPairs(sources, targets, 2, torch.Generator().manual_seed(0), bucket_batches=4)
    for _ in range(5):
        made = sorted(pairs_of([batch]) for batch in batches)
        sizes = [[(len(s), len(t) - 1) for s, t in pairs] for pairs in made]
        assert sizes == [[(1, 1), (1, 2)], [(1, 3), (2, 1)], [(2, 2), (2, 5)], [(3, 1), (3, 4)]]


def test_pools_are_drawn_anew_and_bound_what_is_sorted():
    sources = [torch.full((n,), 9) for n in range(1, 41)]

    def couples(bucket_batches):
        batches = BucketedPairs(sources, sources, 2, torch.Generator().manual_seed(0), bucket_batches)
        return [{tuple(sorted(batch.lengths.tolist())) for batch in batches} for _ in range(2)]

    neighbours = {(n, n + 1) for n in range(1, 41, 2)}
    assert couples(20) == couples(99) == [neighbours, neighbours]
    first, second = couples(4)  # 8 of the 40 are sorted together
    assert len(first) == len(second) == 20 and len(first & second) < 10 and len(first & neighbours) < 10


def test_batches_do_not_come_in_the_order_of_their_length():
    sources = [torch.full((n,), 9) for n in range(1, 61)]
    lengths = [
        int(batch.lengths[0]) for batch in BucketedPairs(sources, sources, 2, torch.Generator().manual_seed(0), 30)
    ]
    rising = sum(a < b for a, b in itertools.pairwise(lengths))
    assert 5 < rising < 24  # of 29


def test_pool_of_one_batch_does_not_sort():
    sources = [torch.full((n,), 9) for n in (1, 2)]
    firsts = collections.Counter(
        int(batch.lengths[0]) for _ in range(100) for batch in BucketedPairs(sources, sources, 2, bucket_batches=1)
    )
    assert min(firsts[1], firsts[2]) > 25


def test_images_go_through():
    images, targets = torch.arange(7.0).view(7, 1, 1, 1).expand(7, 1, 2, 3), [ids(*[9] * n) for n in range(7)]
    batches = BucketedPairs(images, targets, 3, bucket_batches=2)
    seen = [(int(b.source[n, 0, 0, 0]), int(b.mask[n].sum())) for b in batches for n in range(len(b.source))]
    assert sorted(seen) == [(n, n + 1) for n in range(7)]


# --- refusals -----------------------------------------------------------------------------------------

IMAGE = torch.zeros(1, 2, 2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: random_windows(torch.arange(7), 2, 7), "a window of 7 needs 8 tokens, the text has 7"),
        (lambda: random_windows(torch.arange(9), 0, 3), "at least 1, got 0 and 3"),
        (lambda: random_windows(torch.arange(9), 2, -2), "at least 1, got 2 and -2"),
        (lambda: pad([]), "at least one sequence, got none"),
        (lambda: collate([], []), "at least one, got 0 and 0"),
        (lambda: collate([ids(5)], [ids(5), ids(6)]), "got 1 and 2"),
        (lambda: collate([ids(5)], [torch.tensor([5.0])]), r"int64 or int32, got torch\.float32 \(1,\)"),
        (lambda: collate([torch.tensor([])], [ids(5)]), r"int64 or int32, got torch\.float32 \(0,\)"),
        (lambda: collate([ids(5)], [torch.tensor(5)]), r"torch\.int64 \(\)"),
        (lambda: collate([ids(5)], [ids(5)[None]]), r"torch\.int64 \(1, 1\)"),
        (lambda: collate([ids(5), IMAGE], [ids(5), ids(5)]), r"torch\.float32 \(1, 2, 2\)"),
        (lambda: collate([IMAGE, ids(5)], [ids(5), ids(5)]), r"of one size, got \[\(1,\), \(1, 2, 2\)\]"),
        (lambda: collate([IMAGE, torch.zeros(1, 2, 3)], [ids(5)] * 2), r"got \[\(1, 2, 2\), \(1, 2, 3\)\]"),
        (lambda: collate([torch.zeros(2, 2)], [ids(5)]), r"\(channels, height, width\) .* got \[\(2, 2\)\]"),
        (lambda: collate([ids(5)], [ids(5, PAD, 6)]), r"without <pad>, <bos> and <eos>, got the ids \[0\]"),
        (lambda: collate([ids(5)], [ids(BOS, 6)]), r"got the ids \[1\]"),
        (lambda: collate([ids(5), ids(5)], [ids(7, 8, 9), ids(6, EOS)]), r"got the ids \[2\]"),
        (lambda: BucketedPairs([ids(5)] * 3, [ids(5)] * 2, 2), "got 3 and 2"),
        (lambda: BucketedPairs([ids(5)] * 2, [ids(5)] * 2, 0), "at least 1, got 0 and 20"),
        (lambda: BucketedPairs([ids(5)] * 2, [ids(5)] * 2, 2, None, 0), "at least 1, got 2 and 0"),
    ],
)
def test_what_makes_no_batch_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()

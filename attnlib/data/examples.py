"""Pairs and rows of which it is known where every answer comes from, and splits that share nothing."""

import hashlib
import random
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence, Set
from itertools import chain
from typing import NamedTuple, TypeVar

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from attnlib.data.cards import Splits
from attnlib.data.vocabulary import SPECIALS, UNK, Vocabulary

AlignmentLinks = Set[tuple[int, int]]  # (i, j): target token i goes with source token j
Item = TypeVar("Item")
PATIENCE = 20_000  # draws in a row without anything new, after which a corpus counts as exhausted


class Example(NamedTuple):
    """A source, the target to write, and where it comes from.

    A link (i, j) says that target token i comes from source token j, both counted from 0. The links are
    what an alignment is judged by (the sure ones must be found, the possible ones may be).
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    sure: AlignmentLinks
    possible: AlignmentLinks  # the sure ones among them


def vocabularies(examples: Sequence[tuple], size: int | None = None) -> tuple[Vocabulary, Vocabulary]:
    """Source and target vocabulary of training examples: `SPECIALS`, then tokens, most frequent first.

    Args:
        examples: pairs of any corpus: `Example`, or another named tuple with a source and a target.
        size: tokens in each vocabulary, at most, the special ones included; None keeps all.

    Raises:
        ValueError: size has no room for the special tokens.

    Example:
        >>> links = frozenset({(0, 1)})
        >>> source, target = vocabularies([Example(("a", "b"), ("b",), sure=links, possible=links)])
        >>> source.tokens
        ['<pad>', '<bos>', '<eos>', '<unk>', 'a', 'b']
    """

    def count(sentences: Iterable[Sequence[str]]) -> Vocabulary:
        return Vocabulary.count(chain.from_iterable(sentences), size, unknown=SPECIALS[UNK], specials=SPECIALS)

    return count(example.source for example in examples), count(example.target for example in examples)


def encode_examples(
    examples: Sequence[tuple], source_vocabulary: Vocabulary, target_vocabulary: Vocabulary
) -> tuple[list[Int[Tensor, " S"]], list[Int[Tensor, " T"]]]:
    """Ids of sources and targets, without `<bos>` and `<eos>`: what `BucketedPairs` and `collate` take.

    Raises:
        ValueError: a token is not in its vocabulary, and that has no unknown token.

    Example:
        >>> example = Example(("a", "b"), ("b",), frozenset({(0, 1)}), frozenset({(0, 1)}))
        >>> encode_examples([example], *vocabularies([example]))
        ([tensor([4, 5])], [tensor([4])])
    """
    return (
        [source_vocabulary.encode(example.source, require_known=False) for example in examples],
        [target_vocabulary.encode(example.target, require_known=False) for example in examples],
    )


class Rows(NamedTuple):
    """Sequences, what should be said at each of their positions, and where in the sequence that stands.

    R counts the questions asked at every position; a language model is asked one, and has no such dimension.
    """

    tokens: Int[Tensor, "N T"]
    targets: Int[Tensor, "N T *R"]
    mask: Bool[Tensor, "N T *R"]  # True = scored: the answer can be known
    gold: Int[Tensor, "N T *R"]  # tokens[gold] is the target; -1 where not scored
    vocabulary: Vocabulary

    def to(self, device: torch.device) -> "Rows":
        """The same on another device."""
        return Rows(*(field.to(device) for field in self[:-1]), self.vocabulary)


class RowBatches:
    """Batches of rows, every row once per iteration, in a new order each time.

    Args:
        rows: `Rows`, `Labelled`, or another named tuple: tensors (N, …), then a vocabulary.
        batch: rows per batch; the last of an iteration may be smaller.
        generator: source of randomness.

    Raises:
        ValueError: there are no rows, or batch < 1.

    Example:
        >>> tokens = torch.zeros(10, 3, dtype=torch.long)
        >>> rows = Rows(tokens, targets=tokens, mask=tokens < 1, gold=tokens, vocabulary=Vocabulary("a"))
        >>> [len(batch.tokens) for batch in RowBatches(rows, batch=4)]
        [4, 4, 2]
    """

    def __init__(self, rows: tuple, batch: int, generator: torch.Generator | None = None):
        if batch < 1 or not len(rows.tokens):
            raise ValueError(f"need at least one row and one row per batch, got {len(rows.tokens)} and {batch}")
        self.rows, self.batch, self.generator = rows, batch, generator

    def __len__(self) -> int:
        return -(-len(self.rows.tokens) // self.batch)

    def __iter__(self) -> Iterator[tuple]:
        for chosen in torch.randperm(len(self.rows.tokens), generator=self.generator).split(self.batch):
            yield type(self.rows)(*(field[chosen] for field in self.rows[:-1]), self.rows.vocabulary)


def part_of(content: str) -> str:
    """The one part a content may be in: "test" and "dev" a tenth each, "train" the rest.

    The content alone decides, by its digest: whatever the seeds, the sizes and the machine, no two parts
    can ever share it.
    """
    tenth = int.from_bytes(hashlib.sha256(content.encode()).digest()[:8], "big") % 10
    return {0: "test", 1: "dev"}.get(tenth, "train")


def draw_splits(
    draw: Callable[[random.Random, str], Item | None],
    sizes: Sequence[int],
    seed: int,
    key: Callable[[Item], Hashable] = lambda item: item,
) -> Splits[list[Item]]:
    """As many different items for each part as asked for.

    Each part has a stream of random numbers of its own: a larger part begins with the smaller one, and the
    size of one part changes nothing in another.

    Args:
        draw: (random numbers, name of the part) → an item that may be in this part, or None for a bad draw.
        sizes: items in train, dev and test.
        seed: one seed, one corpus.
        key: what two items may not have in common.

    Raises:
        ValueError: sizes are not three numbers from 0 on, or there are not that many different items.
    """
    check_sizes(sizes)
    parts = []
    for part, size in zip(Splits._fields, sizes, strict=True):
        rng = random.Random(f"{seed} {part}")
        found: dict[Hashable, Item] = {}
        since_new = 0
        while len(found) < size:
            item = draw(rng, part)
            since_new += 1
            if item is not None and key(item) not in found:
                found[key(item)] = item
                since_new = 0
            if since_new == PATIENCE:
                raise ValueError(f"only {len(found)} different items found for {part}, {size} were asked for")
        parts.append(list(found.values()))
    return Splits(*parts)


def check_sizes(sizes: Sequence[int]) -> None:
    """Refuse what are not the sizes of three parts."""
    if len(sizes) != 3 or min(sizes) < 0:
        raise ValueError(f"sizes must be three numbers, of train, dev and test, from 0 on, got {tuple(sizes)}")


def check_range(name: str, values: Sequence[int], least: int) -> None:
    """Refuse what is not (smallest, largest), both at least `least`."""
    if len(values) != 2 or not least <= values[0] <= values[1]:
        raise ValueError(f"{name} must be (smallest, largest), from {least} on, got {tuple(values)}")

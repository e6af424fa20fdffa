"""From texts and pairs of texts to batches."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from attnlib.data.vocabulary import BOS, EOS, PAD


def to_device(tensor: Tensor, device: torch.device | str) -> Tensor:
    """The tensor on another device; on its way to a GPU, it does not wait for what the GPU still has to do."""
    return tensor.to(device, non_blocking=torch.device(device).type == "cuda")


class LMBatch(NamedTuple):
    """What a language model reads, and what it should have said: the same text, one token later."""

    inputs: Int[Tensor, "B T"]
    targets: Int[Tensor, "B T"]

    def to(self, device: torch.device) -> "LMBatch":
        """The batch on another device."""
        return LMBatch(to_device(self.inputs, device), to_device(self.targets, device))


def random_windows(
    tokens: Int[Tensor, " N"], batch: int, length: int, generator: torch.Generator | None = None
) -> Iterator[LMBatch]:
    """Windows from random places of a long text, without end.

    Args:
        tokens: the text, N ids.
        batch: B, windows at a time.
        length: T, tokens per window.
        generator: source of randomness.

    Raises:
        ValueError: the text is too short for one window and the token after it; batch or length < 1.

    Example:
        >>> next(random_windows(torch.arange(4), batch=1, length=3))
        LMBatch(inputs=tensor([[0, 1, 2]]), targets=tensor([[1, 2, 3]]))
    """
    if batch < 1 or length < 1:
        raise ValueError(f"batch and length must be at least 1, got {batch} and {length}")
    if len(tokens) < length + 1:
        raise ValueError(f"a window of {length} needs {length + 1} tokens, the text has {len(tokens)}")
    return _windows(tokens, batch, length, generator)


def _windows(tokens, batch, length, generator):
    offsets = torch.arange(length + 1)
    while True:
        starts = torch.randint(len(tokens) - length, (batch, 1), generator=generator)
        window = tokens[starts + offsets]  # (B, T + 1)
        yield LMBatch(inputs=window[:, :-1], targets=window[:, 1:])


class PairBatch(NamedTuple):
    """Sources, and the targets that a decoder learns to write: it reads `inputs`, it should say `targets`."""

    source: Int[Tensor, "B S"] | Float[Tensor, "B channels height width"]  # tokens, padded, or images
    lengths: Int[Tensor, " B"] | None  # real source tokens, on the CPU; None where all of the source is real
    inputs: Int[Tensor, "B T"]  # <bos> y_1 … y_n, padded
    targets: Int[Tensor, "B T"]  # y_1 … y_n <eos>, padded
    mask: Bool[Tensor, "B T"]  # True = a real target

    def to(self, device: torch.device) -> "PairBatch":
        """The batch on another device, but for the lengths: they are checked and used on the CPU."""
        source, lengths, *rest = self
        return PairBatch(to_device(source, device), lengths, *(to_device(field, device) for field in rest))


def pad(sequences: Sequence[Tensor] | Tensor) -> tuple[Int[Tensor, "B S"], Int[Tensor, " B"]]:
    """Sequences of (n,) token ids side by side, filled up with `PAD`, and their lengths.

    Raises:
        ValueError: there is no sequence, or one is not integers of shape (n,).

    Example:
        >>> pad([torch.tensor([5, 6]), torch.tensor([7])])
        (tensor([[5, 6],
                [7, 0]]), tensor([2, 1]))
    """
    if not len(sequences):
        raise ValueError("a batch needs at least one sequence, got none")
    for sequence in sequences:
        if sequence.dim() != 1 or sequence.dtype not in (torch.int64, torch.int32):
            raise ValueError(f"need token ids (n,), int64 or int32, got {sequence.dtype} {tuple(sequence.shape)}")
    padded = torch.nn.utils.rnn.pad_sequence(list(sequences), batch_first=True, padding_value=PAD)
    return padded, torch.tensor([len(sequence) for sequence in sequences])


def collate(sources: Sequence[Tensor] | Tensor, targets: Sequence[Tensor] | Tensor) -> PairBatch:
    """A batch from sources, (n,) token ids or (channels, height, width) images of one size, and (n,) target ids.

    Targets come without `<bos>` and `<eos>`, which are added here: the target of length n becomes the n + 1 inputs
    `<bos> y_1 … y_n` and the n + 1 targets `y_1 … y_n <eos>`.

    Raises:
        ValueError: there are not as many sources as targets, or none; a source or a target is of another kind or
            size; a target holds `<pad>`, `<bos>` or `<eos>`.

    Example:
        >>> batch = collate([torch.tensor([5, 6, 7])], [torch.tensor([8, 9])])
        >>> batch.inputs, batch.targets
        (tensor([[1, 8, 9]]), tensor([[8, 9, 2]]))
    """
    _check_pairs(sources, targets)
    written, n = pad(targets)  # (B, T - 1), (B,)
    n = n.unsqueeze(1)
    place = torch.arange(written.shape[1])
    if (special := (place < n) & ((written == PAD) | (written == BOS) | (written == EOS))).any():
        raise ValueError(f"targets come without <pad>, <bos> and <eos>, got the ids {written[special].tolist()[:10]}")
    inputs = torch.nn.functional.pad(written, (1, 0), value=BOS)  # (B, T)
    targets = torch.nn.functional.pad(written, (0, 1), value=PAD).scatter(1, n, EOS)
    mask = torch.arange(written.shape[1] + 1) <= n
    if sources[0].dim() == 1:
        return PairBatch(*pad(sources), inputs=inputs, targets=targets, mask=mask)
    if len(shapes := {tuple(source.shape) for source in sources}) > 1 or sources[0].dim() != 3:
        raise ValueError(f"need images (channels, height, width) of one size, got {sorted(shapes)[:10]}")
    return PairBatch(torch.stack(list(sources)), None, inputs=inputs, targets=targets, mask=mask)


def _check_pairs(sources: Sequence[Tensor] | Tensor, targets: Sequence[Tensor] | Tensor) -> None:
    if len(sources) != len(targets) or not len(sources):
        raise ValueError(f"need one target per source, and at least one, got {len(sources)} and {len(targets)}")


class BucketedPairs:
    """Batches of pairs, every pair once per iteration, in a new order each time.

    Pairs of similar length go together: buckets of many batches are drawn at random and sorted by length
    before they are cut into batches, so that little of a batch is padding. The batches come in random order.

    Args:
        sources: (n,) token ids, or (channels, height, width) images of one size.
        targets: (n,) token ids, without `<bos>` and `<eos>`.
        batch: pairs per batch; one batch of an iteration may have fewer.
        generator: source of randomness.
        bucket_batches: how many batches are sorted together; 1 does not sort.

    Raises:
        ValueError: there are not as many sources as targets, or none; batch or bucket_batches < 1.

    Example:
        >>> words = [torch.arange(5, 5 + n) for n in (1, 2, 3)]
        >>> batches = BucketedPairs(words, words, batch=2)
        >>> len(batches), sum(len(batch.source) for batch in batches)
        (2, 3)
    """

    def __init__(
        self,
        sources: Sequence[Tensor] | Tensor,
        targets: Sequence[Tensor] | Tensor,
        batch: int,
        generator: torch.Generator | None = None,
        bucket_batches: int = 20,
    ):
        _check_pairs(sources, targets)
        if batch < 1 or bucket_batches < 1:
            raise ValueError(f"batch and bucket_batches must be at least 1, got {batch} and {bucket_batches}")
        self.sources, self.targets, self.batch, self.generator = sources, targets, batch, generator
        self.bucket_batches = bucket_batches

    def __len__(self) -> int:
        return -(-len(self.sources) // self.batch)

    def __iter__(self) -> Iterator[PairBatch]:
        for rows in self.plan(self.generator):
            yield collate([self.sources[i] for i in rows], [self.targets[i] for i in rows])

    def plan(self, generator: torch.Generator | None) -> list[list[int]]:
        """Which pairs go together in one iteration, batch by batch."""
        order = torch.randperm(len(self.sources), generator=generator).tolist()
        size = self.batch * self.bucket_batches
        batches = []
        for start in range(0, len(order), size):
            bucket = order[start : start + size]
            if self.bucket_batches > 1:
                bucket.sort(key=self.size)
            batches += [bucket[n : n + self.batch] for n in range(0, len(bucket), self.batch)]
        return [batches[n] for n in torch.randperm(len(batches), generator=generator).tolist()]

    def size(self, i: int) -> tuple[int, int]:
        """What pair i is sorted by: tokens of its source (of an image: 0), tokens of its target."""
        source = self.sources[i]
        return (len(source) if source.dim() == 1 else 0, len(self.targets[i]))

    def padding(self) -> float:
        """Share of padding among the source and target tokens of one iteration; leaves `generator` as it is."""
        real = total = 0
        for rows in self.plan(torch.Generator().manual_seed(0)):
            sizes = [(source, target + 1) for source, target in map(self.size, rows)]  # + 1: <bos> or <eos>
            for lengths in zip(*sizes, strict=True):
                real += sum(lengths)
                total += len(rows) * max(lengths)
        return 1 - real / total

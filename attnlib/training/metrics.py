"""How good a model is, and how often it looks at the right place; padding never counts."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from attnlib.data.examples import AlignmentLinks
from attnlib.extras import extra
from attnlib.training.losses import cross_entropy


@torch.no_grad()
def nats_per_token(model: nn.Module, tokens: Int[Tensor, " N"], streams: int = 64, chunk: int = 128) -> float:
    """Mean surprise of a language model over a long text, `-1/(N-1) Σ_t log ŷ_t[x_{t+1}]`.

    The text is cut into parts that are read side by side, the state carried through each. Only the first
    tokens of a part are guessed with less memory than there could be.

    Args:
        model: (tokens (B, T), state or None) → LMOutput with a state.
        tokens: the text, N ids, on the model's device.
        streams: number of parts.
        chunk: tokens read at a time; bounds the memory needed, does not change the result.

    Raises:
        ValueError: the text is too short for this many parts; streams or chunk < 1.

    Example:
        >>> model = RNNLM(vocab_size=5, d_embed=3, d_hidden=4)
        >>> nats = nats_per_token(model, torch.arange(100) % 5, streams=4)
    """
    if tokens.dim() != 1:
        raise ValueError(f"need one text (N,), got tokens {tuple(tokens.shape)}")
    if streams < 1 or chunk < 1:
        raise ValueError(f"streams and chunk must be at least 1, got {streams} and {chunk}")
    length = (len(tokens) - 1) // streams
    if length < 1:
        raise ValueError(f"{streams} streams need at least {streams + 1} tokens, got {len(tokens)}")
    whole = length * streams
    inputs, targets = tokens[:whole].view(streams, length), tokens[1 : whole + 1].view(streams, length)
    nats, state = 0.0, None
    for start in range(0, length, chunk):
        output = model(inputs[:, start : start + chunk], state)
        mean, n_tokens = cross_entropy(output.logits, targets[:, start : start + chunk])
        nats, state = nats + mean.item() * n_tokens, output.state
    if whole < len(tokens) - 1:  # the rest belongs to the last part
        output = model(tokens[whole:-1].unsqueeze(0), state[-1:])
        mean, n_tokens = cross_entropy(output.logits[0], tokens[whole + 1 :])
        nats += mean.item() * n_tokens
    return nats / (len(tokens) - 1)


def perplexity(nats_per_token: float) -> float:
    """`exp(nats per token)`: the number of equally likely tokens that would be as hard to guess among.

    Beyond what a float can hold (709 nats) it is infinite.
    """
    return math.exp(nats_per_token) if not nats_per_token > 709 else math.inf


def exact_match(predictions: Sequence | Tensor, references: Sequence | Tensor) -> float:
    """Share of the sequences that are right from their first token to their last.

    Args:
        predictions: sequences of tokens or of ids, without padding; a sequence may be a tensor or a string.
        references: what they should be, in the same order.

    Raises:
        ValueError: there are not as many predictions as references, or none; or one string instead of many.

    Example:
        >>> exact_match([[5, 6], [7]], [[5, 6], [7, 8]])
        0.5
    """
    _check_paired(predictions=predictions, references=references)
    pairs = zip(predictions, references, strict=True)
    return sum(_plain(prediction) == _plain(reference) for prediction, reference in pairs) / len(predictions)


def _plain(sequence: Sequence | Tensor) -> list:
    return sequence.tolist() if isinstance(sequence, Tensor) else list(sequence)


class BLEU(NamedTuple):
    """A BLEU score, and how it was counted; without that, two scores cannot be compared."""

    score: float  # 0..100
    signature: str


#: Those of sacrebleu that need no other package and no download.
TOKENIZERS = ("13a", "intl", "zh", "char", "none")


def bleu(predictions: Sequence[str], references: Sequence[str], tokenize: str = "13a") -> BLEU:
    """Corpus BLEU as sacrebleu counts it: geometric mean of the precisions of 1- to 4-grams, short output punished.

    The n-grams of all sentences are counted together, so the order of the sentences does not matter and their
    mean is another number. A corpus without a single 4-gram scores 0, even a perfect one.

    Args:
        predictions: sentences as text, not cut into tokens.
        references: one for each.
        tokenize: how sacrebleu cuts them, one of `TOKENIZERS`; "char" for Japanese.

    Raises:
        ValueError: there are not as many predictions as references, or none; one is no string; or tokenize is unknown.

    Example:
        >>> round(bleu(["the cat sat on the mat"], ["the cat sat on a mat"]).score, 1)
        53.7

    Source: papineni2002bleu (the score); post2018call (the signature).
    """
    with extra("data"):
        from sacrebleu.metrics import BLEU as Scorer  # here, because it is slow to import

    _check_paired(predictions=predictions, references=references)
    if strange := [text for text in (*predictions, *references) if not isinstance(text, str)]:
        raise ValueError(f"BLEU compares a string with one string, got {strange[0]!r}")
    if tokenize not in TOKENIZERS:
        raise ValueError(f"unknown tokenizer {tokenize!r}, known are {', '.join(TOKENIZERS)}")
    scorer = Scorer(tokenize=tokenize)
    score = scorer.corpus_score(list(predictions), [list(references)]).score
    return BLEU(score, str(scorer.get_signature()))


def hard_alignment(weights: Float[Tensor, "T S"], n_target: int, n_source: int) -> AlignmentLinks:
    """Links (i, argmax_j α_ij): each target token goes with the source token that it looks at most.

    Of equal weights the first wins. A token whose weights are all 0 goes with none.

    Args:
        weights: α_ij of one sentence, perhaps padded.
        n_target: real target tokens, 0..T.
        n_source: real source tokens, 1..S.

    Raises:
        ValueError: weights are not (T, S), the numbers do not fit them, or a real weight is NaN.

    Example:
        >>> sorted(hard_alignment(torch.tensor([[0.1, 0.9], [0.5, 0.5]]), 2, 2))
        [(0, 1), (1, 0)]
    """
    if weights.dim() != 2 or not (0 <= n_target <= weights.shape[0] and 1 <= n_source <= weights.shape[1]):
        raise ValueError(
            "need weights (T, S) with 0..T target and 1..S source tokens, "
            f"got weights {tuple(weights.shape)} with {n_target} and {n_source}"
        )
    real = weights[:n_target, :n_source]
    _check_numbers(real)
    looks = real.any(-1).tolist()
    return frozenset((i, j) for i, j in enumerate(real.argmax(-1).tolist()) if looks[i])


def alignment_error_rate(
    predicted: Sequence[AlignmentLinks],
    sure: Sequence[AlignmentLinks],
    possible: Sequence[AlignmentLinks] | None = None,
) -> float:
    """`AER = 1 - (|A ∩ S| + |A ∩ P|) / (|A| + |S|)`, with the links of all sentences counted together.

    0 where every sure link is found and nothing that is not possible. Sure links are among the possible ones.

    Args:
        predicted: A, links (i, j) of each sentence.
        sure: S, links that must be found.
        possible: P, links that may be found, S included; None: the sure ones and no others, so that
            1 - AER is the F1 score.

    Raises:
        ValueError: the numbers of sentences differ, a sure link is not possible, or no link is predicted or sure.

    Example:
        >>> alignment_error_rate(predicted=[{(0, 1), (1, 0)}], sure=[{(0, 1), (1, 1)}])
        0.5

    Source: och2003systematic (the alignment error rate).
    """
    possible = sure if possible is None else possible
    _check_paired(predicted=predicted, sure=sure, possible=possible)
    found = counted = 0
    for n, (A, S, P) in enumerate(zip(predicted, sure, possible, strict=True)):
        if S - P:
            raise ValueError(f"sure links must be possible; in sentence {n} these are not: {sorted(S - P)}")
        found += len(A & S) + len(A & P)
        counted += len(A) + len(S)
    if not counted:
        raise ValueError(f"no link is predicted or sure in {len(predicted)} sentences")
    return 1 - found / counted


class PointingGame(NamedTuple):
    """How often a model points at the right place, and how often blind chance would."""

    accuracy: float
    chance: float


def pointing_game(weights: Float[Tensor, "N M"], targets: Bool[Tensor, "N M"]) -> PointingGame:
    """Share of the steps whose most looked-at region is one of the right ones.

    Of equal weights the first wins. A step whose weights are all 0 points nowhere and misses.

    Args:
        weights: α of N steps over M regions.
        targets: True = a region that shows what the step is about.

    Returns:
        (accuracy, chance), where chance is the mean share of regions that are right.

    Raises:
        ValueError: weights and targets are not both (N, M) with N ≥ 1, targets are not boolean, a step has no
            right region, or a weight is NaN.

    Example:
        >>> pointing_game(torch.tensor([[0.7, 0.2, 0.1, 0.0]]), torch.tensor([[True, False, False, False]]))
        PointingGame(accuracy=1.0, chance=0.25)

    Source: zhang2018topdown (there a margin around the object counts too, and kinds of object are averaged).
    """
    if weights.dim() != 2 or weights.shape != targets.shape or not len(weights):
        raise ValueError(f"need weights and targets (N, M), got {tuple(weights.shape)} and {tuple(targets.shape)}")
    if targets.dtype != torch.bool:
        raise ValueError(f"targets are boolean, True = a right region; got {targets.dtype}")
    if not targets.any(-1).all():
        raise ValueError(f"no region is right in the steps {(~targets.any(-1)).nonzero().flatten().tolist()[:10]}")
    _check_numbers(weights)
    right = targets.gather(1, weights.argmax(-1, keepdim=True)).squeeze(1) & weights.any(-1)
    return PointingGame(accuracy=right.double().mean().item(), chance=targets.double().mean().item())


def _check_paired(**sequences: Sequence | Tensor) -> None:
    """Refuse sequences that do not stand side by side."""
    for name, sequence in sequences.items():
        if isinstance(sequence, str):
            raise ValueError(f"{name} must be a sequence of sequences, got the string {sequence[:40]!r}")
    if len({len(sequence) for sequence in sequences.values()}) > 1 or not len(next(iter(sequences.values()))):
        numbers = ", ".join(f"{len(sequence)} {name}" for name, sequence in sequences.items())
        raise ValueError(f"need as many of each, and at least one, got {numbers}")


def _check_numbers(weights: Tensor) -> None:
    """Refuse NaN, which argmax would take for the largest weight."""
    if (bad := weights.isnan().any(-1)).any():
        raise ValueError(f"weights {tuple(weights.shape)} are NaN in the rows {bad.nonzero().flatten().tolist()[:10]}")

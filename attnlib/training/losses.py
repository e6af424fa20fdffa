"""What training minimises: means over the real tokens of a batch, with a model's own terms added."""

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor

from attnlib.data.batching import PairBatch
from attnlib.seq2seq import Seq2Seq
from attnlib.validation import values_are_free


def cross_entropy(
    logits: Float[Tensor, "... V"], targets: Int[Tensor, "..."], mask: Bool[Tensor, "..."] | None = None
) -> tuple[Float[Tensor, ""], int | Int[Tensor, ""]]:
    """Mean of `-log ŷ[target]` over the real tokens, and how many there are.

    Args:
        logits: scores before the softmax.
        targets: the token that came, 0..V-1; on padding anything.
        mask: True = a real token, False = padding; None counts all.

    Returns:
        (nats per token, number of tokens it is the mean of). On a GPU the number is a tensor, as reading waits.

    Raises:
        ValueError: shapes differ, the mask is not boolean, or, on the CPU, no token is real or a real one is outside
            the vocabulary.
    """
    if logits.shape[:-1] != targets.shape:
        raise ValueError(
            f"need logits (..., V) and targets (...), got {tuple(logits.shape)} and {tuple(targets.shape)}"
        )
    if targets.is_floating_point() or targets.dtype == torch.bool:
        raise ValueError(f"targets are token ids, integers; got {targets.dtype}")
    if mask is not None:
        if mask.dtype != torch.bool:  # integers would index tokens, not select them
            raise ValueError(f"a mask is boolean, True = a real token; got {mask.dtype}")
        if mask.shape != targets.shape:
            raise ValueError(f"mask {tuple(mask.shape)} and targets {tuple(targets.shape)} differ in shape")
        if not values_are_free(mask):
            return _masked_mean(logits, targets, mask)
        logits, targets = logits[mask], targets[mask]
    if not targets.numel():
        raise ValueError(f"there is no token to judge: targets {tuple(targets.shape)}")
    if values_are_free(targets):
        low, high = targets.aminmax()
        if low < 0 or high >= logits.shape[-1]:  # torch would leave -100 out and say nothing
            raise ValueError(f"targets must lie in 0..{logits.shape[-1] - 1}, got {low.item()}..{high.item()}")
    return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1).long()), targets.numel()


def _masked_mean(
    logits: Float[Tensor, "... V"], targets: Int[Tensor, "..."], mask: Bool[Tensor, "..."]
) -> tuple[Float[Tensor, ""], Int[Tensor, ""]]:
    """The same without selecting tokens, which would wait for their number: padding is computed and not counted."""
    logits, targets = logits.masked_fill(~mask.unsqueeze(-1), 0.0), targets.masked_fill(~mask, 0)
    nats = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1).long(), reduction="none")
    n = mask.sum()
    return nats.masked_fill(~mask.reshape(-1), 0.0).sum() / n, n


def seq2seq_loss(
    model: Seq2Seq, batch: PairBatch, teacher_forcing: float = 1.0
) -> tuple[Float[Tensor, ""], int | Int[Tensor, ""]]:
    """Nats per real target token, and how many there are: what `attnlib.training.fit` minimises.

    Args:
        model: whose logits are judged.
        batch: padding of its targets counts for nothing.
        teacher_forcing: as for `Seq2Seq.forward`.

    Raises:
        ValueError: no target is real, or the model refuses the batch.

    Example:
        >>> from attnlib.data import collate
        >>> model = Seq2Seq(Encoder(9, 4, 5), BahdanauDecoder(7, 4, 5, 6))
        >>> loss, n_tokens = seq2seq_loss(model, collate([torch.tensor([4, 5])], [torch.tensor([6, 4, 4])]))
        >>> n_tokens  # three, and <eos>
        4
    """
    decoded = model(batch.source, batch.inputs, batch.lengths, teacher_forcing)
    return cross_entropy(decoded.logits, batch.targets, batch.mask)


def caption_loss(
    model: Seq2Seq, batch: PairBatch, penalty: float = 0.0
) -> tuple[Float[Tensor, ""], int | Int[Tensor, ""]]:
    """Nats per real word, plus penalty times `doubly_stochastic_penalty`, and how many words there are.

    Raises:
        ValueError: a penalty is asked for and the model has no attention.

    Example:
        >>> from attnlib.data import collate
        >>> batch = collate(torch.rand(1, 1, 48, 48), [torch.tensor([4, 5, 6])])
        >>> model = Seq2Seq(GridEncoder(channels=1, d_annotation=5), BahdanauDecoder(7, 4, 5, 6))
        >>> loss, n_words = caption_loss(model, batch, penalty=0.1)
        >>> n_words  # three, and <eos>
        4

    Source: xu2015show, equation 14 (there λ, beside the nats of a whole caption).
    """
    decoded = model(batch.source, batch.inputs)
    loss, n_words = cross_entropy(decoded.logits, batch.targets, batch.mask)
    if penalty == 0:
        return loss, n_words
    if decoded.weights is None:
        raise ValueError(f"a penalty of {penalty} on attention needs a model with attention")
    return loss + penalty * doubly_stochastic_penalty(decoded.weights, batch.mask), n_words


def doubly_stochastic_penalty(weights: Float[Tensor, "B T M"], target_mask: Bool[Tensor, "B T"]) -> Float[Tensor, ""]:
    """`Σ_j (1 - Σ_i α_ij)²`, mean over the batch: small where every region is looked at about as much as any other.

    Args:
        weights: α_ij, of every target step.
        target_mask: True = a real target step; the others do not count as looks.

    Raises:
        ValueError: the mask is not boolean, or not one per target step.

    Example:
        >>> weights = torch.tensor([[[1.0, 0.0], [1.0, 0.0]]])  # two looks at one region, none at the other
        >>> doubly_stochastic_penalty(weights, torch.tensor([[True, True]]))
        tensor(2.)

    Source: xu2015show, equation 14.
    """
    if (
        weights.dim() != 3
        or target_mask.dtype != torch.bool
        or target_mask.shape != weights.shape[:2]
        or not len(weights)
    ):
        raise ValueError(
            f"need weights (B, T, M), B ≥ 1, and one boolean per target step, got weights {tuple(weights.shape)} "
            f"and target_mask {tuple(target_mask.shape)} of {target_mask.dtype}"
        )
    looked = weights.masked_fill(~target_mask.unsqueeze(-1), 0.0).sum(1)  # (B, M)
    return ((1 - looked) ** 2).sum(-1).mean()


def coverage_loss(weights: Float[Tensor, "B T S"], mask: Bool[Tensor, "B T"]) -> Float[Tensor, ""]:
    """How much is looked at again, `Σ_j min(α_ij, Σ_{i'<i} α_i'j)`, mean over the real target steps.

    Raises:
        ValueError: shapes differ, the mask is not boolean, or no step is real.

    Example:
        >>> weights = torch.tensor([[[0.5, 0.5], [1.0, 0.0]]])  # the second step looks again at half of what it sees
        >>> coverage_loss(weights, torch.tensor([[True, True]]))
        tensor(0.2500)

    Source: see2017get, equations 10 and 12.
    """
    if weights.dim() != 3 or weights.shape[:2] != mask.shape or mask.dtype != torch.bool or not mask.any():
        raise ValueError(
            f"need weights (B, T, S) and a boolean mask (B, T) with a real step, got {tuple(weights.shape)} and "
            f"{mask.dtype} {tuple(mask.shape)} with {int(mask.sum())}"
        )
    before = weights.cumsum(1) - weights
    return torch.minimum(weights, before).sum(-1)[mask].mean()

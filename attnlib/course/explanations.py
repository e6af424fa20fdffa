"""What chapter 14 tests explanations with: measures of how much each word matters, and of how far weights differ."""

from collections.abc import Callable

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from attnlib.data.labelled import Labelled


def kendall_tau(a: Float[Tensor, "N S"], b: Float[Tensor, "N S"], mask: Bool[Tensor, "N S"]) -> Float[Tensor, " N"]:
    """Kendall's τ of two measures of the same words, for each text: do both put the words in the same order?

    Of all pairs of words, those in the same order by both minus those in opposite orders; over the geometric mean of
    the numbers of pairs that each tells apart (τ_b, where some are equal). 0 where one tells nothing apart.

    Args:
        a, b: importance of each word.
        mask: True = a word of the text.

    Example:
        >>> a, mask = torch.tensor([[1.0, 2.0, 3.0]]), torch.ones(1, 3, dtype=torch.bool)
        >>> kendall_tau(a, a ** 2, mask), kendall_tau(a, -a, mask)
        (tensor([1.]), tensor([-1.]))
    """
    pairs = mask.unsqueeze(1) & mask.unsqueeze(2)
    order_a, order_b = ((x.unsqueeze(1) - x.unsqueeze(2)).sign() * pairs for x in (a, b))
    told_apart = (order_a.square().sum((1, 2)) * order_b.square().sum((1, 2))).sqrt()
    return (order_a * order_b).sum((1, 2)) / told_apart.clamp(min=1)


def gradients(model: nn.Module, texts: Labelled) -> Float[Tensor, "N S"]:
    """How fast p changes with each word: the size of ∂p/∂x_j · x_j, x_j its embedding, the weights held fixed.

    Args:
        model: with an `encoder.embedding`; model(texts, weights) → (log-odds, weights, …), computing the weights
            itself where it is given None.
        texts: N of them, of S places.

    Example:
        >>> class Sum(nn.Module):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.encoder = nn.Module()
        ...         self.encoder.embedding = nn.Embedding.from_pretrained(torch.tensor([[0.0], [2.0]]), freeze=False)
        ...     def forward(self, texts, weights=None):
        ...         return self.encoder.embedding(texts.tokens).sum((1, 2)), weights
        >>> texts = Labelled(torch.tensor([[0, 1]]), torch.tensor([2]), None, None, None)
        >>> gradients(Sum(), texts)  # p (1 - p) · 2, at p = σ(2)
        tensor([[0.0000, 0.2100]])
    """
    with torch.no_grad():
        weights = model(texts)[1]
    kept: list[Tensor] = []
    hook = model.encoder.embedding.register_forward_hook(lambda module, given, result: kept.append(result))
    try:
        p = model(texts, weights)[0].sigmoid()
    finally:
        hook.remove()
    (slope,) = torch.autograd.grad(p.sum(), kept[0])
    return (slope * kept[0]).sum(-1).abs().detach()


@torch.no_grad()
def leave_one_out(model: Callable, texts: Labelled) -> Float[Tensor, "N S"]:
    """How far p moves when word j is deleted and the model reads again, for each j; 0 at padding.

    Args:
        model: model(texts) → (log-odds, …).
        texts: N of them, of S places.

    Example:
        >>> texts = Labelled(torch.tensor([[5, 7, 0]]), torch.tensor([2]), None, None, None)
        >>> leave_one_out(lambda texts: (texts.tokens.sum(1) - 12.0,), texts)  # p = σ(0), σ(-5) and σ(-7)
        tensor([[0.4933, 0.4991, 0.0000]])
    """
    p, places = model(texts)[0].sigmoid(), torch.arange(texts.tokens.shape[1], device=texts.tokens.device)
    moved = []
    for j in places:
        real = j < texts.lengths
        shorter = texts._replace(tokens=texts.tokens[:, places != j], lengths=texts.lengths - real.long())
        moved.append((model(shorter)[0].sigmoid() - p).abs())
    return torch.stack(moved, dim=1)


def divergence(a: Float[Tensor, "*N S"], b: Float[Tensor, "*N S"]) -> Float[Tensor, "*N"]:
    """Jensen–Shannon divergence of two distributions over the same words, in nats: from 0 to log 2.

    Example:
        >>> a = torch.tensor([1.0, 0.0, 0.0])
        >>> divergence(a, a.flip(0))
        tensor(0.6931)
    """
    a, b = a.clamp(min=1e-12), b.clamp(min=1e-12)  # 0 log 0 = 0, with a gradient
    m = (a + b) / 2
    return ((a * (a / m).log()).sum(-1) + (b * (b / m).log()).sum(-1)) / 2


def farthest_weights(
    alpha: Float[Tensor, " S"], votes: Float[Tensor, " S"], low: float | Tensor, high: float | Tensor
) -> Float[Tensor, " S"]:
    """Of all weights α' with low ≤ Σ α'_j z_j ≤ high, those that diverge most from α.

    The divergence is convex, so it is largest at a corner of what is allowed; and a corner of a simplex that is cut
    by one bound stands on at most two words. All pairs are tried.

    Args:
        alpha: weights of the model.
        votes: z_j, what the model would say if it looked at j alone.
        low, high: the bounds; α itself should keep them, and is returned where nothing else does.

    Example:
        >>> farthest_weights(torch.tensor([1.0, 0.0, 0.0]), torch.tensor([4.0, 0.0, 8.0]), 4.0, 4.0)
        tensor([0.0000, 0.5000, 0.5000])
    """
    S = len(alpha)
    one, other = torch.triu_indices(S, S, 1)  # all pairs of places
    pair, gap = torch.arange(len(one)), votes[one] - votes[other]
    corners = [torch.eye(S).to(alpha)[(votes >= low) & (votes <= high)], alpha[None]]
    for bound in (low, high):
        share = (bound - votes[other]) / gap  # of the first of the two
        both = alpha.new_zeros(len(one), S)
        both[pair, one], both[pair, other] = share, 1 - share
        corners.append(both[(share >= 0) & (share <= 1)])
    tried = torch.cat(corners)
    return tried[divergence(alpha.expand_as(tried), tried).argmax()]

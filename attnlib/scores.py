"""Score functions: how relevant is key j to query i?

A score compares every query with every key and knows nothing else: no softmax, no mask, no values (those are in
`attnlib.attention`). To add one, write `compare`, and `project_key` if the key has parameters of its own, and register
the class in `SCORES`; the contract test covers it from then on. The book's tables read what they say of a score in its
docstring: the first line is "name, `formula`: what is special about it", the last the source.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn

from attnlib.chunked_scores import chunked_scores
from attnlib.validation import check_sizes


class Score(nn.Module):
    """Compare every query with every key: `scores[..., i, j] = a(query_i, key_j)`.

    What a score does to a key does not depend on the query, so it is a method of its own: a decoder calls
    `project_key` once per sentence and compares once per step. Nothing is kept on `self`.

    Args:
        d_query, d_key: widths of a query and of a key.
        sizes: further widths and counts of a subclass, checked like these.

    Raises:
        ValueError: a width or count is no integer of at least 1, or the two widths differ where they must be equal.

    Example:
        >>> SCORES["general"](d_query=3, d_key=5)(torch.randn(2, 4, 3), torch.randn(2, 6, 5)).shape
        torch.Size([2, 4, 6])

    Source: bahdanau2015neural, section 3.1: the alignment model e_ij = a(s_{i-1}, h_j).
    """

    def __init__(self, d_query: int, d_key: int, **sizes: int):
        super().__init__()
        check_sizes(d_query=d_query, d_key=d_key, **sizes)
        self.d_query, self.d_key = d_query, d_key

    def project_key(self, key: Float[Tensor, "... S d_key"]) -> Float[Tensor, "... S d_projected"]:
        """The part of the score that looks at the key alone."""
        return key

    def compare(self, query: Tensor, projected_key: Tensor) -> Float[Tensor, "... T S"]:
        """Scores of queries (..., T, d_query) against keys (..., S, d_projected) after `project_key`."""
        raise NotImplementedError(f"{type(self).__name__} must define compare(query, projected_key)")

    def forward(
        self,
        query: Float[Tensor, "... T d_query"],
        key: Float[Tensor, "... S d_key"] | None = None,
        projected_key: Float[Tensor, "... S d_projected"] | None = None,
    ) -> Float[Tensor, "... T S"]:
        """Scores, unnormalised; they become nats once a softmax is taken.

        Args:
            projected_key: the keys after `project_key`, in place of `key`, for a caller with many queries.

        Raises:
            ValueError: not exactly one of key and projected_key is given, or widths, dimensions or types do not fit.
        """
        self.check(query, key, projected_key)
        return self.compare(query, self.project_key(key) if projected_key is None else projected_key)

    def check(self, query: Tensor, key: Tensor | None, projected_key: Tensor | None = None) -> None:
        """As `forward`, without comparing: refuse queries and keys that do not fit this score or each other."""
        if (key is None) == (projected_key is None):
            raise ValueError("a score needs either key or projected_key")
        name, keys = ("key", key) if projected_key is None else ("projected_key", projected_key)
        shapes = f"got query {tuple(query.shape)} and {name} {tuple(keys.shape)}"
        if query.dim() < 2 or keys.dim() < 2:
            raise ValueError(f"a score needs query (..., T, d_query) and key (..., S, d_key): {shapes}")
        if query.shape[-1] != self.d_query or (key is not None and key.shape[-1] != self.d_key):
            sizes = f"d_query={self.d_query}, d_key={self.d_key}"
            raise ValueError(f"{type(self).__name__}({sizes}) {shapes}: last dimensions differ")
        if query.shape[:-2] != keys.shape[:-2]:
            raise ValueError(f"query and {name} must share their leading dimensions, {shapes}")
        if query.dtype != keys.dtype and not torch.is_autocast_enabled(query.device.type):
            raise ValueError(f"query and {name} must have one type, got {query.dtype} and {keys.dtype}")

    def extra_repr(self) -> str:
        return f"d_query={self.d_query}, d_key={self.d_key}"


class DotScore(Score):
    """Dot product, `e = q · k`: similarity in one shared space, no parameters.

    Raises:
        ValueError: d_query and d_key differ.

    Source: luong2015effective, section 3.1 (dot).
    """

    def __init__(self, d_query: int, d_key: int):
        super().__init__(d_query, d_key)
        if d_query != d_key:
            raise ValueError(f"a dot product needs d_query == d_key, got {d_query} and {d_key}")

    def compare(self, query, projected_key):
        return query @ projected_key.mT  # (..., T, S)


class ScaledDotScore(DotScore):
    """Scaled dot product, `e = q · k / √d`: the variance of the score no longer grows with the width.

    Source: vaswani2017attention, equation 1.
    """

    def compare(self, query, projected_key):
        return super().compare(query / math.sqrt(self.d_key), projected_key)  # (..., T, S)


class GeneralScore(Score):
    """Bilinear product, `e = qᵀ W k`: a dot product after a learned map between the two spaces.

    Source: luong2015effective, section 3.1 (general).
    """

    def __init__(self, d_query: int, d_key: int):
        super().__init__(d_query, d_key)
        self.W = nn.Linear(d_key, d_query, bias=False)

    def project_key(self, key):
        return self.W(key)  # (..., S, d_query)

    compare = DotScore.compare  # (..., T, S)


class ProjectedDotScore(Score):
    """Dot product of projections, `e = (W_q q) · (W_k k)`: `general` with W = W_qᵀ W_k of rank d_hidden.

    Source: vaswani2017attention, section 3.2.2 (there W_q and W_k are one head's, and e is divided by √d).
    """

    def __init__(self, d_query: int, d_key: int, d_hidden: int = 64):
        super().__init__(d_query, d_key, d_hidden=d_hidden)
        self.W_q = nn.Linear(d_query, d_hidden, bias=False)
        self.W_k = nn.Linear(d_key, d_hidden, bias=False)

    def project_key(self, key):
        return self.W_k(key)  # (..., S, d_hidden)

    def compare(self, query, projected_key):
        return self.W_q(query) @ projected_key.mT  # (..., T, S)


class AdditiveScore(Score):
    """Additive score, `e = v_aᵀ tanh(W_a q + U_a k)`: a small network with a hidden layer of width d_hidden.

    Source: bahdanau2015neural, appendix A.1.2 (their s_{i-1} is the query, their h_j the key).
    """

    def __init__(self, d_query: int, d_key: int, d_hidden: int = 64):
        super().__init__(d_query, d_key, d_hidden=d_hidden)
        self.W_a = nn.Linear(d_query, d_hidden, bias=False)
        self.U_a = nn.Linear(d_key, d_hidden, bias=False)
        self.v_a = nn.Linear(d_hidden, 1, bias=False)

    def project_key(self, key):
        return self.U_a(key)  # (..., S, d_hidden)

    def compare(self, query, projected_key):
        return chunked_scores(self.pairwise_scores, self.W_a(query), projected_key, self.v_a.in_features)

    def pairwise_scores(self, projected_query, projected_key):
        """Scores of all pairs, each of which has a hidden layer of its own."""
        hidden = projected_query.unsqueeze(-2) + projected_key.unsqueeze(-3)  # (..., T, S, d_hidden)
        return self.v_a(hidden.tanh_()).squeeze(-1)  # (..., T, S); in place of the sum: nothing else is as large


class ConcatScore(Score):
    """The same small network as first drawn, `e = w_2ᵀ tanh(W_1 [q; k])`: every pair is laid end to end.

    Equal to `additive` with W_1 = [W_a U_a], but nothing can be computed once per key.

    Source: luong2015effective, section 3.1 (concat).
    """

    def __init__(self, d_query: int, d_key: int, d_hidden: int = 64):
        super().__init__(d_query, d_key, d_hidden=d_hidden)
        self.W_1 = nn.Linear(d_query + d_key, d_hidden, bias=False)
        self.w_2 = nn.Linear(d_hidden, 1, bias=False)

    def compare(self, query, projected_key):
        width = self.d_query + self.d_key + self.W_1.out_features
        return chunked_scores(self.pairwise_scores, query, projected_key, width)

    def pairwise_scores(self, query, key):
        """Scores of all pairs."""
        T, S = query.shape[-2], key.shape[-2]
        queries = query.unsqueeze(-2).expand(*query.shape[:-1], S, -1)  # (..., T, S, d_query)
        keys = key.unsqueeze(-3).expand(*key.shape[:-2], T, S, -1)  # (..., T, S, d_key)
        pairs = torch.cat([queries, keys], dim=-1)  # (..., T, S, d_query + d_key)
        return self.w_2(torch.tanh(self.W_1(pairs))).squeeze(-1)  # (..., T, S)


class CosineScore(DotScore):
    """Content-based score, `e = β cos(q, k)`: only the angle counts, the sharpness β sets the scale.

    A zero vector has no direction; its cosine is taken as 0.

    Args:
        sharpness: β, the largest score there can be. With β = 1 no weight exceeds e² times another.

    Raises:
        ValueError: d_query and d_key differ, or the sharpness is no positive, finite number.

    Source: graves2014neural, equations 5 and 6.
    """

    def __init__(self, d_query: int, d_key: int, sharpness: float = 1.0):
        super().__init__(d_query, d_key)
        if not 0 < sharpness < math.inf:
            raise ValueError(f"sharpness must be a positive number, got {sharpness}")
        self.sharpness = sharpness

    def project_key(self, key):
        return unit(key)

    def compare(self, query, projected_key):
        return self.sharpness * super().compare(unit(query), projected_key)  # (..., T, S)

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, sharpness={self.sharpness}"


def unit(x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """Vectors of length 1; a zero vector stays one and gets no gradient. In float32 at least: halves underflow."""
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    length = wide.norm(dim=-1, keepdim=True)
    return (wide / length.where(length > 0, math.inf)).to(x.dtype)


class LocationScore(Score):
    """Location-based score, `e_j = (W_a q)_j`: the query alone says where to look; keys are not read.

    Args:
        n_positions: the longest sentence it can score.

    Raises:
        ValueError: as `Score`; in `forward`, there are more keys than n_positions.

    Source: luong2015effective, section 3.1 (location).
    """

    def __init__(self, d_query: int, d_key: int, n_positions: int = 64):
        super().__init__(d_query, d_key, n_positions=n_positions)
        self.W_a = nn.Linear(d_query, n_positions, bias=False)

    def compare(self, query, projected_key):
        S, n_positions = projected_key.shape[-2], self.W_a.out_features
        if S > n_positions:
            raise ValueError(f"LocationScore knows n_positions={n_positions} positions, got a key with S={S}")
        return self.W_a(query)[..., :S]  # (..., T, S)


class ZeroScore(Score):
    """No preference, `e = 0`: after the softmax, the plain mean of the values, the baseline of every score."""

    def compare(self, query, projected_key):
        return query.new_zeros(*query.shape[:-1], projected_key.shape[-2])  # (..., T, S)


SCORES: dict[str, type[Score]] = {
    "dot": DotScore,
    "scaled_dot": ScaledDotScore,
    "general": GeneralScore,
    "projected_dot": ProjectedDotScore,
    "additive": AdditiveScore,
    "concat": ConcatScore,
    "cosine": CosineScore,
    "location": LocationScore,
    "zero": ZeroScore,
}

AnyScore = str | Score | None  #: a name of `SCORES`, a score made already, or None where there is a default


def make_score(score: str | Score, d_query: int | None, d_key: int | None, **options) -> Score:
    """The score of this name, with options such as `d_hidden`; or the given one, of these widths where they are known.

    Raises:
        ValueError: no such name, or a given score is for other widths, or has options besides.

    Example:
        >>> make_score("additive", 3, 5, d_hidden=7).v_a.in_features
        7
    """
    if isinstance(score, Score):
        if d_query not in (None, score.d_query) or d_key not in (None, score.d_key) or options:
            need = f"need a score with d_query={d_query}, d_key={d_key} and no options"
            raise ValueError(f"{need}, got {type(score).__name__}({score.extra_repr()}) and {options}")
        return score
    if score not in SCORES:
        raise ValueError(f"unknown score {score!r}, known are {', '.join(SCORES)}")
    return SCORES[score](d_query, d_key, **options)

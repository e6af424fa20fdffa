"""chunked_scores: the same scores and gradients, whatever is done at once; and little is kept."""

import pytest
import torch
from torch.autograd.graph import saved_tensors_hooks
from torch.testing import assert_close

from attnlib import chunked_scores as module
from attnlib.scores import AdditiveScore, ConcatScore

B, T, S, D_QUERY, D_KEY, D_HIDDEN = 2, 7, 5, 3, 4, 11
#: Numbers that one pair has of its own.
WIDTHS = {AdditiveScore: D_HIDDEN, ConcatScore: D_QUERY + D_KEY + D_HIDDEN}


def make(kind, leading=(B,)):
    torch.manual_seed(0)
    score = kind(D_QUERY, D_KEY, D_HIDDEN).double()
    query = torch.randn(*leading, T, D_QUERY, dtype=torch.float64, requires_grad=True)
    key = torch.randn(*leading, S, D_KEY, dtype=torch.float64, requires_grad=True)
    return score, query, key


def results(score, query, key):
    """Scores, and the gradients of a sum that tells all of them apart."""
    scores = score(query, key)
    told_apart = torch.linspace(-1, 2, scores.numel(), dtype=scores.dtype).view_as(scores)
    return scores, *torch.autograd.grad((scores * told_apart).sum(), [query, key, *score.parameters()])


def watched(score, monkeypatch) -> list[tuple[int, int]]:
    """How many queries and keys were compared in each call to come."""
    calls, pairwise_scores = [], score.pairwise_scores

    def note(query, key):
        calls.append((query.shape[-2], key.shape[-2]))
        return pairwise_scores(query, key)

    monkeypatch.setattr(score, "pairwise_scores", note)
    return calls


@pytest.mark.parametrize("kind", WIDTHS)
@pytest.mark.parametrize("leading", [(), (B,), (3, B)])
@pytest.mark.parametrize("at_once", [1, 100, 250, 380])
def test_a_few_at_once_are_the_same_scores_and_gradients(kind, leading, at_once, monkeypatch):
    score, query, key = make(kind, leading)
    wanted = results(score, query, key)
    calls = watched(score, monkeypatch)
    monkeypatch.setattr(module, "CHUNK_NUMEL", at_once)
    for one, other in zip(results(score, query, key), wanted, strict=True):
        assert_close(one, other, rtol=1e-12, atol=1e-13)
    assert max(T_part for T_part, _ in calls) < T


@pytest.mark.parametrize("kind", WIDTHS)
@pytest.mark.parametrize("queries", range(1, T + 1))
def test_as_many_queries_as_fit(kind, queries, monkeypatch):
    score, query, key = make(kind)
    calls = watched(score, monkeypatch)
    room = B * S * WIDTHS[kind]  # of one query
    for spare in (0, room - 1):
        monkeypatch.setattr(module, "CHUNK_NUMEL", queries * room + spare)
        calls.clear()
        score(query, key)
        whole, rest = divmod(T, queries)
        assert calls == [(queries, S)] * whole + [(rest, S)] * bool(rest)
    monkeypatch.setattr(module, "CHUNK_NUMEL", room - 1)  # a query that alone is too much is taken alone
    calls.clear()
    score(query, key)
    assert calls == [(1, S)] * T


@pytest.mark.parametrize("kind", WIDTHS)
def test_the_gradient_keeps_no_hidden_layer(kind, monkeypatch):
    score, query, key = make(kind)

    def kept() -> int:
        sizes = {}

        def note(tensor):
            sizes[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes() // tensor.element_size()
            return tensor

        with saved_tensors_hooks(note, lambda tensor: tensor):
            score(query, key)
        return sum(sizes.values())

    hidden = B * T * S * D_HIDDEN
    assert kept() > hidden
    monkeypatch.setattr(module, "CHUNK_NUMEL", B * S * WIDTHS[kind])
    assert kept() < hidden


def test_the_limit_counts_what_the_function_says():
    calls = []

    def product(query, key):
        calls.append(query.shape[-2])
        return query @ key.mT

    query, key = torch.randn(2, 1024, 8), torch.randn(2, 512, 8)
    for width in (16, 8):
        assert_close(module.chunked_scores(product, query, key, width), query @ key.mT)
    assert calls == [512, 512, 1024]  # 2 · 512 · 512 · 16 = 2²³

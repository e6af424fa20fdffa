"""The measures of chapter 14, against SciPy, brute force and a search by gradient."""

import pytest
import torch
from scipy.spatial.distance import jensenshannon
from scipy.stats import kendalltau
from torch import nn
from torch.testing import assert_close

from attnlib.course.explanations import divergence, farthest_weights, gradients, kendall_tau, leave_one_out
from attnlib.data import Labelled, pad


class Bag(nn.Module):
    """Log-odds that are a curved function of weighted embeddings."""

    def __init__(self):
        super().__init__()
        self.encoder = nn.Module()
        self.encoder.embedding = nn.Embedding(9, 3)

    def forward(self, texts, weights=None):
        x, real = self.encoder.embedding(texts.tokens), torch.arange(texts.tokens.shape[1]) < texts.lengths[:, None]
        if weights is None:
            weights = x.sum(-1).masked_fill(~real, -torch.inf).softmax(-1)
        return (weights.unsqueeze(-1) * x.tanh()).sum((1, 2)), weights


@pytest.fixture
def bag():
    return Bag().double()


@pytest.fixture
def texts():
    tokens, lengths = pad([torch.tensor([1, 5, 2, 7]), torch.tensor([3, 3]), torch.tensor([8, 1, 6])])
    return Labelled(tokens, lengths, lengths, lengths, None)


def test_kendall_is_that_of_scipy_with_and_without_ties():
    for values in (lambda: torch.rand(20, 9), lambda: torch.randint(4, (20, 9)).float()):
        a, b, lengths = values(), values(), torch.randint(3, 10, (20, 1))
        found = kendall_tau(a, b, torch.arange(9) < lengths)
        for n, S in enumerate(lengths.flatten().tolist()):
            assert found[n].item() == pytest.approx(kendalltau(a[n, :S], b[n, :S]).statistic, abs=1e-6)


def test_kendall_of_even_weights_is_zero():
    assert kendall_tau(torch.ones(1, 5), torch.rand(1, 5), torch.ones(1, 5).bool()).item() == 0


def test_leaving_out_is_reading_the_shorter_text(bag, texts):
    found = leave_one_out(bag, texts)
    for n, S in enumerate(texts.lengths.tolist()):
        words = texts.tokens[n, :S].tolist()

        def p(words):
            tokens, lengths = pad([torch.tensor(words)])
            return bag(Labelled(tokens, lengths, lengths, lengths, None))[0].sigmoid().item()

        for j in range(S):
            assert found[n, j].item() == pytest.approx(abs(p(words[:j] + words[j + 1 :]) - p(words)), abs=1e-9)
        assert not found[n, S:].any()


def test_gradients_are_slopes_with_the_weights_held_fixed(bag, texts):
    found, weights = gradients(bag, texts), bag(texts)[1].detach()
    x, small = bag.encoder.embedding.weight.detach(), 1e-6
    for n, j in ((0, 0), (0, 3), (2, 1)):  # places of words that stand once in their text

        def p(scale, n=n, word=texts.tokens[n, j]):
            old = x[word].clone()
            x[word] *= scale
            result = bag(texts, weights)[0][n].sigmoid().item()
            x[word] = old
            return result

        assert found[n, j].item() == pytest.approx(abs(p(1 + small) - p(1 - small)) / (2 * small), rel=1e-5)
    assert not bag.encoder.embedding._forward_hooks


def test_divergence_is_the_square_of_scipys_distance():
    a, b = torch.rand(2, 10, 6).double().softmax(-1)
    a[0, :3], b[0, 3:] = 0, 0  # never meet, once both are normalised
    a, b = a / a.sum(-1, keepdim=True), b / b.sum(-1, keepdim=True)
    assert_close(divergence(a, b), torch.tensor(jensenshannon(a, b, axis=1) ** 2), rtol=0, atol=1e-9)


def test_no_search_finds_weights_farther_than_the_corners():
    for S in (2, 3, 6, 10):
        alpha, votes = torch.randn(S).softmax(-1), 3 * torch.randn(S)
        z = (alpha * votes).sum()
        found = farthest_weights(alpha, votes, z - 0.5, z + 0.5)
        assert found.min() >= 0 and found.sum().item() == pytest.approx(1, abs=1e-5)
        assert abs((found * votes).sum() - z) <= 0.5 + 1e-4
        best = divergence(alpha, found).item()
        tried = (3 * torch.randn(20_000, S)).softmax(-1)
        allowed = tried[((tried @ votes) - z).abs() <= 0.5]
        assert divergence(alpha.expand_as(allowed), allowed).max() <= best + 1e-5

        logits = torch.randn(50, S, requires_grad=True)
        optimizer, reached = torch.optim.Adam([logits], lr=0.1), 0.0
        for _ in range(300):
            weights = logits.softmax(-1)
            change, far = (weights @ votes - z).abs(), divergence(alpha.expand_as(weights), weights)
            reached = max([reached, *far[change <= 0.5].tolist()])
            optimizer.zero_grad()
            (10 * (change - 0.4).relu() - far).sum().backward()
            optimizer.step()
        assert 0.8 * best <= reached <= best + 1e-5


@pytest.mark.parametrize(
    ("alpha", "votes", "low", "high", "found"),
    [
        ([0.6, 0.3, 0.1], [1.0, 1.1, 0.9], 0.0, 2.0, [0.0, 0.0, 1.0]),  # where all is allowed, one word gets all
        ([1.0, 0.0], [4.0, 0.0], 4.0, 9.0, [1.0, 0.0]),  # weights that nothing else can replace are returned
    ],
)
def test_weights_of_one_word(alpha, votes, low, high, found):
    assert farthest_weights(torch.tensor(alpha), torch.tensor(votes), low, high).tolist() == found

"""A layer of heads and a reader of what they found, from the weights of a page; heads can be switched off."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from attnlib.course.figures.weights import Weights, loaded, widths
from attnlib.positions import LearnedPositions
from attnlib.self_attention import MultiHeadAttention


class HeadsModel(nn.Module):
    """`x_t = E[token_t] + p_t`, one layer of heads, and `W c_t + b` or `W_2 ReLU(W_1 c_t + b_1) + b_2`.

    Args:
        n_heads: H.
        weights: `embedding.weight` (V, d_model), `positions.p` if there are positions, `attention.W_q.weight`, `W_k`,
            `W_v` and `W_o`, then `read.weight` (n_out, d_model), or `read.0.weight` (d_ff, d_model) and
            `read.2.weight` (n_out, d_ff); the layer and the reader each with a `.bias` everywhere or nowhere.
        V: number of words.
        n_out: width of the answers at one position.

    Raises:
        ValueError: heads do not divide the width, or the weights are not those of such a model, or are not finite.
    """

    def __init__(self, n_heads: int, weights: Weights, V: int, n_out: int):
        super().__init__()
        _, d = widths(weights, "embedding.weight")
        with torch.device("meta"):
            self.embedding, self.positions = nn.Embedding(V, d), nn.Identity()
            if "positions.p" in weights:
                self.positions = LearnedPositions(widths(weights, "positions.p")[0], d)
            self.attention = MultiHeadAttention(d, n_heads, bias="attention.W_q.bias" in weights)
            if "read.0.weight" in weights:
                d_ff, bias = widths(weights, "read.0.weight")[0], "read.0.bias" in weights
                self.read = nn.Sequential(nn.Linear(d, d_ff, bias), nn.ReLU(), nn.Linear(d_ff, n_out, bias))
            else:
                self.read = nn.Linear(d, n_out, "read.bias" in weights)
        loaded(self, weights)

    def forward(self, tokens: Tensor, off: Sequence[int] = ()) -> tuple[Tensor, Tensor]:
        """Run the model.

        Args:
            tokens: (N, T).
            off: the heads that are switched off, from 0 (see `MultiHeadAttention`).

        Returns:
            logits (N, T, n_out) and the weights of each head (N, H, T, T).
        """
        on = torch.tensor([h not in off for h in range(self.attention.n_heads)])
        x = self.positions(self.embedding(tokens))  # (N, T, d_model)
        context, weights = self.attention(x, x, x, heads=on)
        return self.read(context), weights

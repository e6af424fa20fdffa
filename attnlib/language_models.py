"""Recurrent language models, written out: one that has its last state only, one that looks back at them all."""

import math
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from attnlib.attention import Attention, causal_mask
from attnlib.scores import Score
from attnlib.validation import check_sizes, check_token_ids


class LMOutput(NamedTuple):
    """What a language model returns for a batch of texts."""

    logits: Float[Tensor, "B T V"]  # ŷ_t before its softmax: what follows tokens 1..t
    states: Float[Tensor, "B T d_hidden"]  # h_t, what the model knows after tokens 1..t
    weights: Float[Tensor, "B ... T S"] | None = None  # α_tj, of a model with attention
    state: Float[Tensor, "B ..."] | None = None  # to be given as `state` with the tokens that follow


class RNNLM(nn.Module):
    """Simple recurrent language model, `h_t = tanh(W_h h_{t-1} + W_e x_t + b_1)` and `ŷ_t = softmax(W_2 h_t + b_2)`.

    Here x_t is the embedding of token t, and ŷ_t the distribution of token t+1.

    Args:
        vocab_size, d_embed, d_hidden: V, width of an embedding, width of the state.

    Raises:
        ValueError: one of them is no integer of at least 1.

    Example:
        >>> model = RNNLM(vocab_size=5, d_embed=3, d_hidden=4)
        >>> first = model(torch.tensor([[0, 1]]))
        >>> model(torch.tensor([[2, 3, 4]]), first.state).logits.shape  # goes on where the first ended
        torch.Size([1, 3, 5])

    Source: elman1990finding (the recurrence); mikolov2010recurrent (as a language model).
    """

    def __init__(self, vocab_size: int, d_embed: int, d_hidden: int):
        super().__init__()
        check_sizes(vocab_size=vocab_size, d_embed=d_embed, d_hidden=d_hidden)
        self.embedding = nn.Embedding(vocab_size, d_embed)
        self.W_e = nn.Linear(d_embed, d_hidden)  # its bias is b_1
        self.W_h = nn.Linear(d_hidden, d_hidden, bias=False)
        self.W_2 = nn.Linear(d_hidden, vocab_size)  # its bias is b_2

    def forward(self, tokens: Int[Tensor, "B T"], state: Float[Tensor, "B d_hidden"] | None = None) -> LMOutput:
        """Read tokens from left to right.

        Args:
            tokens: ids in 0..V-1, int64 or int32; on a GPU their values are not checked.
            state: h_0, the state after an earlier text; None starts from zeros.

        Raises:
            ValueError: tokens are not such ids (B, T) with B, T ≥ 1, or the state is not (B, d_hidden).
        """
        check_token_ids(tokens, self.embedding.num_embeddings)
        if state is None:
            state = self.W_h.weight.new_zeros(tokens.shape[0], self.W_h.in_features)
        if state.shape != (tokens.shape[0], self.W_h.in_features):
            shapes = f"tokens {tuple(tokens.shape)} and state {tuple(state.shape)}"
            raise ValueError(f"need tokens (B, T) and state (B, {self.W_h.in_features}), got {shapes}")
        embedded = self.embedding(tokens)  # x_t, (B, T, d_embed)
        from_input = self.W_e(embedded)  # (B, T, d_hidden), for all steps at once
        states = []
        for t in range(tokens.shape[1]):  # one step waits for the one before
            state = torch.tanh(self.W_h(state) + from_input[:, t])  # (B, d_hidden)
            states.append(state)
        states = torch.stack(states, dim=1)  # (B, T, d_hidden)
        return LMOutput(logits=self.W_2(states), states=states, state=state)

    @torch.no_grad()
    def generate(
        self,
        prompt: Int[Tensor, " T"],
        n_tokens: int,
        temperature: float = 1.0,
        generator: torch.Generator | None = None,
    ) -> Int[Tensor, " T+{n_tokens}"]:
        """Continue a prompt, one sampled token at a time.

        Args:
            prompt: at least one token id; it is returned with the continuation.
            n_tokens: how many to add.
            temperature: logits are divided by it; below 1 safer, above 1 wilder, 0 takes the likeliest token.
            generator: source of randomness, on the CPU, so that every device draws the same numbers.

        Raises:
            ValueError: the prompt is empty or holds other than ids, or a number is negative or not finite.
        """
        if prompt.dim() != 1 or not len(prompt):
            raise ValueError(f"the prompt must hold at least one token, shape (T,), got {tuple(prompt.shape)}")
        if not 0 <= temperature < math.inf or n_tokens < 0:
            given = f"temperature {temperature} and n_tokens {n_tokens}"
            raise ValueError(f"temperature and n_tokens must be numbers from 0 on, got {given}")
        tokens, state = [prompt], None
        for _ in range(n_tokens):
            output = self(tokens[-1].unsqueeze(0), state)
            logits, state = output.logits[0, -1], output.state
            if temperature == 0:
                token = logits.argmax(keepdim=True)
            else:
                probabilities = (logits / temperature).softmax(-1).cpu()
                token = torch.multinomial(probabilities, 1, generator=generator).to(prompt.device)
            tokens.append(token)
        return torch.cat(tokens)


class AttentionLM(RNNLM):
    """The same model, and it may look back at its earlier states.

    With h_t as in `RNNLM`, `c_t = Σ_{j<t} α_tj h_j` with `α_t = softmax(a(h_t, h_·))`, and
    `ŷ_t = softmax(W_2 [h_t; c_t] + b_2)`. The first step has nothing to look at: c_1 = 0. W_2 is kept as its two
    halves, `W_2 [h; c] = W_2 h + W_c c`: without W_c this is an `RNNLM`.

    Args:
        vocab_size, d_embed, d_hidden: as in `RNNLM`.
        score: name or instance of the score a. For `location`, position 1 is the oldest state that is given.
        window: how many of the latest states may be looked at; None looks at all of them.

    Raises:
        ValueError: as in `RNNLM`, the window is less than 1, or the score is refused by `Attention`.

    Example:
        >>> model = AttentionLM(vocab_size=5, d_embed=3, d_hidden=4, score="additive")
        >>> model(torch.tensor([[0, 1, 2]])).weights[0, 1].detach()  # the second token sees the first
        tensor([1., 0., 0.])

    Source: daniluk2017frustratingly (there additive, in a window); luong2015effective, section 3 (for translation).
    """

    def __init__(
        self, vocab_size: int, d_embed: int, d_hidden: int, score: str | Score = "scaled_dot", window: int | None = None
    ):
        super().__init__(vocab_size, d_embed, d_hidden)
        if window is not None and window < 1:
            raise ValueError(f"window must be at least 1, or None for all states, got {window}")
        self.attention, self.window = Attention(score, d_hidden, d_hidden), window
        self.W_c = nn.Linear(d_hidden, vocab_size, bias=False)  # the half of W_2 that reads c_t

    def forward(self, tokens: Int[Tensor, "B T"], state: Float[Tensor, "B P d_hidden"] | None = None) -> LMOutput:
        """Read tokens from left to right, looking back at each.

        Args:
            tokens: ids in 0..V-1, int64 or int32; on a GPU their values are not checked.
            state: h_1 … h_P, what `state` held after an earlier text; None starts without a past.

        Returns:
            Its weights are (B, T, P + T); its state holds all states, or the latest `window`.

        Raises:
            ValueError: tokens are not such ids (B, T) with B, T ≥ 1, or the state is not (B, P, d_hidden).
        """
        if state is None:
            state = self.W_c.weight.new_zeros(*tokens.shape[:1], 0, self.W_c.in_features)
        if state.dim() != 3 or state.shape[::2] != (*tokens.shape[:1], self.W_c.in_features):
            shapes = f"tokens {tuple(tokens.shape)} and state {tuple(state.shape)}"
            raise ValueError(f"need tokens (B, T) and state (B, P, {self.W_c.in_features}), got {shapes}")
        P, T = state.shape[1], tokens.shape[-1]
        recurrent = super().forward(tokens, state[:, -1] if P else None)
        memory = torch.cat([state, recurrent.states], dim=1)  # (B, P + T, d_hidden)
        mask = causal_mask(T, past=P, include_self=False, device=memory.device)
        if self.window is not None:
            mask = mask.triu(P - self.window)  # j ≥ t + P - window
        context, weights = self.attention(recurrent.states, memory, memory, mask[None])
        kept = memory if self.window is None else memory[:, -self.window :]
        return LMOutput(recurrent.logits + self.W_c(context), recurrent.states, weights, state=kept)

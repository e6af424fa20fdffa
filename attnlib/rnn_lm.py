"""A recurrent language model, written out."""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from attnlib.metrics import cross_entropy


class LMOutput(NamedTuple):
    """What a language model returns for a batch of texts."""

    logits: Float[Tensor, "B T V"]  # ŷ_t before its softmax: what follows tokens 1..t
    states: Float[Tensor, "B T d_hidden"]  # h_t, the memory after tokens 1..t


class RNNLM(nn.Module):
    """Simple recurrent language model.

    `h_t = tanh(W_h h_{t-1} + W_e x_t + b_1)` and `ŷ_t = softmax(W_2 h_t + b_2)`, where x_t is the
    embedding of token t and ŷ_t the distribution of token t+1.

    Args:
        vocab_size: V, number of different tokens.
        d_embed: width of an embedding.
        d_hidden: width of the state.

    Source: elman1990finding (the recurrence); mikolov2010recurrent (as a language model).
    """

    def __init__(self, vocab_size: int, d_embed: int, d_hidden: int):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_embed)
        self.W_e = nn.Linear(d_embed, d_hidden)  # its bias is b_1
        self.W_h = nn.Linear(d_hidden, d_hidden, bias=False)
        self.W_2 = nn.Linear(d_hidden, vocab_size)  # its bias is b_2

    def forward(self, tokens: Int[Tensor, "B T"], state: Float[Tensor, "B d_hidden"] | None = None) -> LMOutput:
        """Read tokens from left to right.

        Args:
            tokens: ids in 0..V-1.
            state: h_0, the memory left by an earlier text; None starts from zeros.

        Raises:
            ValueError: tokens are not (B, T) with T ≥ 1, or state is not (B, d_hidden).
        """
        if state is None:
            state = self.W_h.weight.new_zeros(*tokens.shape[:1], self.W_h.in_features)
        if tokens.dim() != 2 or not tokens.shape[1] or state.shape != (len(tokens), self.W_h.in_features):
            raise ValueError(
                f"need tokens (B, T) and state (B, {self.W_h.in_features}), "
                f"got tokens {tuple(tokens.shape)} and state {tuple(state.shape)}"
            )
        embedded = self.embedding(tokens)  # x_t, (B, T, d_embed)
        from_input = self.W_e(embedded)  # (B, T, d_hidden), for all steps at once
        states = []
        for t in range(tokens.shape[1]):  # one step waits for the one before
            state = torch.tanh(self.W_h(state) + from_input[:, t])  # (B, d_hidden)
            states.append(state)
        states = torch.stack(states, dim=1)  # (B, T, d_hidden)
        return LMOutput(logits=self.W_2(states), states=states)

    @torch.no_grad()
    def generate(
        self,
        prompt: Int[Tensor, " T"],
        n_tokens: int,
        temperature: float = 1.0,
        generator: torch.Generator | None = None,
    ) -> Int[Tensor, " T_out"]:
        """Continue a prompt, one sampled token at a time.

        Args:
            prompt: at least one token id.
            n_tokens: how many to add.
            temperature: logits are divided by it; below 1 safer, above 1 wilder, 0 takes the likeliest token.
            generator: source of randomness, on the CPU, so that every device draws the same numbers.

        Returns:
            Prompt and continuation, (T + n_tokens,).

        Raises:
            ValueError: the prompt is empty, or the temperature is negative.
        """
        if prompt.dim() != 1 or not len(prompt):
            raise ValueError(f"the prompt must hold at least one token, shape (T,), got {tuple(prompt.shape)}")
        if temperature < 0:
            raise ValueError(f"temperature must be at least 0, got {temperature}")
        tokens, state = [prompt], None
        for _ in range(n_tokens):
            output = self(tokens[-1].unsqueeze(0), state)
            logits, state = output.logits[0, -1], output.states[:, -1]
            if temperature == 0:
                token = logits.argmax(keepdim=True)
            else:
                probabilities = (logits / temperature).softmax(-1).cpu()
                token = torch.multinomial(probabilities, 1, generator=generator).to(prompt.device)
            tokens.append(token)
        return torch.cat(tokens)


@torch.no_grad()
def nats_per_token(model: nn.Module, tokens: Int[Tensor, " N"], streams: int = 64, chunk: int = 128) -> float:
    """Mean surprise of a language model over a long text, `-1/(N-1) Σ_t log ŷ_t[x_{t+1}]`.

    The text is cut into parts that are read side by side, the state carried through each. Only the first
    tokens of a part are guessed with less memory than there could be.

    Args:
        model: (tokens (B, T), state or None) → LMOutput.
        tokens: the text, N ids, on the model's device.
        streams: number of parts.
        chunk: tokens read at a time; bounds the memory needed, does not change the result.

    Raises:
        ValueError: the text is too short for this many parts.
    """
    length = (len(tokens) - 1) // streams
    if length < 1:
        raise ValueError(f"{streams} streams need at least {streams + 1} tokens, got {len(tokens)}")
    whole = length * streams
    inputs, targets = tokens[:whole].view(streams, length), tokens[1 : whole + 1].view(streams, length)
    nats, state = 0.0, None
    for start in range(0, length, chunk):
        output = model(inputs[:, start : start + chunk], state)
        mean, n_tokens = cross_entropy(output.logits, targets[:, start : start + chunk])
        nats, state = nats + mean.item() * n_tokens, output.states[:, -1]
    if whole < len(tokens) - 1:  # the rest belongs to the last part
        output = model(tokens[whole:-1].unsqueeze(0), state[-1:])
        mean, n_tokens = cross_entropy(output.logits[0], tokens[whole + 1 :])
        nats += mean.item() * n_tokens
    return nats / (len(tokens) - 1)

"""The five decoders of the slide decks, from one vector for the whole source to a context for every step."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from attnlib.decoder import Decoder, DecoderOutput


class InitialStateDecoder(Decoder):
    """The summary makes the first state and nothing more: `s_i = GRU(s_{i-1}, y_{i-1})`, `ŷ_i = softmax(W_o s_i)`.

    Example:
        >>> model = Seq2Seq(Encoder(9, 4, 5), InitialStateDecoder(vocab_size=7, d_embed=4, d_annotation=5, d_hidden=6))
        >>> model(torch.tensor([[1, 2, 3]]), inputs=torch.tensor([[1, 5]])).logits.shape
        torch.Size([1, 2, 7])

    Source: sutskever2014sequence, section 2 (there an LSTM).
    """

    def __init__(self, vocab_size: int, d_embed: int, d_annotation: int, d_hidden: int, dropout: float = 0.0):
        super().__init__(vocab_size, d_embed, d_annotation, d_hidden, dropout=dropout)
        self.rnn = nn.GRU(d_embed, d_hidden, batch_first=True)
        self.W_o = nn.Linear(d_hidden, vocab_size)

    def decode_embedded(self, embedded, memory, state):
        states, last = self.rnn(embedded, state[0].unsqueeze(0))
        return DecoderOutput(self.W_o(states), None, states, None, state=(last[0],))


class EveryStepDecoder(Decoder):
    """The summary c enters every step: `s_i = GRU(s_{i-1}, [y_{i-1}; c])`, `ŷ_i = softmax(W_o s_i)`.

    Example:
        >>> model = Seq2Seq(Encoder(9, 4, 5), EveryStepDecoder(vocab_size=7, d_embed=4, d_annotation=5, d_hidden=6))
        >>> model(torch.tensor([[1, 2, 3]]), inputs=torch.tensor([[1, 5]])).logits.shape
        torch.Size([1, 2, 7])

    Source: cho2014learning, section 2.2 (there c and y_{i-1} also enter the output).
    """

    def __init__(self, vocab_size: int, d_embed: int, d_annotation: int, d_hidden: int, dropout: float = 0.0):
        super().__init__(vocab_size, d_embed, d_annotation, d_hidden, dropout=dropout)
        self.rnn = nn.GRU(d_embed + d_annotation, d_hidden, batch_first=True)
        self.W_o = nn.Linear(d_hidden, vocab_size)

    def decode_embedded(self, embedded, memory, state):
        summary = memory.summary.unsqueeze(1).expand(-1, embedded.shape[1], -1)  # (B, T, d_annotation)
        states, last = self.rnn(torch.cat([embedded, summary], dim=-1), state[0].unsqueeze(0))
        return DecoderOutput(self.W_o(states), None, states, None, state=(last[0],))


class BahdanauDecoder(Decoder):
    """Look first, then step: `c_i` from `s_{i-1}`, `s_i = GRU(s_{i-1}, [y_{i-1}; c_i])`, deep output.

    The output is `ŷ_i = softmax(W_o t_i)`, where t_i keeps the larger of each two neighbours (maxout) of
    `U_o s_i + V_o y_{i-1} + C_o c_i`.

    Args:
        coverage: add `w_c Σ_{i'<i} α_i'j` to the projected key of j: the score sees how much weight j has had.
        options: `score` and `dropout`, as in `Decoder`.

    Example:
        >>> model = Seq2Seq(Encoder(9, 4, 5), BahdanauDecoder(vocab_size=7, d_embed=4, d_annotation=5, d_hidden=6))
        >>> model(torch.tensor([[1, 2, 3]]), inputs=torch.tensor([[1, 5]])).weights.shape
        torch.Size([1, 2, 3])

    Source: bahdanau2015neural, equations 4-6 and appendix A.2.2 (their deep output reads s_{i-1});
        see2017get, equations 10 and 11 (coverage).
    """

    default_score = "additive"

    def __init__(
        self, vocab_size: int, d_embed: int, d_annotation: int, d_hidden: int, *, coverage: bool = False, **options
    ):
        super().__init__(vocab_size, d_embed, d_annotation, d_hidden, **options)
        self.cell = nn.GRUCell(d_embed + d_annotation, d_hidden)
        self.U_o = nn.Linear(d_hidden, 2 * d_hidden)
        self.V_o = nn.Linear(d_embed, 2 * d_hidden, bias=False)
        self.C_o = nn.Linear(d_annotation, 2 * d_hidden, bias=False)
        self.W_o = nn.Linear(d_hidden, vocab_size)
        self.register_parameter("w_c", None)
        if coverage:
            like = next(self.attention.score.parameters(), self.W_s.weight)  # a given score has a type of its own
            projected = self.attention.score.project_key(like.new_zeros(1, 1, d_annotation))
            self.w_c = nn.Parameter(like.new_zeros(projected.shape[-1]))

    def extra_state(self, s_0, memory):
        return () if self.w_c is None else (memory.annotations.new_zeros(memory.annotations.shape[:2]),)  # (B, S)

    def decode_embedded(self, embedded, memory, state):
        s, *coverage = state
        steps = []
        for y in embedded.unbind(1):  # indexing would make a gradient of the whole tensor in every step
            key = memory.projected_key
            if coverage:
                key = key + coverage[0].unsqueeze(-1) * self.w_c
            context, weights = self.attend(s.unsqueeze(1), memory._replace(projected_key=key))
            context, weights = context.squeeze(1), weights.squeeze(1)  # (B, d_annotation), (B, S)
            s = self.cell(torch.cat([y, context], dim=-1), s)  # (B, d_hidden)
            coverage = [total + weights for total in coverage]
            steps.append((s, context, weights))
        states, contexts, weights = (torch.stack(column, dim=1) for column in zip(*steps, strict=True))
        logits = self.output_layer(states, embedded, contexts)
        return DecoderOutput(logits, weights, states, contexts, state=(s, *coverage))

    def output_layer(self, states: Tensor, embedded: Tensor, contexts: Tensor) -> Float[Tensor, "B T V"]:
        """The deep output of all steps at once."""
        pairs = self.U_o(states) + self.V_o(embedded) + self.C_o(contexts)  # (B, T, 2 d_hidden)
        return self.W_o(pairs.unflatten(-1, (-1, 2)).max(-1).values)


class LuongDecoder(Decoder):
    """Step first, then look: `s_i = GRU(s_{i-1}, y_{i-1})`, c_i from s_i, `ŷ_i = softmax(W_o tanh(W_c [c_i; s_i]))`.

    No step waits for a context, so all are looked up at once. `options` are `score` and `dropout`, as in `Decoder`.

    Example:
        >>> model = Seq2Seq(Encoder(9, 4, 5), LuongDecoder(vocab_size=7, d_embed=4, d_annotation=5, d_hidden=6))
        >>> model(torch.tensor([[1, 2, 3]]), inputs=torch.tensor([[1, 5]])).weights.shape
        torch.Size([1, 2, 3])

    Source: luong2015effective, equations 5 and 6 (global attention, without input feeding; there an LSTM).
    """

    default_score = "general"

    def __init__(self, vocab_size: int, d_embed: int, d_annotation: int, d_hidden: int, **options):
        super().__init__(vocab_size, d_embed, d_annotation, d_hidden, **options)
        self.rnn = nn.GRU(d_embed, d_hidden, batch_first=True)
        self.W_c = nn.Linear(d_annotation + d_hidden, d_hidden, bias=False)
        self.W_o = nn.Linear(d_hidden, vocab_size)

    def decode_embedded(self, embedded, memory, state):
        states, last = self.rnn(embedded, state[0].unsqueeze(0))  # (B, T, d_hidden)
        contexts, weights = self.attend(states, memory)  # (B, T, d_annotation), (B, T, S)
        logits = self.W_o(torch.tanh(self.W_c(torch.cat([contexts, states], dim=-1))))
        return DecoderOutput(logits, weights, states, contexts, state=(last[0],))


class SimpleRNNDecoder(Decoder):
    """The plain recurrence with a third input: `s_i = tanh(A' [x'_i; s_{i-1}; c_{i-1}] + b)`, c_i from s_i.

    The output reads both, `ŷ_i = softmax(W_o [s_i; c_i])`; c_0 comes from s_0. `options` are those of `LuongDecoder`.

    Example:
        >>> model = Seq2Seq(Encoder(9, 4, 5), SimpleRNNDecoder(vocab_size=7, d_embed=4, d_annotation=5, d_hidden=6))
        >>> model(torch.tensor([[1, 2, 3]]), inputs=torch.tensor([[1, 5]])).weights.shape
        torch.Size([1, 2, 3])

    Source: bahdanau2015neural, as simplified in lecture S3 (its x' is the embedded target token, its A' is ours).
    """

    default_score = "projected_dot"

    def __init__(self, vocab_size: int, d_embed: int, d_annotation: int, d_hidden: int, **options):
        super().__init__(vocab_size, d_embed, d_annotation, d_hidden, **options)
        self.A = nn.Linear(d_embed + d_hidden + d_annotation, d_hidden)
        self.W_o = nn.Linear(d_hidden + d_annotation, vocab_size)

    def extra_state(self, s_0, memory):
        return (self.attend(s_0.unsqueeze(1), memory).context.squeeze(1),)

    def decode_embedded(self, embedded, memory, state):
        s, c = state
        steps = []
        for y in embedded.unbind(1):
            s = torch.tanh(self.A(torch.cat([y, s, c], dim=-1)))  # (B, d_hidden)
            context, weights = self.attend(s.unsqueeze(1), memory)  # (B, 1, d_annotation), (B, 1, S)
            c = context.squeeze(1)
            steps.append((s, c, weights.squeeze(1)))
        states, contexts, weights = (torch.stack(column, dim=1) for column in zip(*steps, strict=True))
        return DecoderOutput(self.W_o(torch.cat([states, contexts], dim=-1)), weights, states, contexts, state=(s, c))


DECODERS: dict[str, type[Decoder]] = {
    "initial_state": InitialStateDecoder,
    "every_step": EveryStepDecoder,
    "bahdanau": BahdanauDecoder,
    "luong": LuongDecoder,
    "simple_rnn": SimpleRNNDecoder,
}

"""What attnlib's decoders are measured against: the designs of others, and no attention at all."""

import torch
from torch import Tensor, nn

from attnlib.attention import AttentionOutput
from attnlib.decoder import Decoder, DecoderOutput
from attnlib.decoders import BahdanauDecoder, InitialStateDecoder, LuongDecoder

HIDDEN = -1e6  # the score of what must not be seen


class TextbookAttention(nn.Module):
    """Additive attention as it is commonly taught, `softmax_j(w_vᵀ tanh(W_q q_i + W_k k_j))`: keys in every call anew.

    Args:
        d_query: width of a query.
        d_key: width of a key.
        d_hidden: width of the hidden layer.
    """

    def __init__(self, d_query: int, d_key: int, d_hidden: int):
        super().__init__()
        self.W_q = nn.Linear(d_query, d_hidden, bias=False)
        self.W_k = nn.Linear(d_key, d_hidden, bias=False)
        self.w_v = nn.Linear(d_hidden, 1, bias=False)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, lengths: Tensor) -> AttentionOutput:
        """Context (B, T, d_value) and weights (B, T, S) of queries (B, T, d_query); sentence n has lengths[n] keys."""
        hidden = torch.tanh(self.W_q(query).unsqueeze(2) + self.W_k(key).unsqueeze(1))  # (B, T, S, d_hidden)
        weights = softmax_over_lengths(self.w_v(hidden).squeeze(-1), lengths)
        return AttentionOutput(weights @ value, weights)


def softmax_over_lengths(scores: Tensor, lengths: Tensor) -> Tensor:
    """Softmax of (B, T, S) over the first lengths[n] positions; a length is repeated for each query. Changes scores."""
    rows, S = scores.flatten(0, 1), scores.shape[-1]  # (B T, S)
    each = lengths.repeat_interleave(scores.shape[1])  # (B T,)
    rows[torch.arange(S, device=scores.device) >= each.unsqueeze(1)] = HIDDEN
    return rows.softmax(-1).view_as(scores)


class TextbookDecoder(Decoder):
    """Bahdanau's decoder as it is commonly taught: c_i from s_{i-1}, `s_i = GRU(s_{i-1}, [c_i; y_{i-1}])`, `W_o s_i`.

    Every step projects all keys, makes the mask and calls `nn.GRU` for one token, time first, as `nn.GRU` has it unless
    told otherwise. The output layer is called once, over all steps, and is one matrix: the simplest there is.

    Args:
        vocab_size: V, number of different target tokens.
        d_embed: width of an embedding.
        d_annotation: width of an annotation.
        d_hidden: width of the state, and of the hidden layer of the score.
        deep: give it the deep output of `BahdanauDecoder`, so that both are one function.
    """

    def __init__(self, vocab_size: int, d_embed: int, d_annotation: int, d_hidden: int, deep: bool = False):
        super().__init__(vocab_size, d_embed, d_annotation, d_hidden)
        self.deep = deep
        if deep:
            self.U_o = nn.Linear(d_hidden, 2 * d_hidden)
            self.V_o = nn.Linear(d_embed, 2 * d_hidden, bias=False)
            self.C_o = nn.Linear(d_annotation, 2 * d_hidden, bias=False)
        self.additive = TextbookAttention(d_hidden, d_annotation, d_hidden)
        self.rnn = nn.GRU(d_annotation + d_embed, d_hidden)
        self.W_o = nn.Linear(d_hidden, vocab_size)

    def decode_embedded(self, embedded, memory, state):
        lengths = memory.mask.sum((1, 2))  # (B,)
        last, steps = state[0].unsqueeze(0), []
        for y in embedded.transpose(0, 1):  # (B, d_embed)
            query = last[-1].unsqueeze(1)
            context, weights = self.additive(query, memory.annotations, memory.annotations, lengths)
            s, last = self.rnn(torch.cat([context, y.unsqueeze(1)], dim=-1).transpose(0, 1), last)  # (1, B, d_hidden)
            steps.append((s, context.transpose(0, 1), weights.transpose(0, 1)))
        # for the outside, batch first again
        states, contexts, weights = (torch.cat(column).transpose(0, 1) for column in zip(*steps, strict=True))
        # one and the same output layer, so that the rest is what is compared
        logits = BahdanauDecoder.output_layer(self, states, embedded, contexts) if self.deep else self.W_o(states)
        return DecoderOutput(logits, weights, states, contexts, state=(last[0],))


class BahdanauSimpleOutput(BahdanauDecoder):
    """`BahdanauDecoder` with the output of the textbooks, `W_o s_i`: with it, both are one function."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        del self.U_o, self.V_o, self.C_o

    def output_layer(self, states, embedded, contexts):
        return self.W_o(states)


class LuongStepByStep(LuongDecoder):
    """`LuongDecoder` in the design of Joey NMT, without input feeding: keys once per sentence, the rest at every step.

    A step calls `nn.GRU` for one token, looks with its state, and makes one attentional vector; the output layer is
    called once, over all of them. Parameters and results are those of `LuongDecoder`.

    Source: kreutzer2019joey, the recurrent decoder of the code.
    """

    def decode_embedded(self, embedded, memory, state):
        last, steps = state[0].unsqueeze(0), []
        for y in embedded.split(1, dim=1):  # (B, 1, d_embed)
            s, last = self.rnn(y, last)
            context, weights = self.attend(s, memory)
            vector = torch.tanh(self.W_c(torch.cat([context, s], dim=-1)))
            steps.append((s, context, weights, vector))
        states, contexts, weights, vectors = (torch.cat(column, dim=1) for column in zip(*steps, strict=True))
        return DecoderOutput(self.W_o(vectors), weights, states, contexts, state=(last[0],))


class LuongWithoutAttention(InitialStateDecoder):
    """`LuongDecoder` with c_i left out: same cell, same output `W_o tanh(W_c s_i)`."""

    def __init__(self, vocab_size: int, d_embed: int, d_annotation: int, d_hidden: int):
        super().__init__(vocab_size, d_embed, d_annotation, d_hidden)
        self.W_c = nn.Linear(d_hidden, d_hidden, bias=False)

    def decode_embedded(self, embedded, memory, state):
        states, last = self.rnn(embedded, state[0].unsqueeze(0))
        return DecoderOutput(self.W_o(torch.tanh(self.W_c(states))), None, states, None, state=(last[0],))

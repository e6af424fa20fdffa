"""attnlib: the tested PyTorch package behind the book *Attention, Derived and Executed*.

Corpora are in `attnlib.data`, training in `attnlib.training`, figures in `attnlib.plots` and `attnlib.widgets`.
"""

from attnlib.attention import Attended, Attention, causal_mask, length_mask, masked_softmax
from attnlib.copying import CopyDecoder, ExtendedVocabulary, copy_distribution, coverage_loss
from attnlib.decoder import Decoded, Decoder, Memory
from attnlib.decoders import (
    DECODERS,
    BahdanauDecoder,
    EveryStepDecoder,
    InitialStateDecoder,
    LuongDecoder,
    SimpleRNNDecoder,
)
from attnlib.encoder import Encoded, Encoder
from attnlib.rnn_lm import RNNLM, AttentionLM, LMOutput, nats_per_token
from attnlib.scores import SCORES, Score, make_score
from attnlib.search import Beams, Decoding, beam_search, greedy_decode
from attnlib.self_attention import LearnedPositions, MultiHeadAttention, SelfAttention, SinusoidalPositions
from attnlib.seq2seq import Seq2Seq, seq2seq_loss
from attnlib.transformer import TransformerBlock, TransformerLM
from attnlib.version import __version__
from attnlib.visual import (
    GridEncoder,
    attention_captioner,
    caption_loss,
    doubly_stochastic_penalty,
    static_captioner,
)

__all__ = [
    "DECODERS",
    "RNNLM",
    "SCORES",
    "Attended",
    "Attention",
    "AttentionLM",
    "BahdanauDecoder",
    "Beams",
    "CopyDecoder",
    "Decoded",
    "Decoder",
    "Decoding",
    "Encoded",
    "Encoder",
    "EveryStepDecoder",
    "ExtendedVocabulary",
    "GridEncoder",
    "InitialStateDecoder",
    "LMOutput",
    "LearnedPositions",
    "LuongDecoder",
    "Memory",
    "MultiHeadAttention",
    "Score",
    "SelfAttention",
    "Seq2Seq",
    "SimpleRNNDecoder",
    "SinusoidalPositions",
    "TransformerBlock",
    "TransformerLM",
    "__version__",
    "attention_captioner",
    "beam_search",
    "caption_loss",
    "causal_mask",
    "copy_distribution",
    "coverage_loss",
    "doubly_stochastic_penalty",
    "greedy_decode",
    "length_mask",
    "make_score",
    "masked_softmax",
    "nats_per_token",
    "seq2seq_loss",
    "static_captioner",
]

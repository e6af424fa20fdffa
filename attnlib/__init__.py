"""attnlib: the tested PyTorch package behind the book *Attention, Derived and Executed*.

The modules beside this file are its core: the mechanisms, in PyTorch alone. They are read in this order:
validation, chunked_scores, scores, attention, positions, self_attention, language_models, encoder, decoder, decoders,
seq2seq, copying, captioning, search, transformer.

Around it: `attnlib.data` (corpora), `attnlib.training` (loop, losses, metrics, the command), `attnlib.figures`
(pictures and live figures), `attnlib.course` (what only the book uses) and `attnlib.grading` (what instructors use).
"""

from attnlib.attention import Attention, AttentionOutput, causal_mask, length_mask, masked_softmax
from attnlib.captioning import GridEncoder
from attnlib.copying import CopyDecoder, copy_distribution
from attnlib.decoder import Decoder, DecoderOutput, Memory
from attnlib.decoders import (
    DECODERS,
    BahdanauDecoder,
    EveryStepDecoder,
    InitialStateDecoder,
    LuongDecoder,
    SimpleRNNDecoder,
)
from attnlib.encoder import Encoder, EncoderOutput
from attnlib.language_models import RNNLM, AttentionLM, LMOutput
from attnlib.positions import LearnedPositions, SinusoidalPositions
from attnlib.scores import SCORES, Score, make_score
from attnlib.search import BeamSearchOutput, GreedyOutput, beam_search, greedy_decode
from attnlib.self_attention import MultiHeadAttention, SelfAttention
from attnlib.seq2seq import Seq2Seq
from attnlib.transformer import TransformerBlock, TransformerLM
from attnlib.version import __version__

__all__ = [
    "DECODERS", "RNNLM", "SCORES", "Attention", "AttentionLM", "AttentionOutput", "BahdanauDecoder",
    "BeamSearchOutput", "CopyDecoder", "Decoder", "DecoderOutput", "Encoder", "EncoderOutput", "EveryStepDecoder",
    "GreedyOutput", "GridEncoder", "InitialStateDecoder", "LMOutput", "LearnedPositions", "LuongDecoder", "Memory",
    "MultiHeadAttention", "Score", "SelfAttention", "Seq2Seq", "SimpleRNNDecoder", "SinusoidalPositions",
    "TransformerBlock", "TransformerLM", "__version__", "beam_search", "causal_mask", "copy_distribution",
    "greedy_decode", "length_mask", "make_score", "masked_softmax",
]  # fmt: skip

"""attnlib: the tested PyTorch package behind the book *Attention, Derived and Executed*."""

from attnlib.attention import Attended, Attention, causal_mask, length_mask, masked_softmax
from attnlib.rnn_lm import RNNLM, LMOutput
from attnlib.scores import SCORES, Score
from attnlib.version import __version__

__all__ = [
    "RNNLM",
    "SCORES",
    "Attended",
    "Attention",
    "LMOutput",
    "Score",
    "__version__",
    "causal_mask",
    "length_mask",
    "masked_softmax",
]

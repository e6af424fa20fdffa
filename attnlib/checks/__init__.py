"""Checks for exercises: `checks.masked_softmax(yours)` says at once whether it is right, or what went wrong.

A check asks your function on inputs of its own, in several shapes, and compares with the tested package. It
never shows the answer.
"""

from attnlib.checks.attention import masked_softmax
from attnlib.checks.copying import copied_words, gate_gradient
from attnlib.checks.cost import break_even, direct_gradient
from attnlib.checks.graded import close, limit
from attnlib.checks.search import beam_step, penalty_needed
from attnlib.checks.seq2seq import error_rate, latest_only, look_back, row_shift
from attnlib.checks.verdict import Verdict

__all__ = [
    "Verdict",
    "beam_step",
    "break_even",
    "close",
    "copied_words",
    "direct_gradient",
    "error_rate",
    "gate_gradient",
    "latest_only",
    "limit",
    "look_back",
    "masked_softmax",
    "penalty_needed",
    "row_shift",
]

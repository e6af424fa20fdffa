"""Checks for exercises: `checks.masked_softmax(yours)` says at once whether it is right, or what went wrong.

A check asks your function on inputs of its own, in several shapes, and compares with the tested package. It
never shows the answer.
"""

from attnlib.checks.attention import (
    looks_everywhere,
    masked_softmax,
    past_and_padding,
    repeated_words,
    softmax_backward,
)
from attnlib.checks.graded import close, limit
from attnlib.checks.language import exactly_right, joint_perplexity, last_real_state, read_in_parts
from attnlib.checks.scores import distance_score, sharpness
from attnlib.checks.verdict import Verdict

__all__ = [
    "Verdict",
    "close",
    "distance_score",
    "exactly_right",
    "joint_perplexity",
    "last_real_state",
    "limit",
    "looks_everywhere",
    "masked_softmax",
    "past_and_padding",
    "read_in_parts",
    "repeated_words",
    "sharpness",
    "softmax_backward",
]

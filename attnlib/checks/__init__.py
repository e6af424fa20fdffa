"""Checks for exercises: `checks.masked_softmax(yours)` says at once whether it is right, or what went wrong.

A check asks your function on inputs of its own, in several shapes, and compares with the tested package. It
never shows the answer.
"""

from attnlib.checks.attention import masked_softmax
from attnlib.checks.graded import close, limit
from attnlib.checks.verdict import Verdict

__all__ = ["Verdict", "close", "limit", "masked_softmax"]

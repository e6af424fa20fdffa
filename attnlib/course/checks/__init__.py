"""Checks for exercises: `checks.masked_softmax(yours)` says at once whether it is right, or what went wrong.

A check asks your function on inputs of its own, small and large, in several shapes, and compares with answers by
definition. A sentence that names a mistake is said when that mistake explains your answers on two inputs; otherwise the
smallest input is shown on which it is wrong.
"""

from attnlib.course.checks.attention import (
    looks_everywhere,
    masked_softmax,
    past_and_padding,
    repeated_words,
    softmax_backward,
)
from attnlib.course.checks.copying import copied_words, gate_gradient
from attnlib.course.checks.cost import break_even, direct_gradient
from attnlib.course.checks.designing import (
    could_fail,
    equal_text,
    long_enough,
    more_than_luck,
    one_look,
    own_rates,
    what_differs,
)
from attnlib.course.checks.language import exactly_right, joint_perplexity, last_real_state, read_in_parts
from attnlib.course.checks.scaling import apply_merges, whole_gradient
from attnlib.course.checks.scores import distance_score, sharpness
from attnlib.course.checks.search import beam_step, penalty_needed
from attnlib.course.checks.seeing import blind_baseline, divided_gaze, least_weight, mirrored, unseen_directions
from attnlib.course.checks.self_attention import blur, even_look, reorder_heads
from attnlib.course.checks.seq2seq import error_rate, latest_only, look_back, row_shift
from attnlib.course.checks.verdict import Verdict

__all__ = [
    "Verdict",
    "apply_merges",
    "beam_step",
    "blind_baseline",
    "blur",
    "break_even",
    "copied_words",
    "could_fail",
    "direct_gradient",
    "distance_score",
    "divided_gaze",
    "equal_text",
    "error_rate",
    "even_look",
    "exactly_right",
    "gate_gradient",
    "joint_perplexity",
    "last_real_state",
    "latest_only",
    "least_weight",
    "long_enough",
    "look_back",
    "looks_everywhere",
    "masked_softmax",
    "mirrored",
    "more_than_luck",
    "one_look",
    "own_rates",
    "past_and_padding",
    "penalty_needed",
    "read_in_parts",
    "reorder_heads",
    "repeated_words",
    "row_shift",
    "sharpness",
    "softmax_backward",
    "unseen_directions",
    "what_differs",
    "whole_gradient",
]

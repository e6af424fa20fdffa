"""Live figures that know a model, or test one: what it computes, attnlib's own modules and the page compute too.

Figures that need no more than arrays and words are in `attnlib.figures`. What belongs here computes twice: in
JavaScript (`static/`), for the page, and by attnlib, for the picture, for the results, and for the tests, which hold
the page's arithmetic equal to attnlib's.
"""

from attnlib.extras import extra

with extra("course"):
    from attnlib.course.figures.attention_surgery import AttentionSurgery
    from attnlib.course.figures.copy_gate import CopyGate
    from attnlib.course.figures.fading_trace import FadingTrace
    from attnlib.course.figures.head_grid import HeadGrid
    from attnlib.course.figures.learn_to_align import LearnToAlign
    from attnlib.course.figures.look_back import LookBack
    from attnlib.course.figures.masked_softmax_lab import MaskedSoftmaxLab
    from attnlib.course.figures.other_weights import OtherWeights
    from attnlib.course.figures.score_explorer import ScoreExplorer
    from attnlib.course.figures.translate import Translate

__all__ = [
    "AttentionSurgery",
    "CopyGate",
    "FadingTrace",
    "HeadGrid",
    "LearnToAlign",
    "LookBack",
    "MaskedSoftmaxLab",
    "OtherWeights",
    "ScoreExplorer",
    "Translate",
]

"""Live figures: arithmetic in JavaScript, so that they answer in Jupyter, in Colab and in the static page alike."""

from attnlib.widgets.alignment_view import AlignmentView
from attnlib.widgets.attention_surgery import AttentionSurgery
from attnlib.widgets.copy_gate import CopyGate
from attnlib.widgets.cost_curve import CostCurve
from attnlib.widgets.head_grid import HeadGrid
from attnlib.widgets.masked_softmax_lab import MaskedSoftmaxLab
from attnlib.widgets.score_explorer import ScoreExplorer
from attnlib.widgets.where_it_looks import WhereItLooks

__all__ = [
    "AlignmentView", "AttentionSurgery", "CopyGate", "CostCurve", "HeadGrid", "MaskedSoftmaxLab", "ScoreExplorer",
    "WhereItLooks",
]  # fmt: skip

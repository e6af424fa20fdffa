"""Live figures: arithmetic in JavaScript, so that they answer in Jupyter, in Colab and in the static page alike."""

from attnlib.widgets.copy_gate import CopyGate
from attnlib.widgets.score_explorer import ScoreExplorer

__all__ = ["CopyGate", "ScoreExplorer"]

"""Live figures: arithmetic in JavaScript, so that they answer in Jupyter, in Colab and in the static page alike."""

from attnlib.widgets.alignment_view import AlignmentView
from attnlib.widgets.score_explorer import ScoreExplorer

__all__ = ["AlignmentView", "ScoreExplorer"]

"""Live figures: arithmetic in JavaScript, so that they answer in Jupyter, in Colab and in the static page alike."""

from attnlib.widgets.score_explorer import ScoreExplorer
from attnlib.widgets.where_it_looks import WhereItLooks

__all__ = ["ScoreExplorer", "WhereItLooks"]

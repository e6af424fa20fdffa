"""Live figures of arrays and words, and what all live figures share; they know no model.

Arithmetic is in JavaScript, so that they answer in Jupyter, in Colab and in the static page alike.
"""

from attnlib.extras import extra

with extra("figures"):
    from attnlib.figures.alignment_view import AlignmentView
    from attnlib.figures.cost_curve import CostCurve
    from attnlib.figures.where_it_looks import WhereItLooks

__all__ = ["AlignmentView", "CostCurve", "WhereItLooks"]

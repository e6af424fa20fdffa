"""What the live figures of the chapters ask before they are moved: three bets each, the last one hard.

They stand here and not in the chapters, because a notebook shows its code, and with it the answers. Each is a
dictionary of `attnlib.figures.questions`. What is said of a trained model is what the models of the published pages do;
a model that is trained anew may do otherwise, and then the figure says so.
"""

from attnlib.course.bets.recurrent import alignment, forgetting, gate, late, surgery
from attnlib.course.bets.sentence import asking
from attnlib.course.bets.weights import captions, compass, costs, film, heads, looking, masks, plane

__all__ = [
    "alignment",
    "asking",
    "captions",
    "compass",
    "costs",
    "film",
    "forgetting",
    "gate",
    "heads",
    "late",
    "looking",
    "masks",
    "plane",
    "surgery",
]

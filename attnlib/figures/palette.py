"""One colour per role, the same in text, formula, figure and widget, and other colours for all that has no role.

Each colour has two shades, one for a white page and one for a dark one. A role's have a contrast of at least 4.5:1
there, because they are read as text; a curve's of at least 4:1. Every place where a colour appears also carries a
letter or a word: colour alone never tells two things apart.
"""

from typing import NamedTuple


class Colour(NamedTuple):
    """Two shades of one colour, as #rrggbb."""

    light: str  # on a light page
    dark: str  # on a dark page


ROLES: dict[str, Colour] = {
    "query": Colour("#0b5fa5", "#6cb6ff"),
    "key": Colour("#b8400e", "#ff9e64"),
    "value": Colour("#00735c", "#4fd1a5"),
    "weight": Colour("#7a3db8", "#cfa6ff"),
    "context": Colour("#b3186d", "#ff8fc7"),
}

#: What curves and dots take, in this order; none can be taken for the colour of a role.
CURVES: tuple[Colour, ...] = (
    Colour("#24292f", "#e6e8eb"),  # ink
    Colour("#9a6b00", "#e2b33c"),  # gold
    Colour("#0086a3", "#3cc8e0"),  # cyan
    Colour("#4f7a00", "#a6d14a"),  # olive
    Colour("#8a5a44", "#c9977c"),  # brown
    Colour("#6f7680", "#99a1ab"),  # slate
)

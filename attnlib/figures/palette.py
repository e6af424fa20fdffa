"""One colour per role, the same in text, formula, figure and widget.

Each role has two shades with a contrast of at least 4.5:1, one against white, one against the dark page.
Every place where a colour appears also carries a letter or a word: colour alone never tells two roles apart.
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

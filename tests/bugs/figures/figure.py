"""Bugs of one line in attnlib/figures/figure.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "figures/figure.py", "figures/test_figure.py",
    ("picture that carries a date", 'metadata={"Software": None}', 'metadata={"Software": str(id(file))}',
     "test_picture_is_legible_always_the_same_and_follows_the_figure"),
) + of(
    "figures/figure.py", "figures/test_page.py",
    ("the picture's words become tags", 'alt="{html.escape(repr(self))}"', 'alt="{repr(self)}"'),
)

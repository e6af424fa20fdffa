"""Bugs of one line in attnlib/figures/figure.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "figures/figure.py", "figures/test_figure.py",
    ("picture that carries a date", 'metadata={"Software": None}', 'metadata={"Software": str(id(file))}'),
) + of(
    "figures/figure.py", "figures/test_page.py",
    ("the picture's words become tags", 'alt="{html.escape(repr(self))}"', 'alt="{repr(self)}"'),
)

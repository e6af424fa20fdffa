"""Bugs of one line in attnlib/figures/assets.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "figures/assets.py", "figures/test_assets.py",
    ("file before those it needs", "if source not in joined:", "if not joined:"),
    ("import left in the text", "if left := ANY_IMPORT.search(text):", "if left := None:"),
)

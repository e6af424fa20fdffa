"""Bugs of one line in attnlib/figures/page.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "figures/page.py", "figures/test_page.py",
    ("a text ends the script", r'.replace("<", "\\u003c")', ""),
    ("a title becomes a tag", "title=html.escape(title)", "title=title"),
    ("always light", 'follow="" if theme else FOLLOW_THE_READER', 'follow=""'),
)

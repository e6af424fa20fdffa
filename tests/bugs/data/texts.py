"""Bugs of one line in attnlib/data/texts.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "data/texts.py", "data/test_texts.py",
    ("source and target exchanged",
     '[detokenize(p.source, "en") for p in part], [detokenize(p.target, language) for p in part]',
     '[detokenize(p.target, language) for p in part], [detokenize(p.source, "en") for p in part]'),
    ("every language is English", "[detokenize(p.target, language) for p in part]",
     '[detokenize(p.target, "en") for p in part]'),
)

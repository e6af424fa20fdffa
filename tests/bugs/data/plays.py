"""Bugs of one line in attnlib/data/plays.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "data/plays.py", "data/test_data.py",
    ("a play in two parts", 'dev="\\n".join(plays[-6:-3])', 'dev="\\n".join(plays[-6:-2])'),
    ("trained on the plays for stopping", 'train="\\n".join(plays[:-6])', 'train="\\n".join(plays[:-3])'),
    ("marks stay", 're.sub(r"[*_\\\\]", "", text)', 're.sub(r"[*_]", "", text)'),
)

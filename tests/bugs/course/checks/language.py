"""Bugs of one line in attnlib/course/checks/language.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/checks/language.py", "course/test_checks.py",
    ("every size divides the text",
     "sizes = [(2, 7, 3), (3, 5, 2), (3, 5, 1),",
     "sizes = [(2, 6, 3)] or [(2, 7, 3), (3, 5, 2), (3, 5, 1),"),
    ("padding has to be right", "strict=True) if b != PAD)", "strict=True))"),
    ("the model may read all at once",
     "right=lambda logits, model, tokens, size: model.most <= size and",
     "right=lambda logits, model, tokens, size: True and"),
    ("a place behind the last", "word[:length][-1]", "word[:length][0]"),
)

"""Bugs of one line in attnlib/checks/language.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "checks/language.py", "test_checks.py",
    ("every size divides the text", "[(2, 7, 3), (3, 5, 1), (1, 4, 4), (2, 3, 10)]", "[(2, 6, 3), (3, 5, 1)]"),
    ("the whole text at once will do", "model.most <= size", "model.most <= tokens.shape[1]"),
    ("the reader is not overheard", "self.most = max(self.most, tokens.shape[-1])", "self.most = 0"),
    ("lengths of texts have no say", "([1.0, 2.5, 0.5], [3, 7, 4])", "([1.0, 2.5, 0.5], [4, 4, 4])"),
    ("padding has to be right", "share = (right | ~real).all(-1)", "share = right.all(-1)"),
    ("words without padding", "real = said == y, y != PAD", "real = said == y, y >= PAD"),
    ("all words are equally long", "(3, 6, 4, [4, 2, 5])", "(3, 6, 4, [6, 6, 6])"),
    ("a word of the longest length only", "n.clamp(max=S - 1)]", "n - 1]"),
)

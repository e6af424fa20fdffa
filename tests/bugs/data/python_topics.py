"""Bugs of one line in attnlib/data/python_topics.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "data/python_topics.py", "data/test_data.py",
    ("a page in two parts", 'if name != "compound"', "if name"),
    ("trained on the topics for stopping", "texts[: -2 * tenth]", "texts[:-tenth]"),
)

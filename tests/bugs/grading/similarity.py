"""Bugs of one line in attnlib/grading/similarity.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "grading/similarity.py", "grading/test_similarity.py",
    ("comments count", "if token.type in BLANK:", "if token.type in BLANK - {tokenize.COMMENT}:"),
    ("methods are own names", ' and before != "."', ""),
    ("names of the hand-out are own names", "known = given | set(dir(builtins))", "known = set(dir(builtins))"),
    ("who has written nothing is compared", "if own.get(question, stub) != stub", "if question in own"),
    ("short answers are compared", "if len(both[0]) >= SHORTEST", "if both[0]"),
    ("the class is not looked at", "float(written[a, b] - middle) / spread if spread else 0.0", "0.0"),
    ("a class without differences is divided by 0", " / spread if spread else 0.0", " / spread"),
    ("the least alike come first", "(-pair.above, -pair.written", "(pair.above, pair.written"),
)

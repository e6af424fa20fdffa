"""Bugs of one line in attnlib/course/figures/translator_file.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/figures/translator_file.py", "course/figures/test_translator_file.py",
    ("translator: one scale for a matrix", "[scale_of(row, steps) for row in weight]",
     "[scale_of(weight, steps) for row in weight]"),
    ("translator: rounded down", "(weight / scales.unsqueeze(1)).round().char()",
     "(weight / scales.unsqueeze(1)).floor().char()"),
    ("translator: a bit too many", "2 ** (bits - 1) - 1", "2 ** bits - 1"),
    ("translator: big-endian vectors", '16).numpy().astype("<f2")', '16).numpy().astype(">f2")'),
    ("translator: damage is not noticed", "if len(data) != needed or digest_of(data) != digest:",
     "if digest_of(data) != digest:"),
    ("translator: other subwords are taken", "if sizes != (len(subwords), len(subwords)):", "if not all(sizes):",
     "test_a_damaged_file_is_refused_in_one_sentence"),
    ("translator: another kind is taken", 'detail.get("kind") != KIND', '"kind" not in detail'),
    ("translator: a file that is not there is a failure of Python", "except FileNotFoundError as error:",
     "except UnicodeEncodeError as error:", "test_no_file_and_another_file_are_told_apart"),
)

"""Bugs of one line in attnlib/course/translation_errors.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/translation_errors.py", "course/test_translation_errors.py",
    ("words of an error counted from 1", "tuple(map(int, words.split(\",\")))",
     "tuple(int(j) + 1 for j in words.split(\",\"))"),
    ("a right translation is an error", ' if errors != "right" else {}', ""),
    ("the reference for the translation", "Judged(*pair, said", "Judged(*pair, pair[1]"),
)

"""Bugs of one line in attnlib/course/translation_errors.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/translation_errors.py", "course/test_translation_errors.py",
    ("words of an error counted from 1", "tuple(map(int, words.split(\",\")))",
     "tuple(int(j) + 1 for j in words.split(\",\"))", "test_fifty_sentences_evenly_spread_each_with_kinds_of_the_rule"),
    ("a right translation is an error", ' if errors != "right" else {}', "",
     "test_fifty_sentences_evenly_spread_each_with_kinds_of_the_rule"),
    ("the reference for the translation", "Judged(*pair, said", "Judged(*pair, pair[1]",
     "test_they_were_found_in_what_this_file_translates"),
)

"""Bugs of one line in attnlib/course/figures/language_model.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/figures/language_model.py", "course/figures/test_language_model.py",
    ("a line of a text is no end of a word", r'BLANK = " \t\n"', 'BLANK = " "',
     "test_words_are_found_alike_in_both_languages"),
    ("unknown characters count as read", "if character in ids][:longest]", "][:longest]",
     "test_what_is_read_is_known_and_not_too_long_in_both_languages"),
    ("cut before strange are left out", "in text if character in ids][", "in text[:longest] if character in ids][",
     "test_what_is_read_is_known_and_not_too_long_in_both_languages"),
    ("every language model looks back", 'AttentionLM if "W_c.weight" in weights else RNNLM', "AttentionLM"),
) + of(
    "course/figures/language_model.py", "course/figures/test_fading_trace.py",
    ("the other word is read after the one that it replaces", "tokens[:start], *other", "tokens[:end], *other"),
    ("states compared from one character later on", "states[0, -1 - rest :]", "states[0, -rest:]"),
)

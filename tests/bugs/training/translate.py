"""Bugs of one line in attnlib/training/translate.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "training/translate.py", "training/test_translate.py",
    ("the score of a few sentences is kept", "if not limit:", "if True:",
     "test_what_whole_parts_score_is_kept_and_stands_in_the_table"),
    ("a score kept makes the others forgotten", "scores(folder) | {", "{} | {",
     "test_what_whole_parts_score_is_kept_and_stands_in_the_table"),
    ("the last look at dev for the best", "min(history.valid_loss)", "history.valid_loss[-1]"),
    ("columns of one run under those of another", "if kind in of_run else \"\" for kind in kinds]",
     "for kind in of_run]", "test_what_whole_parts_score_is_kept_and_stands_in_the_table"),
)

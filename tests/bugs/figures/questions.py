"""Bugs of one line in attnlib/figures/questions.py, and in what a figure does with it."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "figures/questions.py", "figures/test_questions.py",
    ("one answer is enough", "not 2 <= len(answers) <= MOST", "not 1 <= len(answers) <= MOST"),
    ("right counted from 1", 'given["right"], 0, len(answers) - 1)', 'given["right"], 1, len(answers))'),
    ("right one too far", "0, len(answers) - 1)", "0, len(answers))"),
    ("a text is a list of letters", "if isinstance(answers, str) or", "if"),
    ("questions counted from 0", 'f"question {n + 1}"', 'f"question {n}"'),
    ("answers may be alike", "len(set(answers)) < len(answers)", "len(set(answers)) > len(answers)"),
    ("a blank is a text", "not text.strip()", "not text"),
    ("the caller's list", '"answers": list(answers)', '"answers": answers'),
) + of(
    "figures/figure.py", "figures/test_questions.py",
    ("a figure may show its questions", ' - {"questions"}', ""),
    ("a figure may show what is only computed", "self.trait_names(sync=True)", "self.trait_names()"),
    ("a trait that every widget has cannot be shown", "AnyWidget.class_trait_names(sync=True)",
     "AnyWidget.class_trait_names()"),
) + of(
    "figures/questions.py", "course/test_bets.py",
    ("nothing to show", '"show": show}', '"show": {}}'),
)

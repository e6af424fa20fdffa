"""Bugs of one line in attnlib/course/checks/language.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/checks/language.py", "course/test_checks.py",
    ("every size divides the text",
     "sizes = [(2, 7, 3), (3, 5, 2), (3, 5, 1),",
     "sizes = [(2, 6, 3)] or [(2, 7, 3), (3, 5, 2), (3, 5, 1),",
     "test_a_wrong_answer_is_told_its_mistake[read_in_parts-no state]"),
    ("padding has to be right", "strict=True) if b != PAD)", "strict=True))",
     "test_right_answers_are_right_however_written"),
    ("the model may read all at once",
     "right=lambda logits, model, tokens, size: model.most <= size and",
     "right=lambda logits, model, tokens, size: True and",
     "test_a_wrong_answer_is_told_its_mistake[read_in_parts-all at once]"),
    ("a place behind the last", "word[:length][-1]", "word[:length][0]",
     "test_right_answers_are_right_however_written"),
)

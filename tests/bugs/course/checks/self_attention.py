"""Bugs of one line in attnlib/course/checks/self_attention.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/checks/self_attention.py", "course/test_checks.py",
    ("the future looked at", "v[:, : t + 1].double().mean(1)", "v[:, t:].double().mean(1)",
     "test_right_answers_are_right_however_written"),
    ("the first token compared", "agrees(c[:, 1:], before[:, 1:])", "agrees(c, before)",
     "test_a_wrong_answer_is_told_its_mistake[even_look-those before it, the first itself]"),
    ("rotations of heads only",
     "(15, [1, 3, 0, 4, 2]), (8, [2, 1, 3, 0]), (4, [1, 0]), (6, [0]),\n"
     "              (1, [0]), (3, [2, 0, 1]), (12, [0, 2, 1, 3]), (18, [5, 3, 0, 4, 1, 2])]",
     "(4, [1, 0]), (6, [0]), (1, [0]), (3, [2, 0, 1])]", "test_an_answer_that_is_right_on_some_inputs_only_is_refused"),
    ("one text of several", "for i in range(T)] for b in range(B)]", "for i in range(T)] for b in [0] * B]",
     "test_right_answers_are_right_however_written"),
)

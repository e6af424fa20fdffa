"""Bugs of one line in attnlib/course/checks/seeing.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/checks/seeing.py", "course/test_checks.py",
    ("any price will do", "if not torch.allclose(total, torch.full_like(total, T / M), atol=1e-5):", "if False:",
     "test_a_wrong_answer_is_told_its_mistake[divided_gaze-uneven]"),
    ("a price that is equal is told", "if paid - least > 0.02 else", "if True else",
     "test_a_wrong_answer_is_told_its_mistake[divided_gaze-uneven]"),
    ("above turned over", "        [(caption,) for caption in above],\n        above,",
     "        [(caption,) for caption in above],\n        back,", "test_right_answers_are_right_however_written"),
    ("p rises by ε", "enough = (middle * z).sigmoid() >= z.sigmoid() - eps",
     "enough = (middle * z).sigmoid() >= z.sigmoid() + eps", "test_right_answers_are_right_however_written"),
    ("annotations that are never equal",
     "        annotations(2, 3)[[0, 1, 0, 0, 1, 1]],\n"
     "        annotations(3, 4)[[0, 1, 2, 2, 1, 0, 0]],\n"
     "        annotations(2, 2)[[0, 1, 1]],\n",
     "        annotations(6, 1), annotations(7, 2), annotations(3, 1),\n",
     "test_a_wrong_answer_is_told_its_mistake[unseen_directions-sizes]"),
)

"""Bugs of one line in attnlib/course/checks/search.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/checks/search.py", "course/test_checks.py",
    ("rows of k words", "torch.tensor([n // V for n in order])", "torch.tensor([n // k for n in order])",
     "test_right_answers_are_right_however_written"),
    ("parents of anybody",
     '"parts": ("log_prob", "parent", "word"), "seen": seen}',
     '"parts": ("log_prob", "parent", "word"), "seen": seen, "right": lambda x, *y: x[0].allclose(top(table(*y))[0])}',
     "test_a_wrong_answer_is_told_its_mistake[beam_step-swapped]"),
    ("an ended beam goes on", "        total[beam] = -torch.inf\n", "        continue\n",
     "test_right_answers_are_right_however_written"),
    ("length penalty as a power of n",
     "lambda a: log_q / ((5 + m) / 6) ** a >= log_p / ((5 + n) / 6) ** a",
     "lambda a: log_q / m**a >= log_p / n**a", "test_right_answers_are_right_however_written"),
    ("no parent has four of the best", "one_parent, all_of_one, far", "one_parent, far",
     "test_an_answer_that_is_right_on_some_inputs_only_is_refused"),
)

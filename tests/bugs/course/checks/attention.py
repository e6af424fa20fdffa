"""Bugs of one line in attnlib/course/checks/attention.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/checks/attention.py", "course/test_checks.py",
    ("padded on the right", "i >= j >= T - int(k)", "i >= j and j < int(k)",
     "test_right_answers_are_right_however_written"),
    ("blank rows are not tried", "        m[0, -1] = False\n", "        m[0, -1] = True\n",
     "test_a_wrong_answer_is_told_its_mistake[masked_softmax-NaN gradient]"),
    ("masks need not broadcast",
     "[(s, m[:, :1]) for s, m in partly] + [(s, m[:1]) for s, m in partly] + [(s, m[0, 0]) for s, m in partly]",
     "partly", "test_a_wrong_answer_is_told_its_mistake[masked_softmax-full mask only]"),
    ("small scores only", "low + [(s.where(m, 200), m) for s, m in partly]", "partly",
     "test_an_answer_that_is_right_on_some_inputs_only_is_refused"),
    ("the absent have small scores only",
     "            (torch.tensor([60.0, -60.0, -58.0]), torch.tensor([0, 2, 1])),\n"
     "            (torch.tensor([-70.0, 50.0]), torch.tensor([1, 0])),\n",
     "            (torch.tensor([1.0, -1.0, -2.0]), torch.tensor([0, 2, 1])),\n",
     "test_a_wrong_answer_is_told_its_mistake[repeated_words-the absent take all]"),
)

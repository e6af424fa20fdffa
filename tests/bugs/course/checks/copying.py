"""Bugs of one line in attnlib/course/checks/copying.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/checks/copying.py", "course/test_checks.py",
    ("a word copied from one place", "for j in places[w]]", "for j in places[w][:1]]",
     "test_right_answers_are_right_however_written"),
    ("the gradient of log P", "torch.autograd.grad(-log_P.sum(), leaf)", "torch.autograd.grad(log_P.sum(), leaf)",
     "test_right_answers_are_right_however_written"),
    ("moderate gates only",
     "tuple(corners.T.unsqueeze(1)), tuple(corners.flip(0).T.unsqueeze(2))",
     "tuple(corners[4:6].T.unsqueeze(1))", "test_a_wrong_answer_is_told_its_mistake[gate_gradient-naive]"),
)

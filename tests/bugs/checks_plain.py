"""Bugs of one line in attnlib/checks/plain.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "checks/plain.py", "test_checks.py",
    ("lists that a student may change", "after == before,", "True,"),
    ("the check's own list handed out", "given = copy.deepcopy(inputs)", "given = inputs"),
    ("a bool for a number", "type(result) is int:", "isinstance(result, int):"),
    ("any kind of number", "type(result) is kind,", "True,"),
    ("more tensors than asked for", "len(result) == len(shapes)", "len(result) <= len(shapes)"),
    ("lists for tensors", "need(type(part) is Tensor,", "need(True,"),
    ("tensors of any shape", "part.shape == shape,", "True,"),
)

"""Bugs of one line in attnlib/checks/asking.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "checks/asking.py", "test_checks.py",
    ("the inputs themselves are handed in", "x.detach().clone().requires_grad_(x.requires_grad)", "x"),
    ("inputs by name are not looked after", ", *((named[n], given_named[n]) for n in named)]", "]"),
    ("lists that a student may change", "after == before,", "True,"),
    ("the check's own list handed out", "copy.deepcopy(x) if isinstance(x, CONTAINERS) else x", "x"),
    ("lists in lists handed out", "copy.deepcopy(x)", "copy.copy(x)"),
    ("a check listens to a copy", "copy.deepcopy(x) if isinstance(x, CONTAINERS) else x", "copy.deepcopy(x)"),
    ("subclasses of a tensor will do", "need(type(result) is Tensor, f", "need(isinstance(result, Tensor), f"),
    ("any shape will do", "        result.shape == shape,\n", "        result.dim() == len(shape),\n"),
    ("right shapes are told off", "need(result.shape == shape or tuple", "need(tuple"),
    ("a truth is a number", "type(result) in (float, np.float64)", "isinstance(result, (float, int))"),
    ("a bool for a number", "type(result) is int:", "isinstance(result, int):"),
    ("any kind of number", "type(result) is kind,", "True,"),
    ("more tensors than asked for", "len(result) == len(shapes)", "len(result) <= len(shapes)"),
    ("lists for tensors", "need(type(part) is Tensor,", "need(True,"),
    ("tensors of any shape", "part.shape == shape,", "True,"),
    ("gradient of the sum", "result.square().sum()", "result.sum()"),
    ("a detached input goes unnoticed", "slope is not None,", "slope is not x,"),
    ("the line of somebody else", "if f.filename == file and f.line", "if f.line"),
    ("the first line, not the last", "(in the line `{lines[-1]}`)", "(in the line `{lines[0]}`)"),
)

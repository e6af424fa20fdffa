"""Bugs of one line in attnlib/checks/verdict.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "checks/verdict.py", "test_checks.py",
    ("every answer is right", "return Verdict(False, str(mistake))", "return Verdict(True, str(mistake))"),
    ("a verdict is true as such", "        return self.right\n", "        return bool(self.words)\n"),
    ("the check's own faults are the student's", "        except Mistake as mistake:",
     "        except Exception as mistake:"),
    ("the student's random numbers are spent", "torch.random.fork_rng(devices=[])", "torch.enable_grad()"),
    ("the inputs themselves are handed in", "x.detach().clone().requires_grad_(x.requires_grad)", "x"),
    ("inputs by name are not looked after", ", *((named[n], given_named[n]) for n in named)]", "]"),
    ("subclasses of a tensor will do", "need(type(result) is Tensor, f", "need(isinstance(result, Tensor), f"),
    ("any shape will do", "        result.shape == shape,\n", "        result.dim() == len(shape),\n"),
    ("right shapes are told off", "need(result.shape == shape or tuple", "need(tuple"),
    ("a truth is a number", "type(result) in (float, np.float64)", "isinstance(result, (float, int))"),
    ("the last mistake is said", "need(not same(given, _double(wrong), tolerance), words)", "otherwise = words"),
    ("gradient of the sum", "result.square().sum()", "result.sum()"),
    ("a detached input goes unnoticed", "slope is not None,", "slope is not x,"),
    ("NaN equals nothing", "equal_nan=True", "equal_nan=False"),
    ("shapes are broadcast", "    if given.shape != wanted.shape:\n        return False\n", ""),
    ("the line of somebody else", "if f.filename == file and f.line", "if f.line"),
    ("the first line, not the last", "(in the line `{lines[-1]}`)", "(in the line `{lines[0]}`)"),
)

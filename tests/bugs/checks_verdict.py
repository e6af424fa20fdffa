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
    ("the last mistake is said", "need(not any(_fits(given, one, tolerance) for one in each), words)",
     "otherwise = words if any(_fits(given, one, tolerance) for one in each) else otherwise"),
    ("one number and no other", "any(_fits(given, one, tolerance) for one in each)",
     "all(_fits(given, one, tolerance) for one in each)"),
    ("words that call themselves equal", "list(map(type, given)) == list(map(type, wanted)) and given", "given"),
    ("a tuple for a list", " and given == wanted", " and list(given) == list(wanted)"),
    ("NaN equals nothing", "equal_nan=True", "equal_nan=False"),
    ("shapes are broadcast", "    if given.shape != wanted.shape:\n        return False\n", ""),
)

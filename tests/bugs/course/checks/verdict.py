"""Bugs of one line in attnlib/course/checks/verdict.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/checks/verdict.py", "course/test_checks.py",
    ("the check's own faults are the student's", "        except Mistake as mistake:",
     "        except Exception as mistake:"),
    ("the student's random numbers are spent", "torch.random.fork_rng(devices=[])", "torch.enable_grad()"),
    ("what is not written has been tried", "written=not isinstance(mistake, Unwritten)", "written=True"),
    ("what never ends is no answer", "            return Verdict(False, ENDLESS.format(SECONDS))", "            raise"),
)

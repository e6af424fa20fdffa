"""Bugs of one line in attnlib/course/checks/verdict.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/checks/verdict.py", "course/test_checks.py",
    ("the check's own faults are the student's", "        except Mistake as mistake:",
     "        except Exception as mistake:", "test_an_answer_that_never_ends_is_told_so"),
    ("the student's random numbers are spent", "torch.random.fork_rng(devices=[])", "torch.enable_grad()",
     "test_a_check_leaves_the_random_numbers_alone"),
    ("what is not written has been tried", "written=not isinstance(mistake, Unwritten)", "written=True",
     "test_an_answer_that_is_none_is_answered_too"),
    ("what never ends is no answer", "            return Verdict(False, ENDLESS.format(SECONDS))", "            raise",
     "test_an_answer_that_never_ends_is_told_so"),
)

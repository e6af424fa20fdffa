"""Bugs of one line in attnlib/course/checks/fairness.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/checks/fairness.py", "course/test_checks.py",
    ("one seed is enough", "ENOUGH = 3", "ENOUGH = 1", "test_a_wrong_answer_is_told_its_mistake[could_fail-two seeds]"),
    ("the same seed again counts", "seeds = len({run.seed for run in runs})", "seeds = len(runs)",
     "test_a_wrong_answer_is_told_its_mistake[more_than_luck-one seed thrice]"),
    ("unequal steps are fair", "len(set(steps.values())) == 1", "True",
     "test_a_wrong_answer_is_told_its_mistake[could_fail-half the training]"),
    ("any number may be reported", "all(abs(x - look) < 1e-6 for x, look in", "all(True for x, look in",
     "test_a_wrong_answer_is_told_its_mistake[one_look-rounded]"),
    ("one number for all seeds", "len(shares) == len(looks)", "True",
     "test_a_wrong_answer_is_told_its_mistake[own_rates-a mean]"),
    ("seeds may be left out of the test", "looks = [look for look in lab.tested if look.run.arm == arm]\n",
     "looks = [look for look in lab.tested if look.run.arm == arm]\n    return looks\n",
     "test_a_wrong_answer_is_told_its_mistake[more_than_luck-best runs]"),
)

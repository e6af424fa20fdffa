"""Bugs of one line in attnlib/course/checks/designing.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/checks/designing.py", "course/test_checks.py",
    ("a run four times as long is enough", "steps >= BUDGETS[-1]", "steps >= BUDGETS[1]"),
    ("unequal text is fair", "len(set(read.values())) == 1", "True"),
    ("rates may be chosen on test", "len(looked) == 1", "True"),
    ("any rate will do", "looked == {best}", "True"),
    ("a rate is chosen by one seed", "min(map(len, tried.values())) >= ENOUGH", "True"),
    ("one rate for all", "not missing,", "True,"),
    ("several looks", "len(set(looks)) == len({look.run for look in looks})", "True"),
    ("the last checkpoint will do", "dev[look.at] == min(dev)", "True"),
    ("the best mean is the winner", "min(other) > max(found[arm])", "sum(other) > sum(found[arm])"),
    ("a claim that cannot fail", "            truth == SAME or steps", "            True or steps"),
    ("no control", "any(run.arm == control for run in lab.trained)", "True"),
)

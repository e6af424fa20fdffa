"""Bugs of one line in attnlib/course/checks/designing.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/checks/designing.py", "course/test_checks.py",
    ("a run four times as long is enough", "steps >= BUDGETS[-1]", "steps >= BUDGETS[1]",
     "test_a_wrong_answer_is_told_its_mistake[long_enough-four times]"),
    ("unequal text is fair", "len(set(read.values())) == 1", "True",
     "test_a_wrong_answer_is_told_its_mistake[equal_text-equal steps]"),
    ("rates may be chosen on test", "len(looked) == 1", "True",
     "test_a_wrong_answer_is_told_its_mistake[own_rates-on test]"),
    ("any rate will do", "looked == {best}", "True", "test_a_wrong_answer_is_told_its_mistake[own_rates-the worst]"),
    ("a rate is chosen by one seed", "min(map(len, tried.values())) >= ENOUGH", "True",
     "test_a_wrong_answer_is_told_its_mistake[own_rates-by one seed]"),
    ("one rate for all", "not missing,", "True,", "test_a_wrong_answer_is_told_its_mistake[own_rates-one for both]"),
    ("several looks", "len(set(looks)) == len({look.run for look in looks})", "True",
     "test_a_wrong_answer_is_told_its_mistake[one_look-best on test]"),
    ("the last checkpoint will do", "dev[look.at] == min(dev)", "True",
     "test_a_wrong_answer_is_told_its_mistake[one_look-the last]"),
    ("the best mean is the winner", "min(other) > max(found[arm])", "sum(other) > sum(found[arm])",
     "test_right_answers_are_right_however_written"),
    ("a claim that cannot fail", "            truth == SAME or steps", "            True or steps",
     "test_a_wrong_answer_is_told_its_mistake[long_enough-as it was]"),
    ("no control", "any(run.arm == control for run in lab.trained)", "True",
     "test_a_wrong_answer_is_told_its_mistake[what_differs-no control]"),
)

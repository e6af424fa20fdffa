"""Bugs of one line in attnlib/course/checks/examining.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/checks/examining.py", "course/test_checks_asking.py",
    ("one input is enough", "if fits >= 2 and", "if fits >= 1 and"),
    ("a minority is enough", "and 2 * fits > relevant", "and fits > 0"),
    ("right answers do not speak against a mistake", "relevant += wrong or not fine", "relevant += not fine"),
    ("the first mistake, not the best",
     'best = max(fits, key=lambda words: fits[words], default="")',
     'best = next(iter(fits), "")'),
    ("the largest input is shown", "= min(wrong, key=lambda", "= max(wrong, key=lambda"),
    ("a later error hides what was found",
     "                break  # what is wrong elsewhere says more\n",
     "                pass\n"),
    ("a truth value is a number", "fine = given.dtype != torch.bool and not", "fine = not"),
    ("a number is a truth value",
     'fine, asked = given.dtype == torch.bool, "True and False"',
     'fine, asked = True, "True and False"'),
    ("floats are integers",
     'fine, asked = fine and not given.is_floating_point(), "integers"',
     'fine, asked = fine, "integers"'),
    ("large numbers to the last digit",
     "    unit = max(1.0, finite.abs().max().item()) if len(finite) else 1.0\n",
     "    unit = 1.0\n"),
    ("lists of several lengths agree",
     'if len(given) == len(want) else [(0, "")]',
     "if len(given) == len(want) else []"),
) + of(
    "course/checks/examining.py", "course/test_checks.py::test_a_wrong_answer_is_told_its_mistake",
    ("what can be seen comes first",
     "    need(not fits.get(best), best)\n    if told is not None:\n        raise Mistake(told)\n",
     "    if told is not None:\n        raise Mistake(told)\n    need(not fits.get(best), best)\n"),
)

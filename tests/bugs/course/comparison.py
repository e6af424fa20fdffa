"""Bugs of one line in attnlib/course/comparison.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/comparison.py", "course/test_comparison.py",
    ("every arm gets the first rate", "best_rate(of_rates, f\"{name}, {arm}\") for arm, of_rates in dev.items()",
     "grid[0] for arm in arms"),
    ("one seed chooses", "for s in seeds] for lr in grid}", "for s in seeds[:0]] or [0] for lr in grid}"),
    ("every error counts as a rate that diverged", "if \"the learning rate\" not in str(error):", "if False:"),
    ("no dev part is needed", "if not history.valid_loss:", "if False:"),
    ("every budget has the steps of the chapter", "steps * budget)", "steps)"),
    ("a claim is judged at the steps of the chapter", "return _record.results(self.name, budget)",
     "return self.results"),
    ("every claim is about all arms", "self.asked.add(arm)", "self.asked.update(self._arms)"),
    ("a claim of models is judged at the steps of the chapter", "lambda arm: self.trained_at(arm, budget)",
     "lambda arm: self.models[arm]"),
    ("no arm may be named", "if rivals is None else rivals", ""),
    ("models of another rate", "lr, _ = _record.chosen(name, arm, budget)", "lr = grid[0]"),
    ("models of this process are trained again", "in_memory[arm, one.seed, one.lr, 1] = model", "pass"),
    ("what is kept is trained once more", "for arm in arms if not kept}", "for arm in arms}"),
    ("a chapter trains what is kept", "if kept and _record is None:", "if False:"),
    ("what was trained otherwise is read", "if there.get(what) != value}", "if not there}"),
    ("a recording never ends", "        _record = None", "        pass"),
    ("every comparison has the usual budgets", "product(budgets, arms", "product(BUDGETS, arms"),
    ("every claim is judged at the usual budgets", "for budget in self.budgets}", "for budget in BUDGETS}"),
    ("budgets need not grow", " or sorted(set(budgets)) != list(budgets)", ""),
    ("two rates are a grid", "len(grid) < 3", "len(grid) < 2"),
)

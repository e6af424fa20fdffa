"""Bugs of one line in attnlib/course/laboratory.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/laboratory.py", "course/test_laboratory.py",
    ("a rate too low costs nothing", "(max(lr, self.rate) / min(lr, self.rate))", "(max(lr, self.rate) / self.rate)"),
    ("nothing is forgotten", "/ (1 + (needs / steps) ** 2) - lost", "/ (1 + (needs / steps) ** 2)"),
    ("a rate too high learns", "        if lr >= self.diverges:\n            return 0.0\n", ""),
    ("luck on test only", "lucky = arm.luck * _normal(run.arm, run.seed)",
     "lucky = arm.luck * _normal(run.arm, run.seed, part)"),
    ("dev and test are the same part", "run.steps, part, at)", "run.steps, at)"),
    ("every checkpoint is the last", "run.steps * (at + 1) / CHECKPOINTS", "run.steps"),
    ("looks are not counted", "        self.tested.append(Look(run, at, self._measured(run, \"test\", at)))\n"
     "        return self.tested[-1].share", "        return self._measured(run, \"test\", at)"),
    ("NumPy's seed has luck of its own", "seed = int(operator.index(seed))", "operator.index(seed)"),
    ("NumPy's rate has noise of its own", "float(lr), int(steps)", "lr, int(steps)"),
    ("half steps are cut off", "steps != int(steps) or ", ""),
)

"""Bugs of one line in attnlib/course/long_runs.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/long_runs.py", "course/test_comparison.py",
    ("the last half for the last third", "len(valid_loss) // 3", "len(valid_loss) // 2"),
    ("the last loss for the lowest", "min(valid_loss[before:]) >", "valid_loss[-1] >"),
    ("the highest loss is best", "min(means, key=means.get)", "max(means, key=means.get)"),
    ("of no rate, one is best", "if not dev:", "if False:"),
    ("one seed that diverged is nothing", "np.mean(losses)", "np.min(losses)"),
    ("a claim holds at a budget if one value does", "return all(self.keeps", "return any(self.keeps"),
    ("runs of other settings are kept", "if {key: kept.get(key) for key in settings} == settings else {}",
     "if kept else {}"),
    ("runs of a rate that the grid has lost are kept", " if run[\"lr\"] in grid]", "]"),
    ("a rate is run with one seed", "(run[\"lr\"], run[\"seed\"]) == (lr, seed)", "run[\"lr\"] == lr"),
    ("every rate is trained to the end", "return improving or lr == self.chosen(name, arm, before)[0]", "return True"),
    ("a rate that improves in one seed only is left out", "improving = any(", "improving = all("),
    ("a rate that still improves is left out", "return improving or ", "return "),
    ("a rate that diverged is trained to the end", " and math.isfinite(run[\"dev\"]) for", " for"),
    ("shorter runs leave rates out", "budget in (1, *budgets[:-1])", "budget == 1"),
    ("of one budget, some rates are left out", "budget in (1, *budgets[:-1])", "budget in budgets[:-1]"),
    ("the longest budget is always the same", "longest = max(claim.values)", "longest = BUDGETS[-1]"),
    ("chosen by what was measured", "[run.dev for", "[-np.max(run.measured) for"),
    ("a rate with fewer seeds is chosen", "if len(runs) == len(comparison[\"seeds\"])}", "}"),
    ("no plateau is needed for never", "CANNOT if self.at_plateau(claim) else LATER", "CANNOT"),
    ("the plateau of one seed is enough", "return all(run.plateau", "return any(run.plateau"),
    ("steps of the chapter in place of those at which it ended", "{claim.ended * steps:,}", "{steps:,}"),
)

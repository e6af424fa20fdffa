"""Bugs of one line in attnlib/widgets/cost_curve.py and attnlib/widgets/polynomials.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "widgets/polynomials.py", "test_cost_curve.py",
    ("S and T swapped in a count", 'sizes["S"] ** s * sizes["T"] ** t', 'sizes["S"] ** t * sizes["T"] ** s'),
    ("the axis is held fixed", "if letter in AXES[axis]:", "if letter not in AXES[axis]:"),
    ("crossing before the first word", "if x >= 1]", "if x > 0]"),
    ("crossing at the first word lost", "if x >= 1]", "if x > 1]"),
    ("costs added", "[a - b for a, b in pairs]", "[a + b for a, b in pairs]"),
    ("derivative one power off", "[k * factor for k, factor", "[(k + 1) * factor for k, factor"),
    ("only up to the last turn", "if turn < beyond), beyond]:", "if turn < beyond)]:"),
    ("bisected to the wrong side", "if (value(c, middle) > 0) == rising:", "if (value(c, middle) > 0) != rising:"),
    ("whole numbers missed by a hair", "return near if value(c, near) == 0 else high", "return low"),
    ("powers too high", "powers.get(letter, 0), 0, 8)", "powers.get(letter, 0), 0, 9)"),
    ("costs that are negative", "if not 0 < coefficient < math.inf:", "if not coefficient < math.inf:"),
    ("other letters ignored", "if letter not in LETTERS]:", "if False]:"),
) + of(
    "widgets/cost_curve.py", "test_cost_curve.py",
    ("T of its own where S is both", 'self.S if self.axis == "S=T" else self.T', "self.T"),
    ("compared with the last", "first = self.sizes, every_term(self._shown[0])",
     "first = self.sizes, every_term(self._shown[-1])"),
    ("results that do not follow the width", '@traitlets.observe("S", "T", "d", "axis", "quantity")',
     '@traitlets.observe("S", "T", "axis", "quantity")'),
    ("only the first part", 'return [term for part in cost["parts"] for term in part["terms"]]',
     'return list(cost["parts"][0]["terms"])'),
    ("size beyond the axis", "return whole(name, given, 1, self.largest[name])", "return whole(name, given, 1, 2**20)"),
    ("nine dashes", "MOST = 8", "MOST = 9"),
    ("names on each other", "below = min(max(at, below + gap), max(most, below + gap))", "below = at"),
    ("picture along the other letters", "{letter: x for letter in letters}", '{letter: x for letter in "d"}'),
)

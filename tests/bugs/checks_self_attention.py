"""Bugs of one line in attnlib/checks/self_attention.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "checks/self_attention.py", "test_checks.py",
    ("the future looked at", "zero, causal_mask(T)) @ values,", "zero, causal_mask(T).T) @ values,"),
    ("the first token compared", "given[:, 1:].double()", "given.double()"),
    ("the latest counts in full", "(halves[-1] + values[:, t]) / 2", "halves[-1] + values[:, t]"),
    ("a strict past passes unnamed", "not same_after(context, strict),", "True,"),
    ("the order the wrong way round", "places, back = at[order]", "back, places = at[order]"),
    ("heads of strided columns", "W_o[:, places],\n", "W_o[:, strided],\n"),
    ("the smallest weight of a head", "each, averaged = weights.amax(-1),", "each, averaged = weights.amin(-1),"),
    ("head 0 looks elsewhere", "first = weights[:, 0]", "first = weights[:, -1]"),
)

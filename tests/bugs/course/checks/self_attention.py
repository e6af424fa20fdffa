"""Bugs of one line in attnlib/course/checks/self_attention.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/checks/self_attention.py", "course/test_checks.py",
    ("the future looked at", "zero, causal_mask(T)) @ values,", "zero, causal_mask(T).T) @ values,"),
    ("the first token compared", "given[:, 1:].double()", "given.double()"),
    ("heads of strided columns", "W_o[:, places],\n", "W_o[:, strided],\n"),
)

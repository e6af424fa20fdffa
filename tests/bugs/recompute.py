"""Bugs of one line in attnlib/recompute.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "recompute.py", "test_recompute.py",
    ("all pairs kept for the gradient", "checkpoint(of_pairs, part, key, use_reentrant=False)", "of_pairs(part, key)"),
    ("all pairs at once", "if numbers <= AT_ONCE:", "if True:"),
    ("the width does not count", "key.shape[-2] * width", "key.shape[-2]"),
    ("the leading dimensions do not count", "query[..., 0].numel()", "query.shape[-2]"),
    ("keys do not count", "* key.shape[-2] * width", "* width"),
    ("no query at a time", "max(1, query.shape[-2] * AT_ONCE // numbers)", "query.shape[-2] * AT_ONCE // numbers"),
    ("one more than fits", "AT_ONCE // numbers)", "AT_ONCE // numbers + 1)"),
    ("put together along the keys", "for part in parts], dim=-2)", "for part in parts], dim=-1)"),
    ("the keys cut as well", "checkpoint(of_pairs, part, key,", "checkpoint(of_pairs, part, key[..., :-1, :],"),
)

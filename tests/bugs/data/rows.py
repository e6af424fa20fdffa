"""Bugs of one line in attnlib/data/rows.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "data/rows.py", "data/test_rows.py",
    ("gap one too short", "_scattered(rng, others[:n_behind], gap)", "_scattered(rng, others[:n_behind], gap - 1)"),
    ("asked for the last pair only", "n_behind = rng.randint(0, min(len(others), gap // 2))", "n_behind = 0"),
    ("every place of a recall scored", "(torch.arange(T) == T - 1).repeat", "(torch.arange(T) >= 0).repeat"),
    ("gold at the key", "[row.index(row[-1]) for row in part]", "[row.index(row[-1]) - 1 for row in part]"),
    ("targets of a recall not shifted", "Rows(whole[:, :-1], whole[:, 1:], mask, gold, vocabulary)",
     "Rows(whole[:, :-1], whole[:, :-1], mask, gold, vocabulary)"),
    ("scored one token early", "mask = t >= period", "mask = t >= period - 1"),
    ("gold at the earlier copy, not behind it", "(t + 1 - period).where(mask, -1)", "(t - period).where(mask, -1)"),
    ("targets of a pattern not shifted", "Rows(whole[:, :-1], whole[:, 1:], mask, (t + 1",
     "Rows(whole[:, 1:], whole[:, :-1], mask, (t + 1"),
    ("previous is the same token", "(torch.arange(tokens.shape[1]) - 1).expand_as",
     "torch.arange(tokens.shape[1]).expand_as"),
    ("mirror one off", "torch.arange(tokens.shape[1]).flip(0).expand_as",
     "torch.arange(tokens.shape[1]).flip(0).roll(1).expand_as"),
    ("first token has a previous one", "mask = gold >= 0", "mask = gold >= -1"),
    ("targets from another row", ".gather(1, gold.clamp(min=0))", ".flip(0).gather(1, gold.clamp(min=0))"),
    ("targets where nothing is scored", ".masked_fill(~mask, 0)", ""),
) + of(
    "data/rows.py", "data/test_examples.py",
    ("recall leaks into testing", "return row if part_of(row) == part else None", "return row"),
)

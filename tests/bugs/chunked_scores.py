"""Bugs of one line in attnlib/chunked_scores.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "chunked_scores.py", "core/test_chunked_scores.py",
    ("all pairs kept for the gradient", "checkpoint(pairwise_scores, part, key, use_reentrant=False)",
     "pairwise_scores(part, key)"),
    ("the width does not count", "key.shape[-2] * width", "key.shape[-2]"),
    ("no query at a time", "max(1, query.shape[-2] * CHUNK_NUMEL // numbers)",
     "query.shape[-2] * CHUNK_NUMEL // numbers"),
    ("one more than fits", "CHUNK_NUMEL // numbers)", "CHUNK_NUMEL // numbers + 1)"),
    ("put together along the keys", "for part in parts], dim=-2)", "for part in parts], dim=-1)"),
)

"""Bugs of one line in attnlib/training/distributed.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "training/distributed.py", "training/test_distributed.py",
    ("mean of means", "share = mean * (own * n_processes / tokens).to(mean.dtype)", "share = mean"),
    ("gradient divided twice", "own * n_processes / tokens", "own / tokens"),
    ("each reports its own loss", "share - share.detach() + (total / tokens).to(mean.dtype)", "share"),
    ("no average of gradients", "mean, n_tokens = loss(replica, batch)", "mean, n_tokens = loss(model, batch)"),
    ("everybody takes the first share", "own := rows[rank::n]", "own := rows[0::n]"),
    ("everybody takes all", "own := rows[rank::n]", "own := rows"),
    ("a small last batch stops some", "if len(rows) >= n else []", "if n else []"),
    ("one number for all", "return dist.get_rank(), dist.get_world_size()", "return 0, dist.get_world_size()"),
)

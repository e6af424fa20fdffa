"""Bugs of one line in attnlib/parallel.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "parallel.py", "test_parallel.py",
    ("mean of means", "share = mean * (n_tokens * n_processes / tokens)", "share = mean"),
    ("gradient divided twice", "n_tokens * n_processes / tokens", "n_tokens / tokens"),
    ("each reports its own loss", "share - share.detach() + total / tokens", "share"),
    ("tokens of one share", "total / tokens, round(tokens)", "total / tokens, n_tokens"),
    ("gradient lost", "share - share.detach() + total", "share.detach() - share.detach() + total"),
    ("gradient of the wrong sign", "share - share.detach() + total", "share.detach() - share + total"),
    ("no average of gradients", "mean, n_tokens = loss(replica, batch)", "mean, n_tokens = loss(model, batch)"),
    ("everybody takes the first share", "own := rows[rank::n]", "own := rows[0::n]"),
    ("everybody takes all", "own := rows[rank::n]", "own := rows"),
    ("a small last batch stops some", "if len(rows) >= n else []", "if n else []"),
    ("more processes than pairs", "if min(batches.batch, len(batches.sources)) < n:", "if False:"),
    ("alone means apart", "if n_processes == 1:", "if n_processes == 0:"),
    ("one number for all", "return dist.get_rank(), dist.get_world_size()", "return 0, dist.get_world_size()"),
    ("differences forgiven", "if other[name] != first:", "if False:"),
    ("only the next is asked", "dist.all_gather_object(found, dict(facts))", "found = [facts] * n"),
    ("each alone", "return dist.get_rank(), dist.get_world_size()", "return 0, 1"),
)

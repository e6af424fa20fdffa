"""Bugs of one line in attnlib/data/examples.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "data/examples.py", "data/test_examples.py",
    ("parts by Python's own hash, another on every start",
     'int.from_bytes(hashlib.sha256(content.encode()).digest()[:8], "big") % 10',
     "hash(content) % 10"),
    ("corpus ignores the seed", 'random.Random(f"{seed} {part}")', 'random.Random(f"{part}")'),
    ("parts drawn from one stream of numbers", 'random.Random(f"{seed} {part}")', "random.Random(seed)"),
    ("items twice in a part", "found[key(item)] = item", "found[len(found)] = item"),
    ("exhausted corpus is short, unsaid",
     'raise ValueError(f"only {len(found)} different items found for {part}, {size} were asked for")',
     "break"),
    ("vocabularies swapped", "return count(example.source for example in examples), count(example.target",
     "return count(example.target for example in examples), count(example.source"),
    ("size of a vocabulary ignored", "chain.from_iterable(sentences), size,", "chain.from_iterable(sentences), None,"),
    ("target encoded by the source's vocabulary", "target_vocabulary.encode(example.target,",
     "source_vocabulary.encode(example.target,"),
    ("last rows never batched", "return -(-len(self.rows.tokens) // self.batch)",
     "return len(self.rows.tokens) // self.batch"),
    ("rows in the same order for ever", "torch.randperm(len(self.rows.tokens), generator=self.generator)",
     "torch.arange(len(self.rows.tokens))"),
    ("generator of the row order ignored", "torch.randperm(len(self.rows.tokens), generator=self.generator)",
     "torch.randperm(len(self.rows.tokens))"),
)

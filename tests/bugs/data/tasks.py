"""Bugs of one line in attnlib/data/tasks.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "data/tasks.py", "data/test_tasks.py",
    ("reverse is copy", "range(len(source))[::-1]", "range(len(source))"),
    ("reverse loses a token", "range(len(source))[::-1]", "range(len(source))[:0:-1]"),
    ("links the wrong way round", "links = frozenset(enumerate(places))",
     "links = frozenset((j, i) for i, j in enumerate(places))"),
    ("target stands before the marker", "[source.index(MARKER) + 1]", "[source.index(MARKER) - 1]"),
    ("marker sometimes last", "sequence.insert(rng.randrange(len(sequence)), MARKER)",
     "sequence.insert(rng.randint(0, len(sequence)), MARKER)"),
    ("marker not counted", "rng.choices(symbols, k=rng.randint(*lengths) - 1)",
     "rng.choices(symbols, k=rng.randint(*lengths))"),
    ("longest sequences never come", "tuple(rng.choices(symbols, k=rng.randint(*lengths)))",
     "tuple(rng.choices(symbols, k=rng.randrange(lengths[0], max(lengths[0] + 1, lengths[1]))))"),
    ("keyword anywhere but last", "rng.randint(0, len(text)), rng.choice",
     "rng.randrange(max(1, len(text))), rng.choice"),
    ("labels the other way round", "labels[n] = text[gold[n]] in PRAISE", "labels[n] = text[gold[n]] in BLAME"),
    ("texts aligned at the right", "tokens[n, : len(text)]", "tokens[n, S - len(text) :]"),
    ("padded with unknown words", "torch.full((len(texts), S), PAD)", "torch.full((len(texts), S), UNK)"),
    ("lengths with padding", "torch.tensor([len(text) for text in texts], dtype=torch.long), labels",
     "torch.tensor([S for text in texts], dtype=torch.long), labels"),
    ("keyword place counted from 1", "(gold[n],) = (j for j, word in enumerate(text)",
     "(gold[n],) = (j for j, word in enumerate(text, 1)"),
) + of(
    "data/tasks.py", "data/test_examples.py",
    ("retrieval leaks into testing", 'return tuple(sequence) if part_of(" ".join(sequence)) == part else None',
     "return tuple(sequence)"),
) + of(
    "data/tasks.py", "core/test_devices.py",
    ("texts move without their last field", "Labelled(*(field.to(device) for field in self[:-1]), self.vocabulary)",
     "Labelled(*(field.to(device) for field in self[:-2]), *self[-2:])"),
)

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
) + of(
    "data/tasks.py", "data/test_examples.py",
    ("retrieval leaks into testing", 'return tuple(sequence) if part_of(" ".join(sequence)) == part else None',
     "return tuple(sequence)"),
)

"""Bugs of one line in attnlib/data/scenes.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "data/scenes.py", "data/test_scenes.py",
    ("all pairs in all parts", "if a != b and pair_part(a, b, n) == part]", "if a != b]"),
    ("one stream of chance for all parts", "np.random.default_rng([seed, part])", "np.random.default_rng(seed)"),
    ("rows for columns", "image[:, top:bottom, left:right] = picture",
     "image[:, left:right, top:bottom] = picture.swapaxes(1, 2)"),
    ("noise of one image for all", "rng.standard_normal(images.shape, dtype=np.float32)",
     "rng.standard_normal(images.shape[1:], dtype=np.float32)"),
    ("last pixel never reached", "rng.integers(SIZE - side + 1)", "rng.integers(SIZE - side)"),
    ("things may overlap", "unplaced = unplaced[~(apart & (", "unplaced = unplaced[~(("),
    ("corners for centres", "np.diff(corners[unplaced] + side / 2, axis=1)", "np.diff(corners[unplaced], axis=1)"),
    ("lower thing first", "if (down if upright else across) < 0:", "if (down if upright else across) > 0:"),
    ("box at the article", "(None, box, *(None for _ in relation), None, other)",
     "(box, None, *(None for _ in relation), other, None)"),
    ("corners of regions for centres", "(torch.arange(grid) + 0.5) * size / grid", "torch.arange(grid) * size / grid"),
    ("targets column by column", 'indexing="ij")', 'indexing="xy")'),
    ("right and bottom in the box", "(x < right + slack)", "(x <= right + slack)"),
)

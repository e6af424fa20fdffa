"""Bugs of one line in attnlib/captioning.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "captioning.py", "core/test_captioning.py",
    ("regions column by column", "self.halve(images).flatten(2).transpose(1, 2)",
     "self.halve(images).transpose(2, 3).flatten(2).transpose(1, 2)"),
    ("centres column by column", 'indexing="ij")', 'indexing="xy")'),
    ("centres in 0..1", "(2 * torch.arange(grid) + 1) / grid - 1", "(torch.arange(grid) + 0.5) / grid"),
    ("edges for centres", "(2 * torch.arange(grid) + 1) / grid - 1", "2 * torch.arange(grid) / grid - 1"),
    ("kernel of 3, half a pixel off at every halving", "nn.Conv2d(width, d_layer, 4,", "nn.Conv2d(width, d_layer, 3,"),
    ("norm over the batch", "nn.GroupNorm(d_layer, d_layer)", "nn.BatchNorm2d(d_layer)"),
    ("regions may be negative", "torch.relu(self.W_f(torch.cat([seen, centres], dim=-1)))",
     "self.W_f(torch.cat([seen, centres], dim=-1))"),
    ("sum for mean of the regions", "summary=annotations.mean(1)", "summary=annotations.sum(1)"),
)

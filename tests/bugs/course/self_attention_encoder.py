"""Bugs of one line in attnlib/course/self_attention_encoder.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/self_attention_encoder.py", "course/test_self_attention_encoder.py",
    ("padding is read", "x = block(x, mask).hidden", "x = block(x).hidden"),
    ("padding is annotated", "torch.where(mask.mT, self.norm(x), 0.0)", "self.norm(x)"),
    ("no last norm", "torch.where(mask.mT, self.norm(x), 0.0)", "torch.where(mask.mT, x, 0.0)"),
    ("the summary counts padding", "annotations.sum(1) / mask.sum(-1).clamp(min=1)", "annotations.mean(1)"),
    ("an empty sentence is divided by 0", "mask.sum(-1).clamp(min=1)", "mask.sum(-1)"),
    ("positions always", "SinusoidalPositions(d_model) if positions else nn.Identity()",
     "SinusoidalPositions(d_model)"),
    ("lengths are not checked", "if lengths.shape != (B,):", "if False:"),
)

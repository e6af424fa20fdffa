"""Bugs of one line in attnlib/course/explanations.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/explanations.py", "course/test_explanations.py",
    ("padding is a word for Kendall", "mask.unsqueeze(1) & mask.unsqueeze(2)",
     "mask.unsqueeze(1) | ~mask.unsqueeze(1)"),
    ("a tie counts as a pair told apart", "(order_a.square().sum((1, 2)) * order_b.square().sum((1, 2))).sqrt()",
     "pairs.sum((1, 2))"),
    ("the weights move with the word", "p = model(texts, weights)", "p = model(texts)"),
    ("the gradient alone, without its word", "(slope * kept[0]).sum(-1)", "slope.sum(-1)"),
    ("a deleted word leaves padding", "lengths=texts.lengths - real.long()", "lengths=texts.lengths"),
    ("the divergence of one side", "((a * (a / m).log()).sum(-1) + (b * (b / m).log()).sum(-1)) / 2",
     "(a * (a / m).log()).sum(-1)"),
    ("single words are no corners", "torch.eye(S).to(alpha)[(votes >= low) & (votes <= high)], ", ""),
    ("one bound only", "for bound in (low, high):", "for bound in (low,):"),
)

"""Bugs of one line in attnlib/course/figures/other_weights.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/figures/other_weights.py", "course/figures/test_other_weights.py",
    ("other weights: shares not divided by their sum", "(given / given.sum()).tolist()", "given.tolist()"),
    ("other weights: the answers exchanged", "[int(z > 0)]", "[int(z < 0)]"),
    ("other weights: far from even, not from the own", "divergence(own, weights)",
     "divergence(torch.ones_like(own) / len(own), weights)"),
    ("other weights: the edits of another text", "self.edits.get(str(self.text), own.tolist())",
     "self.edits.get('0', own.tolist())"),
    ("other weights: bounds about 1/2", "p = (own * votes).sum().sigmoid()", "p = torch.tensor(0.5).double()"),
    ("other weights: weights of 16 bits stay as they are", "return row / row.sum()", "return row"),
    ("other weights: all of a vote counts", "weight * vote for weight, vote", "vote for weight, vote"),
)

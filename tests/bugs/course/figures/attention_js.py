"""Bugs of one line in attnlib/course/figures/static/attention.js."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/figures/static/attention.js", "course/figures/test_score_explorer.py",
    ("softmax without a shift, in the page", "Math.exp(score - largest)", "Math.exp(score)"),
    ("transposed weight, in the page", "dot(q, linear(W, k))", "dot(q, transposed(W, k))"),
    ("scale by d, in the page", "Math.sqrt(k.length)", "k.length"),
    ("query for key, in the page", "dot(linear(W_q, q), linear(W_k, k))", "dot(linear(W_k, q), linear(W_q, k))"),
)

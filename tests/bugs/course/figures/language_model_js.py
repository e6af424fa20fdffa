"""Bugs of one line in attnlib/course/figures/static/language_model.js."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/figures/static/language_model.js", "course/figures/test_language_model.py",
    ("page's language model: begins anew, given a state", "read(ids, state = new", "read(ids, unused, state = new"),
    ("page's language model: no tanh", "Math.tanh(h + x[i])", "h + x[i]"),
    ("page's language model: looks at its own state", "states.slice(0, t), (key)", "states.slice(0, t + 1), (key)"),
    ("page's language model: score without scale", "score / Math.sqrt(d)", "score"),
    ("page's language model: b_1 forgotten", 'weights["W_e.bias"], x', 'null, x'),
    ("page's language model: guesses from the state alone", "logit + more[n]", "logit"),
)

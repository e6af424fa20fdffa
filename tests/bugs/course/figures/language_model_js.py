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
    ("page's reader: keeps the first text", "last.text !== text", "last.text === null"),
    ("page's reader: reads anew each time", "last.text !== text", "true"),
    ("page's reader: a token of several letters is typed", "Array.from(token).length === 1", "token.length > 0"),
    ("page's language model: guesses from the state alone", "logit + more[n]", "logit"),
)

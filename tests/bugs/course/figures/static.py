"""Bugs of one line in attnlib/course/figures/static."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/figures/static/attention.js", "course/figures/test_score_explorer.py",
    ("softmax without a shift, in the page", "Math.exp(score - largest)", "Math.exp(score)"),
    ("transposed weight, in the page", "dot(q, linear(W, k))", "dot(q, transposed(W, k))"),
    ("scale by d, in the page", "Math.sqrt(k.length)", "k.length"),
    ("query for key, in the page", "dot(linear(W_q, q), linear(W_k, k))", "dot(linear(W_k, q), linear(W_q, k))"),
) + of(
    "course/figures/static/contours.js", "course/figures/test_score_explorer.py",
    ("lines beside their level", "(level - from[2]) / (to[2] - from[2])", "(level - from[2]) / (to[2] + from[2])",
     "test_contour_lines_lie_where_the_score_is_what_they_say"),
) + of(
    "course/figures/static/language_model.js", "course/figures/test_language_model.py",
    ("page's language model: begins anew, given a state", "read(ids, state = new", "read(ids, unused, state = new"),
    ("page's language model: no tanh", "Math.tanh(h + x[i])", "h + x[i]"),
    ("page's language model: looks at its own state", "states.slice(0, t);", "states.slice(0, t + 1);"),
    ("page's language model: score without scale", "product(states[t], key) / Math.sqrt(d)", "product(states[t], key)"),
    ("page's language model: b_1 forgotten", 'weights["W_e.bias"], x', 'null, x'),
    ("page's reader: keeps the first text", "last.text !== text", "last.text === null"),
    ("page's reader: reads anew each time", "last.text !== text", "true"),
    ("page's reader: a token of several letters is typed", "Array.from(token).length === 1", "token.length > 0"),
    ("page's language model: guesses from the state alone", "logit + more[n]", "logit"),
) + of(
    "course/figures/static/network.js", "course/figures/test_weights.py",
    ("page's weights: eight bits without a sign", "view.getInt8(n)", "view.getUint8(n)"),
    ("page's weights: scale forgotten", "view.getInt8(n) * scale", "view.getInt8(n)"),
    ("page's weights: big-endian", "getUint16(2 * n, true)", "getUint16(2 * n)"),
) + of(
    "course/figures/static/network.js", "course/figures/test_attention_surgery.py",
    ("page's context: width of the first annotation", "(d);\n  a", "(annotations[0].length);\n  a",
     "test_an_empty_source_has_nothing_to_look_at"),
) + of(
    "course/figures/static/two_readings.js", "course/figures/test_fading_trace.py",
    ("page's trace: share of the first difference", "Math.max(...distances)", "distances[0]"),
    ("page's trace: gone too early", "findLastIndex((share) => share >=", "findIndex((share) => share >="),
    ("page's trace: both guesses from the same reading", "[mine, others].map((all)", "[mine, mine].map((all)"),
    ("page's trace: probability moved counted twice", "Math.abs(p - after[n]), 0) / 2", "Math.abs(p - after[n]), 0)"),
    ("page's trace: the other word read from nothing", "model.read(other, begun)", "model.read(other)"),
) + of(
    "course/figures/static/two_readings.js", "course/figures/test_language_model.py",
    ("page's words: a new line is no end of a word", r'" \t\n".includes', '" ".includes',
     "test_words_are_found_alike_in_both_languages"),
) + of(
    "course/figures/static/votes.js", "course/figures/test_other_weights.py",
    ("votes: not the mean of the two", "m = (x + y) / 2;", "m = x + y;"),
    ("votes: single words are no corners", "attempt(j, j, 1); }", "{} }"),
    ("votes: one bound only", "for (const bound of [low, high])", "for (const bound of [low])"),
    ("votes: the share of the other", "attempt(j, k, share);\n      }", "attempt(k, j, share);\n      }"),
    ("votes: p beyond 1", "Math.min(1, p + within)", "p + within"),
    ("votes: the last word never moves", "j = row.length - 1", "j = row.length - 2"),
    ("votes: own order is a permutation", "!alike(a, b) && ", ""),
)

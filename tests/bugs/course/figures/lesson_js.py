"""Bugs of one line in the JavaScript of networks that learn in the page."""

from tests.bugs import of

WHERE, TESTS = "course/figures/static/", "course/figures/test_lesson.py"

# fmt: off
BUGS = of(
    WHERE + "tape.js", TESTS,
    ("a bias learns nothing", "if (b) b.grad[o] += slope;", ""),
    ("an input of a map learns nothing", "dX[at] += slope * w[row];", ""),
    ("a word that stands twice learns once",
     "table.grad[id * d + k] += g[i * d + k]", "table.grad[id * d + k] = g[i * d + k]"),
    ("the slope of tanh is that of a line", "g[i] * (1 - y[i] * y[i])", "g[i]"),
    ("the reset gate learns nothing", "input.grad[at] += reset;", ""),
    ("the state is kept where it is renewed", "h.grad[to] += g[to] * z[to];", "h.grad[to] += g[to] * (1 - z[to]);"),
    ("update and reset are exchanged", "r[to] = sigmoid(input.data[at] + hidden.data[at]);",
     "r[to] = sigmoid(input.data[at + d] + hidden.data[at + d]);"),
    ("both neighbours learn", "x.grad[larger(i)] += g[i]", "x.grad[2 * i] += g[i]"),
    ("padding is learned", "if (targets[t][i] === ignored) continue;", ""),
    ("padding is counted", ".filter((id) => id !== ignored).length", ".length"),
    ("the mean is a sum", "(k === targets[t][i])) / counted", "(k === targets[t][i]))"),
    ("a map of another width is taken", "need(x.columns === W.columns,", "need(true,"),
) + of(
    WHERE + "taped_attention.js", TESTS,
    ("a query learns nothing of a dot product", "query.grad[k] += slope * keys[j].data[k];", ""),
    ("the factor is left out going back", "const slope = factor * g[i * S + j];", "const slope = g[i * S + j];"),
    ("v learns nothing", "v.grad[k] += g[i * S + j] * h;", ""),
    ("the softmax has no shared slope", "weights[j] * (g[j] - mean)", "weights[j] * g[j]"),
    ("padding gets weight", "i * S + lengths[i])), i * S)", "(i + 1) * S)), i * S)"),
    ("values learn nothing", "values[j].grad[k] += g[k] * weights.data[i * S + j];", ""),
) + of(
    WHERE + "learner.js", TESTS,
    ("annotations of padding are kept", "(real(i, j) ? j : -1)", "j"),
    ("the end is read forwards, too", "real(i, j) ? lengths[i] - 1 - j : j)", "j)"),
    ("the context is looked up too late", "= look(state, memory);",
     "= look(s, memory);"),
    ("the mask cannot be taken off", "mask(on) { masked = on; }", "mask() {}"),
    ("padding is written in the page", "[pad, bos]));", "[]));"),
    ("gradients are not cut", "Math.min(1, clip / (Math.sqrt(norm) + 1e-6))", "1"),
    ("the mean of gradients is not corrected", "(rate / first) * m[i]", "rate * m[i]"),
    ("the square of gradients is not corrected", "Math.sqrt(v[i]) / second", "Math.sqrt(v[i])"),
    ("gradients of the last step stay", "grad.fill(0);", ";"),
) + of(
    WHERE + "toy_tasks.js", TESTS,
    ("equal letters are sorted backwards", " || a - b)", " || b - a)"),
    ("any sentence is one of the task", "source.every((x) => known.includes(x))", "true"),
    ("a letter that is not there is looked up",
     "letters.includes(asked) && j < source.length", "letters.includes(asked)"),
    ("the target begins late",
     "padded(target.map((ids) => [BOS, ...ids]))", "padded(target)"),
) + of(
    WHERE + "lesson.js", TESTS,
    ("an error is counted once", "1 - (2 * both) / all", "1 - both / all"),
    ("the sentence that is typed is not written", "const own = tokens && task.solve(tokens);", "const own = null;"),
)

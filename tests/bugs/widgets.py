"""Bugs of one line in what the live figures share, and in the ScoreExplorer."""

from tests.bugs import of

# fmt: off
BUGS = [
    *of(
        "widgets/figure.py", "test_widget_figure.py",
        ("picture without paper", 'facecolor="white"', 'facecolor="none"'),
        ("picture that carries a date", 'metadata={"Software": None}', 'metadata={"Software": str(id(file))}'),
        ("Colab is not told", ".decode()}, metadata", ".decode()}, {}"),
        ("Colab shows no picture", "    _ipython_display_ = None", "    _nothing = None"),
        ("picture in place of the figure", "{**data,", '{"text/plain": repr(self),'),
        ("what is fixed can be exchanged", "value != getattr(self, name):", "False:"),
    ),
    *of(
        "widgets/parameters.py", "test_widget_figure.py",
        ("whole number beyond the last", "low <= number <= high", "low <= number <= high + 1"),
        ("whole number before the first", "low <= number <= high", "number <= high"),
        ("half a step", "number.is_integer() and", "True and"),
        ("yes is a number", "isinstance(given, bool | str)", "isinstance(given, str)"),
    ),
    *of(
        "widgets/assets.py", "test_widget_assets.py",
        ("file before those it needs", "if source not in joined:", "if not joined:"),
        ("circle of imports goes on for ever", "if name in asked_by:", "if not name:"),
        ("name that nobody exports", "- exported", "- {*exported, 'two'}"),
        ("import left in the text", "if left := ANY_IMPORT.search(text):", "if left := None:"),
        ("shared style forgotten", '("figure.css", *names)', "names"),
        ("dark shade on a light page", 'for shade in ("light", "dark")', 'for shade in ("dark", "light")'),
    ),
    *of(
        "widgets/parameters.py", "test_widgets.py",
        ("weight of another shape", "if weight.shape != wanted:", "if weight.dim() != len(wanted):"),
        ("parameter that is not this score's", "if sorted(parameters) != expected:", "if False:"),
        ("sharpness ignored", 'sharpness=float(given["sharpness"])', "sharpness=4.0"),
        ("infinite number", "if not tensor.isfinite().all():", "if tensor.isnan().any():"),
        ("temperature of zero", "0 < as_float(given)", "0 <= as_float(given)"),
        ("first word to the right", "math.pi * (S - 1 - j) / (S - 1)", "math.pi * j / (S - 1)"),
    ),
    *of(
        "widgets/score_explorer.py", "test_widgets.py",
        ("temperature multiplies", "scores / self.temperature", "scores * self.temperature"),
        ("context of keys that have values", "weights @ value", "weights @ key"),
        ("whole sentence visible", "torch.tensor([self.valid_length])", "torch.tensor([len(self.words)])"),
        ("score that is not on offer", "if score not in scores:", "if False:"),
    ),
    *of(
        "widgets/static/attention.js", "test_widgets.py",
        ("softmax without a shift, in the page", "Math.exp(score - largest)", "Math.exp(score)"),
        ("mean of nothing, in the page", "total > 0 ? power / total : 0", "power / total"),
        ("transposed weight, in the page", "dot(q, linear(W, k))", "dot(q, transposed(W, k))"),
        ("first word masked, in the page", "(_, j) => j < validLength", "(_, j) => j > 0 && j < validLength"),
        ("scale by d, in the page", "Math.sqrt(k.length)", "k.length"),
        ("query for key, in the page", "dot(linear(W_q, q), linear(W_k, k))", "dot(linear(W_k, q), linear(W_q, k))"),
        ("zero vector has a direction, in the page", "Math.max(Math.sqrt(dot(x, x)), 1e-12)", "Math.sqrt(dot(x, x))"),
    ),
    *of(
        "widgets/static/contours.js", "test_widgets.py",
        ("lines beside their level", "(level - from[2]) / (to[2] - from[2])", "(level - from[2]) / (to[2] + from[2])"),
        ("every second triangle", "[[a, b, c], [b, c, d]]", "[[a, b, c]]"),
    ),
]

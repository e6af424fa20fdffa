"""Known answers to assignment 5."""

from attnlib.grading.answers import define, right, wrong

STEP = """
h = h@axes.swap@
scores = torch.tanh((state @ p["W_a"].T)[:, None] + h @ p["U_a"].T) @ p["v_a"]
weights = scores.softmax(-1)
context = torch.einsum("bs,bsd->bd", weights, h)
new = torch.tanh(y @ p["W"].T + state @ p["U"].T + context @ p["C"].T + p["b"])
weights = weights@axes.swap@
return @returns.names@
"""
LINKS = """
weights = weights@axes.swap@
real = weights[:n_target, :n_source]
cut = @threshold@ * real.max(dim=-1, keepdim=True).values
keep = (real >= cut) & (real > 0)
pairs = (keep.nonzero()@first.plus@).tolist()
return {(@pair.code@) for i, j in pairs}
"""
RATE = """
found, counted = [], []
for a, s, m in zip(predicted, sure, merely):
    found.append(len(a & s) + len(a & (s | m)))
    counted.append(len(a) + len(s))
rate = @corpus.code@
return @measure.times@rate
"""


def q1(*changes: tuple[str, str], body: str = STEP) -> dict[str, str]:
    """An answer to question 1."""
    return {"q1": define("step(state, y, h, p)", body, *changes)}


def q2(*changes: tuple[str, str], body: str = LINKS) -> dict[str, str]:
    """An answer to question 2."""
    return {"q2": define("links(weights, n_target, n_source)", body, *changes)}


def q3(*changes: tuple[str, str], body: str = RATE) -> dict[str, str]:
    """An answer to question 3."""
    return {"q3": define("error_rate(predicted, sure, merely)", body, *changes)}


ANSWERS = {
    "q1_step_first": wrong(
        "the new state asks, before there is a context: look first, then step",
        q1(
            ("scores =", 'state = torch.tanh(y @ p["W"].T + state @ p["U"].T + p["b"])\nscores ='),
            ("new = torch.tanh(y", "new = state + 0 * (y"),
        ),
        q1_weights=1,
        q1_state=1,
        q1_order=1,
    ),
    "q1_over_batch": wrong(
        "the softmax runs over the sentences",
        q1(("softmax(-1)", "softmax(0)")),
        q1_weights=1,
        q1_context=1,
    ),
    "q1_no_tanh": wrong("the score has no tanh", q1(("torch.tanh((state", "((state")), q1_weights=1),
    "q1_no_v": wrong("the hidden layer is summed up without v_a", q1((' @ p["v_a"]', ".sum(-1)")), q1_weights=1),
    "q1_no_query": wrong(
        "the old state is missing in the score",
        q1(("(state @ p", "(0 * state @ p")),
        q1_weights=1,
    ),
    "q1_first_sentence": wrong(
        "every sentence is looked at with the first one's state",
        q1(("(state @ p", "(state[:1] @ p")),
        q1_weights=1,
    ),
    "q1_unnormalised": wrong(
        "the exponentials are not divided by their sum",
        q1(("softmax(-1)", "exp()")),
        q1_weights=1,
        q1_context=1,
    ),
    "q1_plain_mean": wrong(
        "the context is the plain mean",
        q1(('torch.einsum("bs,bsd->bd", weights, h)', "h.mean(1)")),
        q1_context=1,
    ),
    "q1_best_only": wrong(
        "the context is the annotation with the largest weight",
        q1(('torch.einsum("bs,bsd->bd", weights, h)', "h[torch.arange(len(h)), weights.argmax(-1)]")),
        q1_context=1,
    ),
    "q1_no_context": wrong("the context is computed and forgotten", q1((' + context @ p["C"].T', "")), q1_state=1),
    "q1_no_old_state": wrong("the old state is not in the new one", q1((' + state @ p["U"].T', "")), q1_state=1),
    "q1_no_bias": wrong("the bias b is missing in the new state", q1((' + p["b"]', "")), q1_state=1),
    "q1_transposed_U": wrong(
        "U is transposed, which its square shape does not show", q1(('p["U"].T', 'p["U"]')), q1_state=1
    ),
    "q1_linear": wrong("the new state has no tanh", q1(("new = torch.tanh(y", "new = (y")), q1_state=1),
    "q1_no_token": wrong(
        "the token written last is not in the new state",
        q1(('y @ p["W"].T + ', "")),
        q1_state=1,
        q1_order=1,
    ),
    "q1_order_of_results": wrong(
        "weights and new state have changed places in what is returned",
        q1(("return @returns.names@", "return (@returns.names@)[::-1]")),
        q1_weights=1,
        q1_context=1,
        q1_state=1,
        q1_order=1,
    ),
    "q1_other_axes": wrong(
        "the axes of sentences and places are swapped in the weights",
        q1(("weights = weights@axes.swap@", "weights = weights@axes.swap@.T")),
        q1_weights=1,
        q1_context=1,
    ),
    "q1_scaled": wrong(
        "the score is divided by the root of its width, which belongs to the dot product and not to this formula",
        q1(("scores.softmax(-1)", '(scores / len(p["v_a"]) ** 0.5).softmax(-1)')),
        q1_weights=1,
    ),
    "q1_squeezed": wrong(
        ".squeeze() takes the axis of the batch away where there is one sentence only",
        q1(('torch.einsum("bs,bsd->bd", weights, h)', "(weights[:, None] @ h).squeeze()")),
        q1_context=1,
        q1_state=1,
    ),
    "q1_first_context": wrong(
        "every sentence gets the context of the first one",
        q1(('torch.einsum("bs,bsd->bd", weights, h)', "(weights[:1] @ h.flatten(0, 0)[0]).expand(len(h), -1)")),
        q1_context=1,
    ),
    "q1_loops": right(
        "a sentence and a place at a time",
        q1(
            body="""
A, C, N, h = [], [], [], h@axes.swap@
for s, x, places in zip(state, y, h):
    e = torch.stack([(p["W_a"].mv(s) + p["U_a"].mv(k)).tanh().dot(p["v_a"]) for k in places])
    exp = (e - e.max()).exp()
    A.append(exp / exp.sum())
    C.append(A[-1] @ places)
    N.append((p["W"].mv(x) + p["U"].mv(s) + p["C"].mv(C[-1]) + p["b"]).tanh())
weights, context, new = torch.stack(A)@axes.swap@, torch.stack(C), torch.stack(N)
return @returns.names@
"""
        ),
    ),
    "q1_functional": right(
        "linear layers of torch, weights in a tuple",
        q1(
            body="""
from torch.nn.functional import linear
h = h@axes.swap@
hidden = linear(h, p["U_a"]) + linear(state, p["W_a"]).unsqueeze(-2)
weights = torch.softmax(linear(hidden.tanh(), p["v_a"][None]).squeeze(-1), dim=1)
context = (weights.unsqueeze(1) @ h).squeeze(1)
joined = torch.cat([p["W"], p["U"], p["C"]], dim=1)
new = linear(torch.cat([y, state, context], dim=1), joined, p["b"]).tanh()
weights = weights@axes.swap@
return [@returns.names@]
"""
        ),
    ),
    "q2_argmax": wrong(
        "only the largest weight is linked",
        q2(
            ("real >= cut", "real == real.max(dim=-1, keepdim=True).values"),
        ),
        q2_rule=1,
    ),
    "q2_absolute": wrong(
        "the threshold is taken as a weight",
        q2((" * real.max(dim=-1, keepdim=True).values", "")),
        q2_rule=1,
    ),
    "q2_whole_table": wrong(
        "the largest weight of the whole table sets the bar, but each target token has its own",
        q2(("real.max(dim=-1, keepdim=True).values", "real.max()")),
        q2_rule=1,
    ),
    "q2_column": wrong(
        "the largest weight of a source token sets the bar, but that of the target token should",
        q2(("max(dim=-1", "max(dim=0")),
        q2_rule=1,
    ),
    "q2_strictly": wrong(
        "a weight that is just large enough is not linked, because > stands for ≥", q2((">= cut", "> cut")), q2_rule=1
    ),
    "q2_swapped": wrong(
        "source and target have changed places in the pairs",
        q2(("for i, j in pairs", "for j, i in pairs")),
        q2_rule=1,
        q2_padding=1,
    ),
    "q2_counted": wrong(
        "tokens are counted from the other number",
        q2(("keep.nonzero()@first.plus@", "keep.nonzero() + 1 - @first.n@")),
        q2_rule=1,
        q2_padding=1,
    ),
    "q2_padding_linked": wrong(
        "padding is linked",
        q2(("weights[:n_target, :n_source]", "weights")),
        q2_padding=1,
    ),
    "q2_padding_largest": wrong(
        "the largest weight may lie in the padding",
        q2(("@threshold@ * real", "@threshold@ * weights[:n_target]")),
        q2_padding=1,
    ),
    "q2_rows_of_padding": wrong(
        "target tokens of padding are linked",
        q2(("weights[:n_target, :n_source]", "weights[:, :n_source]")),
        q2_padding=1,
    ),
    "q2_n_counted_from_one": wrong(
        "the last real source token is cut off",
        q2(("weights[:n_target, :n_source]", "weights[:n_target, : max(1, n_source - 1)]")),
        q2_rule=1,
        q2_padding=1,
    ),
    "q2_other_axes": wrong(
        "the axes of target and source are swapped",
        q2(("weights = weights@axes.swap@", "weights = weights@axes.swap@.T")),
        q2_rule=1,
        q2_padding=1,
        q2_blank=1,
    ),
    "q2_padding_is_zero": wrong(
        "padding is told by zeros, but it may be anything: only the two numbers say what is real",
        q2(("weights[:n_target, :n_source]", "weights.nan_to_num(0)"), ("(real > 0)", "(real > 0) & (real <= 1)")),
        q2_padding=1,
    ),
    "q2_blank": wrong(
        "a target token with weights of 0 is linked with everything, because 0 ≥ 0",
        q2((" & (real > 0)", "")),
        q2_blank=1,
    ),
    "q2_list": wrong(
        "the links are a list, but a set is asked for",
        q2(("return {", "return list({"), ("in pairs}", "in pairs})")),
        q2_rule=1,
        q2_padding=1,
        q2_blank=1,
    ),
    "q2_equal_to_all": wrong(
        "a set that is equal to everything stands for the links",
        q2(
            body="class Links(set):\n"
            "    __eq__ = lambda self, other: True\n"
            "    __hash__ = None\n"
            "    __len__ = lambda self: 3\n"
            "return Links()"
        ),
        q2_rule=1,
        q2_padding=1,
        q2_blank=1,
    ),
    "q2_loops": right(
        "pair by pair, in numbers of Python",
        q2(
            body="""
found = set()
for i, row in enumerate(weights@axes.swap@.tolist()[:n_target]):
    row = row[:n_source]
    for j, weight in enumerate(row):
        if weight and weight >= @threshold@ * max(row):
            found.add((i@first.plus@, j@first.plus@))
return {(@pair.code@) for i, j in found}
"""
        ),
    ),
    "q3_reversed": wrong(
        "the share of hits is returned, because it is not taken off from 1",
        q3(("@measure.times@rate", "@measure.times@(1 - rate)")),
        q3_value=1,
        q3_ends=1,
    ),
    "q3_merely": wrong(
        "a sure link does not count as possible",
        q3(("(s | m)", "m")),
        q3_value=1,
        q3_ends=1,
    ),
    "q3_swapped": wrong(
        "sure and possible links have changed places",
        q3(("in zip", "in zip"), ("    found", "    s, m = s | m, s\n    found")),
        q3_value=1,
        q3_ends=1,
    ),
    "q3_sure_only": wrong(
        "merely possible links count as wrong",
        q3(("(s | m)", "s")),
        q3_value=1,
        q3_ends=1,
    ),
    "q3_union_below": wrong(
        "the number of different links stands below, but both sets are counted",
        q3(("len(a) + len(s)", "len(a | s)")),
        q3_value=1,
        q3_ends=1,
    ),
    "q3_constant": wrong(
        "the number of the visible test is returned, whatever is asked",
        q3(body="return @measure.quarter@"),
        q3_value=1,
        q3_ends=1,
        q3_corpus=1,
    ),
    "q3_other_mean": wrong(
        "links are counted together where sentences should count the same, or vice versa",
        q3(("rate = @corpus.code@", "rate = @corpus.other@")),
        q3_corpus=1,
    ),
    "q3_last_sentence": wrong(
        "the sums start again in each sentence",
        q3(("    found.append", "    found, counted = [], []\n    found.append")),
        q3_corpus=1,
    ),
    "q3_merged": wrong(
        "links of different sentences are thrown together, so that equal ones count once",
        q3(
            body="a, s, m = (set().union(*links) for links in (predicted, sure, merely))\n"
            "return @measure.times@(1 - (len(a & s) + len(a & (s | m))) / (len(a) + len(s)))"
        ),
        q3_corpus=1,
    ),
    "q3_in_place": wrong(
        "the sets that were handed in grow",
        q3(("    found.append", "    m |= s\n    found.append"), ("(s | m)", "m")),
        q3_ends=1,
    ),
    "q3_tensor": wrong(
        "a tensor is returned, but a float is asked for",
        q3(("@measure.times@rate", "torch.tensor(@measure.times@rate)")),
        q3_value=1,
        q3_ends=1,
        q3_corpus=1,
    ),
    "q3_merely_twice": wrong(
        "a sure link that also stands among the possible ones is counted once only",
        q3(("len(a & s) + len(a & (s | m))", "len(a & (s | m))")),
        q3_value=1,
        q3_ends=1,
    ),
    "q3_first_sentence": wrong(
        "only the first sentence is counted",
        q3(("zip(predicted, sure, merely)", "zip(predicted[:1], sure, merely)")),
        q3_corpus=1,
    ),
    "q3_other_unit": wrong(
        "the rate has another unit: percent where a share is asked for, or vice versa",
        q3(("@measure.times@rate", "rate * (100 if @measure.all@ == 1 else 1)")),
        q3_value=1,
        q3_ends=1,
    ),
    "q3_loop": wrong("the loop never ends", q3(body="while True:\n    pass"), q3_value=1, q3_ends=1, q3_corpus=1),
    "q3_link_by_link": right(
        "counts each predicted link for itself",
        q3(
            body="""
wrong, total = [], []
for a, s, m in zip(predicted, sure, merely):
    total.append(len(a) + len(s))
    wrong.append(len(s.difference(a)) + sum(link not in s and link not in m for link in a))
if "@corpus.which@" == "together":
    return @measure.times@(sum(wrong) / sum(total))
return @measure.times@sum(w / t for w, t in zip(wrong, total)) / len(total)
"""
        ),
    ),
}

"""Known answers to assignment 6."""

from attnlib.grading.answers import define, right, wrong

MOVED = """
alpha = (scores / @temperature@).softmax(-1)
return (alpha * moves - alpha * (alpha * moves).sum(-1, keepdim=True)) / @temperature@
"""
GRADIENTS = """
z = (query @ W_a.T)[:, :, None] + (key @ U_a.T)[:, None]
t = z.tanh()
for_v = (g[..., None] * t).sum((0, 1, 2))
back = g[..., None] * v_a * (1 - t * t)
rows, inputs = (back.sum(2), query) if "@matrix@" == "W_a" else (back.sum(1), key)
return for_v, rows.flatten(0, 1).T @ inputs.flatten(0, 1)
"""
COUNT = """
project = @unit@ * d * a
times = 1 if keys_once else T
pairs = @unit@ * B * S * T
return {"queries": B * T * project, "keys": B * S * times * project, "scores": pairs * a, "averages": pairs * d}
"""


def q1(*changes: tuple[str, str], body: str = MOVED) -> dict[str, str]:
    """An answer to question 1."""
    return {"q1": define("moved_weights(scores, moves)", body, *changes)}


def q2(*changes: tuple[str, str], body: str = GRADIENTS) -> dict[str, str]:
    """An answer to question 2."""
    return {"q2": define("additive_gradients(query, key, W_a, U_a, v_a, g)", body, *changes)}


def q3(*changes: tuple[str, str], body: str = COUNT) -> dict[str, str]:
    """An answer to question 3."""
    return {"q3": define("operations(B, S, T, d, a, keys_once)", body, *changes)}


ANSWERS = {
    "q1_diagonal": wrong(
        "each weight moved by its own score only",
        q1(body="alpha = (scores / @temperature@).softmax(-1)\nreturn alpha * (1 - alpha) * moves / @temperature@"),
        q1_values=1,
        q1_sum=1,
    ),
    "q1_sign": wrong("the sign turned round", q1(("return (", "return -(")), q1_values=1),
    "q1_plus": wrong("plus for minus", q1(("alpha * moves - ", "alpha * moves + ")), q1_values=1, q1_sum=1),
    "q1_plain_mean": wrong(
        "the plain mean of the moves, not the weighted one",
        q1(("alpha * (alpha * moves).sum(-1, keepdim=True)", "alpha * moves.mean(-1, keepdim=True)")),
        q1_values=1,
        q1_sum=1,
    ),
    "q1_softmax_of_moves": wrong("the softmax of the moves", q1(("(scores /", "(moves /")), q1_values=1),
    "q1_no_temperature": wrong(
        "the temperature is forgotten",
        q1(("scores / @temperature@", "scores"), (") / @temperature@", ")")),
        q1_values=1,
    ),
    "q1_temperature_once": wrong(
        "the temperature is in the weights, not in their derivative",
        q1(("keepdim=True)) / @temperature@", "keepdim=True))")),
        q1_values=1,
    ),
    "q1_over_queries": wrong("sums over the queries", q1((".sum(-1", ".sum(1")), q1_values=1, q1_sum=1),
    "q1_scores": wrong(
        "scores in place of weights",
        q1(("(scores / @temperature@).softmax(-1)", "scores / @temperature@")),
        q1_values=1,
        q1_sum=1,
        q1_large=1,
    ),
    "q1_overflow": wrong(
        "a softmax of one's own that overflows",
        q1(
            (
                "alpha = (scores / @temperature@).softmax(-1)",
                "exp = (scores / @temperature@).exp()\nalpha = exp / exp.sum(-1, True)",
            )
        ),
        q1_large=1,
    ),
    "q1_whole_table": wrong(
        "the whole Jacobian is written down",
        q1(
            body="alpha = (scores / @temperature@).softmax(-1)\n"
            "J = alpha.diag_embed() - alpha[..., :, None] * alpha[..., None, :]\n"
            "return (J @ moves[..., None]).squeeze(-1) / @temperature@"
        ),
        q1_room=1,
    ),
    "q1_table_of_a_row": wrong(
        "the Jacobian of one row at a time",
        q1(
            body="alpha = (scores / @temperature@).softmax(-1)\n"
            "rows = zip(alpha.flatten(0, 1), moves.flatten(0, 1))\n"
            "moved = [(a.diag() - a.outer(a)) @ m / @temperature@ for a, m in rows]\n"
            "return torch.stack(moved).reshape(scores.shape)"
        ),
        q1_room=1,
    ),
    "q1_autograd": wrong(
        "autograd, backwards",
        q1(
            body="softmax = lambda e: (e / @temperature@).softmax(-1)\n"
            "return torch.autograd.functional.vjp(softmax, scores, moves)[1]"
        ),
        q1_values=1,
        q1_room=1,
    ),
    "q1_autograd_forwards": wrong(
        "autograd, forwards",
        q1(
            body="softmax = lambda e: (e / @temperature@).softmax(-1)\n"
            "return torch.autograd.functional.jvp(softmax, scores, moves)[1]"
        ),
        q1_values=1,
        q1_room=1,
    ),
    "q1_loop": wrong("never ends", q1(body="while True:\n    pass"), q1_values=1, q1_sum=1, q1_large=1, q1_room=1),
    "q1_centred": right(
        "moves about their weighted mean, softmax by hand",
        q1(
            body="exp = ((scores - scores.amax(-1, keepdim=True)) / @temperature@).exp()\n"
            "alpha = exp / exp.sum(-1, keepdim=True)\n"
            "centred = moves - torch.einsum('bts,bts->bt', alpha, moves)[..., None]\n"
            "return alpha * centred / @temperature@"
        ),
    ),
    "q1_logarithm": right(
        "the derivative of the logarithm, times the weight",
        q1(
            body="log = torch.log_softmax(scores / @temperature@, dim=-1)\n"
            "slow = moves / @temperature@\n"
            "return log.exp() * (slow - (log.exp() * slow).sum(-1, keepdim=True))"
        ),
    ),
    "q2_slope": wrong("1 - tanh for 1 - tanh²", q2(("1 - t * t", "1 - t")), q2_matrix=1),
    "q2_slope_of_z": wrong("1 - z² for 1 - tanh²(z)", q2(("1 - t * t", "1 - z * z")), q2_matrix=1),
    "q2_no_slope": wrong("the derivative of tanh is forgotten", q2((" * (1 - t * t)", "")), q2_matrix=1),
    "q2_no_v": wrong("v_a is forgotten on the way back", q2(("g[..., None] * v_a", "g[..., None]")), q2_matrix=1),
    "q2_no_g": wrong(
        "what came back is not used",
        q2(("g[..., None] * t", "1 * t"), ("g[..., None] * v_a", "1 * v_a")),
        q2_v=1,
        q2_matrix=1,
    ),
    "q2_no_tanh": wrong("the gradient of v_a without tanh", q2(("None] * t)", "None] * z)")), q2_v=1),
    "q2_no_key": wrong(
        "the key is not in the hidden layer",
        q2((" + (key @ U_a.T)[:, None]", "")),
        q2_v=1,
        q2_matrix=1,
    ),
    "q2_order": wrong(
        "the two in the other order",
        q2(
            (
                "return for_v, rows.flatten(0, 1).T @ inputs.flatten(0, 1)",
                "return rows.flatten(0, 1).T @ inputs.flatten(0, 1), for_v",
            )
        ),
        q2_v=1,
        q2_matrix=1,
    ),
    "q2_transposed": wrong(
        "the matrix transposed",
        q2(("rows.flatten(0, 1).T @ inputs.flatten(0, 1)", "inputs.flatten(0, 1).T @ rows.flatten(0, 1)")),
        q2_matrix=1,
    ),
    "q2_other_matrix": wrong("the gradient of the other matrix", q2(('== "W_a"', '!= "W_a"')), q2_matrix=1),
    "q2_mean": wrong("the mean over pairs, not the sum", q2((").sum((0, 1, 2))", ").mean((0, 1, 2))")), q2_sums=1),
    "q2_first_key": wrong(
        "the first key only",
        q2(("back.sum(2)", "back[:, :, 0]"), ("back.sum(1)", "back[:, 0]")),
        q2_sums=1,
    ),
    "q2_first_sentence": wrong(
        "the first sentence only",
        q2(("rows.flatten(0, 1).T @ inputs.flatten(0, 1)", "rows[0].T @ inputs[0]")),
        q2_sums=1,
    ),
    "q2_axes": wrong(
        "keys before queries: the axes of g are not those of the hidden layer",
        q2(("[:, :, None] + (key @ U_a.T)[:, None]", "[:, None] + (key @ U_a.T)[:, :, None]")),
        q2_sums=1,
    ),
    "q2_in_place": wrong("writes into g", q2(("return for_v", "g.zero_()\nreturn for_v")), q2_sums=1),
    "q2_autograd": wrong(
        "autograd",
        q2(
            body="W_a, U_a, v_a = (x.clone().requires_grad_() for x in (W_a, U_a, v_a))\n"
            "e = ((query @ W_a.T)[:, :, None] + (key @ U_a.T)[:, None]).tanh() @ v_a\n"
            "return torch.autograd.grad((g * e).sum(), [v_a, @matrix@])"
        ),
        q2_v=1,
        q2_matrix=1,
        q2_sums=1,
    ),
    "q2_loops": right(
        "pair by pair",
        q2(
            body="""
for_v, for_matrix = torch.zeros_like(v_a), torch.zeros_like(@matrix@)
for q_b, k_b, g_b in zip(query, key, g):
    for i, q in enumerate(q_b):
        for j, k in enumerate(k_b):
            z, x = W_a @ q + U_a @ k, q if "@matrix@" == "W_a" else k
            for_v += g_b[i, j] * z.tanh()
            for_matrix += torch.outer(g_b[i, j] * v_a / z.cosh() ** 2, x)
return [for_v, for_matrix]
"""
        ),
    ),
    "q3_sum": wrong(
        "S + T pairs",
        q3(("pairs = @unit@ * B * S * T", "pairs = @unit@ * B * (S + T)")),
        q3_pairs=1,
    ),
    "q3_pairs_widths": wrong(
        "the two widths of a pair swapped",
        q3(("pairs * a", "pairs * WIDTH"), ("pairs * d", "pairs * a"), ("WIDTH", "d")),
        q3_pairs=1,
    ),
    "q3_square": wrong("d² for d times a", q3(("@unit@ * d * a", "@unit@ * d * d")), q3_projections=1),
    "q3_other_unit": wrong(
        "the other convention",
        q3(("= @unit@ * d", "= (3 - @unit@) * d"), ("= @unit@ * B", "= (3 - @unit@) * B")),
        q3_projections=1,
        q3_pairs=1,
    ),
    "q3_no_batch": wrong(
        "the batch is forgotten",
        q3(("B * T * project", "T * project"), ("B * S * times", "S * times"), ("@unit@ * B * S", "@unit@ * S")),
        q3_projections=1,
        q3_again=1,
        q3_pairs=1,
    ),
    "q3_always_once": wrong("keys are always kept", q3(("1 if keys_once else T", "1")), q3_again=1),
    "q3_always_again": wrong("keys are never kept", q3(("1 if keys_once else T", "T")), q3_projections=1, q3_again=1),
    "q3_again_per_key": wrong(
        "projected again for each key, not for each query",
        q3(("1 if keys_once else T", "1 if keys_once else S")),
        q3_again=1,
    ),
    "q3_queries_again": wrong(
        "queries are projected again, too",
        q3(("B * T * project", "B * T * times * project")),
        q3_again=1,
    ),
    "q3_no_projections": wrong(
        "projections are taken to be free",
        q3(("project = @unit@ * d * a", "project = 0")),
        q3_projections=1,
        q3_again=1,
    ),
    "q3_float": wrong(
        "floating-point counts",
        q3(("= @unit@ * d", "= float(@unit@) * d"), ("= @unit@ * B", "= float(@unit@) * B")),
        q3_projections=1,
        q3_again=1,
        q3_pairs=1,
    ),
    "q3_equal_to_all": wrong(
        "numbers equal to everything",
        q3(
            body="class Count(int):\n"
            "    __eq__ = __lt__ = __gt__ = lambda self, other: True\n"
            "    __mul__ = __rmul__ = lambda self, other: self\n"
            "return dict.fromkeys(['queries', 'keys', 'scores', 'averages'], Count())"
        ),
        q3_projections=1,
        q3_again=1,
        q3_pairs=1,
    ),
    "q3_by_sentence": right(
        "one sentence, one query at a time",
        q3(
            body="""
count = dict(queries=0, keys=0, scores=0, averages=0)
for i in range(T if T < 100 else 1):
    part = 1 if T < 100 else T
    count["queries"] += part * d * a
    count["keys"] += S * d * a * (part if not keys_once else i == 0)
    count["scores"] += part * S * a
    count["averages"] += part * S * d
return {name: @unit@ * B * n for name, n in count.items()}
"""
        ),
    ),
}

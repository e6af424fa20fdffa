"""Known answers to assignment 6."""

from attnlib.grading.answers import define, right, wrong

MOVED = """
alpha = (scores * (@power.factor@)).softmax(@axes.keys@)
return (alpha * moves - alpha * (alpha * moves).sum(@axes.keys@, keepdim=True)) * (@power.factor@)
"""
GRADIENTS = """
g = g.permute([("@axes.letters@").index(letter) for letter in "bts"])
z = (query @ W_a.T)[:, :, None] + (key @ U_a.T)[:, None]
hidden = @layer.code@(z)
for_v = (g[..., None] * hidden).sum((0, 1, 2))
slope = @layer.slope@
back = g[..., None] * v_a * slope
rows, inputs = (back.sum(2), query) if "@matrix@" == "W_a" else (back.sum(1), key)
return for_v, rows.flatten(0, 1).T @ inputs.flatten(0, 1)
"""
COUNT = """
project = @unit@ * d * a
times = 1 if @again.flag@ else @again.times@
queries, keys = B * T * project, B * S * project
@again.part@ = @again.part@ * times
pairs = @unit@ * B * S * T
return {"queries": queries, "keys": keys, "scores": pairs * a, "averages": pairs * d}
"""


def q1(*changes: tuple[str, str], body: str = MOVED) -> dict[str, str]:
    """An answer to question 1."""
    return {"q1": define("moved_weights(scores, moves)", body, *changes)}


def q2(*changes: tuple[str, str], body: str = GRADIENTS) -> dict[str, str]:
    """An answer to question 2."""
    return {"q2": define("additive_gradients(query, key, W_a, U_a, v_a, g)", body, *changes)}


def q3(*changes: tuple[str, str], body: str = COUNT) -> dict[str, str]:
    """An answer to question 3."""
    return {"q3": define("operations(B, S, T, d, a, @again.flag@)", body, *changes)}


ANSWERS = {
    "q1_diagonal": wrong(
        "each weight moves with its own score only, but the scores of all keys move it: they share the sum below",
        q1(
            body="alpha = (scores * (@power.factor@)).softmax(@axes.keys@)\n"
            "return alpha * (1 - alpha) * moves * (@power.factor@)"
        ),
        q1_values=1,
        q1_sum=1,
    ),
    "q1_sign": wrong(
        "the sign is turned round: a weight grows when its own score grows",
        q1(("return (", "return -(")),
        q1_values=1,
    ),
    "q1_plus": wrong(
        "the mean of the moves is added, where the quotient rule subtracts it",
        q1(("alpha * moves - ", "alpha * moves + ")),
        q1_values=1,
        q1_sum=1,
    ),
    "q1_plain_mean": wrong(
        "the plain mean of the moves is subtracted, but the sum over keys gives the mean by weight",
        q1(("alpha * (alpha * moves).sum(@axes.keys@, keepdim=True)", "alpha * moves.mean(@axes.keys@, keepdim=True)")),
        q1_values=1,
        q1_sum=1,
    ),
    "q1_softmax_of_moves": wrong(
        "the weights are the softmax of the scores, not of the moves", q1(("(scores *", "(moves *")), q1_values=1
    ),
    "q1_no_factor": wrong(
        "the weights are not exp(e) divided by its sum here: the power in the formula is another one",
        q1(("scores * (@power.factor@)", "scores"), (") * (@power.factor@)", ")")),
        q1_values=1,
    ),
    "q1_factor_once": wrong(
        "the power in the formula has an inner derivative, which is missing in the speeds",
        q1(("keepdim=True)) * (@power.factor@)", "keepdim=True))")),
        q1_values=1,
    ),
    "q1_factor_upside_down": wrong(
        "the speeds are divided by the inner derivative of the power: the chain rule multiplies",
        q1(("keepdim=True)) * (@power.factor@)", "keepdim=True)) / (@power.factor@)")),
        q1_values=1,
    ),
    "q1_over_queries": wrong(
        "the sum runs over the queries, but a query shares its weight among keys",
        q1((".sum(@axes.keys@", ".sum(@axes.queries@")),
        q1_values=1,
        q1_sum=1,
    ),
    "q1_axis_of_another_shape": wrong(
        "the softmax runs along the wrong axis: look up in the shape where the keys stand",
        q1(
            (".softmax(@axes.keys@)", ".softmax(@axes.queries@)"),
            (".sum(@axes.keys@, keepdim", ".sum(@axes.queries@, keepdim"),
        ),
        q1_values=1,
        q1_sum=1,
        q1_large=1,
        q1_room=1,
    ),
    "q1_scores": wrong(
        "scores stand where the weights belong: the softmax is missing",
        q1(("(scores * (@power.factor@)).softmax(@axes.keys@)", "scores * (@power.factor@)")),
        q1_values=1,
        q1_sum=1,
        q1_large=1,
    ),
    "q1_overflow": wrong(
        "a softmax without a shift overflows: exp of a score of a thousand is infinite",
        q1(
            (
                "alpha = (scores * (@power.factor@)).softmax(@axes.keys@)",
                "exp = (scores * (@power.factor@)).exp()\nalpha = exp / exp.sum(@axes.keys@, True)",
            )
        ),
        q1_large=1,
    ),
    "q1_one_shift": wrong(
        "one shift for the whole batch leaves 0 / 0 for a query whose scores lie far below the largest",
        q1(
            (
                "alpha = (scores * (@power.factor@)).softmax(@axes.keys@)",
                "exp = ((scores - scores.max()) * (@power.factor@)).exp()\nalpha = exp / exp.sum(@axes.keys@, True)",
            )
        ),
        q1_large=1,
    ),
    "q1_clamped": wrong(
        "scores that are cut off at 80 become equal, and the weights with them",
        q1(("(scores * (@power.factor@))", "(scores * (@power.factor@)).clamp(-80, 80)")),
        q1_large=1,
    ),
    "q1_squeezed": wrong(
        "squeeze removes every axis of size 1, also that of a batch with one sentence",
        q1((MOVED.splitlines()[-1][7:], f"({MOVED.splitlines()[-1][7:]}).squeeze()")),
        q1_values=1,
        q1_sum=1,
        q1_room=1,
    ),
    "q1_in_place": wrong(
        "the scores that were given are scaled where they stand, and the caller finds them changed",
        q1(("(scores * (@power.factor@))", "scores.mul_(@power.factor@)")),
        q1_values=1,
    ),
    "q1_whole_table": wrong(
        "the whole table of S × S derivatives is written down, and for a long text it fits nowhere",
        q1(
            body="alpha = (scores * (@power.factor@)).softmax(@axes.keys@).movedim(@axes.keys@, -1)\n"
            "J = alpha.diag_embed() - alpha[..., :, None] * alpha[..., None, :]\n"
            "moved = (J @ moves.movedim(@axes.keys@, -1)[..., None]).squeeze(-1)\n"
            "return moved.movedim(-1, @axes.keys@) * (@power.factor@)"
        ),
        q1_room=1,
    ),
    "q1_table_of_a_row": wrong(
        "the table of S × S derivatives is written down for one query at a time, and one is too large already",
        q1(
            body="alpha = (scores * (@power.factor@)).softmax(@axes.keys@).movedim(@axes.keys@, -1)\n"
            "rows = zip(alpha.flatten(0, 1), moves.movedim(@axes.keys@, -1).flatten(0, 1))\n"
            "moved = [(a.diag() - a.outer(a)) @ m * (@power.factor@) for a, m in rows]\n"
            "return torch.stack(moved).reshape(alpha.shape).movedim(-1, @axes.keys@)"
        ),
        q1_room=1,
    ),
    "q1_loop": wrong(
        "the loop never ends", q1(body="while True:\n    pass"), q1_values=1, q1_sum=1, q1_large=1, q1_room=1
    ),
    "q1_autograd": right(
        "autograd, forwards: the numbers are right, and whoever reads the code sees it",
        q1(
            body="softmax = lambda e: (e * (@power.factor@)).softmax(@axes.keys@)\n"
            "return torch.autograd.functional.jvp(softmax, scores, moves)[1]"
        ),
    ),
    "q1_centred": right(
        "moves about their weighted mean, softmax by hand",
        q1(
            body="exp = ((scores - scores.amax(@axes.keys@, keepdim=True)) * (@power.factor@)).exp()\n"
            "alpha = exp / exp.sum(@axes.keys@, keepdim=True)\n"
            "mean = torch.einsum('@axes.letters@,@axes.letters@->bt', alpha, moves)\n"
            "mean = mean.unsqueeze(-1).permute@axes.order@\n"
            "return alpha * (moves - mean) * (@power.factor@)"
        ),
    ),
    "q1_logarithm": right(
        "the derivative of the logarithm, times the weight",
        q1(
            body="log = torch.log_softmax(scores * (@power.factor@), dim=@axes.keys@)\n"
            "slow = moves * (@power.factor@)\n"
            "return log.exp() * (slow - (log.exp() * slow).sum(@axes.keys@, keepdim=True))"
        ),
    ),
    "q2_slope": wrong(
        "the derivative of the hidden layer is not 1 less the layer itself",
        q2(("slope = @layer.slope@", "slope = 1 - hidden")),
        q2_matrix=1,
    ),
    "q2_slope_of_z": wrong(
        "the derivative of the hidden layer is written with z where @layer.name@(z) belongs",
        q2(("slope = @layer.slope@", "hidden = z\nslope = @layer.slope@")),
        q2_matrix=1,
    ),
    "q2_slope_of_the_other": wrong(
        "the hidden layer has another function than your derivative: look at the formula of the score",
        q2(
            (
                "slope = @layer.slope@",
                "slope = hidden * (1 - hidden) if '@layer.name@' == 'tanh' else 1 - hidden**2",
            )
        ),
        q2_matrix=1,
    ),
    "q2_no_slope": wrong(
        "the derivative of the hidden layer is missing on the way back",
        q2(("slope = @layer.slope@", "slope = 1")),
        q2_matrix=1,
    ),
    "q2_no_v": wrong(
        "v_a is missing on the way back: the hidden layer is multiplied by it",
        q2(("g[..., None] * v_a", "g[..., None]")),
        q2_matrix=1,
    ),
    "q2_no_g": wrong(
        "what has come back to the scores is not used: the chain rule multiplies by g",
        q2(("g[..., None] * hidden", "1 * hidden"), ("g[..., None] * v_a", "(1 + 0 * g[..., None]) * v_a")),
        q2_v=1,
        q2_matrix=1,
    ),
    "q2_no_layer": wrong(
        "the gradient of v_a needs the hidden layer, and you take what goes into it",
        q2(("None] * hidden)", "None] * z)")),
        q2_v=1,
    ),
    "q2_no_key": wrong(
        "the key is missing in the hidden layer",
        q2((" + (key @ U_a.T)[:, None]", " + 0 * (key @ U_a.T)[:, None]")),
        q2_v=1,
        q2_matrix=1,
    ),
    "q2_order": wrong(
        "the two gradients come in the other order: that of v_a is first",
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
        "the gradient of the matrix is transposed: it has the shape of its parameter",
        q2(("rows.flatten(0, 1).T @ inputs.flatten(0, 1)", "inputs.flatten(0, 1).T @ rows.flatten(0, 1)")),
        q2_matrix=1,
    ),
    "q2_other_matrix": wrong("you give the gradient of the other matrix", q2(('== "W_a"', '!= "W_a"')), q2_matrix=1),
    "q2_mean": wrong(
        "the mean over pairs is taken, but the loss depends on each pair, so the gradients add up",
        q2((").sum((0, 1, 2))", ").mean((0, 1, 2))")),
        q2_sums=1,
    ),
    "q2_first_key": wrong(
        "only the first of the other words sends something back, but all of them do",
        q2(("back.sum(2)", "back[:, :, 0]"), ("back.sum(1)", "back[:, 0]")),
        q2_sums=1,
    ),
    "q2_first_sentence": wrong(
        "only the first sentence sends something back: the parameters serve all sentences",
        q2(("rows.flatten(0, 1).T @ inputs.flatten(0, 1)", "rows[0].T @ inputs[0]")),
        q2_sums=1,
    ),
    "q2_last_sentence": wrong(
        "only the last sentence sends something back: a loop overwrites what it should add up",
        q2(
            (
                "return for_v, rows.flatten(0, 1).T @ inputs.flatten(0, 1)",
                "for row, x in zip(rows, inputs):\n    for_matrix = row.T @ x\nreturn for_v, for_matrix",
            )
        ),
        q2_sums=1,
    ),
    "q2_product_of_sums": wrong(
        "sums are multiplied, but the sum of products is another number: each pair has its own product",
        q2(("rows.flatten(0, 1).T @ inputs.flatten(0, 1)", "rows.sum((0, 1)).outer(inputs.sum((0, 1)))")),
        q2_sums=1,
    ),
    "q2_axes": wrong(
        "g is read with keys and queries exchanged: its axes are those of the scores",
        q2(
            (
                "z = (query",
                "g = g.mT if g.shape[1] == g.shape[2] else g.reshape(len(g), g.shape[2], g.shape[1]).mT\nz = (query",
            )
        ),
        q2_sums=1,
    ),
    "q2_in_place": wrong(
        "g is overwritten, and the caller finds it changed", q2(("return for_v", "g.zero_()\nreturn for_v")), q2_sums=1
    ),
    "q2_autograd": right(
        "autograd: the numbers are right, and whoever reads the code sees it",
        q2(
            body="W_a, U_a, v_a = (x.clone().requires_grad_() for x in (W_a, U_a, v_a))\n"
            "e = @layer.code@((query @ W_a.T)[:, :, None] + (key @ U_a.T)[:, None]) @ v_a\n"
            "return torch.autograd.grad((g * e.permute@axes.order@).sum(), [v_a, @matrix@])"
        ),
    ),
    "q2_loops": right(
        "pair by pair",
        q2(
            body="""
for_v, for_matrix = torch.zeros_like(v_a), torch.zeros_like(@matrix@)
for b, (q_b, k_b) in enumerate(zip(query, key)):
    for t, q in enumerate(q_b):
        for s, k in enumerate(k_b):
            at = dict(b=b, t=t, s=s)
            g_ij = g[tuple(at[letter] for letter in "@axes.letters@")]
            x = q if "@matrix@" == "W_a" else k
            hidden = @layer.code@(W_a @ q + U_a @ k)
            for_v += g_ij * hidden
            for_matrix += torch.outer(g_ij * v_a * (@layer.slope@), x)
return [for_v, for_matrix]
"""
        ),
    ),
    "q3_sum": wrong(
        "S + T pairs are counted, but each query meets each key",
        q3(("pairs = @unit@ * B * S * T", "pairs = @unit@ * B * (S + T)")),
        q3_pairs=1,
    ),
    "q3_pairs_widths": wrong(
        "the two widths of a pair are exchanged: a score is a sum over a, an average has d coordinates",
        q3(("pairs * a", "pairs * WIDTH"), ("pairs * d", "pairs * a"), ("WIDTH", "d")),
        q3_pairs=1,
    ),
    "q3_square": wrong(
        "a projection leads from width d to width a, so it costs d times a, not d²",
        q3(("@unit@ * d * a", "@unit@ * d * d")),
        q3_projections=1,
    ),
    "q3_other_unit": wrong(
        "a multiply-add counts as @unit@ here, and you count by the other convention",
        q3(("= @unit@ * d", "= (3 - @unit@) * d"), ("= @unit@ * B", "= (3 - @unit@) * B")),
        q3_projections=1,
        q3_pairs=1,
    ),
    "q3_no_batch": wrong(
        "the batch is missing: all B sentences cost something",
        q3(
            ("queries, keys = B * T * project, B * S", "queries, keys = T * project, S"),
            ("@unit@ * B * S", "@unit@ * S"),
        ),
        q3_projections=1,
        q3_again=1,
        q3_pairs=1,
    ),
    "q3_always_once": wrong(
        "@again.part@ that are not kept are projected again, and you count them once",
        q3(("1 if @again.flag@ else @again.times@", "1")),
        q3_again=1,
    ),
    "q3_always_again": wrong(
        "@again.part@ that are kept are projected once, and you count them again and again",
        q3(("1 if @again.flag@ else @again.times@", "@again.times@")),
        q3_projections=1,
        q3_again=1,
    ),
    "q3_again_per_key": wrong(
        "@again.part@ are projected again for each @again.other@, and you multiply by their own number",
        q3(("1 if @again.flag@ else @again.times@", "1 if @again.flag@ else @again.length@")),
        q3_again=1,
    ),
    "q3_again_for_the_batch": wrong(
        "the @again.others@ of other sentences do not count: @again.part@ are projected again for those of their own",
        q3(("1 if @again.flag@ else @again.times@", "1 if @again.flag@ else B * @again.times@")),
        q3_again=1,
    ),
    "q3_all_again": wrong(
        "the @again.others@ are projected once in both cases, and you multiply them, too",
        q3(("@again.part@ = @again.part@ * times", "queries, keys = queries * times, keys * times")),
        q3_again=1,
    ),
    "q3_no_projections": wrong(
        "projections are not free: a matrix of d times a meets each word",
        q3(("project = @unit@ * d * a", "project = 0")),
        q3_projections=1,
        q3_again=1,
    ),
    "q3_one_score_a_query": wrong(
        "v_a meets the hidden layer of each pair, not that of each query",
        q3(('"scores": pairs * a', '"scores": @unit@ * B * T * a')),
        q3_pairs=1,
    ),
    "q3_float": wrong(
        "the counts are floating-point numbers, but integers are asked for",
        q3(("= @unit@ * d", "= float(@unit@) * d"), ("= @unit@ * B", "= float(@unit@) * B")),
        q3_projections=1,
        q3_again=1,
        q3_pairs=1,
    ),
    "q3_rounded": wrong(
        "a floating-point number has 53 binary digits, so the count of a long text is rounded",
        q3(("= @unit@ * B * S * T", "= @unit@ * B * int(1.0 * S * T)")),
        q3_pairs=1,
    ),
    "q3_equal_to_all": wrong(
        "the numbers are equal to everything",
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
    again = 1 if @again.flag@ or "@again.part@" == "keys" else S
    count["queries"] += part * d * a * again
    kept = @again.flag@ or "@again.part@" == "queries"
    count["keys"] += S * d * a * (part if not kept else i == 0)
    count["scores"] += part * S * a
    count["averages"] += part * S * d
return {name: @unit@ * B * n for name, n in count.items()}
"""
        ),
    ),
}

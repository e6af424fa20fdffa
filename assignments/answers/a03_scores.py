"""Known answers to assignment 3."""

from attnlib.grading.answers import AGREEABLE, changed, define, right, wrong

Q1 = {"q1_formula": 1, "q1_pairs": 1}
Q2 = {"q2_centred": 1, "q2_mean": 1, "q2_factor": 1}
Q3 = {"q3_window": 1, "q3_gauss": 1, "q3_shared": 1, "q3_padding": 1}


def q1(body: str) -> dict[str, str]:
    return {"q1": define("additive_scores(query, key, W, U, b, v)", body)}


def q2(body: str) -> dict[str, str]:
    return {"q2": define("spread(d, mu, sigma)", body)}


def q3(body: str) -> dict[str, str]:
    return {"q3": define("local_weights(scores, centres, lengths)", body)}


#: Ours, to be spoilt in one place each.
LOCAL = """
S, R, n = scores.shape[@axes.keys@], @radius@, lengths[:, None, None]
j = torch.arange(S)
distance = j@first.plus@ - centres[..., None]
visible = (distance.abs() <= R) & (@side.at@)
e = scores@axes.swap@ - distance**2 / (2 * (R / @sigma.by@) ** 2)
e = e.masked_fill(~visible, -torch.inf)
weights = e.softmax(-1).nan_to_num(0)
return weights@axes.swap@
"""


ANSWERS = {
    "q1_no_bias": wrong(
        "the bias is forgotten",
        q1("return (torch.@squash@((query @ W.T)[:, :, None] + (key @ U.T)[:, None]) @ v)@axes.swap@"),
        q1_formula=1,
    ),
    "q1_bias_twice": wrong(
        "the bias is added to the query and to the key",
        q1("return (torch.@squash@((query @ W.T + b)[:, :, None] + (key @ U.T + b)[:, None]) @ v)@axes.swap@"),
        q1_formula=1,
    ),
    "q1_bias_outside": wrong(
        "the bias is added after the function",
        q1("return ((torch.@squash@((query @ W.T)[:, :, None] + (key @ U.T)[:, None]) + b) @ v)@axes.swap@"),
        q1_formula=1,
    ),
    "q1_each_alone": wrong(
        "the function is applied to query and key alone, but it has to see their sum",
        q1(
            "return ((torch.@squash@(query @ W.T + b)[:, :, None] + torch.@squash@(key @ U.T)[:, None]) @ v)@axes.swap@"
        ),
        **Q1,
    ),
    "q1_squashed_last": wrong(
        "v is applied before the function, but it comes after",
        q1("return (torch.@squash@(((query @ W.T)[:, :, None] + (key @ U.T)[:, None] + b) @ v))@axes.swap@"),
        **Q1,
    ),
    "q1_not_squashed": wrong(
        "the function is forgotten, so that the score is linear",
        q1("return (((query @ W.T)[:, :, None] + (key @ U.T)[:, None] + b) @ v)@axes.swap@"),
        **Q1,
    ),
    "q1_no_v": wrong(
        "the hidden units are summed up and v is not used",
        q1("return (torch.@squash@((query @ W.T)[:, :, None] + (key @ U.T)[:, None] + b).sum(-1))@axes.swap@"),
        **Q1,
    ),
    "q1_keys_by_queries": wrong(
        "the axes of queries and keys are swapped",
        q1("return (torch.@squash@((query @ W.T)[:, None] + (key @ U.T)[:, :, None] + b) @ v)@axes.swap@"),
        q1_pairs=1,
    ),
    "q1_one_sentence": wrong(
        "every sentence gets the keys of the first one",
        q1("return (torch.@squash@((query @ W.T)[:, :, None] + (key[:1] @ U.T)[:, None] + b) @ v)@axes.swap@"),
        q1_pairs=1,
    ),
    "q1_place_by_place": wrong(
        "query i is scored with key i only, but every query meets every key",
        q1(
            "e = torch.@squash@(query @ W.T + key @ U.T + b) @ v\n"
            "return e[:, :, None].expand(-1, -1, key.shape[1])@axes.swap@"
        ),
        q1_pairs=1,
    ),
    "q1_weights": wrong(
        "weights are returned, but scores are asked for: the softmax comes later",
        q1(
            "e = torch.@squash@((query @ W.T)[:, :, None] + (key @ U.T)[:, None] + b) @ v\n"
            "return e.softmax(-1)@axes.swap@"
        ),
        **Q1,
    ),
    "q1_numpy": wrong(
        "an array of NumPy is returned, but a tensor is asked for",
        q1("e = torch.@squash@((query @ W.T)[:, :, None] + (key @ U.T)[:, None] + b) @ v\nreturn e@axes.swap@.numpy()"),
        **Q1,
    ),
    "q1_scaled": wrong(
        "the score is divided by the root of its width, which belongs to the dot product and not to this formula",
        q1(
            "e = torch.@squash@((query @ W.T)[:, :, None] + (key @ U.T)[:, None] + b) @ v\n"
            "return (e / len(v) ** 0.5)@axes.swap@"
        ),
        **Q1,
    ),
    "q1_mean": wrong(
        "hidden units are averaged: v must weigh and add them up",
        q1(
            "e = torch.@squash@((query @ W.T)[:, :, None] + (key @ U.T)[:, None] + b) * v\nreturn e.mean(-1)@axes.swap@"
        ),
        **Q1,
    ),
    "q1_squeezed": wrong(
        ".squeeze() takes away every axis of length 1, that of a single sentence too",
        q1(
            "e = torch.@squash@((query @ W.T)[:, :, None] + (key @ U.T)[:, None] + b) @ v\n"
            "return e@axes.swap@.squeeze()"
        ),
        **Q1,
    ),
    "q1_loop": wrong(
        "the loop never ends, because nothing in it adds a score",
        q1("e = []\nwhile len(e) < key.shape[1]:\n    pass"),
        **Q1,
    ),
    "q1_yes": wrong(
        "an object that is equal to everything stands for the scores", q1(AGREEABLE + "return Agreeable()"), **Q1
    ),
    "q1_end_to_end": right(
        "query and key end to end, as concat does it",
        q1("""
T, S = query.shape[1], key.shape[1]
pairs = torch.cat([query[:, :, None].expand(-1, -1, S, -1), key[:, None].expand(-1, T, -1, -1)], -1)
return torch.nn.functional.linear(pairs, torch.cat([W, U], 1), b).@squash@().matmul(v)@axes.swap@
"""),
    ),
    "q1_one_query_at_a_time": right(
        "a loop over queries",
        q1("""
columns = []
for i in range(query.shape[1]):
    hidden = torch.einsum("hq,bq->bh", W, query[:, i])[:, None] + torch.einsum("hk,bsk->bsh", U, key) + b
    columns.append((torch.@squash@(hidden) * v).sum(-1))
return torch.stack(columns, @axes.queries@)
"""),
    ),
    "q2_one_square": wrong(
        "σ² stands for σ⁴, but both vectors are random, so that both variances count",
        q2("variance = d * (sigma**2 + 2 * mu**2)\nreturn variance, math.sqrt(@target.variance@ / variance)"),
        q2_centred=1,
        q2_mean=1,
    ),
    "q2_standard_deviation": wrong(
        "the standard deviation is returned, but the variance is asked for",
        q2(
            "variance = d * (sigma**4 + 2 * (mu * sigma) ** 2)\n"
            "return math.sqrt(variance), math.sqrt(@target.variance@ / variance)"
        ),
        q2_centred=1,
        q2_mean=1,
    ),
    "q2_width_squared": wrong(
        "the width is squared, but the variances of independent terms add up",
        q2(
            "variance = d**2 * (sigma**4 + 2 * (mu * sigma) ** 2)\n"
            "return variance, math.sqrt(@target.variance@ / variance)"
        ),
        **Q2,
    ),
    "q2_no_mean": wrong(
        "the mean μ is ignored",
        q2("variance = d * sigma**4\nreturn float(variance), math.sqrt(@target.variance@ / variance)"),
        q2_mean=1,
    ),
    "q2_second_moment": wrong(
        "the square of the mean is not taken off",
        q2("variance = d * (sigma**2 + mu**2) ** 2\nreturn variance, math.sqrt(@target.variance@ / variance)"),
        q2_mean=1,
    ),
    "q2_mean_once": wrong(
        "the mixed term σ²μ² counts once, but it comes from either vector",
        q2("variance = d * (sigma**4 + (mu * sigma) ** 2)\nreturn variance, math.sqrt(@target.variance@ / variance)"),
        q2_mean=1,
    ),
    "q2_factor_of_the_chapter": wrong(
        "the factor is 1 / √d, which holds only for mean 0 and variance 1",
        q2("return d * (sigma**4 + 2 * (mu * sigma) ** 2), 1 / math.sqrt(d)"),
        q2_factor=1,
    ),
    "q2_factor_no_mean": wrong(
        "the mean is ignored in the factor",
        q2("return d * (sigma**4 + 2 * (mu * sigma) ** 2), math.sqrt(@target.variance@ / d) / sigma**2"),
        q2_factor=1,
    ),
    "q2_factor_no_root": wrong(
        "the factor is the ratio of the variances, but the root of it scales the scores",
        q2("variance = d * (sigma**4 + 2 * (mu * sigma) ** 2)\nreturn variance, @target.variance@ / variance"),
        q2_factor=1,
    ),
    "q2_factor_target_not_rooted": wrong(
        "the target is taken for a standard deviation: its root is missing",
        q2(
            "variance = d * (sigma**4 + 2 * (mu * sigma) ** 2)\n"
            "return variance, @target.variance@ / math.sqrt(variance)"
        ),
        q2_factor=1,
    ),
    "q2_factor_upside_down": wrong(
        "the scores would have to be divided by this factor, but they are multiplied by it",
        q2(
            "variance = d * (sigma**4 + 2 * (mu * sigma) ** 2)\n"
            "return variance, math.sqrt(variance / @target.variance@)"
        ),
        q2_factor=1,
    ),
    "q2_measured": wrong(
        "the variance is measured on random vectors, which comes near, but the formula is exact",
        q2(
            "generator = torch.Generator().manual_seed(0)\n"
            "q, k = mu + sigma * torch.randn(2, 5000, d, generator=generator)\n"
            "variance = (q * k).sum(-1).var().item()\nreturn variance, math.sqrt(@target.variance@ / variance)"
        ),
        **Q2,
    ),
    "q2_tensors": wrong(
        "tensors are returned, but Python floats are asked for",
        q2(
            "variance = torch.tensor(d * (sigma**4 + 2 * (mu * sigma) ** 2))\n"
            "return variance, (@target.variance@ / variance).sqrt()"
        ),
        **Q2,
    ),
    "q2_negative": wrong(
        "the factor is negative, which turns the order of the keys round",
        q2(
            "variance = d * (sigma**4 + 2 * (mu * sigma) ** 2)\n"
            "return variance, -math.sqrt(@target.variance@ / variance)"
        ),
        q2_factor=1,
    ),
    "q2_sigma_is_variance": wrong(
        "σ is taken for a variance, but it is a standard deviation",
        q2("variance = d * (sigma**2 + 2 * mu**2 * sigma)\nreturn variance, math.sqrt(@target.variance@ / variance)"),
        q2_centred=1,
        q2_mean=1,
    ),
    "q2_yes": wrong(
        "an object that is equal to everything stands for the two numbers",
        q2(AGREEABLE + "return Agreeable(), Agreeable()"),
        **Q2,
    ),
    "q2_multiplied_out": right(
        "multiplied out",
        q2("variance = d * sigma**2 * (sigma**2 + 2 * mu**2)\nreturn variance, (@target.variance@ / variance) ** 0.5"),
    ),
    "q2_term_by_term": right(
        "the variance of one product, counted out, d times",
        q2("""
low, high = mu - sigma, mu + sigma
products = [a * b for a in (low, high) for b in (low, high)]
mean = sum(products) / 4
variance = 0.0
for _ in range(d):
    variance += sum((p - mean) ** 2 for p in products) / 4
return variance, math.sqrt(@target.variance@) / math.sqrt(variance)
"""),
    ),
    "q3_not_shared_out": wrong(
        "the Gaussian is applied after the softmax, as in the paper, so that the weights do not sum to 1",
        q3(
            changed(
                LOCAL,
                ("scores@axes.swap@ - distance**2 / (2 * (R / @sigma.by@) ** 2)", "scores@axes.swap@"),
                ("nan_to_num(0)", "nan_to_num(0) * torch.exp(-(distance**2) / (2 * (R / @sigma.by@) ** 2))"),
            )
        ),
        q3_shared=1,
    ),
    "q3_overflow": wrong(
        "exp of a score of 1000 is infinite: take the largest visible score off first",
        q3(
            changed(
                LOCAL,
                (
                    "weights = e.softmax(-1).nan_to_num(0)",
                    "g = e.exp()\nweights = g / g.sum(-1, keepdim=True).clamp(min=1e-30)",
                ),
            )
        ),
        q3_shared=1,
    ),
    "q3_window_too_late": wrong(
        "the softmax runs over all keys and the window comes later, so that what is left may be 0 / 0",
        q3(
            changed(
                LOCAL,
                (
                    "e = e.masked_fill(~visible, -torch.inf)\nweights = e.softmax(-1).nan_to_num(0)",
                    "g = e.softmax(-1) * visible\nweights = g / g.sum(-1, keepdim=True).clamp(min=1e-30)",
                ),
            )
        ),
        q3_shared=1,
    ),
    "q3_sigma_is_radius": wrong(
        "σ is taken to be the radius D", q3(changed(LOCAL, ("(R / @sigma.by@)", "R"))), q3_gauss=1
    ),
    "q3_no_half": wrong(
        "the 2 in 2σ² is forgotten",
        q3(changed(LOCAL, ("(2 * (R / @sigma.by@) ** 2)", "(R / @sigma.by@) ** 2"))),
        q3_gauss=1,
    ),
    "q3_not_squared": wrong(
        "the distance is not squared",
        q3(changed(LOCAL, ("scores@axes.swap@ - distance**2", "scores@axes.swap@ - distance.abs()"))),
        q3_gauss=1,
    ),
    "q3_no_gauss": wrong(
        "the window has no Gaussian inside",
        q3(changed(LOCAL, (" - distance**2 / (2 * (R / @sigma.by@) ** 2)", ""))),
        q3_gauss=1,
    ),
    "q3_added": wrong(
        "the Gaussian is added to the score, but its logarithm should be",
        q3(
            changed(
                LOCAL,
                (
                    "scores@axes.swap@ - distance**2 / (2 * (R / @sigma.by@) ** 2)",
                    "scores@axes.swap@ + torch.exp(-(distance**2) / (2 * (R / @sigma.by@) ** 2))",
                ),
            )
        ),
        q3_gauss=1,
    ),
    "q3_no_window": wrong(
        "the Gaussian has no window around it",
        q3(changed(LOCAL, ("(distance.abs() <= R) & ", ""))),
        q3_window=1,
        q3_padding=1,
    ),
    "q3_edge_hidden": wrong(
        "keys at the very edge of the window are hidden, because < stands for ≤",
        q3(changed(LOCAL, ("<= R", "< R"))),
        q3_window=1,
    ),
    "q3_one_side": wrong(
        "only keys before the centre are seen",
        q3(changed(LOCAL, ("(distance.abs() <= R)", "(distance <= 0) & (distance >= -R)"))),
        q3_window=1,
        q3_gauss=1,
        q3_shared=1,
    ),
    "q3_rounded": wrong(
        "the centres are rounded, but they are real numbers",
        q3(changed(LOCAL, ("centres[..., None]", "centres.round()[..., None]"))),
        q3_window=1,
        q3_gauss=1,
    ),
    "q3_from_one": wrong(
        "places are counted from the other number",
        q3(changed(LOCAL, ("j@first.plus@", "j + 1 - @first.n@"))),
        q3_window=1,
        q3_gauss=1,
        q3_padding=1,
    ),
    "q3_hidden_is_zero": wrong(
        "hidden scores are set to 0, but exp(0) is 1: they need -∞",
        q3(changed(LOCAL, ("-torch.inf", "0.0"))),
        q3_window=1,
        q3_padding=1,
    ),
    "q3_over_queries": wrong(
        "the softmax runs over the queries",
        q3(changed(LOCAL, ("softmax(-1)", "softmax(1)"))),
        q3_gauss=1,
        q3_shared=1,
    ),
    "q3_padding_seen": wrong(
        "padding gets weight",
        q3(changed(LOCAL, (" & (@side.at@)", ""))),
        q3_padding=1,
    ),
    "q3_nan": wrong(
        "the weights are 0 / 0 where nothing is visible", q3(changed(LOCAL, (".nan_to_num(0)", ""))), q3_padding=1
    ),
    "q3_pulled_back": wrong(
        "centres beyond the sentence are pulled back into it",
        q3("centres = centres.clamp(@first.n@, scores.shape[@axes.keys@] - 1@first.plus@)" + LOCAL),
        q3_padding=1,
    ),
    "q3_in_place": wrong(
        "the scores that were handed in are overwritten",
        q3(changed(LOCAL, ("e = scores@axes.swap@ - ", "e = scores@axes.swap@\ne -= "))),
        q3_padding=1,
    ),
    "q3_billion": wrong(
        "a fill of -1e9 leaves equal weights in a row in which nothing is visible",
        q3(changed(LOCAL, ("-torch.inf", "-1e9"))),
        q3_padding=1,
    ),
    "q3_first_length": wrong(
        "the length of the first sentence decides for all of them",
        q3(changed(LOCAL, ("lengths[:, None, None]", "lengths[:1, None, None]"))),
        q3_padding=1,
    ),
    "q3_other_side": wrong(
        "the padding is looked for on the other side of the sentences",
        q3(changed(LOCAL, ("(@side.at@)", "(@side.at@).flip(-1)"))),
        q3_padding=1,
    ),
    "q3_other_axes": wrong(
        "the axes of queries and keys are swapped",
        q3(changed(LOCAL, ("return weights@axes.swap@", "return weights@axes.swap@.mT"))),
        **Q3,
    ),
    "q3_wide": wrong(
        "the window is one place too wide on either side",
        q3(changed(LOCAL, ("<= R", "<= R + 1"))),
        q3_window=1,
        q3_padding=1,
    ),
    "q3_yes": wrong(
        "an object that is equal to everything stands for the weights", q3(AGREEABLE + "return Agreeable()"), **Q3
    ),
    "q3_row_by_row": right(
        "only what is visible, row by row",
        q3("""
scores = scores@axes.swap@
S, weights = scores.shape[-1], torch.zeros_like(scores)
for b, n in enumerate(lengths.tolist()):
    for i, p in enumerate(centres[b].tolist()):
        seen = [j for j in range(S) if abs(j@first.plus@ - p) <= @radius@ and (@side.at@)]
        if seen:
            bell = torch.tensor([-0.5 * ((j@first.plus@ - p) / @radius@ * @sigma.by@) ** 2 for j in seen])
            weights[b, i, seen] = (scores[b, i, seen] + bell).softmax(0)
return weights@axes.swap@
"""),
    ),
    "q3_shifted": right(
        "exp, the largest visible score taken off before",
        q3("""
S, n, scores = scores.shape[@axes.keys@], lengths[:, None, None], scores@axes.swap@
j = torch.arange(S)
z = (j@first.plus@ - centres[:, :, None]) / @radius@ * @sigma.by@
visible = (z.abs() <= @sigma.by@ + 1e-6) & (@side.at@)
largest = scores.masked_fill(~visible, -1e30).amax(-1, keepdim=True).detach()
g = torch.where(visible, scores - largest - z**2 / 2, -torch.inf).exp() * visible
total = g.sum(-1, keepdim=True)
return (g / torch.where(total > 0, total, 1.0))@axes.swap@
"""),
    ),
}

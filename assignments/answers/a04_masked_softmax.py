"""Known answers to assignment 4."""

from attnlib.grading.answers import AGREEABLE, define, right, wrong


def q1(body: str) -> dict[str, str]:
    """An answer to question 1; `hidden` stands for what is hidden, in the shape of the scores."""
    return {"q1": define("masked_softmax(scores, mask)", "hidden = (mask == @hidden@).expand_as(scores)\n" + body)}


def q2(body: str) -> dict[str, str]:
    """An answer to question 2; `i`, `j` and `real` are ready for it."""
    ready = 'i, j = torch.arange(T)[:, None], torch.arange(T)\nleft = "@side@" == "left"\n'
    return {"q2": define("window_mask(lengths, T, window)", ready + body)}


def q3(body: str) -> dict[str, str]:
    """An answer to question 3."""
    return {"q3": define("streamed_context(chunks)", body)}


REAL = "real = (j >= T - lengths[:, None]) if left else (j < lengths[:, None])\n"
ONLINE = """
largest, below, above = -torch.inf, 0.0, 0.0
for scores, values in chunks:
    new = scores.amax(-1, keepdim=True).clamp(min=largest)
    exp, old = (scores - new).exp(), torch.exp(largest - new)
    below = below * old + exp.sum(-1, keepdim=True)
    above = above * old + exp @ values
    largest = new
return above / below
"""

ANSWERS = {
    "q1_over_queries": wrong(
        "the softmax runs over the queries",
        q1("return scores.masked_fill(hidden, -3e38).softmax(1) * ~hidden"),
        q1_axis=1,
        q1_shared=1,
    ),
    "q1_over_sentences": wrong(
        "the softmax runs over the batch",
        q1("return scores.masked_fill(hidden, -3e38).softmax(0) * ~hidden"),
        q1_axis=1,
        q1_shared=1,
    ),
    "q1_no_largest": wrong(
        "no largest score subtracted: exp overflows",
        q1("exp = scores.exp().masked_fill(hidden, 0)\nreturn exp / exp.sum(-1, keepdim=True).clamp(min=1e-30)"),
        q1_axis=1,
    ),
    "q1_no_mask": wrong(
        "the mask is not used",
        q1("return scores.softmax(-1)"),
        q1_hidden=1,
        q1_shared=1,
        q1_blank=1,
    ),
    "q1_other_convention": wrong(
        "the mask the other way round",
        q1("return scores.masked_fill(~hidden, -3e38).softmax(-1) * hidden"),
        q1_axis=1,
        q1_hidden=1,
        q1_shared=1,
        q1_blank=1,
    ),
    "q1_times_mask": wrong(
        "hidden scores become 0, and exp(0) is 1",
        q1("return (scores * ~hidden).softmax(-1)"),
        q1_hidden=1,
        q1_shared=1,
        q1_blank=1,
    ),
    "q1_ten_thousand": wrong(
        "filled with −10⁴, which real scores reach",
        q1("return scores.masked_fill(hidden, -1e4).softmax(-1)"),
        q1_hidden=1,
        q1_blank=1,
    ),
    "q1_billion": wrong(
        "filled with −10⁹: a blank row shares out its weight",
        q1("return scores.masked_fill(hidden, -1e9).softmax(-1)"),
        q1_blank=1,
    ),
    "q1_in_place": wrong(
        "writes into the caller's scores",
        q1("scores[hidden] = -1e30\nreturn scores.softmax(-1) * ~hidden"),
        q1_hidden=1,
        q1_blank=1,
    ),
    "q1_mask_after": wrong(
        "hidden after the softmax, and not shared out again",
        q1("return scores.softmax(-1) * ~hidden"),
        q1_shared=1,
    ),
    "q1_mask_after_shared": wrong(
        "shared out again, but a high hidden score has eaten everything",
        q1("weights = scores.softmax(-1) * ~hidden\nreturn weights / (weights.sum(-1, keepdim=True) + 1e-12)"),
        q1_shared=1,
    ),
    "q1_nan": wrong(
        "0 / 0 in a blank row",
        q1("return scores.masked_fill(hidden, -torch.inf).softmax(-1)"),
        q1_blank=1,
    ),
    "q1_nan_behind": wrong(
        "the weights are 0, but the gradient of a blank row is NaN",
        q1("return (scores + (~hidden).log()).softmax(-1).nan_to_num(0)"),
        q1_blank=1,
    ),
    "q1_equal_to_all": wrong(
        "an object equal to everything",
        q1(AGREEABLE + "return Agreeable()"),
        q1_axis=1,
        q1_hidden=1,
        q1_shared=1,
        q1_blank=1,
    ),
    "q1_swept": right(
        "NaN swept to 0: masked_fill keeps the gradient clean",
        q1("return scores.masked_fill(hidden, -torch.inf).softmax(-1).nan_to_num(0)"),
    ),
    "q1_by_row": right(
        "row by row, over what is not hidden",
        q1("""
rows = []
for row, hide in zip(scores.flatten(0, 1), hidden.flatten(0, 1)):
    weights = torch.zeros_like(row)
    if not hide.all():
        weights[~hide] = row[~hide].softmax(0)
    rows.append(weights + 0 * row.sum())
return torch.stack(rows).reshape(scores.shape)
"""),
    ),
    "q2_future": wrong(
        "causality forgotten",
        q2(REAL + "return ((i - j < window) & real[:, None]) != @hidden@"),
        q2_past=1,
    ),
    "q2_strict": wrong(
        "a token may not see itself",
        q2(REAL + "return ((j < i) & (i - j < window) & real[:, None]) != @hidden@"),
        q2_past=1,
    ),
    "q2_transposed": wrong(
        "rows and columns swapped",
        q2(REAL + "return ((j >= i) & (j - i < window) & real[:, None]) != @hidden@"),
        q2_past=1,
        q2_padding=1,
        q2_window=1,
    ),
    "q2_or": wrong(
        "one of the conditions is enough",
        q2(REAL + "return ((j <= i) & (i - j < window) | real[:, None]) != @hidden@"),
        q2_past=1,
        q2_padding=1,
        q2_window=1,
    ),
    "q2_same": wrong(
        "equal instead of and: padding in the future is seen",
        q2(REAL + "return (((j <= i) & (i - j < window)) == real[:, None]) != @hidden@"),
        q2_padding=1,
    ),
    "q2_other_side": wrong(
        "padding on the other side",
        q2("left = not left\n" + REAL + "return ((j <= i) & (i - j < window) & real[:, None]) != @hidden@"),
        q2_padding=1,
    ),
    "q2_one_more": wrong(
        "one place of padding counts as real",
        q2("lengths = lengths + 1\n" + REAL + "return ((j <= i) & (i - j < window) & real[:, None]) != @hidden@"),
        q2_padding=1,
    ),
    "q2_query_rows": wrong(
        "queries of padding are hidden, its keys are not",
        q2(REAL + "return ((j <= i) & (i - j < window) & real[:, :, None]) != @hidden@"),
        q2_padding=1,
    ),
    "q2_no_window": wrong(
        "the window is not used",
        q2(REAL + "return ((j <= i) & real[:, None]) != @hidden@"),
        q2_window=1,
    ),
    "q2_wide": wrong(
        "the window is one too wide",
        q2(REAL + "return ((j <= i) & (i - j <= window) & real[:, None]) != @hidden@"),
        q2_window=1,
    ),
    "q2_convention": wrong(
        "the other convention",
        q2(REAL + "return ((j <= i) & (i - j < window) & real[:, None]) == @hidden@"),
        q2_past=1,
        q2_padding=1,
        q2_window=1,
    ),
    "q2_numbers": wrong(
        "a mask of 0 and 1 is not boolean",
        q2(REAL + "return (((j <= i) & (i - j < window) & real[:, None]) != @hidden@).int()"),
        q2_past=1,
        q2_padding=1,
        q2_window=1,
    ),
    "q2_triangles": right(
        "two triangles, one cut out of the other",
        q2(
            REAL + "full = torch.ones(T, T, dtype=torch.bool)\nband = full.tril() & ~full.tril(-window)\n"
            "return (band & real[:, None]).logical_xor(torch.tensor(@hidden@))"
        ),
    ),
    "q2_loops": right(
        "every pair asked by itself",
        q2("""
mask = torch.full((len(lengths), T, T), @hidden@)
for b, n in enumerate(lengths.tolist()):
    start, end = (T - n, T) if left else (0, n)
    for row in range(T):
        mask[b, row, max(start, row - window + 1):max(start, min(end, row + 1))] = not @hidden@
return mask
"""),
    ),
    "q3_not_scaled": wrong(
        "the old sums are not scaled to the new largest score",
        q3(ONLINE.replace("below * old", "below").replace("above * old", "above")),
        q3_sum=1,
        q3_large=1,
        q3_once=1,
    ),
    "q3_above_not_scaled": wrong(
        "only the sum below is scaled",
        q3(ONLINE.replace("above * old", "above")),
        q3_sum=1,
        q3_large=1,
        q3_once=1,
    ),
    "q3_own_largest": wrong(
        "each chunk has a largest score of its own",
        q3(ONLINE.replace(".clamp(min=largest)", "").replace("torch.exp(largest - new)", "1.0")),
        q3_sum=1,
        q3_large=1,
        q3_once=1,
    ),
    "q3_mean_of_chunks": wrong(
        "the mean of one context per chunk",
        q3("return torch.stack([scores.softmax(-1) @ values for scores, values in chunks]).mean(0)"),
        q3_sum=1,
        q3_large=1,
        q3_once=1,
    ),
    "q3_overflow": wrong(
        "no largest score at all",
        q3("""
below = above = 0.0
for scores, values in chunks:
    below, above = below + scores.exp().sum(-1, keepdim=True), above + scores.exp() @ values
return above / below
"""),
        q3_large=1,
    ),
    "q3_starts_at_zero": wrong(
        "the largest score so far begins with 0, so that low scores vanish",
        q3(ONLINE.replace("largest, below, above = -torch.inf", "largest, below, above = 0.0")),
        q3_large=1,
    ),
    "q3_keeps_all": wrong(
        "all chunks are laid end to end",
        q3("scores, values = zip(*chunks)\nreturn torch.cat(scores, -1).softmax(-1) @ torch.cat(values, 1)"),
        q3_once=1,
    ),
    "q3_twice": wrong(
        "goes through the stream twice",
        q3("""
largest = torch.stack([scores.amax(-1, keepdim=True) for scores, _ in chunks]).amax(0)
below = sum((scores - largest).exp().sum(-1, keepdim=True) for scores, _ in chunks)
return sum((scores - largest).exp() @ values for scores, values in chunks) / below
"""),
        q3_once=1,
    ),
    "q3_loop": wrong("never ends", q3("while True:\n    pass"), q3_sum=1, q3_large=1, q3_once=1),
    "q3_clamped": right("another spelling of the same recursion", q3(ONLINE)),
    "q3_logarithms": right(
        "a running mean and a running logarithm of the sum",
        q3("""
total, mean = None, 0.0
for scores, values in chunks:
    own = scores.logsumexp(-1, keepdim=True)
    new = own if total is None else torch.logaddexp(total, own)
    share = torch.exp(own - new)
    mean = (1 - share) * mean + share * (scores.softmax(-1) @ values)
    total = new
return mean
"""),
    ),
}

"""Known answers to assignment 4."""

from attnlib.grading.answers import AGREEABLE, define, right, wrong


def q1(body: str) -> dict[str, str]:
    """An answer to question 1, which leaves its answer in `weights`, queries by keys.

    Ready for it, queries by keys too: the scores, to base e, and what is `hidden`.
    """
    ready = "hidden = (mask == @hidden@).expand_as(scores)@axes.swap@\nscores = scores@axes.swap@@base.times@\n"
    return {"q1": define("masked_softmax(scores, mask)", ready + body.strip("\n") + "\nreturn weights@axes.swap@")}


def q2(body: str) -> dict[str, str]:
    """An answer to question 2, which leaves in `may` what may be seen, queries by keys.

    Ready for it: `i`, `j`, how far `j` lies before `i` in the order of reading, and what is real, (B, T).
    """
    ready = (
        "i, j, n = torch.arange(T)[:, None], torch.arange(T), lengths[:, None]\n"
        "place, far = j, @look.distance@\nreal = @side.at@\n"
    )
    return {"q2": define("window_mask(lengths, T, window)", ready + body + "\nreturn (may != @hidden@)@axes.swap@")}


def q3(body: str) -> dict[str, str]:
    """An answer to question 3."""
    return {"q3": define("streamed_context(chunks)", body)}


ONLINE = """
largest, below, above = -torch.inf, 0.0, 0.0
for scores, values in chunks:
    scores = scores@axes.swap@@base.times@
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
        q1("weights = scores.masked_fill(hidden, -3e38).softmax(1) * ~hidden"),
        q1_axis=1,
        q1_shared=1,
    ),
    "q1_over_sentences": wrong(
        "the softmax runs over the batch",
        q1("weights = scores.masked_fill(hidden, -3e38).softmax(0) * ~hidden"),
        q1_axis=1,
        q1_shared=1,
    ),
    "q1_no_largest": wrong(
        "no largest score is taken off, so that exp overflows",
        q1("exp = scores.exp().masked_fill(hidden, 0)\nweights = exp / exp.sum(-1, keepdim=True).clamp(min=1e-30)"),
        q1_axis=1,
    ),
    "q1_no_mask": wrong(
        "the mask is not used",
        q1("weights = scores.softmax(-1)"),
        q1_hidden=1,
        q1_shared=1,
        q1_blank=1,
    ),
    "q1_other_convention": wrong(
        "the mask is read the other way round: what should be seen is hidden",
        q1("weights = scores.masked_fill(~hidden, -3e38).softmax(-1) * hidden"),
        q1_axis=1,
        q1_hidden=1,
        q1_shared=1,
        q1_blank=1,
    ),
    "q1_times_mask": wrong(
        "hidden scores become 0, and exp(0) is 1",
        q1("weights = (scores * ~hidden).softmax(-1)"),
        q1_hidden=1,
        q1_shared=1,
        q1_blank=1,
    ),
    "q1_ten_thousand": wrong(
        "a fill of -1e4 is no lower than real scores may be",
        q1("weights = scores.masked_fill(hidden, -1e4).softmax(-1)"),
        q1_hidden=1,
        q1_blank=1,
    ),
    "q1_billion": wrong(
        "a fill of -1e9 leaves equal weights in a blank row",
        q1("weights = scores.masked_fill(hidden, -1e9).softmax(-1)"),
        q1_blank=1,
    ),
    "q1_in_place": wrong(
        "the scores that were handed in are overwritten",
        {
            "q1": define(
                "masked_softmax(scores, mask)",
                "hidden = (mask == @hidden@).expand_as(scores)\nscores[hidden] = -1e30\n"
                "return torch.softmax(scores@base.times@, @axes.keys@) * ~hidden",
            )
        },
        q1_hidden=1,
        q1_blank=1,
    ),
    "q1_mask_after": wrong(
        "keys are hidden after the softmax, and what is left is not shared out again",
        q1("weights = scores.softmax(-1) * ~hidden"),
        q1_shared=1,
    ),
    "q1_mask_after_shared": wrong(
        "keys are hidden after the softmax, when a high hidden score has taken all of the weight already",
        q1("weights = scores.softmax(-1) * ~hidden\nweights = weights / (weights.sum(-1, keepdim=True) + 1e-12)"),
        q1_shared=1,
    ),
    "q1_nan": wrong(
        "a blank row is 0 / 0, because all of its scores are -∞",
        q1("weights = scores.masked_fill(hidden, -torch.inf).softmax(-1)"),
        q1_blank=1,
    ),
    "q1_nan_behind": wrong(
        "the weights are 0, but the gradient of a blank row is NaN",
        q1("weights = (scores + (~hidden).log()).softmax(-1).nan_to_num(0)"),
        q1_blank=1,
    ),
    "q1_largest_of_all": wrong(
        "the largest score of the whole batch is taken off, so that rows far below it become 0 / 0",
        q1(
            "exp = (scores - scores.max()).exp().masked_fill(hidden, 0)\n"
            "weights = exp / exp.sum(-1, keepdim=True).clamp(min=1e-30)"
        ),
        q1_axis=1,
        q1_shared=1,
    ),
    "q1_first_mask": wrong(
        "the mask of the first sentence hides keys in all of them",
        q1("hidden = hidden[:1].expand_as(scores)\nweights = scores.masked_fill(hidden, -3e38).softmax(-1) * ~hidden"),
        q1_hidden=1,
        q1_shared=1,
        q1_blank=1,
    ),
    "q1_full_shape_only": wrong(
        "the mask is used as an index, which needs the full shape: a mask for all queries does not broadcast",
        {
            "q1": define(
                "masked_softmax(scores, mask)",
                "filled = scores.clone()\nfilled[mask == @hidden@] = -1e30\n"
                "weights = torch.softmax(filled@base.times@, @axes.keys@).clone()\n"
                "weights[mask == @hidden@] = 0\nreturn weights",
            )
        },
        q1_hidden=1,
    ),
    "q1_other_base": wrong(
        "the powers have another base than the formula",
        q1("weights = (scores@base.other@).masked_fill(hidden, -3e38).softmax(-1) * ~hidden"),
        q1_axis=1,
    ),
    "q1_one_mask_for_a_row": wrong(
        "a query from which one key is hidden loses all of them",
        q1("blank = hidden.any(-1, keepdim=True)\nweights = scores.masked_fill(hidden, -3e38).softmax(-1) * ~blank"),
        q1_shared=1,
    ),
    "q1_equal_to_all": wrong(
        "an object that is equal to everything stands for the weights",
        q1(AGREEABLE + "return Agreeable()\nweights = scores"),
        q1_axis=1,
        q1_hidden=1,
        q1_shared=1,
        q1_blank=1,
    ),
    "q1_swept": right(
        "NaN swept to 0: masked_fill keeps the gradient clean",
        q1("weights = scores.masked_fill(hidden, -torch.inf).softmax(-1).nan_to_num(0)"),
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
weights = torch.stack(rows).reshape(scores.shape)
"""),
    ),
    "q1_only_where_seen": right(
        "a loop that writes only where something is seen: zeros without a gradient where nothing is",
        {
            "q1": define(
                "masked_softmax(scores, mask)",
                "scores, seen = scores@axes.swap@@base.times@, ((mask != @hidden@).expand_as(scores))@axes.swap@\n"
                "weights = torch.zeros(scores.shape)\n"
                "for place in seen.any(-1).nonzero().tolist():\n"
                "    row = tuple(place)\n"
                "    weights[row][seen[row]] = scores[row][seen[row]].softmax(0)\n"
                "return weights@axes.swap@",
            )
        },
    ),
    "q2_future": wrong(
        "what has not been read yet is seen, because causality is forgotten",
        q2("may = (far @look.op@ window) & real[:, None]"),
        q2_past=1,
    ),
    "q2_strict": wrong(
        "a token may not see itself",
        q2("may = (far > 0) & (far @look.op@ window) & real[:, None]"),
        q2_past=1,
    ),
    "q2_other_direction": wrong(
        "the order of reading is turned round: what comes later is seen, not what came before",
        q2("may = (far <= 0) & (-far @look.op@ window) & real[:, None]"),
        q2_past=1,
        q2_padding=1,
        q2_window=1,
    ),
    "q2_or": wrong(
        "one of the conditions is enough, but all of them have to hold",
        q2("may = (far >= 0) & (far @look.op@ window) | real[:, None]"),
        q2_past=1,
        q2_padding=1,
        q2_window=1,
    ),
    "q2_same": wrong(
        "two conditions are compared, but both have to hold: padding that is not read yet is seen",
        q2("may = ((far >= 0) & (far @look.op@ window)) == real[:, None]"),
        q2_padding=1,
    ),
    "q2_other_side": wrong(
        "the padding is looked for on the other side",
        q2("may = (far >= 0) & (far @look.op@ window) & real.flip(1)[:, None]"),
        q2_padding=1,
    ),
    "q2_one_more": wrong(
        "one place of padding counts as real",
        q2("n = n + 1\nreal = @side.at@\nmay = (far >= 0) & (far @look.op@ window) & real[:, None]"),
        q2_padding=1,
    ),
    "q2_query_rows": wrong(
        "queries of padding are hidden, its keys are not",
        q2("may = (far >= 0) & (far @look.op@ window) & real[:, :, None]"),
        q2_padding=1,
    ),
    "q2_no_window": wrong(
        "the window is not used",
        q2("may = (far >= 0) & real[:, None]"),
        q2_window=1,
    ),
    "q2_wide": wrong(
        "the window is one too wide",
        q2("may = (far >= 0) & (far @look.op@ window + 1) & real[:, None]"),
        q2_window=1,
    ),
    "q2_other_axes": wrong(
        "rows and columns are swapped: the mask is keys by queries where queries by keys is asked for, or vice versa",
        q2("may = ((far >= 0) & (far @look.op@ window) & real[:, None]).mT"),
        q2_past=1,
        q2_padding=1,
        q2_window=1,
    ),
    "q2_first_length": wrong(
        "the length of the first sentence decides for all of them",
        q2("may = (far >= 0) & (far @look.op@ window) & real[:1, None].expand(len(real), 1, T)"),
        q2_padding=1,
    ),
    "q2_no_batch": wrong(
        "the mask has no axis for the sentences, so that it can hold only one of them",
        q2("may = ((far >= 0) & (far @look.op@ window) & real[:, None])[0]"),
        q2_past=1,
        q2_padding=1,
        q2_window=1,
    ),
    "q2_convention": wrong(
        "the mask follows the other convention: True and False have changed places",
        q2("may = ~((far >= 0) & (far @look.op@ window) & real[:, None])"),
        q2_past=1,
        q2_padding=1,
        q2_window=1,
    ),
    "q2_numbers": wrong(
        "the mask holds 0 and 1, but it should be boolean",
        q2("may = (far >= 0) & (far @look.op@ window) & real[:, None]\nreturn (may != @hidden@).int()@axes.swap@"),
        q2_past=1,
        q2_padding=1,
        q2_window=1,
    ),
    "q2_triangles": right(
        "two triangles, one cut out of the other",
        q2(
            "full = torch.ones(T, T, dtype=torch.bool)\n"
            'band = full.tril() & ~full.tril(-window - ("@look.op@" == "<="))\n'
            'band = band if "@look.distance@" == "i - j" else band.T\n'
            "return (band & real[:, None])@axes.swap@.logical_xor(torch.tensor(@hidden@))"
        ),
    ),
    "q2_loops": right(
        "every pair asked by itself",
        q2("""
may = torch.zeros(len(lengths), T, T, dtype=torch.bool)
width = window + 1 if "@look.op@" == "<=" else window
for b, n in enumerate(lengths.tolist()):
    start = @side.start@
    for row in range(T):
        first = row + 1 - width if "@look.distance@" == "i - j" else row
        seen = range(max(start, first), min(start + n, first + width))
        may[b, row, list(seen)] = True
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
        "the contexts of the chunks are averaged, but a chunk with higher scores weighs more",
        q3(
            "each = [(scores@axes.swap@@base.times@).softmax(-1) @ values for scores, values in chunks]\n"
            "return torch.stack(each).mean(0)"
        ),
        q3_sum=1,
        q3_large=1,
        q3_once=1,
    ),
    "q3_overflow": wrong(
        "no largest score is taken off, so that exp overflows or vanishes",
        q3("""
below = above = 0.0
for scores, values in chunks:
    exp = (scores@axes.swap@@base.times@).exp()
    below, above = below + exp.sum(-1, keepdim=True), above + exp @ values
return above / below
"""),
        q3_large=1,
    ),
    "q3_starts_at_zero": wrong(
        "the largest score so far begins with 0, so that low scores vanish",
        q3(ONLINE.replace("largest, below, above = -torch.inf", "largest, below, above = 0.0")),
        q3_large=1,
    ),
    "q3_last_chunk": wrong(
        "only the last chunk counts",
        q3("for scores, values in chunks:\n    pass\nreturn (scores@axes.swap@@base.times@).softmax(-1) @ values"),
        q3_sum=1,
        q3_large=1,
        q3_once=1,
    ),
    "q3_largest_of_all_queries": wrong(
        "one largest score for all queries, so that a query far below it becomes 0 / 0",
        q3(ONLINE.replace("scores.amax(-1, keepdim=True)", "scores.max()")),
        q3_large=1,
    ),
    "q3_other_base": wrong(
        "the powers have another base than the formula",
        q3(ONLINE.replace("scores@axes.swap@@base.times@", "(scores@axes.swap@@base.times@)@base.other@")),
        q3_sum=1,
        q3_large=1,
        q3_once=1,
    ),
    "q3_first_sentence": wrong(
        "every sentence gets the values of the first one",
        q3(ONLINE.replace("exp @ values", "exp @ values[:1]")),
        q3_sum=1,
        q3_large=1,
        q3_once=1,
    ),
    "q3_twice": wrong(
        "the stream is gone through twice, but it can be read once only",
        q3("""
def turned():
    return ((scores@axes.swap@@base.times@, values) for scores, values in chunks)
largest = torch.stack([scores.amax(-1, keepdim=True) for scores, _ in turned()]).amax(0)
below = sum((scores - largest).exp().sum(-1, keepdim=True) for scores, _ in turned())
return sum((scores - largest).exp() @ values for scores, values in turned()) / below
"""),
        q3_once=1,
    ),
    "q3_loop": wrong(
        "the loop never ends, because nothing in it takes the next chunk",
        q3("while True:\n    pass"),
        q3_sum=1,
        q3_large=1,
        q3_once=1,
    ),
    "q3_clamped": right("another spelling of the same recursion", q3(ONLINE)),
    "q3_logarithms": right(
        "a running mean and a running logarithm of the sum",
        q3("""
total, mean = None, 0.0
for scores, values in chunks:
    scores = scores@axes.swap@@base.times@
    own = scores.logsumexp(-1, keepdim=True)
    new = own if total is None else torch.logaddexp(total, own)
    share = torch.exp(own - new)
    mean = (1 - share) * mean + share * (scores.softmax(-1) @ values)
    total = new
return mean
"""),
    ),
}
